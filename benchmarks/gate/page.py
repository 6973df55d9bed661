"""Computes docs/believability*.md, the figure and README's figures from the recordings alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from benchmarks.gate.answers_page import ask_all, sections
from benchmarks.gate.executed import commits_of, executed
from benchmarks.gate.figure import Point, draw
from benchmarks.gate.lanes_page import lanes_text
from benchmarks.gate.loads import load_range
from benchmarks.gate.peers_page import peer_blocks, peer_points
from benchmarks.gate.record import BUILDS, LANGUAGES, LOADS, SESSIONS
from benchmarks.gate.recordings import RECORDINGS
from benchmarks.gate.replay import Half, Question, replay, replay_rules
from benchmarks.gate.stored_page import stored_blocks
from benchmarks.gate.summary import summary
from benchmarks.gate.tables import table
from benchmarks.gate.tally import rate, rounds_each, share, with_bounds
from benchmarks.gate.twice import twice_blocks

from benchgate.model.policy import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from benchmarks.gate.executed import Executed
    from benchmarks.gate.record import Scenario
    from validation.rates import Rate

DOCS = Path(__file__).parents[2] / "docs"
SEED = 1
SHOWN_PERCENT = 3


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many builds of each kind are judged: clean ones, and those with one changed row."""

    clean: int = 3000
    slower: int = 1000
    rules: int = 300
    launches: int = 300
    stored: int = 400


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of replayed builds, in words and as a question."""

    name: str
    question: Question


_STRICT, _STRICTEST = 'gate.margin = "1%"', 'gate.margin = "0.5%"'
KINDS = (
    Kind("clean", Question(Half.JUDGING)),
    Kind("an unrelated edit", Question(Half.JUDGING, "rounds-edited")),
    *(
        Kind(f"+{percent} %", Question(Half.JUDGING, slower=f"rounds-{percent}"))
        for percent in (2, 3, 5, 10)
    ),
    Kind("clean, margin 1 %", Question(Half.JUDGING, config=_STRICT)),
    Kind(
        "an unrelated edit, margin 1 %",
        Question(Half.JUDGING, "rounds-edited", config=_STRICT),
    ),
    Kind("+2 %, margin 1 %", Question(Half.JUDGING, slower="rounds-2", config=_STRICT)),
    Kind("clean, margin 0.5 %", Question(Half.JUDGING, config=_STRICTEST)),
    Kind("+1 %, margin 0.5 %", Question(Half.JUDGING, slower="rounds-1", config=_STRICTEST)),
    *(
        Kind(
            f"{change}, busy loop on {where}",
            Question(Half.JUDGING, f"rounds-clean-burner-{key}", slower),
        )
        for key, where in (("other", "the other CPU"), ("same", "every CPU"))
        for change, slower in (("clean", ""), ("+3 %", f"rounds-3-burner-{key}"))
    ),
)


def write_page(
    sizes: Sizes, *, processes: int, say: Callable[[str], None], folder: Path = DOCS
) -> None:
    """Judge everything that is recorded or simulated, and write the pages and the figure."""
    replayed = dict(_replayed(sizes, processes, say))
    found = ask_all(sizes.launches, seed=SEED, processes=processes, say=say)
    executed_blocks, compared = _executed_blocks(), _compared(sizes, folder)
    _write(
        [
            *executed_blocks,
            *_of_replays(replayed),
            *compared,
            *sections(found),
            _STORED,
            *stored_blocks(sizes.stored, seed=SEED, processes=processes, say=say),
        ],
        folder,
    )


def count_again(folder: Path = DOCS) -> None:
    """Update what is counted, and the figure; the replayed and the simulated builds stay."""
    old = _parts((folder / _PAGES[1]).read_text(encoding="utf-8"))
    counted = _parts("\n\n".join([*_executed_blocks(), *_compared(Sizes(), folder)]))
    _write([text.strip() for text in {**dict(old), **dict(counted)}.values()], folder)


def _parts(page: str) -> list[tuple[str, str]]:
    """The sections of a page with their titles; the first one has no title."""
    texts = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    return [(text.partition("\n")[0] if number else "", text) for number, text in enumerate(texts)]


def _executed_blocks() -> list[str]:
    return [_TABLES, *_executed(), *twice_blocks()]


def _write(blocks: Sequence[str], folder: Path) -> None:
    for name, text in zip(_PAGES, ([_TITLE, summary(), _HEAD], blocks), strict=True):
        (folder / name).write_text("\n\n".join(text) + "\n", encoding="utf-8")
    _update_readme(folder.parent / "README.md")


def _update_readme(path: Path) -> None:
    if shown := _shown():
        alarms, found = (f"{one.hits} of {one.trials}" for one in shown)
        said = (
            f"On ten real workloads, on a shared virtual machine, {alarms} checks of unchanged "
            f"code failed, and {found} checks failed when one workload had {SHOWN_PERCENT} % more "
            "work to do."
        )
        old = path.read_text(encoding="utf-8")
        begin, end = old.index("On ten real workloads"), old.index("[How often it is right]")
        path.write_text(f"{old[:begin]}{fill(said, 100)}\n{old[end:]}", encoding="utf-8")


_PAGES = ("believability.md", "believability-tables.md")
_FIGURE = "believability.svg"
_MADE = "<!-- Made by `python -m benchmarks.gate judge`: change the scripts, not this page. -->\n\n"

_TITLE = f"""\
{_MADE}# How often benchgate is right

