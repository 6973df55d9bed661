"""The results with simulated stored baselines, as blocks of Markdown."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

import numpy as np
from benchmarks.gate.machines import BENCHMARKS, SLOWER
from benchmarks.gate.stored import Between, Question, Screened, ask, screen
from benchmarks.gate.tables import table
from benchmarks.gate.tally import rate, with_bounds

from benchgate.model.verdict import RUNS_NEEDED
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Executor

EFFECTS = (0.0, 0.02, 0.05, 0.10, 0.15)
RUNS = (1, 3, 5, 10, 20, 30)
CHANGES = (0.05, 0.10, 0.20, 0.50)
_TYPICAL_EFFECT = 0.05
_STEADY_EFFECTS = (0.0, 0.002, 0.005, 0.01, 0.02)
_STEADY_LAUNCHES = 0.005
_SCREENED_CHANGE = 0.05

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Asker:
    """Asks each question a number of times, always with the same answers."""

    pool: Executor
    seed: int

    def ask(self, question: Question, builds: int) -> list[frozenset[str]]:
        return self._all(ask, question, builds)

    def screen(self, question: Question, builds: int) -> list[Screened]:
        return self._all(screen, question, builds)

    def _all(
        self, one: Callable[[Question, tuple[int, ...]], T], question: Question, builds: int
    ) -> list[T]:
        # Each question has its own random numbers, so that their answers may be added up.
        seeds = [(self.seed, crc32(repr(question).encode()), i) for i in range(builds)]
        return list(self.pool.map(partial(one, question), seeds, chunksize=8))


def stored_blocks(
    builds: int, *, seed: int, processes: int, say: Callable[[str], None]
) -> list[str]:
    """Simulate stored baselines, and give the results in blocks of Markdown.

    Args:
        builds: how many clean ones of each kind; a quarter as many changed ones, and a fifth as
            many screened ones.
    """
    blocks: list[str] = []
    with ProcessPoolExecutor(processes) as pool:
        asker = _Asker(pool, seed)
        for part in (_false_alarms, _found, _otherwise, _screened):
            for block in part(asker, builds):
                say(block + "\n")
                blocks.append(block)
    return blocks


def _false_alarms(asker: _Asker, builds: int) -> Iterator[str]:
    kinds = [(counted(runs, "earlier run"), runs, False) for runs in RUNS]
    kinds.append((f"{RUNS[-1]} of another machine, 30 % faster", RUNS[-1], True))
    rows = []
    for name, runs, other in kinds:
        found = [
            [bool(x) for x in asker.ask(Question(effect, runs, other_machine=other), builds)]
            for effect in EFFECTS
        ]
        shares = [f"{sum(x) / len(x):.1%}" for x in found]
        rows.append((name, *shares, with_bounds(rate(chain.from_iterable(found)))))
    yield (
        "Clean builds that fail, by how much runs of equal code differ (standard deviation; half\n"
        "of the variance is shared by the ten benchmarks). With fewer than ten runs, or with runs\n"
        "of another machine, nothing can fail."
    )
    yield table(("baseline", *(f"{effect:.0%}" for effect in EFFECTS), "all"), rows)


def _found(asker: _Asker, builds: int) -> Iterator[str]:
    rows = []
    for runs in (runs for runs in RUNS if runs >= RUNS_NEEDED):
        for effect in EFFECTS:
            found = asker.ask(Question(effect, runs, CHANGES), builds // 4)
            shares = [rate(id_ in x for x in found) for id_ in BENCHMARKS[: len(CHANGES)]]
            unchanged = set(BENCHMARKS[len(CHANGES) :])
            alarms = rate(bool(x & unchanged) for x in found)
            cells = [f"{x.hits / x.trials:.0%}" for x in shares]
            rows.append((str(runs), f"{effect:.0%}", *cells, with_bounds(alarms)))
    yield "Slowdowns found, when four of the ten benchmarks got slower:"
    titles = ("runs", "runs differ by", *(f"+{change:.0%}" for change in CHANGES), "false alarms")
    yield table(titles, rows)


def _otherwise(asker: _Asker, builds: int) -> Iterator[str]:
    counts = (RUNS_NEEDED, RUNS[-1])
    rows = []
    for between in Between:
        found = [
            asker.ask(Question(_TYPICAL_EFFECT, runs, between=between), builds) for runs in counts
        ]
        rows.append((between.value, *(with_bounds(rate(map(bool, x))) for x in found)))
    yield (
        f"Clean builds that fail when runs differ by {_TYPICAL_EFFECT:.0%}, by what else happens\n"
        "between runs:"
    )
    yield table(("between runs", *(counted(runs, "run") for runs in counts)), rows)


def _screened(asker: _Asker, builds: int) -> Iterator[str]:
    rows = []
    steady = Question(0.0, RUNS[-1], launch_spread=_STEADY_LAUNCHES)
    for effect in _STEADY_EFFECTS:
        clean = asker.screen(replace(steady, effect=effect), builds // 5)
        changed = replace(steady, effect=effect, changes=(_SCREENED_CHANGE,))
        slower = asker.screen(changed, builds // 5)
        rows.append(
            (
                f"{effect:.1%}",
                f"{np.mean([x.settled for x in clean]) / len(BENCHMARKS):.0%}",
                with_bounds(rate(bool(x.regressed) for x in clean)),
                with_bounds(rate(SLOWER in x.regressed for x in slower)),
                f"{np.mean([x.launches for x in clean]):.0f}",
                f"{np.mean([x.without for x in clean]):.0f}",
            )
        )
    yield (
        f"Builds screened by {RUNS[-1]} stored runs whose launches differ by\n"
        f"{_STEADY_LAUNCHES:.1%}. What the stored runs do not settle is measured in turn with\n"
        "the base. The last columns count the launches of a clean build (ten benchmarks, base\n"
        "and head), and how many it takes to measure everything in turn:"
    )
    found = f"finds +{_SCREENED_CHANGE:.0%}"
    yield table(
        ("runs differ by", "settled", "false alarms", found, "launches", "all in turn"), rows
    )
