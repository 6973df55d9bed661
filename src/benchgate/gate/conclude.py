"""From rows to a verdict: what fails a build, and with which exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.model.verdict import Decision, Outcome

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from benchgate.model.verdict import Row

COMPARED = frozenset(
    {Outcome.REGRESSED, Outcome.IMPROVED, Outcome.UNCHANGED, Outcome.INCONCLUSIVE, Outcome.WAIVED}
)

PASS, REGRESSION, NO_VERDICT, BROKEN = 0, 3, 4, 5


def conclude(
    rows: Iterable[Row],
    *,
    fail_on: Collection[str],
    min_compared: int,
    advisory_fails: bool,
    doubted: bool = False,
    first_run: bool = False,
) -> tuple[Decision, int]:
    """Give the decision and its exit code.

    A regression outranks a failed benchmark, and that everything else: it is what people came
    for. Advisory rows never fail a build unless `advisory_fails`; but a change that they
    suggest leaves the suite without a verdict, because it cannot be called a pass. Neither can
    a run in which a regression was found and is `doubted`: it has to be measured again. On a
    `first_run` there is nothing to compare with yet, and that is no failure.
    """
    all_rows = list(rows)
    binding = [row for row in all_rows if advisory_fails or not row.advisory]
    outcomes = {row.outcome for row in binding}
    for outcome, decision, code in (
        (Outcome.REGRESSED, Decision.FAIL, REGRESSION),
        (Outcome.FAILED, Decision.FAIL, BROKEN),
        (Outcome.MISSING, Decision.FAIL, NO_VERDICT),
        (Outcome.INCOMPARABLE, Decision.NO_VERDICT, NO_VERDICT),
        (Outcome.INCONCLUSIVE, Decision.NO_VERDICT, NO_VERDICT),
    ):
        if outcome in fail_on and outcome in outcomes:
            return decision, code
    if first_run and Outcome.NEW in outcomes:
        return Decision.NO_VERDICT, PASS
    compared = compared_benchmarks(all_rows)
    if compared == 0 or compared < min_compared:
        return Decision.NO_VERDICT, NO_VERDICT
    if doubted and Outcome.REGRESSED in fail_on:
        return Decision.NO_VERDICT, NO_VERDICT
    if any(row.outcome is Outcome.REGRESSED and row.advisory for row in all_rows):
        return Decision.NO_VERDICT, PASS
    return Decision.PASS, PASS


def compared_benchmarks(rows: Iterable[Row]) -> int:
    """How many benchmarks have at least one row in which both arms were compared."""
    return len({row.benchmark for row in rows if row.outcome in COMPARED})
