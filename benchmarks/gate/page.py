"""Works out docs/believability.md and its figure from what was recorded, and from nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.gate.answers_page import ask_all, sections
from benchmarks.gate.executed import executed
from benchmarks.gate.figure import Point, draw
from benchmarks.gate.launches import read_recording
from benchmarks.gate.loads import load_range
from benchmarks.gate.peers_page import peer_blocks, peer_points
from benchmarks.gate.record import BUILDS, RECORDINGS, SESSIONS
from benchmarks.gate.replay import Half, Question, replay, replay_rules
from benchmarks.gate.stored_page import stored_blocks
from benchmarks.gate.tables import table
from benchmarks.gate.tally import rate, rounds_each, share, with_bounds

from benchgate.model.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.gate.executed import Executed
    from validation.rates import Rate

DOCS = Path(__file__).parents[2] / "docs"
SEED = 1
SHOWN_PERCENT = 3


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many builds are judged of each kind: clean ones, and those of which one row changed."""

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


_STRICT = 'gate.margin = "1%"'
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
    *(
        Kind(
            f"{change}, busy loop on {where}",
            Question(Half.JUDGING, f"rounds-clean-burner-{key}", slower),
        )
        for key, where in (("other", "the other CPU"), ("same", "every CPU"))
        for change, slower in (("clean", ""), ("+3 %", f"rounds-3-burner-{key}"))
    ),
)


def write_page(sizes: Sizes, *, processes: int, say: Callable[[str], None]) -> None:
    """Judge everything that is recorded or simulated, and write the page and the figure."""
    head = [_HEAD, *_executed()]
    replayed = dict(_replayed(sizes, processes, say))
    rules, points = _rules(sizes)
    found = ask_all(sizes.launches, seed=SEED, processes=processes, say=say)
    blocks = [
        *head,
        *_of_replays(replayed),
        *rules,
        *peer_blocks(),
        *sections(found),
        _STORED,
        *stored_blocks(sizes.stored, seed=SEED, processes=processes, say=say),
    ]
    (DOCS / "believability.md").write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
    ours = _points()
    (DOCS / "believability.svg").write_text(
        draw([*ours, *points, *peer_points()], "False alarms against power"), encoding="utf-8"
    )


_HEAD = """\
<!-- Made by `python -m benchmarks.gate judge`: change the scripts, not this page. -->

# Is it believed?

How often benchgate calls code slower that did not change, and how often it finds what did:
measured on real work, with the launches kept. `make bench-gate` measures what is missing and works
this page out anew; `python -m benchmarks.gate judge` does the second alone, from the recordings in
`benchmarks/gate/recordings` and from fixed seeds, and always with the same result.

A *build* is ten benchmarks of real work: JSON, sorting, regular expressions, dictionaries,
SHA-256, SQLite, formatting, floats, counting words, objects. In a *clean* one head and base are the
same code; with *an unrelated edit* the head has an import, a docstring, a dictionary, a table or a
function more that no benchmark uses. In the others the head of one benchmark, another one in each,
really executes some percent more loop units. Bounds are exact (Clopper and Pearson), at 95 %.

![False alarms against power](believability.svg)

What is found are builds, of benchgate and the simple rules, and workloads, of the other tools."""


_STORED = """\
## Stored baselines, simulated

What follows is not measured but drawn at random, because no recording holds thirty runs of many
machines: the launches of a run spread as those of the recordings do, and whole runs differ by so
much, half of it in all benchmarks alike. The decisions are made by the gate's own code. The last
table is what `benchgate ci` does."""


def _executed() -> Iterator[str]:
    found = [(one, executed(RECORDINGS / one.name)) for one in BUILDS]
    yield "## Builds really executed"
    yield (
        "Each is a `benchgate check` from start to end, in a scratch repository. The seconds are\n"
        "those that a user waits, start-up included. The machine is a virtual one with two CPUs,\n"
        "shared with others. Where no more is said, two builds ran at a time, each with one CPU,\n"
        "and the other build for a neighbour; one build at a time has both CPUs. The load average\n"
        "when they began tells what else ran: one build is about 1 of it, and the rest is others'\n"
        "work, tests among it. A build without a verdict is one whose canary was disturbed."
    )
    titles = (
        *("build", "false alarms", "of rows", "found", "no verdict", "open locations"),
        *("seconds: median", "19 of 20 within", "load"),
    )
    yield table(titles, [_executed_row(one.words, builds) for one, builds in found if builds])


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
    )


@dataclass(frozen=True, slots=True)
class _Line:
    """What became of the replayed builds of a kind."""

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


def _load_of_sessions() -> str:
    paths = [path for one in SESSIONS for path in (RECORDINGS / one.name).glob("*.json.gz")]
    return load_range(read_recording(path).about for path in paths)


def _has_half(name: str) -> bool:
    """Whether there are sessions enough for a half of them."""
    return len(list((RECORDINGS / name).glob("*.json.gz"))) > 1


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
        "Sessions of a hundred rounds each are recorded in the same way. A build draws rounds of\n"
        "one of them in random order and is judged by the gate's own code, which asks for as many\n"
        "as it wants. Half of the sessions were for tuning; these builds are of the other half. A\n"
        "line rests on as few sessions as it says, so its bounds speak of this machine in these\n"
        "minutes, not of every machine. The canary has no part in them. The load average when the\n"
        f"sessions began was {_load_of_sessions()}: tests ran beside some of them."
    )
    titles = ("build", "false alarms", "found", "open locations", "rounds each", "sessions")
    yield table(titles, rows)


def _points() -> list[Point]:
    """Our own point, of the builds that were really executed."""
    clean, slower = (executed(RECORDINGS / name) for name in ("clean", str(SHOWN_PERCENT)))
    if clean is None or slower is None or slower.found is None:
        return []
    return [Point("benchgate", _share(clean.alarms), _share(slower.found), is_ours=True)]


def _rules(sizes: Sizes) -> tuple[list[str], list[Point]]:
    clean = replay_rules(Question(Half.JUDGING), sizes.rules, seed=SEED)
    changed = Question(Half.JUDGING, slower=f"rounds-{SHOWN_PERCENT}")
    slower = replay_rules(changed, sizes.rules, seed=SEED)
    rows, points = [], []
    for name, builds in clean.items():
        alarms = rate(one.is_false_alarm for one in builds)
        hits = rate(one.is_found for one in slower[name])
        rows.append((name, with_bounds(alarms), with_bounds(hits)))
        points.append(Point(name, _share(alarms), _share(hits)))
    text = "What people write themselves, given ten of the same rounds of each build."
    titles = ("rule", "false alarms", f"finds +{SHOWN_PERCENT} %")
    return ["## Simple rules on the same rounds", text, table(titles, rows)], points


def _share(found: Rate) -> float:
    return found.hits / found.trials


def _percent(found: Rate) -> str:
    return f"{_share(found):.0%}"
