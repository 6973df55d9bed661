"""Works out docs/believability.md and its figure from what was recorded, and from nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.gate.figure import Point, draw
from benchmarks.gate.launches import read_recording
from benchmarks.gate.record import BUILDS, RECORDINGS, SESSIONS
from benchmarks.gate.replay import Half, Question, replay, replay_rules
from benchmarks.gate.tally import rate, rounds_each, share, with_bounds

from benchgate.model.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

DOCS = Path(__file__).parents[2] / "docs"
SEED = 1
_PERCENTS = (2, 3, 5, 10)
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many builds are replayed of each kind."""

    clean: int = 3000
    slower: int = 1000
    rules: int = 300


def write_page(sizes: Sizes, *, processes: int, say: Callable[[str], None]) -> None:
    """Replay everything, and write the page and the figure."""
    gate = _Gate(sizes, processes, say)
    rules, points = _rules(sizes)
    clean, slower = gate.clean(), {percent: gate.slower(percent) for percent in _PERCENTS}
    ours = Point("benchgate", clean.false_alarms, slower[_SHOWN].found, is_ours=True)
    (DOCS / "believability.svg").write_text(
        draw([ours, *points], "False alarms against power"), encoding="utf-8"
    )
    blocks = [_HEAD, *_executed(), *_replayed(clean, slower, gate), *rules]
    (DOCS / "believability.md").write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


@dataclass(frozen=True, slots=True)
class _Line:
    """One row of the table of replayed builds."""

    cells: tuple[str, ...]
    false_alarms: float
    found: float


@dataclass(frozen=True, slots=True)
class _Gate:
    sizes: Sizes
    processes: int
    say: Callable[[str], None]

    def clean(self, sessions: str = "rounds-clean", config: str = "") -> _Line:
        return self._ask(Question(Half.JUDGING, sessions, config=config), self.sizes.clean)

    def slower(self, percent: int, config: str = "") -> _Line:
        question = Question(Half.JUDGING, slower=f"rounds-{percent}", config=config)
        return self._ask(question, self.sizes.slower)

    def _ask(self, question: Question, builds: int) -> _Line:
        self.say(f"{builds} builds: {question}")
        found = replay(question, builds, seed=SEED, processes=self.processes)
        judged = [one.build for one in found]
        alarms = rate(one.is_false_alarm for one in found)
        hits = rate(one.is_found for one in found)
        open_share = share(judged, "p25", Outcome.INCONCLUSIVE)
        cells = (
            with_bounds(alarms),
            with_bounds(hits) if question.slower else "",
            f"{open_share:.0%}" if open_share is not None else "",
            f"{rounds_each(judged):.1f}",
        )
        return _Line(cells, alarms.hits / alarms.trials, hits.hits / hits.trials)


_HEAD = """\
<!-- Made by `python -m benchmarks.gate judge`: change the scripts, not this page. -->

# Is it believed?

How often benchgate calls code slower that did not change, and how often it finds what did:
measured on real work, with the launches kept. `make bench-gate` measures what is missing and works
this page out anew; `python -m benchmarks.gate judge` does the second alone, from the recordings in
`benchmarks/gate/recordings`, and always with the same result.

A *build* is ten benchmarks of real work: JSON, sorting, regular expressions, dictionaries,
SHA-256, SQLite, formatting, floats, counting words, objects. In a *clean* one head and base are the
same code. In the others the head of one benchmark, another one in each, really executes some
percent more loop units. Bounds are exact (Clopper and Pearson), at 95 %.

![False alarms against power](believability.svg)"""


def _executed() -> Iterator[str]:
    rows = []
    for scenario in BUILDS:
        found = [_about(path) for path in sorted((RECORDINGS / scenario.name).glob("*.json.gz"))]
        if found:
            rows.append(_executed_row(scenario.name, found))
    yield "## Builds really executed"
    yield (
        "Each is a `benchgate check` from start to end, in a scratch repository. The seconds are\n"
        "those that a user waits, start-up included."
    )
    yield _table(
        ("build", "false alarms", "found", "open locations", "seconds: median", "most"), rows
    )


def _executed_row(name: str, found: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    called = [
        {row.split()[0] for row, outcome in one["outcomes"].items() if outcome == "regressed"}
        for one in found
    ]
    pairs = list(zip(found, called, strict=True))
    locations = [
        outcome == "inconclusive"
        for one in found
        for row, outcome in one["outcomes"].items()
        if row.endswith(" p25")
    ]
    seconds = [one["seconds"] for one in found]
    hits = rate(set(one["slower"]) <= names for one, names in pairs)
    return (
        name,
        with_bounds(rate(bool(names - set(one["slower"])) for one, names in pairs)),
        with_bounds(hits) if found[0]["slower"] else "",
        f"{np.mean(locations):.0%}",
        f"{np.median(seconds):.1f}",
        f"{max(seconds):.1f}",
    )


def _replayed(clean: _Line, slower: Mapping[int, _Line], gate: _Gate) -> Iterator[str]:
    rows = [("clean", *clean.cells)]
    rows += [(f"+{percent} %", *line.cells) for percent, line in slower.items()]
    strict = 'gate.margin = "1%"'
    rows.append(("clean, margin 1 %", *gate.clean(config=strict).cells))
    rows.append(("+2 %, margin 1 %", *gate.slower(2, config=strict).cells))
    for where in ("other", "same"):
        sessions = f"rounds-clean-burner-{where}"
        beside = f"busy loop on {'the other CPU' if where == 'other' else 'every CPU'}"
        if len(list((RECORDINGS / sessions).glob("*"))) > 1:
            rows.append((f"clean, {beside}", *gate.clean(sessions).cells))
    yield "## Builds made of recorded rounds"
    yield (
        f"{_sessions()} of a hundred rounds each are recorded in the same way. A build draws\n"
        "rounds of one session in random order and is judged by the gate's own code, which asks\n"
        "for as many as it wants. Half of the sessions were for tuning; these builds are of the\n"
        "other half. They share rounds, so the bounds speak of this machine in these sessions."
    )
    yield _table(("build", "false alarms", "found", "open locations", "rounds each"), rows)


def _rules(sizes: Sizes) -> tuple[list[str], list[Point]]:
    clean = replay_rules(Question(Half.JUDGING), sizes.rules, seed=SEED)
    slower = replay_rules(Question(Half.JUDGING, slower=f"rounds-{_SHOWN}"), sizes.rules, seed=SEED)
    rows, points = [], []
    for name, builds in clean.items():
        alarms = rate(one.is_false_alarm for one in builds)
        hits = rate(one.is_found for one in slower[name])
        rows.append((name, with_bounds(alarms), with_bounds(hits)))
        points.append(Point(name, alarms.hits / alarms.trials, hits.hits / hits.trials))
    blocks = [
        "## Simple rules on the same rounds",
        "What people write themselves, given ten rounds of each build.",
        _table(("rule", "false alarms", f"finds +{_SHOWN} %"), rows),
    ]
    return blocks, points


def _sessions() -> str:
    counts = [len(list((RECORDINGS / one.name).glob("*.json.gz"))) for one in SESSIONS]
    return f"{sum(counts)} sessions"


def _about(path: Path) -> Mapping[str, Any]:
    return read_recording(path).about


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
