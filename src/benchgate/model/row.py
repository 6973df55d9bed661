"""A row of the verdict: one metric of one benchmark, compared.

The other estimates and tests of a row are computed from all rounds, including those that raised a
suspicion: they describe what was measured, and decide nothing. Ratios are head / base as measured.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from benchgate.interval import CONFIDENCE, Interval
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
from benchgate.model.calls import Edit
from benchgate.model.metrics import ERROR_RATIO, TAIL_METRICS, Better, TimeUnit
from benchgate.model.policy import Outcome, Waiver
from benchgate.model.result import MOST_RECENT
from benchgate.model.run import Tier
from benchgate.units import RATE_UNIT

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class RatioEstimate(JsonObject):
    """One estimate of the ratio head / base.

    Attributes:
        name: the estimator, such as "Hodges-Lehmann, of rounds".
        interval: None if there are too few launches for the requested confidence.
    """

    name: Text
    ratio: float
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Significance(JsonObject):
    """One test of the hypothesis that nothing changed.

    Attributes:
        name: "Wilcoxon signed rank", "Mann-Whitney, exact".
        p: two-sided.
        p_greater, p_less: one-sided p-values for a head that measures more, or less, than the base.
    """

    name: Text
    p: Probability
    p_greater: Probability | None = None
    p_less: Probability | None = None


@dataclass(frozen=True, slots=True)
class Effect(JsonObject):
    """How far apart the launch values of the two arms are; > 0 if the head's are greater.

    Attributes:
        cliffs_delta: P(head > base) - P(head < base).
        vargha_delaney_a: P(head > base), with ties counted half.
        cohens_d, hedges_g: difference of the means in standard deviations; None without spread.
        magnitude: of Cliff's delta, in words.
    """

    cliffs_delta: float
    vargha_delaney_a: float
    cohens_d: float | None
    hedges_g: float | None
    magnitude: Text


@dataclass(frozen=True, slots=True)
class Comparison(JsonObject):
    """Further estimates and tests of a row, from all of its rounds; none of them decides.

    Attributes:
        launches: number of launches of base and head, all counted.
        q: the two-sided p of the first test, adjusted over all rows (Benjamini-Hochberg).
        power: the probability for which the next two are computed.
        detectable_ratio: the smallest ratio that this many launches would find; None if they are
            too few for any p to reach alpha, or if it is above 100.
        launches_needed: on each side, to find a change of the margin; None for a single launch, or
            if more are needed than were tried.
        notes: which of the figures not to trust, and why.
    """

    launches: tuple[Count, Count]
    ratios: tuple[RatioEstimate, ...]
    tests: tuple[Significance, ...]
    effect: Effect
    q: Probability | None
    power: Probability
    detectable_ratio: float | None
    launches_needed: Count | None
    notes: tuple[Text, ...] = ()


TAILS: Final[Mapping[str, float]] = {"p95": 0.95, "p99": 0.99, "p99.9": 0.999, "max": 1.0}
"""The statistics of a launch that describe its slowest samples: each a quantile, as a fraction."""
TAIL_STATISTICS = frozenset(TAILS)

VALUE: Final = "value"
"""The statistic of a launch that gives one value of the metric, as a launch under load does."""


def is_tail(metric: str, statistic: str) -> bool:
    """Whether a row is about the slowest samples or operations, not about the typical one."""
    return statistic in TAIL_STATISTICS or (statistic == VALUE and metric in TAIL_METRICS)


@dataclass(frozen=True, slots=True)
class Classical(JsonObject):
    """The textbook comparison of the same data, whichever rule decides.

    Attributes:
        p: two-sided Mann-Whitney without continuity correction; None if not tested.
        p95_ratio: pooled p95 of the head / pooled p95 of the base, as measured.
        result: "slower", "faster", "same", or "not tested".
    """

    p: PValue
    p95_ratio: Estimate
    result: Text


@dataclass(frozen=True, slots=True)
class Calibration(JsonObject):
    """How far earlier runs on the same machine differ although the code does not.

    Attributes:
        runs: how many of them measured the same work.
        spread: standard deviation of the logs of their values; None for fewer than two.
        floor: the smallest change that counts, as a fraction; None if there are too few runs to
            know it: the row is then advisory.
    """

    runs: Count
    spread: NotNegative | None
    floor: NotNegative | None

    @property
    def calibrated(self) -> bool:
        """Whether enough runs are known for the row to decide."""
        return self.floor is not None


@dataclass(frozen=True, slots=True)
class ConfirmationCost(JsonObject):
    """What it would take to confirm that a row got worse, or to clear it.

    Attributes:
        rounds: how many more rounds.
        seconds: about how long these would take; None if unknown.
    """

    rounds: Count
    seconds: NotNegative | None = None


@dataclass(frozen=True, slots=True)
class Cause(JsonObject):
    """A function that a change comes from.

    Attributes:
        location: `path:line` of the head, or of the base if the function is gone; "" if unknown.
        is_own: whether its file belongs to the project.
        callee: what it calls more or less often, or in which it spends the time if calls were not
            counted; "" if that is the function itself, or nothing.
        calls: of the callee, or of the function itself, in an operation of base and head; None if
            they are the same, or not counted.
        amount: how much more or less an operation takes because of it, in the row's unit,
            estimated.
        holds: the edited function that was inlined into it, if its own text does not differ.
        instead_of: the function with the same name that runs as often for the same callers on the
            other side, such as the method that a new one overrides; "" if there is none.
    """

    function: Text
    location: Text
    is_own: bool
    edit: Edit
    callee: Text
    calls: tuple[float, float] | None
    amount: float
    is_counted: bool = True
    holds: Text = ""
    instead_of: Text = ""


@dataclass(frozen=True, slots=True)
class CalledFunction(JsonObject):
    """A function that one operation calls.

    Attributes:
        location, is_own, holds: as in `Cause`.
        calls: in an operation of base and head; None if they were not counted.
        amounts: what an operation of each takes in the function itself, in the row's unit,
            estimated.
    """

    function: Text
    location: Text
    is_own: bool
    edit: Edit
    calls: tuple[NotNegative, NotNegative] | None
    amounts: tuple[NotNegative, NotNegative]
    holds: Text = ""


MOST_FUNCTIONS: Final = 20
"""Most functions that an explanation lists."""


@dataclass(frozen=True, slots=True)
class Explanation(JsonObject):
    """Why a benchmark got slower or faster.

    Attributes:
        causes: the most important first.
        functions: those whose calls or times differ most.
        same_calls: whether both sides make the same calls equally often.
        unobserved: if there are no causes, the edited files of native code that is not observed.
    """

    causes: Annotated[tuple[Cause, ...], Field(max_length=10)] = ()
    functions: Annotated[tuple[CalledFunction, ...], Field(max_length=MOST_FUNCTIONS)] = ()
    same_calls: bool = False
    unobserved: tuple[Text, ...] = ()


_NO_MEASUREMENT: Final = re.compile(
    "always .* too coarse to tell"
    "|(it|the base|the head) reported .* measures nothing"
    "|(the clock shows|its values show) steps of "
)


@dataclass(frozen=True, slots=True)
class Row(JsonObject):
    """One benchmark, metric and statistic. What does not apply or is unknown is null or empty.

    Attributes:
        metric: "" on rows about the whole benchmark (new, missing, failed).
        base, head: the values to show for the two sides, in `unit`: head / base is `ratio`. `base`
            is the median of the base, and `head` follows from it. On a calibrated row `head` is the
            median of the head, and `base` the geometric mean of the earlier runs. Without a ratio
            both are medians.
        base_median, head_median: of the statistic over the launches, as measured. Their quotient
            can differ from `ratio`, which is estimated round by round.
        ratio: head / base, by the Hodges-Lehmann estimate; on calibrated rows the quotient of
            `head` and `base`. `better` says which direction is an improvement.
        interval: of `ratio`, at `confidence`.
        margin: the smallest change that matters, as a fraction.
        p, p_adjusted: of the test that decided, one-sided but for the classical rule; None on rows
            that were not confirmed.
        launches: how many of base and head the decision rests on.
        test: "wilcoxon", "mann-whitney", "prediction", "exact", "threshold", "classical"; "limit"
            on a row that compares the head with a limit: `base` is the limit then.
        detectable: the smallest detectable ratio, given as a ratio above 1.
        rounds_needed: how many more rounds would settle an open row, whether planned or not.
        unconfirmed: for a row that looked worse, but was neither confirmed nor cleared before
            measuring ended.
        decides: whether the metric is one of those that decide; the others are only shown.
        advisory: the evidence must not fail a build by itself.
        calibration: for rows that are compared with stored launches.
        recent: what the newest earlier runs of the same work on the same machine measured, in
            `unit`, the oldest first. They decide nothing here.
        waiver: what allows the regression or the removal; on a row that regressed all the same, the
            waiver that the regression exceeds.
        renamed_from: the base's id, if an alias joins it with the head's.
        detail: all other estimates and tests, if they were requested.
        changed_together: whether the base's version of the benchmark does not run on the head, so
            that each side ran its own: the values are only shown.
        explanation: why it changed, if that was observed.
        error: why it failed: one line, then the tail of the program's output.
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
    confidence: Probability = CONFIDENCE
    margin: Estimate = None
    p: PValue = None
    p_adjusted: PValue = None
    launches: tuple[Count, Count] = (0, 0)
    tier: Tier | None = None
    test: Text | None = None
    detectable: Estimate = None
    rounds_needed: Count | None = None
    unconfirmed: ConfirmationCost | None = None
    decides: bool = True
    advisory: bool = False
    calibration: Calibration | None = None
    recent: Annotated[tuple[float, ...], Field(max_length=MOST_RECENT)] = ()
    waiver: Waiver | None = None
    classical: Classical | None = None
    renamed_from: Text | None = None
    detail: Comparison | None = None
    notes: tuple[Text, ...] = ()
    error: Text | None = None
    location: Text | None = None
    display_unit: TimeUnit | None = None
    changed_together: bool = False
    explanation: Explanation | None = None

    @property
    def is_tail(self) -> bool:
        """Whether the row is about the slowest samples, not about the typical one."""
        return is_tail(self.metric, self.statistic)

    @property
    def is_limit(self) -> bool:
        """Whether the row compares the head with a limit, not with the base."""
        return self.test == "limit"

    @property
    def is_minor(self) -> bool:
        """Whether the row stands for its benchmark only if it is decided, or is the only one."""
        return (
            self.is_tail
            or self.is_limit
            or (self.metric == ERROR_RATIO.name and self.test == "exact")
        )

    @property
    def is_typical(self) -> bool:
        """Whether the benchmark is undecided as long as this row is."""
        return self.decides and not self.is_minor and self.outcome is not Outcome.NOT_SETTLED

    @property
    def is_timed(self) -> bool:
        """Whether it is about a time or a rate, which people look for before counts and sizes."""
        return self.unit in {"s", RATE_UNIT}

    @property
    def is_no_measurement(self) -> bool:
        """Whether it was not tested because its values are too coarse, or do not vary at all."""
        return any(_NO_MEASUREMENT.match(note) for note in self.notes)

    @property
    def policy_outcome(self) -> Outcome:
        """The outcome as `fail_on` names it.

        A row that should be settled but was measured in too few rounds for a test is inconclusive.
        What is over its limit has regressed.
        """
        if self.outcome is Outcome.OVER_LIMIT:
            return Outcome.REGRESSED
        is_short = self.outcome is Outcome.NOT_TESTED and self.is_typical and all(self.launches)
        return Outcome.INCONCLUSIVE if is_short else self.outcome

    @property
    def deciding_ratio(self) -> float | None:
        """The ratio that the outcome rests on: under the classical rule the ratio of the p95."""
        if self.test == "classical" and self.classical:
            return self.classical.p95_ratio
        return self.ratio

    @property
    def excused(self) -> Outcome | None:
        """Why nothing had to be compared: missing or incomparable, and waived. Else None."""
        waived = self.waiver if self.outcome is Outcome.WAIVED else None
        return waived.outcome if waived and waived.ceiling is None else None

    @property
    def is_worse_together(self) -> bool:
        """Whether it changed together with the code, and surely got worse by the margin."""
        if self.outcome is not Outcome.INCOMPARABLE or not self.changed_together:
            return False
        if self.test == "exact":
            return self.metric != ERROR_RATIO.name and self._got_worse(self.ratio)
        least = None if self.interval is None else self.interval[self.better is Better.HIGHER]
        return least is not None and self._got_worse(least)

    def _got_worse(self, ratio: float | None) -> bool:
        """Whether this ratio, or a count that was 0, is worse by more than the margin."""
        if ratio is None:
            return self.better is Better.LOWER and (self.head or 0) > (self.base or 0)
        worse = replace(self, ratio=ratio).worse_ratio
        return worse is not None and worse > 1 + (self.margin or 0)

    @property
    def worse_ratio(self) -> float | None:
        """The ratio on a scale on which > 1 is worse, whatever the metric's direction."""
        if self.ratio is None:
            return None
        if self.better is Better.LOWER:
            return self.ratio
        return 1 / self.ratio if self.ratio else float("inf")
