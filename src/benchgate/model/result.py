"""What was measured: a result file holds one run, and the base's run measured in turn with it.

Values are in base units (s, B, counts). Arrays are float64, one-dimensional and in the
order in which they were measured; nobody changes them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.arrays import FloatArray
    from benchgate.model.environment import Environment
    from benchgate.model.policy import Policy
    from benchgate.model.screening import Screening


CANARY_ID = "benchgate/canary/loop"
FILES_CANARY_ID = "benchgate/canary/files"
CANARY_IDS = frozenset({CANARY_ID, FILES_CANARY_ID})

CHANGED_FILES_ID = "benchgate/files"
"""Has failed where files were changed that must not be while they are measured; no benchmark."""
"""Id of the fixed workload that is measured beside the user's benchmarks."""

MAX_SHARDS = 1000
"""A suite is split into no more parts: each has its share of alpha, which must stay a number."""


class Better(StrEnum):
    """The direction in which a metric improves."""

    LOWER = "lower"
    HIGHER = "higher"


class Kind(StrEnum):
    """What a metric's values are: sampled again and again, exact, or a summary of lost samples."""

    SAMPLED = "sampled"
    EXACT = "exact"
    SUMMARY = "summary"


class Tier(StrEnum):
    """How the launches of both arms relate to each other; it says how far they can be believed."""

    LOCKSTEP = "lockstep"
    INTERLEAVED = "interleaved"
    STORED = "stored"


class Status(StrEnum):
    """Whether a benchmark ran."""

    OK = "ok"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Metric:
    """A quantity measured on a benchmark."""

    name: str
    unit: str
    better: Better = Better.LOWER
    kind: Kind = Kind.SAMPLED


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """The samples of one fresh process: the unit of independence.

    Attributes:
        round: the pass in which it was measured, from 0; launches of both arms with the
            same round were measured in turn.
        order: this arm's place in the round, 0 for the arm that was started first.
        samples: shape (n,), n >= 1, in the metric's unit, per operation.
        warmup: shape (k,), what was measured before and discarded.
    """

    round: int
    order: int
    samples: FloatArray
    warmup: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """One metric of one benchmark, launch by launch.

    Attributes:
        loops: operations in one sample; a sample is their mean.
        launches: by ascending round.
    """

    metric: Metric
    loops: int
    launches: tuple[Launch, ...]


@dataclass(frozen=True, slots=True, eq=False)
class BenchmarkResult:
    """Everything measured on one benchmark.

    Attributes:
        id: stable across commits, `group/name[param=value]`.
        workload: hash of the benchmark's definition: two runs with different ones
            measured different work.
        tier: how it was measured.
        status: failed when any launch of it failed; `error` then says how.
        error: one line, then the tail of its output; None when ok.
        series: one per metric.
        notes: what a reader of its numbers must know, e.g. "not pinned: no support". One that is
            about one metric begins with its name, "peak_rss: ...".
        location: `path:line` of its definition, relative to the tree; None when unknown.
        display_unit: the unit its author wants times shown in.
        parts: what `workload` is made of, by what a person may call it; digests. It may be empty.
        round_s: how long its last round took on all arms, with what had to be started and set up
            for it; None when unknown.
    """

    id: str
    workload: str
    tier: Tier
    series: tuple[Series, ...] = ()
    status: Status = Status.OK
    error: str | None = None
    notes: tuple[str, ...] = ()
    location: str | None = None
    display_unit: str | None = None
    parts: Mapping[str, str] = field(default_factory=dict)
    round_s: float | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """The code that was measured.

    Attributes:
        sha: commit; None outside of git.
        ref: the name it was asked for by; None when there is none.
        dirty: whether uncommitted changes of tracked files were part of it.
        why: for a base, why it was chosen; else "".
        untracked: how many new files, which git does not track, were part of it.
    """

    sha: str | None = None
    ref: str | None = None
    dirty: bool = False
    why: str = ""
    untracked: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Everything measured for one commit in one job.

    Attributes:
        started: UTC, ISO 8601 with a trailing Z.
        seed: every random choice of the run follows from it.
        complete: False while rounds are still to come, and when it was interrupted.
        screen_rounds: how many of the first rounds were the screen; a verdict
            recomputed from the file needs it.
        until_decided: whether every row was to go on until it is decided; likewise.
        is_mixed: whether it was joined from shards of machines that differ; `environment` is then
            what these have in common.
    """

    source: Source
    started: str
    environment: Environment
    benchmarks: tuple[BenchmarkResult, ...]
    suite: str = "default"
    seed: int = 0
    complete: bool = True
    screen_rounds: int = 0
    until_decided: bool = False
    is_mixed: bool = False

    def differences(self, other: Run) -> tuple[str, ...]:
        """What makes the machines of two runs incomparable, one phrase for each reason."""
        if self.is_mixed or other.is_mixed:
            return ("the shards of one of them ran on machines that differ",)
        return self.environment.differences(other.environment)


@dataclass(frozen=True, slots=True)
class Shard:
    """Which of the parts that a suite was split into.

    Attributes:
        number: from 1.
        count: how many there are, MAX_SHARDS at most.
        dealt: ids of the whole suite, what the other parts measure among them.
    """

    number: int
    count: int
    dealt: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """One result file.

    Attributes:
        head: the run.
        base: the run of the other arm, when both were measured in turn.
        duration_s: wall time of building and measuring.
        warnings: about the whole of it.
        tool: name and version of what measured it.
        shard: which part of the suite it is; None where it is all of it.
        shards: the results that it was joined from, in the order of their numbers: `head` and
            `base` then hold what all of them measured, but for the canary that each had.
        screening: what stored runs said first; `base` is then None where they settled all, or
            both arms hold what they did not settle.
        policy: by what it was judged, where that is to be repeated elsewhere.
    """

    head: Run
    base: Run | None = None
    duration_s: float = 0.0
    warnings: tuple[str, ...] = ()
    tool: str = field(default="benchgate")
    shard: Shard | None = None
    shards: tuple[Result, ...] = ()
    screening: Screening | None = None
    policy: Policy | None = None
