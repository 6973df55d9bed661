"""What an engine, one per kind of benchmark, does for a session: find and measure benchmarks."""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol, Self, TypeVar, runtime_checkable
from zlib import crc32

import numpy as np

from benchgate.model.run import PEAK_RSS, BenchmarkFiles, Better, Kind, Metric

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
    from pathlib import Path

    from benchgate.arrays import FloatArray
    from benchgate.model.calls import CallTree
    from benchgate.model.load import LoadLaunch, LoadResult
    from benchgate.model.run import Tier
    from benchgate.stats.timer import Timer


class ArmName(StrEnum):
    """The side of the comparison: base or head."""

    BASE = "base"
    HEAD = "head"


@dataclass(frozen=True, slots=True)
class Arm:
    """One tree to measure.

    Attributes:
        root: folder of its files.
        env: folder for its own environment, which `[build]` may fill; it may not exist.
        sha: its commit; "" outside of git.
        variables: added to the environment of all commands that run in it.
        inside: the folder of its configuration, relative to the root.
        is_lent: whether it has the benchmark files of the other side.
    """

    name: ArmName
    root: Path
    env: Path
    sha: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    inside: str = "."
    is_lent: bool = False

    @property
    def folder(self) -> Path:
        """The folder that the paths of its configuration start from, and where commands run."""
        return self.root / self.inside

    def substitute(self, text: str) -> str:
        """Replace {root}, {env} and {sha}; leave other braces alone."""
        for key, value in (("root", self.root), ("env", self.env), ("sha", self.sha)):
            text = text.replace(f"{{{key}}}", str(value))
        return text

    def generalize(self, text: str, *, is_other: bool = False) -> str:
        """Name its folders {env} and {root} in a text: their paths differ in every run.

        Args:
            is_other: the text is about another arm, so say whose folders they are.
        """
        whose = f" of the {self.name}" if is_other else ""
        for name, folder in (("env", self.env), ("root", self.root)):
            text = re.sub(rf"{re.escape(str(folder))}(?![\w-])", f"{{{name}{whose}}}", text)
        return text

    def why_missing(self, program: str) -> str:
        """Say that nothing creates {env}, if a program that was not found would be in there."""
        if self.env.exists() or not program.startswith(f"{self.env}/"):
            return ""
        return (
            "no command of [build] creates {env}: add some, such as "
            'command = ["python3 -m venv {env}", "{env}/bin/pip install ."]'
        )


@dataclass(frozen=True, slots=True)
class Definition:
    """A benchmark that an engine found in one arm; the other fields are those of BenchmarkResult.

    Attributes:
        id: the same in both arms.
        kind: the key of the table [[benchmark]] that names it.
        renamed_from: its id in the base, if the head renamed it.
        suite: names the suite that is run to measure it; "" if it is measured alone.
        is_unrun_suite: whether it stands for a suite that was not run, and its benchmarks.
        load: the load under which it is measured, without launches; None for no scenario.
        rounds: how many rounds `benchgate run` measures of it; None for as many as of all others.
        files, new_version_of: as in BenchmarkResult.
    """

    id: str
    workload: str
    tier: Tier
    kind: str = ""
    tags: tuple[str, ...] = ()
    location: str | None = None
    display_unit: str | None = None
    notes: tuple[str, ...] = ()
    renamed_from: str | None = None
    parts: Mapping[str, str] = field(default_factory=dict)
    suite: str = ""
    is_unrun_suite: bool = False
    load: LoadResult | None = None
    rounds: int | None = None
    files: BenchmarkFiles = BenchmarkFiles.OWN
    new_version_of: str | None = None

    @property
    def own_id(self) -> str:
        return self.renamed_from or self.id


@dataclass(frozen=True, slots=True)
class DiscoveryFailure:
    """A place where benchmarks were expected but could not be read.

    Attributes:
        id: stands for the benchmarks that were not found, e.g. the group of the file.
        error: one line, then the tail of the output.
        of_all: the failure counts for every arm, because no arm's numbers would be meaningful.
        suite: the suite that failed as a whole, if `id` is one of its benchmarks; else "".
    """

    arm: ArmName
    id: str
    error: str
    of_all: bool = False
    suite: str = ""


