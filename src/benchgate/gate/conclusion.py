"""Whether the build fails, and why it does not pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.model.policy import MOVED, OPEN, Outcome
from benchgate.model.verdict import (
    Decision,
    Reason,
    compared_benchmarks,
    decided_benchmarks,
    partly_compared,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from benchgate.model.row import Row


PASS, REGRESSION, NO_VERDICT, BROKEN = 0, 3, 4, 5

_FAILURES = (
    (Outcome.REGRESSED, REGRESSION),
    (Outcome.FAILED, BROKEN),
    (Outcome.IMPROVED, REGRESSION),
    (Outcome.NEW, BROKEN),
    (Outcome.MISSING, NO_VERDICT),
)
_OPEN = (Outcome.INCOMPARABLE, Outcome.INCONCLUSIVE)


@dataclass(frozen=True, slots=True)
class VerdictTerms:
    """What a verdict depends on besides its rows.

    Attributes:
        fail_on: outcomes that fail the build.
        min_compared: the number of benchmarks that must have been compared, each in every metric
            that decides; see `benchmarks_needed`.
        advisory_fails: whether advisory rows count like all others.
        complete: False if the measurement of an arm was interrupted.
        doubted: whether a regression was found that a disturbance may explain.
        disturbed: whether a canary saw a disturbance.
        untested: whether a metric that must decide, or has a limit, was left out of both sides.
        first_run: whether there is nothing to compare with yet.
        empty_shard: whether this shard has no benchmarks, because the suite has more shards than
            benchmarks.
    """

    fail_on: Collection[str]
    min_compared: int
    advisory_fails: bool = False
    complete: bool = True
    doubted: bool = False
    disturbed: bool = False
    untested: bool = False
    first_run: bool = False
    empty_shard: bool = False


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The verdict's decision and its exit code.

    Attributes:
        reason: why there is no verdict; None for a pass and a fail.
    """

    decision: Decision
    exit_code: int
    reason: Reason | None = None


def conclude(rows: Iterable[Row], terms: VerdictTerms) -> Conclusion:
    """Return the decision, its exit code and, if there is no verdict, the reason.

    A regression takes precedence over a failed benchmark, because regressions are what people look
    for. A failed benchmark takes precedence over everything else. Both count in an interrupted
    measurement too: the missing rounds could not change them. Advisory rows never fail a build
    unless the user asks for that.
    """
    all_rows = list(rows)
    outcomes = {row.policy_outcome for row in all_rows if terms.advisory_fails or not row.advisory}
    crashes = {row.outcome for row in all_rows if row.error}
    for outcome, code in _FAILURES:
        is_there = outcome in (crashes if outcome is Outcome.NEW else outcomes)
        if outcome in terms.fail_on and is_there:
            return Conclusion(Decision.FAIL, code)
    suite = _Suite(all_rows, outcomes, terms)
    against = next((one for one in _AGAINST_A_PASS if one.holds(suite)), None)
    if against is None:
        return Conclusion(Decision.PASS, PASS)
    code = against.code if isinstance(against.code, int) else against.code(suite)
    return Conclusion(Decision.NO_VERDICT, code, against.reason)


