"""What simulated stored baselines come to, as blocks of markdown."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
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
_SCREENED_CHANGE = 0.05

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Asker:
    """Asks each question so many times, always with the same answers."""

    pool: Executor
    seed: int

    def ask(self, question: Question, builds: int) -> list[frozenset[str]]:
        return self._all(ask, question, builds)

    def screen(self, question: Question, builds: int) -> list[Screened]:
        return self._all(screen, question, builds)

    def _all(
        self, one: Callable[[Question, tuple[int, ...]], T], question: Question, builds: int
    ) -> list[T]:
        # Each question has random numbers of its own, so that their answers may be added up.
        seeds = [(self.seed, crc32(repr(question).encode()), i) for i in range(builds)]
        return list(self.pool.map(partial(one, question), seeds, chunksize=8))


def stored_blocks(
    builds: int, *, seed: int, processes: int, say: Callable[[str], None]
) -> list[str]:
    """Simulate stored baselines, and give what came out in blocks of markdown.

    Args:
        builds: clean ones of each kind; a quarter of changed ones, a fifth of screened ones.
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
        "Clean builds that fail, by how far runs of equal code differ (standard deviation; half\n"
        "of the variance is shared by the ten benchmarks). Below ten runs, and with those of\n"
        "another machine, nothing can fail."
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
    yield "Found, where four of the ten benchmarks got slower:"
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
        f"Clean builds that fail where runs differ by {_TYPICAL_EFFECT:.0%}, and by what else\n"
        "happens from one to the next:"
    )
    yield table(("between runs", *(counted(runs, "run") for runs in counts)), rows)


def _screened(asker: _Asker, builds: int) -> Iterator[str]:
    rows = []
    for effect in EFFECTS:
        clean = asker.screen(Question(effect, 1), builds // 5)
        slower = asker.screen(Question(effect, 1, (_SCREENED_CHANGE,)), builds // 5)
        rows.append(
            (
                f"{effect:.0%}",
                with_bounds(rate(bool(x.regressed) for x in clean)),
                with_bounds(rate(SLOWER in x.regressed for x in slower)),
                f"{np.mean([x.launches for x in clean]):.0f}",
                f"{np.mean([x.without for x in clean]):.0f}",
            )
        )
    yield (
        "Screened by one stored run, and what looks changed measured in turn with the base; then\n"
        "the launches of a clean build, of ten benchmarks and both sides, and how many there are\n"
        "where everything is measured in turn:"
    )
    found = f"finds +{_SCREENED_CHANGE:.0%}"
    yield table(("runs differ by", "false alarms", found, "launches", "all in turn"), rows)
