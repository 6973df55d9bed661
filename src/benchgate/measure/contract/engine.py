"""What an engine, one per kind of benchmark, does for a session: find and measure benchmarks."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable
from zlib import crc32

if TYPE_CHECKING:
    import random
    from collections.abc import (
        Callable,
        Collection,
        Generator,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    from benchgate.measure.contract.found import Discovery
    from benchgate.measure.contract.observation import Observation


class Stopwatch:
    """Adds up the time that is spent inside its `with` block."""

    def __init__(self) -> None:
        self.elapsed_s = 0.0
        self._started_s = 0.0

    def __enter__(self) -> None:
        self._started_s = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.elapsed_s += time.perf_counter() - self._started_s


T = TypeVar("T")


def starting_order(arms: tuple[T, ...], benchmark: str, round_index: int) -> tuple[T, ...]:
    """The order in which the arms begin a round: ABBA over rounds, to cancel a linear drift.

    About half of the benchmarks use BAAB instead, so that a single round is balanced too.
    """
    swapped = round_index % 4 in (1, 2)
    return arms[::-1] if swapped ^ (crc32(benchmark.encode()) & 1) else arms


def ignore(_benchmark: str) -> None:
    """Do nothing, for callers that do not follow the progress."""


class Engine(Protocol):
    """One kind of benchmark, on one or two arms."""

    def discover(self) -> Discovery:
        """Find the benchmarks of every arm, without measuring them."""
        ...

    def measure_round(
        self,
        ids: Sequence[str],
        rng: random.Random,
        round_index: int,
        starting: Callable[[str], None] = ignore,
    ) -> Iterator[Observation]:
        """Measure one launch of each benchmark in every arm that has it.

        Args:
            ids: in the order to measure; an engine may group them.
            rng: the source of every random choice in this round.
            round_index: from 0.
            starting: called with the id of each benchmark before it is measured.

        Yields:
            One observation per benchmark and arm; those of one benchmark follow each other. A
            benchmark that fails in any arm yields its failure and does not affect the others. If
            the base failed, the head was tried too.
        """
        ...

    def close(self) -> None:
        """End every process that is still alive."""
        ...


@runtime_checkable
class CountingEngine(Engine, Protocol):
    """An engine that can count in launches of their own, which take many times longer."""

    def due_for_counting(self, ids: Iterable[str]) -> list[str]:
        """Leave out what the engine cannot count, is not to count, or has counted enough."""
        ...

    def count_round(
        self,
        ids: Sequence[str],
        round_index: int,
        starting: Callable[[str], None] = ignore,
    ) -> Generator[Sequence[Observation]]:
        """Count benchmarks that this round has timed, while nothing is timed.

        Args:
            ids: those that are due.
            round_index: from 0.
            starting: called with the id of each benchmark before it is counted.

        Yields:
            For each benchmark one observation per arm, with a count, or with a note that says why
            there is none.
        """
        ...


@runtime_checkable
class ObservingEngine(Engine, Protocol):
    """An engine that can observe what a benchmark calls."""

    def observes(self, id_: str) -> bool:
        """Whether that is so for a benchmark that was measured on both arms."""
        ...

    def observe(self, id_: str, limit_s: float, metrics: Collection[str]) -> Sequence[Observation]:
        """Observe a benchmark on both arms.

        Args:
            limit_s: time limit for counting the calls on each arm.
            metrics: what is to be explained, as `model.run.observed_as` names it.

        Returns:
            For each arm its calls, or a note that says why they are not known.
        """
        ...


@dataclass(frozen=True, slots=True)
class Task:
    """A part of a round that is measured in one go.

    Attributes:
        ids: what it measures.
        run: measures it on a CPU (None: on any), and is told what to call with the id of each
            benchmark before that is measured; yields as `Engine.measure_round` does.
        halt: ends its processes at once, from any thread; it then yields failures that do not
            count. None if nothing else may be measured at the same time.
    """

    ids: tuple[str, ...]
    run: Callable[[int | None, Callable[[str], None]], Iterator[Observation]]
    halt: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class Division:
    """How a round is to be divided.

    Attributes:
        share_s: how long a task should take at most, so that no lane waits for another.
        costs_s: how long each benchmark took in its last round, as far as known.
    """

    share_s: float = math.inf
    costs_s: Mapping[str, float] = field(default_factory=dict)


@runtime_checkable
class DivisibleEngine(Engine, Protocol):
    """An engine whose rounds consist of parts that do not need each other.

    Attributes:
        peak_bytes: the most memory that the processes of a part have used so far, all together.
    """

    peak_bytes: int

    def tasks(
        self,
        ids: Sequence[str],
        rng: random.Random,
        round_index: int,
        division: Division,
    ) -> Sequence[Task]:
        """Divide a round.

        Args:
            ids: in the order to measure; an engine may group them.
            rng: the source of every random choice; all are drawn before this returns, so they do
                not depend on what is measured when.
            round_index: from 0.
        """
        ...


def tasks_of(
    engine: Engine,
    ids: Sequence[str],
    rng: random.Random,
    round_index: int,
    division: Division,
) -> Sequence[Task]:
    """Divide a round of any engine; one that cannot be divided is measured alone, as a whole."""
    if isinstance(engine, DivisibleEngine):
        return engine.tasks(ids, rng, round_index, division)

    def whole(_cpu: int | None, starting: Callable[[str], None]) -> Iterator[Observation]:
        return engine.measure_round(ids, rng, round_index, starting)

    return (Task(tuple(ids), whole),)