@dataclass(frozen=True, slots=True)
class _Suite:
    """What reasons against a pass depend on.

    Attributes:
        outcomes: of the rows that may fail the build, as `fail_on` names them.
    """

    rows: Sequence[Row]
    outcomes: Collection[Outcome]
    terms: VerdictTerms

    @property
    def unless_ignored(self) -> int:
        """The exit code if something may be worse that nobody can say."""
        return NO_VERDICT if Outcome.REGRESSED in self.terms.fail_on else PASS

    @property
    def nothing_compared(self) -> int:
        """The exit code if nothing could be compared."""
        if any(row.outcome is Outcome.BASE_FAILED for row in self.rows):
            return BROKEN
        together = any(row.changed_together and not row.excused for row in self.rows)
        may_be_none = self.terms.min_compared <= 0 and excused(self.rows) and not together
        return PASS if self.terms.empty_shard or may_be_none else NO_VERDICT

    @property
    def compared(self) -> int:
        """How many benchmarks were compared in every metric that decides."""
        return len(compared_benchmarks(self.rows) - partly_compared(self.rows))

    @property
    def looks_wrong(self) -> bool:
        """Whether an advisory row looks like what fails a build."""
        wrong = {Outcome.REGRESSED, *self.terms.fail_on} & MOVED
        return any(row.outcome in wrong and row.advisory for row in self.rows)

    @property
    def nothing_decided(self) -> bool:
        """Whether no benchmark was decided, although the code of one was not the same."""
        is_same = any(row.outcome is Outcome.SAME_CODE for row in self.rows)
        is_open = any(row.outcome in OPEN for row in self.rows)
        return not decided_benchmarks(self.rows) and (is_open or not is_same)

    @property
    def undecided(self) -> int:
        """The exit code if no benchmark was decided."""
        must_decide = Outcome.INCONCLUSIVE in self.terms.fail_on
        return NO_VERDICT if must_decide and Outcome.NOT_SETTLED in self.outcomes else PASS


class _Against(NamedTuple):
    """A reason why a suite cannot pass, if its condition holds, and the exit code."""

    reason: Reason
    holds: Callable[[_Suite], object]
    code: int | Callable[[_Suite], int] = NO_VERDICT


_AGAINST_A_PASS: Final = (
    _Against(Reason.INTERRUPTED, lambda suite: not suite.terms.complete),
    _Against(Reason.LEFT_OPEN, lambda suite: {*_OPEN} & {*suite.terms.fail_on} & {*suite.outcomes}),
    _Against(
        Reason.FIRST_RUN,
        lambda suite: suite.terms.first_run and Outcome.NEW in suite.outcomes,
        PASS,
    ),
    # What had to be compared or tested, and was not.
    _Against(
        Reason.WORSE_TOGETHER,
        lambda suite: any(row.is_worse_together for row in suite.rows),
        lambda suite: suite.unless_ignored,
    ),
    _Against(
        Reason.NOTHING_COMPARED,
        lambda suite: not compared_benchmarks(suite.rows),
        lambda suite: suite.nothing_compared,
    ),
    _Against(Reason.TOO_FEW_COMPARED, lambda suite: suite.compared < suite.terms.min_compared),
    _Against(Reason.METRIC_UNTESTED, lambda suite: suite.terms.untested),
    _Against(
        Reason.LIMIT_UNTESTED,
        lambda suite: any(row.is_limit and row.outcome is Outcome.NOT_TESTED for row in suite.rows),
        lambda suite: suite.unless_ignored,
    ),
    # What another measurement may decide.
    _Against(
        Reason.DISTURBED,
        lambda suite: suite.terms.doubted and Outcome.REGRESSED in suite.terms.fail_on,
    ),
    _Against(
        Reason.UNCONFIRMED,
        lambda suite: any(row.unconfirmed for row in suite.rows),
        lambda suite: suite.unless_ignored,
    ),
    # Without a regression: the disturbance may have hidden one.
    _Against(Reason.DISTURBED, lambda suite: suite.terms.disturbed, PASS),
    _Against(Reason.ADVISORY, lambda suite: suite.looks_wrong, PASS),
    _Against(
        Reason.UNDECIDED,
        lambda suite: suite.nothing_decided,
        lambda suite: suite.undecided,
    ),
)
"""In this order; the first one that holds counts."""


def excused(rows: Iterable[Row]) -> set[str]:
    """Give the benchmarks that need not be compared.

    The change did not break a benchmark that fails on the base. A waiver allows to remove a
    benchmark, or to change its definition: then it is compared again in the next change. So it is
    without a waiver if the benchmark changed together with the code.
    """
    excused, others = set[str](), set[str]()
    for row in (row for row in rows if not row.is_limit):
        is_excused = row.excused or row.changed_together or row.outcome is Outcome.BASE_FAILED
        (excused if is_excused else others).add(row.benchmark)
    return excused - others
