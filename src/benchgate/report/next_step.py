"""Says what to run next after a check on the user's own machine."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from benchgate.model.policy import Outcome
from benchgate.model.verdict import Reason
from benchgate.units import counted, format_budget, format_duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.model.verdict import Row, Verdict

_FILTERS_SHOWN = 3


def next_steps(
    verdict: Verdict, rounds_s: Mapping[str, float], least_rounds: int
) -> tuple[str, ...]:
    """Say what to do next, one sentence each; nothing if the verdict leaves nothing to do.

    Args:
        verdict: on two sides that were measured in turn.
        rounds_s: how long a round of each benchmark took.
        least_rounds: how many rounds every benchmark should get.
    """
    if verdict.reason is Reason.FIRST_RUN:
        return (_first_run(verdict),)
    return _more_rounds(verdict, rounds_s, least_rounds)


def _more_rounds(
    verdict: Verdict, rounds_s: Mapping[str, float], least_rounds: int
) -> tuple[str, ...]:
    # What one of its metrics has shown already is not open.
    shown = {row.benchmark for row in verdict.rows if row.outcome is Outcome.REGRESSED}
    rows = [row for row in verdict.rows if row.benchmark not in shown]
    missing = missing_rounds(rows, least_rounds)
    if not missing:
        return ()
    more_s = sum(rounds_s.get(id_, 0.0) * rounds for id_, rounds in missing.items())
    again_s = verdict.duration_s + more_s
    if any(row.unconfirmed or _lacks(row, least_rounds) for row in rows):
        return (
            f"{_names(missing)} more rounds: benchgate check --budget {format_budget(again_s)}",
        )
    few = len(missing) <= _FILTERS_SHOWN
    filters = "".join(f" --filter {shlex.quote(id_)}" for id_ in missing) if few else ""
    takes = f", about {format_duration(more_s)} more than this check" if more_s else ""
    return (f"{_names(missing)} more rounds: benchgate check --until-decided{filters}{takes}",)


def missing_rounds(rows: Iterable[Row], least_rounds: int) -> dict[str, int]:
    """How many more rounds decide each benchmark that is open, if that is known.

    Args:
        least_rounds: how many rounds every benchmark should get.
    """
    missing: dict[str, int] = {}
    for row in rows:
        if more := _missing_rounds(row) or _lacks(row, least_rounds):
            missing[row.benchmark] = max(more, missing.get(row.benchmark, 0))
    return missing


def _first_run(verdict: Verdict) -> str:
    if verdict.head.dirty or verdict.head.untracked:
        return (
            "the base has no benchmarks. Commit these: the next change is then compared with them"
        )
    return "the base has no benchmarks. The next change is compared with this commit"


def _missing_rounds(row: Row) -> int:
    """How many more rounds decide a row that should be settled; 0 if none do."""
    if row.unconfirmed:
        return row.unconfirmed.rounds
    if row.outcome is not Outcome.INCONCLUSIVE:
        return 0
    return row.rounds_needed or 0


def _lacks(row: Row, least_rounds: int) -> int:
    """How many rounds a row lacks that was not tested because it had too few."""
    is_open = row.outcome is Outcome.NOT_TESTED and row.is_typical
    if not is_open or not all(row.launches):
        return 0
    return max(0, least_rounds - min(row.launches))


def _names(missing: Mapping[str, int]) -> str:
    verb = "needs" if len(missing) == 1 else "need"
    return f"{counted(len(missing), 'undecided benchmark')} {verb}"
