"""Turns rows into a verdict: whether the build fails, whether there is a verdict, the exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.model.policy import Outcome
from benchgate.model.verdict import Decision, Reason, compared_benchmarks, decided_benchmarks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from benchgate.model.verdict import Row

PASS, REGRESSION, NO_VERDICT, BROKEN = 0, 3, 4, 5

_FAILURES = (
    (Outcome.REGRESSED, REGRESSION),
    (Outcome.FAILED, BROKEN),
    (Outcome.IMPROVED, REGRESSION),
    (Outcome.MISSING, NO_VERDICT),
)
_OPEN = (Outcome.INCOMPARABLE, Outcome.INCONCLUSIVE)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a verdict depends on besides its rows.

    Attributes:
        fail_on: outcomes that fail the build.
        min_compared: the number of benchmarks that must have been compared; see
            `benchmarks_needed`.
        advisory_fails: whether advisory rows count like all others.
        complete: False if the measurement of an arm was interrupted.
        doubted: whether a regression was found that a disturbance may explain.
        disturbed: whether a canary saw a disturbance.
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


def conclude(rows: Iterable[Row], terms: Terms) -> Conclusion:
    """Return the decision, its exit code and, if there is no verdict, the reason.

    A regression takes precedence over a failed benchmark, because regressions are what people look
    for. A failed benchmark takes precedence over everything else. Both count in an interrupted
    measurement too: the missing rounds could not change them. Advisory rows never fail a build
    unless the user asks for that.
    """
    all_rows = list(rows)
    outcomes = {row.policy_outcome for row in all_rows if terms.advisory_fails or not row.advisory}
    for outcome, code in _FAILURES:
        if outcome in terms.fail_on and outcome in outcomes:
            return Conclusion(Decision.FAIL, code)
    against = next(_reasons_against_a_pass(all_rows, outcomes, terms), None)
    if against is None:
        return Conclusion(Decision.PASS, PASS)
    reason, code = against
    return Conclusion(Decision.NO_VERDICT, code, reason)


def _reasons_against_a_pass(
    rows: Sequence[Row], outcomes: Collection[Outcome], terms: Terms
) -> Iterator[tuple[Reason, int]]:
    """Yield the reasons why a suite cannot pass, with their exit codes; the first one counts.

    Args:
        outcomes: outcomes of the rows that may fail the build, as `fail_on` names them.
    """
    if not terms.complete:
        yield Reason.INTERRUPTED, NO_VERDICT
    if any(outcome in terms.fail_on and outcome in outcomes for outcome in _OPEN):
        yield Reason.LEFT_OPEN, NO_VERDICT
    if terms.first_run and Outcome.NEW in outcomes:
        yield Reason.FIRST_RUN, PASS
    compared = compared_benchmarks(rows)
    if not compared:
        together = any(row.changed_together and not row.excused for row in rows)
        may_be_none = terms.min_compared <= 0 and _excused(rows) and not together
        is_no_fault = terms.empty_shard or may_be_none
        is_broken = any(row.outcome is Outcome.BASE_FAILED for row in rows)
        code = BROKEN if is_broken else PASS if is_no_fault else NO_VERDICT
        yield Reason.NOTHING_COMPARED, code
    if compared < terms.min_compared:
        yield Reason.TOO_FEW_COMPARED, NO_VERDICT
    if any(row.is_limit and row.outcome is Outcome.NOT_TESTED for row in rows):
        yield Reason.LIMIT_UNTESTED, NO_VERDICT if Outcome.REGRESSED in terms.fail_on else PASS
    is_doubted = terms.doubted and Outcome.REGRESSED in terms.fail_on
    if is_doubted or terms.disturbed:  # without a regression: it may have hidden one
        yield Reason.DISTURBED, NO_VERDICT if is_doubted else PASS
    looks_wrong = {Outcome.REGRESSED, *terms.fail_on} & {Outcome.REGRESSED, Outcome.IMPROVED}
    if any(row.outcome in looks_wrong and row.advisory for row in rows):
        yield Reason.ADVISORY, PASS
    yield from _open_reasons(rows, outcomes, terms)


def _open_reasons(
    rows: Sequence[Row], outcomes: Collection[Outcome], terms: Terms
) -> Iterator[tuple[Reason, int]]:
    """The last of `_reasons_against_a_pass`: what more rounds may decide."""
    if any(row.unconfirmed for row in rows):
        yield Reason.UNCONFIRMED, PASS  # most suspects are chance, so they must not fail a build
    if not decided_benchmarks(rows):
        must_decide = Outcome.INCONCLUSIVE in terms.fail_on and Outcome.NOT_SETTLED in outcomes
        yield Reason.UNDECIDED, NO_VERDICT if must_decide else PASS


def benchmarks_needed(rows: Iterable[Row], wanted: int | None, in_base: int) -> int:
    """Return how many benchmarks must have been compared for a pass.

    Benchmarks that need not be compared lower the number that is wanted, but only as far as the
    other benchmarks of the base cannot reach it.

    Args:
        wanted: the configured number; None for all benchmarks of the base.
        in_base: how many benchmarks the base has.
    """
    reachable = in_base - len(_excused(rows))
    if wanted is None:
        return reachable
    return wanted - max(0, min(wanted, in_base) - reachable)


def _excused(rows: Iterable[Row]) -> set[str]:
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
