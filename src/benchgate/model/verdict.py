"""The verdict: an outcome for each row, and one decision for the whole suite."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from pydantic import FailFast, Field

from benchgate.interval import CONFIDENCE
from benchgate.json_object import Count, JsonObject, NotNegative, Probability, Text, Timestamp
from benchgate.model.environment import Environment
from benchgate.model.outcome import COMPARED, DECIDED
from benchgate.model.policy import PolicyChange
from benchgate.model.result import SkippedResult
from benchgate.model.row import Row
from benchgate.model.run import BenchmarkFiles, Source

if TYPE_CHECKING:
    from collections.abc import Iterable


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
    NOTHING_COMPARED = "nothing compared"
    TOO_FEW_COMPARED = "too few compared"
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
        max_rounds: the most rounds that a benchmark may get, unless the test of a suspect needs
            more; None if there is no such limit.
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
        return row.policy_outcome.value in self.fail_on and (
            self.advisory_fails or not row.advisory
        )


NO_BASELINE = "none"
"""The source of a base when there is nothing to compare with yet: the first run."""


@dataclass(frozen=True, slots=True)
class Verdict(JsonObject):
    """A verdict of benchgate: one row for each benchmark, metric and statistic, worst first.

    Attributes:
        rows: worst first.
        summary: the verdict in words, one sentence without markup.
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

    @property
    def compared(self) -> int:
        """How many benchmarks were compared."""
        return compared_benchmarks(self.rows)


def compared_benchmarks(rows: Iterable[Row]) -> int:
    """How many benchmarks have at least one row in which the two arms were compared."""
    compared = (row for row in rows if row.outcome in COMPARED and not row.is_limit)
    return len({row.benchmark for row in compared if not row.excused})


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
