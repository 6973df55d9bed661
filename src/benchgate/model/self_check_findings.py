"""The findings of a self-check, as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchgate.model.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Tail:
    """Whether the slowest samples of a benchmark can be compared.

    Attributes:
        obstacle: why they cannot be compared; "" if they can.
        detectable: as in `Sensitivity`; None also if the slowest samples cannot be compared.
        statistic: the one that describes them, such as "p95".
        samples: number of samples in the shortest launch.
        needed_samples: number of samples that each launch needs.
        sample_s: how long one sample takes.
        loops: operations in one sample.
        settles: whether a check measures until it is settled, too.
        rounds, least_margin: as in `Sensitivity`.
    """

    obstacle: str
    detectable: float | None
    statistic: str
    samples: int
    needed_samples: int
    sample_s: float
    loops: int
    settles: bool = False
    rounds: int | None = None
    least_margin: float | None = None


@dataclass(frozen=True, slots=True)
class SteadierMetric:
    """Another metric of the same benchmark that is much steadier.

    Attributes:
        rounds: as in `Sensitivity`.
        share: its value as a share of the value of the metric that is compared.
    """

    metric: str
    pair_spread: float
    rounds: int | None
    share: float


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """What one metric of one benchmark can show.

    Attributes:
        pair_spread: robust standard deviation of log(head / base) over the rounds.
        launch_spread: robust standard deviation of the logs of one side over the launches.
        detectable: the smallest ratio that a check finds in 9 of 10 cases; None if above 100.
        margin: the configured margin, as a fraction.
        rounds: how many show in 9 of 10 cases that nothing has changed; None if above 1000.
        limit: the most rounds that a check measures.
        least_margin: the smallest margin for which `limit` rounds suffice; None if above 1000 %.
        tail: None if tails are not compared.
        counted: whether its instructions are counted as well.
        unpinned: why it is not pinned to one CPU; "" if it is.
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
    steadier: SteadierMetric | None = None
    counted: bool = False
    unpinned: str = ""
    is_command: bool = False

    @property
    def is_decidable(self) -> bool:
        """Whether a check has enough rounds for its margin."""
        return self.rounds is not None and self.rounds <= self.limit

    @property
    def open_tail(self) -> Tail | None:
        """The tail, if it should be settled, and a check has too few rounds for its margin."""
        tail = self.tail
        if tail is None or tail.obstacle or not tail.settles:
            return None
        return None if tail.rounds is not None and tail.rounds <= self.limit else tail


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """The same code measured on both sides.

    Attributes:
        verdict: on all rounds; every change that it reports is a false alarm.
        rows: one per benchmark and metric that is compared, the noisiest first.
        launch_time_s, executions, alpha: as configured.
        samples: how many a launch of a Python function takes, if its work is short enough.
        stretch: by how many times the launch time was lengthened to keep all samples.
        stolen: share of the CPUs' time that the hypervisor gave to others; None if unknown.
    """

    verdict: Verdict
    rows: tuple[Sensitivity, ...]
    launch_time_s: float
    executions: int
    alpha: float
    samples: int
    stretch: int
    stolen: float | None = None
