"""One row of a verdict: what was decided of one benchmark, metric and statistic."""

from __future__ import annotations

from dataclasses import dataclass

from benchgate.json_object import (
    Count,
    Ends,
    Estimate,
    JsonObject,
    Name,
    NotNegative,
    Probability,
    PValue,
    Text,
)
from benchgate.model.comparison import Comparison
from benchgate.model.outcome import Outcome
from benchgate.model.run import Better, Tier
from benchgate.model.waiver import Waiver


@dataclass(frozen=True, slots=True)
class Classical(JsonObject):
    """The textbook comparison of the same data, whichever rule decides.

    Attributes:
        p: two-sided Mann-Whitney without continuity correction; None when not tested.
        p95_ratio: pooled p95 of the head / that of the base, as measured.
        result: "slower", "faster", "same", or "not tested".
    """

    p: PValue
    p95_ratio: Estimate
    result: Text


RUNS_NEEDED = 10
"""So many earlier runs it takes to know how far runs differ."""


@dataclass(frozen=True, slots=True)
class Calibration(JsonObject):
    """What earlier runs on the same machine tell of how far runs differ while the code does not.

    Attributes:
        runs: how many of them measured the same work.
        spread: standard deviation of the logs of their values; None for fewer than two.
        floor: the smallest change that counts, as a fraction; None where they are too few to
            know it, and the row is advisory.
    """

    runs: Count
    spread: NotNegative | None
    floor: NotNegative | None

    @property
    def calibrated(self) -> bool:
        """Whether so many runs are known that the row can decide."""
        return self.floor is not None


@dataclass(frozen=True, slots=True)
class ConfirmationCost(JsonObject):
    """What it would have taken to confirm that a row got worse, or to clear it.

    Attributes:
        rounds: more of them.
        seconds: that these would take, about; None when unknown.
    """

    rounds: Count
    seconds: NotNegative | None = None


@dataclass(frozen=True, slots=True)
class Row(JsonObject):
    """One benchmark, metric and statistic. What does not apply or is unknown has no value.

    Attributes:
        metric: "" on rows that speak of the whole benchmark (new, missing, failed).
        base, head: what is shown of the two sides, in `unit`: head / base is `ratio`. The base is
            its median, and the head follows; on a calibrated row the head is its median, and the
            base the geometric mean of the earlier runs. Without a ratio both are medians.
        base_median, head_median: of the statistic over the launches, as measured. Their quotient
            can differ from `ratio`, which is estimated round by round.
        ratio: head / base, the Hodges-Lehmann estimate, on calibrated rows that of base and head;
            `better` says which side is worse.
        interval: of `ratio`, at `confidence`.
        margin: the smallest change that matters, as a fraction.
        p, p_adjusted: one-sided, of the test that decided; None on rows that were not confirmed.
        launches: of base and head that the decision rests on.
        test: "wilcoxon", "mann-whitney", "prediction", "exact", "threshold".
        detectable: the smallest ratio (on the side > 1) that could have been seen.
        rounds_needed: how many more rounds would settle an open row.
        unconfirmed: of a row that looked worse, and was neither confirmed nor cleared before the
            measuring ended.
        advisory: the evidence alone must not fail a build.
        calibration: of rows that rest on stored launches.
        waiver: what the regression or the removal is waived by; on a row that regressed all the
            same, what it goes beyond.
        renamed_from: the base's id, where an alias joined it with the head's.
        detail: every other estimate and test, where it was asked for.
        error: why it failed, one line, then its output's tail.
    """

    benchmark: Name
    outcome: Outcome
    metric: Text = ""
    statistic: Text = ""
    unit: Text = ""
    better: Better = Better.LOWER
    base: Estimate = None
    head: Estimate = None
    base_median: Estimate = None
    head_median: Estimate = None
    ratio: Estimate = None
    interval: Ends | None = None
    confidence: Probability = 0.95
    margin: Estimate = None
    p: PValue = None
    p_adjusted: PValue = None
    launches: tuple[Count, Count] = (0, 0)
    tier: Tier | None = None
    test: Text | None = None
    detectable: Estimate = None
    rounds_needed: Count | None = None
    unconfirmed: ConfirmationCost | None = None
    advisory: bool = False
    calibration: Calibration | None = None
    waiver: Waiver | None = None
    classical: Classical | None = None
    renamed_from: Text | None = None
    detail: Comparison | None = None
    notes: tuple[Text, ...] = ()
    error: Text | None = None
    location: Text | None = None
    display_unit: Text | None = None

    @property
    def deciding_ratio(self) -> float | None:
        """The ratio that the outcome rests on: under the classical rule that of p95."""
        if self.test == "classical" and self.classical:
            return self.classical.p95_ratio
        return self.ratio

    @property
    def excused(self) -> Outcome | None:
        """Why nothing had to be compared: missing or incomparable, and waived. Else None."""
        waived = self.waiver if self.outcome is Outcome.WAIVED else None
        return waived.outcome if waived and waived.ceiling is None else None

    @property
    def worse_ratio(self) -> float | None:
        """The ratio on the scale where > 1 is worse, whatever the metric's direction."""
        if self.ratio is None:
            return None
        if self.better is Better.LOWER:
            return self.ratio
        return 1 / self.ratio if self.ratio else float("inf")
