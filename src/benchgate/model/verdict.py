"""What was decided: one row for each benchmark, metric and statistic, and one verdict for all."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from benchgate.model.environment import Environment
from benchgate.model.result import Better, Source, Tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.model.comparison import Comparison
    from benchgate.model.policy import Acceptance


class Outcome(StrEnum):
    """Of one row."""

    REGRESSED = "regressed"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    INCONCLUSIVE = "inconclusive"
    NOT_TESTED = "not tested"
    NEW = "new"
    MISSING = "missing"
    FAILED = "failed"
    BASE_FAILED = "base failed"
    INCOMPARABLE = "incomparable"
    WAIVED = "waived"


DECIDED = frozenset({Outcome.REGRESSED, Outcome.IMPROVED, Outcome.UNCHANGED, Outcome.WAIVED})
"""Outcomes that say whether something changed."""

COMPARED = DECIDED | {Outcome.INCONCLUSIVE}
"""Outcomes of rows in which both arms were compared."""


class Decision(StrEnum):
    """Of the whole suite."""

    PASS = "pass"  # noqa: S105 - not a password
    FAIL = "fail"
    NO_VERDICT = "no verdict"


class Reason(StrEnum):
    """Why there is no verdict."""

    INTERRUPTED = "interrupted"
    LEFT_OPEN = "left open"
    FIRST_RUN = "first run"
    NOTHING_COMPARED = "nothing compared"
    TOO_FEW_COMPARED = "too few compared"
    DISTURBED = "disturbed"
    ADVISORY = "advisory"
    UNCONFIRMED = "unconfirmed"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Classical:
    """The textbook comparison of the same data, whichever rule decides.

    Attributes:
        p: two-sided Mann-Whitney without continuity correction; None when not tested.
        p95_ratio: pooled p95 of the head / that of the base, as measured.
        result: "slower", "faster", "same", or "not tested".
    """

    p: float | None
    p95_ratio: float | None
    result: str


RUNS_NEEDED = 10
"""So many earlier runs it takes to know how far runs differ."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What earlier runs on the same machine tell of how far runs differ while the code does not.

    Attributes:
        runs: how many of them measured the same work.
        spread: standard deviation of the logs of their values; None for fewer than two.
        floor: the smallest change that counts, as a fraction; None where they are too few to
            know it, and the row is advisory.
    """

    runs: int
    spread: float | None
    floor: float | None

    @property
    def calibrated(self) -> bool:
        """Whether so many runs are known that the row can decide."""
        return self.floor is not None


@dataclass(frozen=True, slots=True)
class Waiver:
    """What allows a benchmark to regress, to be missing, or to do other work than before.

    Attributes:
        outcome: what it allows: regressed, missing or incomparable.
        ceiling: the largest regression that it allows, as a fraction; None for other outcomes.
        until: the last day on which it holds, UTC, ISO 8601.
        accepted: of a waiver that the change itself brings, what makes it count.
    """

    outcome: Outcome
    ceiling: float | None
    until: str
    reason: str
    accepted: Acceptance | None = None


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """What it would have taken to confirm that a row got worse, or to clear it.

    Attributes:
        rounds: more of them.
        seconds: that these would take, about; None when unknown.
    """

    rounds: int
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One (benchmark, metric, statistic). None stands for what does not apply or is unknown.

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

    benchmark: str
    outcome: Outcome
    metric: str = ""
    statistic: str = ""
    unit: str = ""
    better: Better = Better.LOWER
    base: float | None = None
    head: float | None = None
    base_median: float | None = None
    head_median: float | None = None
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    confidence: float = 0.95
    margin: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    launches: tuple[int, int] = (0, 0)
    tier: Tier | None = None
    test: str | None = None
    detectable: float | None = None
    rounds_needed: int | None = None
    unconfirmed: Unconfirmed | None = None
    advisory: bool = False
    calibration: Calibration | None = None
    waiver: Waiver | None = None
    classical: Classical | None = None
    renamed_from: str | None = None
    detail: Comparison | None = None
    notes: tuple[str, ...] = ()
    error: str | None = None
    location: str | None = None
    display_unit: str | None = None

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


@dataclass(frozen=True, slots=True)
class GateSettings:
    """The rule that the rows were decided by, for the record.

    Attributes:
        policy: whose configuration it is: "base", or "head".
    """

    rule: str = "launch"
    alpha: float = 0.01
    correction: str = "holm"
    confidence: float = 0.95
    fail_on: tuple[str, ...] = ("regressed", "failed")
    min_compared: int | None = None
    policy: str = "head"


@dataclass(frozen=True, slots=True)
class Loosened:
    """One way in which the head's configuration is laxer than the base's.

    Attributes:
        key: as it is written in the head, "gate.margin" or "waive[0]".
        about: the benchmarks that it is for, ids or globs; "" for all.
        before, after: what the base and the head say, in words.
        place: its file and line in the head, "benchgate.toml:3".
        in_force: the head's word counted, because the base cannot know; else the base's.
    """

    key: str
    about: str
    before: str
    after: str
    place: str
    in_force: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """A stored result that was not used.

    Attributes:
        what: its file, or its artefact and the run that left it.
        reason: in plain words, after "because".
    """

    what: str
    reason: str


NO_BASELINE = "none"
"""The source of a base where there is nothing yet to compare with: the first run."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer.

    Attributes:
        rows: worst first.
        summary: the verdict in words, one sentence without markup.
        rounds: how many rounds were measured.
        base_source: "git" where the base was measured for the verdict; "file", "directory" or
            "artifact" where a stored result was read; "none" on a first run.
        skipped: stored results that were found and not used.
        policy_changes: how the change loosens the gate that it has to pass.
        reason: why there is no verdict; None for a pass and for a fail.
        complete: False if the measurement of an arm was interrupted.
    """

    decision: Decision
    exit_code: int
    summary: str
    base: Source
    head: Source
    settings: GateSettings
    rows: tuple[Row, ...]
    warnings: tuple[str, ...] = ()
    environment: Environment = field(default_factory=Environment)
    duration_s: float = 0.0
    rounds: int = 0
    base_source: str = "git"
    skipped: tuple[Skipped, ...] = ()
    policy_changes: tuple[Loosened, ...] = ()
    reason: Reason | None = None
    complete: bool = True

    @property
    def compared(self) -> int:
        """How many benchmarks were compared."""
        return compared_benchmarks(self.rows)

    @property
    def counts(self) -> Mapping[Outcome, int]:
        """How many rows have each outcome that occurs."""
        return Counter(row.outcome for row in self.rows)


def compared_benchmarks(rows: Iterable[Row]) -> int:
    """How many benchmarks have at least one row in which both arms were compared."""
    return len({row.benchmark for row in rows if row.outcome in COMPARED and not row.excused})