This page says how often benchgate calls code slower that did not change, and how often it finds
code that did get slower. [The tables](believability-tables.md) have all figures. In short:"""

_HEAD = """\
All of this was measured on real work, on a virtual machine with two CPUs that it shares with
others. The launches are in `benchmarks/gate/recordings.parquet`, and
`python -m benchmarks.gate judge` recomputes the figures from them, with fixed seeds.

![False alarms against power](believability.svg)

A build is ten benchmarks of real work, such as JSON, sorting and SQLite. In the figure, *found*
counts builds for benchgate and the simple rules, and workloads for the other tools."""

_TABLES = f"""\
{_MADE}# How often benchgate is right: the tables

[How often benchgate is right](believability.md) sums them up.

A *build* is ten benchmarks of real work: JSON, sorting, regular expressions, dictionaries,
SHA-256, SQLite, formatting, floats, counting words, objects. In a *clean* build, head and base
are the same code. In a build with *an unrelated edit*, the head has one more import, docstring,
dictionary, table or function, which no benchmark uses. In the other builds the head of one
benchmark really runs some percent more loop units; each build changes another benchmark. *A
program* is a build of one Python program of about 30 ms, most of which is the start of Python; if
it changed, it takes so many percent more CPU time in all. *Three slow functions* take 10, 50 and
300 ms: JSON, classes that are made, and counted words. Bounds are exact (Clopper and Pearson), at
95 %."""


_STORED = """\
## Stored baselines, simulated

