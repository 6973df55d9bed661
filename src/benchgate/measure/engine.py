"""What each kind of benchmark offers to a session: find benchmarks, measure a round of them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from benchgate.arrays import FloatArray
    from benchgate.model.run import Metric, Tier
    from benchgate.stats.timer import Timer


class ArmName(StrEnum):
    """Which side of the comparison."""

    BASE = "base"
    HEAD = "head"


@dataclass(frozen=True, slots=True)
class Arm:
    """One tree to measure.

    Attributes:
        root: its files; commands run here.
        env: folder for its own environment, which `[build]` may fill; it may not exist.
        sha: its commit, "" outside of git.
        variables: added to the environment of everything that runs in it.
    """

    name: ArmName
    root: Path
    env: Path
    sha: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)

    def substitute(self, text: str) -> str:
        """Replace {root}, {env} and {sha}; other braces stay as they are."""
        for key, value in (("root", self.root), ("env", self.env), ("sha", self.sha)):
            text = text.replace(f"{{{key}}}", str(value))
        return text


@dataclass(frozen=True, slots=True)
class Definition:
    """A benchmark that an engine found in one arm; the other fields are those of BenchmarkResult.

    Attributes:
        id: the same in both arms.
        renamed_from: the id that the base itself has for it, if the head renamed it.
        also_runs: lines of its file that run on import and are no part of its work, by digest.
    """

    id: str
    workload: str
    tier: Tier
    tags: tuple[str, ...] = ()
    location: str | None = None
    display_unit: str | None = None
    notes: tuple[str, ...] = ()
    renamed_from: str | None = None
    parts: Mapping[str, str] = field(default_factory=dict)
    also_runs: Mapping[str, int] = field(default_factory=dict)

    @property
    def own_id(self) -> str:
        """The id that its own arm has for it."""
        return self.renamed_from or self.id


@dataclass(frozen=True, slots=True)
class DiscoveryFailure:
    """A place where benchmarks were expected and could not be read.

    Attributes:
        id: what stands for the benchmarks that were not found, e.g. the group of the file.
        error: one line, then the tail of the output.
        of_all: no arm's numbers would mean anything, so it is a failure of every arm.
    """

    arm: ArmName
    id: str
    error: str
    of_all: bool = False


@dataclass(frozen=True, slots=True)
class Discovery:
    """What an engine found, in each arm.

    Attributes:
        toolchains: versions of what the benchmarks run with, by arm and tool.
        timers: the clock that times them, by arm, if it is one of Python's; the slowest of
            several.
    """

    found: Mapping[ArmName, tuple[Definition, ...]]
    failures: tuple[DiscoveryFailure, ...] = ()
    toolchains: Mapping[ArmName, Mapping[str, str]] = field(default_factory=dict)
    timers: Mapping[ArmName, Timer] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class MetricSamples:
    """One metric in one launch; arrays as in model.result.Launch."""

    metric: Metric
    loops: int
    samples: FloatArray
    warmup: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """One arm's launch of one benchmark in one round, or how it failed.

    Attributes:
        order: this arm's place in the round, 0 for the arm that was started first.
        metrics: empty when it failed.
        error: one line, then the tail of its output; None when it ran.
        of_all: no arm's numbers would mean anything, so it failed on every arm that has it.
        notes: what a reader of the numbers must know.
        once_s: of the time that it took on all arms, what only the first round needs.
    """

    arm: ArmName
    benchmark: str
    order: int
    metrics: tuple[MetricSamples, ...] = ()
    error: str | None = None
    notes: tuple[str, ...] = ()
    once_s: float = 0.0
    of_all: bool = False


class Stopwatch:
    """Adds up the time that is spent inside of it."""

    def __init__(self) -> None:
        self.elapsed_s = 0.0
        self._started_s = 0.0

    def __enter__(self) -> None:
        self._started_s = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.elapsed_s += time.perf_counter() - self._started_s


class Engine(Protocol):
    """One kind of benchmark, on one or two arms."""

    def discover(self) -> Discovery:
        """Find the benchmarks of every arm, without measuring them."""
        ...

    def measure_round(
        self, ids: Sequence[str], rng: random.Random, round_index: int
    ) -> Iterator[Observation]:
        """Measure one launch of each benchmark on every arm that has it.

        Args:
            ids: in the order to measure them in, as far as the engine is free to.
            rng: every random choice of this round is drawn from it.
            round_index: from 0.

        Yields:
            For each benchmark one observation per arm, arms of one benchmark together. A
            benchmark that fails on any arm yields its failure and spoils no other. If the
            base failed, the head has been tried, too.
        """
        ...

    def close(self) -> None:
        """End every process that is still alive."""
        ...
