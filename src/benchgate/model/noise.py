"""What a self-check found: how small a change each benchmark can show on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchgate.model.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Tail:
    """Whether the slowest samples of a benchmark can be compared.

    Attributes:
        obstacle: why not; "" when they can.
        detectable: as in `Sensitivity`; None also where they cannot.
        samples: in the shortest launch.
        sample_s: how long one takes.
        loops: operations in one.
    """

    obstacle: str
    detectable: float | None
    samples: int
    sample_s: float
    loops: int


@dataclass(frozen=True, slots=True)
class Steadier:
    """Another metric of the same benchmark that is much steadier.

    Attributes:
        rounds: as in `Sensitivity`.
        share: its value as a share of the metric's that is compared.
    """

    metric: str
    pair_spread: float
    rounds: int | None
    share: float


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """What one metric of one benchmark can show.

    Attributes:
        pair_spread: robust standard deviation of log(head / base), from round to round.
        launch_spread: of the logs of one side, from launch to launch.
        detectable: the smallest ratio that a check finds in 9 of 10 cases; None beyond 100.
        margin: as a fraction.
        rounds: that show in 9 of 10 cases that nothing has changed; None beyond a thousand.
        limit: how many rounds a check gives it at most.
        least_margin: the smallest that these would be enough for; None beyond 1000 %.
        tail: None where tails are not compared.
        counted: whether its instructions are counted as well.
        unpinned: why it is not kept on one CPU; "" when it is.
    """

    benchmark: str
    metric: str
    pair_spread: float
    launch_spread: float
    detectable: float | None
    margin: float
    rounds: int | None
    limit: int
    least_margin: float | None
    tail: Tail | None = None
    steadier: Steadier | None = None
    counted: bool = False
    unpinned: str = ""
    is_command: bool = False

    @property
    def is_decidable(self) -> bool:
        """Whether a check has enough rounds for its margin."""
        return self.rounds is not None and self.rounds <= self.limit


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Builds made of the rounds of a self-check, judged as a check would judge them.

    Attributes:
        clean: builds in which nothing was changed.
        alarms: of these, how many failed.
        alarms_at_most: share of all such builds that fail, with 95 % confidence.
        blamed: the benchmarks that made them fail, the most frequent first.
        slower: builds in which one benchmark was made slower by one and a half margins.
        found: of these, in how many it was found.
        found_at_least: share of all such builds, with 95 % confidence.
        missed: the benchmarks that were not found, the most frequent first.
        cut_short: of all, how many had too few rounds to be judged as they should be.
    """

    clean: int
    alarms: int
    alarms_at_most: float
    blamed: tuple[str, ...]
    slower: int
    found: int
    found_at_least: float
    missed: tuple[str, ...]
    cut_short: int


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """The same code measured on both sides.

    Attributes:
        verdict: on all rounds; whatever it says has changed has not.
        rows: one per benchmark and metric that is compared, the noisiest first.
        rehearsal: None where nothing could be judged, and under the textbook rule.
        launch_time_s, executions, alpha: as they were configured.
        tail_samples: per launch, which a tail needs.
        stretch: how many times the launch time is spent to keep all samples.
        stolen: share of the CPUs' time that the hypervisor gave to others; None where unknown.
    """

    verdict: Verdict
    rows: tuple[Sensitivity, ...]
    rehearsal: Rehearsal | None
    launch_time_s: float
    executions: int
    alpha: float
    tail_samples: int
    stretch: int
    stolen: float | None = None