These figures are simulated, because no recording holds thirty runs of many machines. The launches
of a run vary as much as those of the recordings do. Whole runs differ by the given amount, half
of it in all benchmarks alike. The gate's own code makes the decisions. The last table shows what
`benchgate ci` does."""


def _executed() -> Iterator[str]:
    yield "## Builds that were really run"
    yield _EXECUTED
    yield _executed_table(BUILDS)
    if text := lanes_text():
        yield text
    for title, text, scenarios in (
        ("## Programs in other languages", _LANGUAGES, LANGUAGES),
        ("## Requests to a database or a server", _LOADS, LOADS),
    ):
        if any(RECORDINGS.names(one.name) for one in scenarios):
            yield title
            yield text
            yield _executed_table(scenarios)


_EXECUTED = """\
Each build is a whole `benchgate check` in a scratch repository. The seconds are those that a user
waits, start-up included. The machine is a virtual one with two CPUs, shared with others. Unless a
line says otherwise, a build has both CPUs and measures in two lanes, as users have it. If two
builds ran at a time, each had one CPU, and the other build as its neighbor. The load average when
the builds began shows what else ran: a build alone is about 2, and the rest is other work, such as
tests. A build without a verdict is one whose canary was disturbed. The last column names the
commits of benchgate that measured; *earlier* is any before they were noted. The host was not always
equally fast: compare seconds only between rows of the same commits."""

_LANGUAGES = """\
Each build measures four functions of one small program, from 0.1 µs to 5 ms. In a build with an
unrelated edit, functions that nothing calls stand in other places. The seconds include building
both sides, on one CPU. In one build with Vitest, a function got slower that was not edited: on the
CPU of that build, four more checks say so, too, by 3 to 4 %."""

_LOADS = """\
Each build loads two steps of a scenario, with two workers in a closed loop. In the slower builds,
one step does 10 % more work in each query or request. The steps share their workers, so the whole
scenario gets slower, and a build is right if it says so of any part of it."""


def _executed_table(scenarios: Iterable[Scenario]) -> str:
    titles = (
        *("build", "false alarms", "of rows", "found", "no verdict", "open locations"),
        *("seconds: median", "19 of 20 within", "load", "commits"),
    )
    found = [(one, executed(one.name)) for one in scenarios]
    return table(titles, [_executed_row(one.words, builds) for one, builds in found if builds])


def _executed_row(name: str, found: Executed) -> tuple[str, ...]:
    return (
        name,
        with_bounds(found.alarms),
        with_bounds(found.rows),
        with_bounds(found.found) if found.found else "",
        _percent(found.no_verdict),
        _percent(found.open_locations),
        f"{found.typical_seconds:.1f}",
        f"{found.long_seconds:.1f}",
        found.load,
        found.commits,
    )


@dataclass(frozen=True, slots=True)
class _Line:
    """The results of the replayed builds of one kind."""

    alarms: Rate
    found: Rate | None
    open_share: float | None
    rounds: float
    sessions: int


def _replayed(
    sizes: Sizes, processes: int, say: Callable[[str], None]
) -> Iterator[tuple[str, _Line]]:
    for kind in KINDS:
        if not all(_has_half(name) for name in (kind.question.clean, kind.question.slower) if name):
            continue
        builds = sizes.slower if kind.question.slower else sizes.clean
        say(f"{builds} builds: {kind.name}")
        found = replay(kind.question, builds, seed=SEED, processes=processes)
        judged = [one.build for one in found]
        yield (
            kind.name,
            _Line(
                rate(one.is_false_alarm for one in found),
                rate(one.is_found for one in found) if kind.question.slower else None,
                share(judged, "p25", Outcome.INCONCLUSIVE),
                rounds_each(judged),
                kind.question.sessions(),
            ),
        )


def _abouts(scenarios: Iterable[Scenario]) -> Iterator[Mapping[str, Any]]:
    """What each recording of these scenarios says about itself."""
    for one in scenarios:
        yield from RECORDINGS.about(one.name)


def _has_half(name: str) -> bool:
    """Whether there are enough sessions to judge half of them."""
    return len(RECORDINGS.names(name)) > 1


def _of_replays(found: dict[str, _Line]) -> Iterator[str]:
    rows = [
        (
            name,
            with_bounds(line.alarms),
            with_bounds(line.found) if line.found else "",
            f"{line.open_share:.0%}" if line.open_share is not None else "",
            f"{line.rounds:.1f}",
            str(line.sessions),
        )
        for name, line in found.items()
    ]
    yield "## Builds made of recorded rounds"
    yield (
        "Sessions of a hundred rounds each were recorded in the same way. A build draws\n"
        "rounds of one session in random order. The gate's own code judges it, and asks for\n"
        "as many rounds as it wants. Half of the sessions were used for tuning; these builds\n"
        "come from the other half. A line rests on the few sessions that it names, so its\n"
        "bounds are about this machine at that time, not about every machine. The canary is\n"
        "left out. The load average when the sessions began was\n"
        f"{load_range(_abouts(SESSIONS))}: tests ran beside some of them (commits of benchgate:\n"
        f"{commits_of(_abouts(SESSIONS))})."
    )
    titles = ("build", "false alarms", "found", "open locations", "rounds each", "sessions")
    yield table(titles, rows)


def _points() -> list[Point]:
    """Our own point, of the builds that were really executed."""
    if not (shown := _shown()):
        return []
    alarms, found = shown
    return [Point("benchgate", _share(alarms), _share(found), is_ours=True)]


def _shown() -> tuple[Rate, Rate] | None:
    """What the figure and README show: false alarms, and slower builds found."""
    clean, slower = (executed(name) for name in ("clean-lanes", f"{SHOWN_PERCENT}-lanes"))
    if clean is None or slower is None or slower.found is None:
        return None
    return clean.alarms, slower.found


def _compared(sizes: Sizes, folder: Path) -> list[str]:
    """Simple rules and other tools, as blocks of Markdown; writes the figure, too."""
    clean = replay_rules(Question(Half.JUDGING), sizes.rules, seed=SEED)
    changed = Question(Half.JUDGING, slower=f"rounds-{SHOWN_PERCENT}")
    slower = replay_rules(changed, sizes.rules, seed=SEED)
    rows, points = [], _points()
    for name, builds in clean.items():
        alarms = rate(one.is_false_alarm for one in builds)
        hits = rate(one.is_found for one in slower[name])
        rows.append((name, with_bounds(alarms), with_bounds(hits)))
        points.append(Point(name, _share(alarms), _share(hits)))
    (folder / _FIGURE).write_text(
        draw([*points, *peer_points()], "False alarms against power"), encoding="utf-8"
    )
    text = "Rules that people write themselves, applied to ten of the same rounds of each build."
    titles = ("rule", "false alarms", f"finds +{SHOWN_PERCENT} %")
    return ["## Simple rules on the same rounds", text, table(titles, rows), *peer_blocks()]


def _share(found: Rate) -> float:
    return found.hits / found.trials


def _percent(found: Rate) -> str:
    return f"{_share(found):.0%}"
