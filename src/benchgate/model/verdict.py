"""The verdict: one decision for the whole suite."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final, Self

from pydantic import FailFast, Field, model_validator

from benchgate.interval import CONFIDENCE
from benchgate.json_object import (
    Count,
    JsonObject,
    NotNegative,
    Probability,
    Text,
    Timestamp,
    misplaced,
)
from benchgate.model.document import Format
from benchgate.model.environment import Environment
from benchgate.model.policy import COMPARED, DECIDED, Outcome, PolicyChange
from benchgate.model.result import SkippedResult
from benchgate.model.row import Row
from benchgate.model.run import BenchmarkFiles, Source

if TYPE_CHECKING:
    from collections.abc import Iterable


RUNS_NEEDED = 10
"""Number of earlier runs that are needed to know how far runs differ."""


class Decision(StrEnum):
    """The decision about the whole suite."""

    PASS = "pass"  # noqa: S105 - not a password
    FAIL = "fail"
    NO_VERDICT = "no verdict"


class Reason(StrEnum):
    """Why there is no verdict."""

    INTERRUPTED = "interrupted"
    LEFT_OPEN = "left open"
    FIRST_RUN = "first run"
    WORSE_TOGETHER = "worse together"
    NOTHING_COMPARED = "nothing compared"
    TOO_FEW_COMPARED = "too few compared"
    METRIC_UNTESTED = "metric not tested"
    LIMIT_UNTESTED = "limit not tested"
    DISTURBED = "disturbed"
    ADVISORY = "advisory"
    UNCONFIRMED = "unconfirmed"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class GateSettings(JsonObject):
    """The rule that decided the rows.

    Attributes:
        advisory_fails: whether advisory rows count like all others.
        policy: whose configuration judges: "base" or "head".
        max_rounds: the most rounds that a benchmark may get, unless it looks changed; None if there
            is no such limit.
    """

    rule: Text = "launch"
    alpha: Probability = 0.01
    correction: Text = "holm"
    confidence: Probability = CONFIDENCE
    fail_on: tuple[Text, ...] = ("regressed", "failed")
    advisory_fails: bool = False
    min_compared: Count | None = None
    policy: Text = "head"
    max_rounds: Count | None = None

    def fails(self, row: Row) -> bool:
        """Whether the outcome of a row keeps the suite from passing."""
        return self.names(row) and (self.advisory_fails or not row.advisory)

    def names(self, row: Row) -> bool:
        """Whether `fail_on` names the outcome of a row; of what is new, it means a crash."""
        is_meant = row.outcome is not Outcome.NEW or bool(row.error)
        return is_meant and row.policy_outcome.value in self.fail_on


class StepKind(StrEnum):
    """What a step is for."""

    FIX = "fix"
    LOOK = "look"
    MEASURE = "measure"
    COMMIT = "commit"
    ACCEPT = "accept"


@dataclass(frozen=True, slots=True)
class NextStep(JsonObject):
    """What would help next.

    Attributes:
        why: in words, one line.
        command: for a shell, in the folder where the check was called; None if there is none.
        edit: the place to edit, `path` or `path:line`, relative to the root of the repository.
        text: what to add at the end of that file; None if the edit is still to be found.
    """

    kind: StepKind
    why: Text
    command: Text | None = None
    edit: Text | None = None
    text: Text | None = None


NO_BASELINE = "none"
"""The source of a base when there is nothing to compare with yet: the first run."""


@dataclass(frozen=True, slots=True)
class Verdict(JsonObject):
    """A verdict of benchgate: one row for each benchmark, metric and statistic, worst first.

    Attributes:
        rows: worst first.
        summary: the verdict in words, one sentence without markup; "" until it is written.
        next: what would help next, the most helpful first; only a check tells it.
        rounds: how many rounds were measured.
        base_source: "git" if the base was measured for the verdict; "file", "directory" or
            "artifact" if a stored result was read; "none" on a first run.
        files: whose benchmark files decided.
        skipped: stored results that were found and not used.
        policy_changes: how the change loosens the gate that judges it.
        started: when measuring the head began; None if that is not known.
        reason: why there is no verdict; None if the decision is pass or fail.
        complete: False if the measurement of an arm was interrupted.
    """

    schema: Annotated[int, Field(ge=1, le=1)] = field(default=1, kw_only=True)
    decision: Decision
    exit_code: Count
    reason: Reason | None = field(default=None, kw_only=True)
    complete: bool = field(default=True, kw_only=True)
    summary: Text
    next: tuple[NextStep, ...] = field(default=(), kw_only=True)
    base: Source
    base_source: Text = field(default="git", kw_only=True)
    files: BenchmarkFiles = field(default=BenchmarkFiles.OWN, kw_only=True)
    head: Source
    settings: GateSettings
    rows: Annotated[tuple[Row, ...], FailFast()]
    warnings: tuple[Text, ...] = ()
    skipped: tuple[SkippedResult, ...] = ()
    policy_changes: tuple[PolicyChange, ...] = ()
    environment: Environment = field(default_factory=Environment)
    started: Timestamp | None = None
    duration_s: NotNegative = 0.0
    rounds: Count = 0

    @model_validator(mode="after")
    def _tells_what_became_of_each(self) -> Self:
        told = {row.benchmark for row in self.rows if row.decides}
        for index, row in enumerate(self.rows):
            if row.benchmark not in told:
                what = f"no row of {row.benchmark!r} decides, so nothing says what became of it"
                raise misplaced(what, "rows", index, "decides")
        return self

    @property
    def compared(self) -> int:
        """How many benchmarks were compared in every metric that decides."""
        return len(compared_benchmarks(self.rows) - partly_compared(self.rows))

    @property
    def is_unmeasured(self) -> bool:
        """Whether nothing had to be measured: all benchmarks run the same code on both sides."""
        outcomes = {row.outcome for row in self.rows}
        return outcomes == {Outcome.SAME_CODE}


VERDICT: Final = Format("verdict", Verdict, hallmark="rows", indent=2)


def compared_benchmarks(rows: Iterable[Row]) -> frozenset[str]:
    """The benchmarks with at least one row in which the two arms were compared.

    What runs the same code on both sides counts, although nothing was measured.
    """
    known = COMPARED | {Outcome.SAME_CODE}
    compared = (row for row in rows if row.outcome in known and not row.is_limit)
    return frozenset(row.benchmark for row in compared if not row.excused)


def partly_compared(rows: Iterable[Row]) -> frozenset[str]:
    """The benchmarks with a deciding metric of the base that the head no longer reports alike.

    So are those whose times and rates are all too coarse, or do not vary, although a size was
    compared. What only the head reports is compared in the next change, as a new benchmark is.
    """
    rows = list(rows)
    gone = {
        row.benchmark
        for row in rows
        if row.outcome is Outcome.INCOMPARABLE and row.metric and row.launches[0]
    }
    clocked = [row for row in rows if row.decides and row.is_timed]
    timed = {row.benchmark for row in clocked if row.outcome in COMPARED and not row.is_limit}
    constant = {row.benchmark for row in clocked if row.is_no_measurement}
    return frozenset(gone | (constant - timed))


def decided_benchmarks(rows: Iterable[Row]) -> frozenset[str]:
    """The benchmarks that are known to have changed, or to be unchanged.

    A tail or an error rate does not count for a benchmark that has another row to settle: if the
    slow samples are unchanged, the typical ones need not be.
    """
    rows = list(rows)
    typical = {row.benchmark for row in rows if row.is_typical}
    return frozenset(
        row.benchmark
        for row in rows
        if row.outcome in DECIDED
        and not row.excused
        and (not row.is_minor or row.benchmark not in typical)
    )