@dataclass(frozen=True, slots=True)
class Discovery:
    """The benchmarks that an engine found in each arm.

    Attributes:
        toolchains: versions of the tools that run the benchmarks, by arm and tool.
        timers: by arm, the Python clock that times the benchmarks, if there is one; if there are
            several, the slowest.
        runtimes: by arm, which Python runs its functions, and where it imported its code from.
        warnings: what a reader of the result must know, and what concerns no single benchmark.
    """

    found: Mapping[ArmName, tuple[Definition, ...]]
    failures: tuple[DiscoveryFailure, ...] = ()
    toolchains: Mapping[ArmName, Mapping[str, str]] = field(default_factory=dict)
    timers: Mapping[ArmName, Timer] = field(default_factory=dict)
    runtimes: Mapping[ArmName, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class MetricSamples:
    """One metric in one launch; arrays and counter as in `model.run.Launch` and `Series`."""

    metric: Metric
    loops: int
    samples: FloatArray
    warmup: FloatArray
    counter: str = ""

    @classmethod
    def single(cls, metric: Metric, value: float, *, loops: int = 1, counter: str = "") -> Self:
        """A launch that has one value and no warm-up."""
        return cls(metric, loops, np.array([value], np.float64), np.empty(0), counter)


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """One arm's launch of one benchmark in one round, or how it failed.

    Attributes:
        order: this arm's position in the round; 0 for the arm that started first.
        metrics: empty if it failed.
        error: one line, then the tail of its output; None if it succeeded.
        of_all: the failure counts for every arm that has the benchmark, because no arm's numbers
            would be meaningful.
        skipped: it did not fail, but its author has said that it does not run here; `error` says
            why.
        notes: notes that a reader of the numbers must see.
        once_s: the part of its time on all arms, in seconds, that only the first round needs;
            negative for time that was spent before.
        load: what it did under load, if it is a step of a scenario that did not fail; its `round`
            is that of the observation.
        server: version and settings of what was under load, if it was asked for them.
        runs_own_code: whether it may have run code of its side, beside that of the benchmarks.
        uses_files: whether it may have read or written files while it was timed.
        lane: as in `model.run.Launch`.
        calls: what it called, by metric, if that was observed.
    """

    arm: ArmName
    benchmark: str
    order: int
    metrics: tuple[MetricSamples, ...] = ()
    error: str | None = None
    notes: tuple[str, ...] = ()
    once_s: float = 0.0
    of_all: bool = False
    skipped: bool = False
    load: LoadLaunch | None = None
    server: Mapping[str, str] = field(default_factory=dict)
    runs_own_code: bool = True
    uses_files: bool = True
    lane: int | None = None
    calls: Mapping[str, CallTree] = field(default_factory=dict)


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


_VALUE: Final = "value"
_SIZES: Final[Mapping[str, Metric]] = {
    PEAK_RSS.name: PEAK_RSS,
    "memory": Metric("memory", "B", kind=Kind.EXACT),
}
_UNITS: Final[Mapping[str, str]] = {"seconds": "s", "second": "s", "sec": "s", "bytes": "B"}
_RATE: Final = re.compile(r"(/s(ec(ond)?)?|per second|\bops)$", re.IGNORECASE)


def metric_of(measures: str, unit: str) -> Metric | None:
    """The metric of a benchmark that returns a number; None if it is timed.

    Less is better, as under asv, unless the unit is that of a rate.

    Args:
        measures: what it is measured by: "time", "value", or the name of a size.
        unit: as the benchmark names it; it only counts if the benchmark chooses it.
    """
    if measures != _VALUE:
        return _SIZES.get(measures)
    better = Better.HIGHER if _RATE.search(unit.strip()) else Better.LOWER
    return Metric(_VALUE, _UNITS.get(unit, unit), better, Kind.EXACT)
