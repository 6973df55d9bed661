"""What stored results decide before anything is measured, and what is left to measure.

With stored runs only one arm must be measured, but a shift of a whole run looks like a change of
the code, or hides one. They settle a benchmark only if enough of them are known and hardly differ,
and if they show that it is unchanged. Everything else is measured here against the base by the
usual procedure, on rounds that played no part in the selection.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.estimates import by_lengths
from benchgate.gate.pair_rows import open_outcome
from benchgate.gate.single_runs import is_steady
from benchgate.gate.suite import Design, judge_suite
from benchgate.gate.suspects import look_changed
from benchgate.model.policy import MOVED, Outcome
from benchgate.model.run import Tier
from benchgate.stats.mann_whitney import least_p_mann_whitney, mann_whitney, two_sample_shift

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from benchgate.config import Config
    from benchgate.gate.evidence import Evidence
    from benchgate.gate.suite import Judgment
    from benchgate.model.row import Row
    from benchgate.model.run import Run


def can_settle(earlier: Sequence[Run], config: Config) -> frozenset[str]:
    """Return the benchmarks that stored runs would probably settle if the head were unchanged.

    For the others, measuring only the head is useless, because it would be measured again.

    Args:
        earlier: earlier runs on the head's machine, the base first.
    """
    if not earlier:
        return frozenset()
    known = judge_suite(earlier[0], earlier[0], config, Design(paired=False), earlier=earlier)
    confidence = config.gate.confidence
    tested = {e.key: is_steady(e, confidence=confidence) for e in known.evidence if e.settles}
    asides = _asides(known)
    hopeless = {
        row.benchmark for row in known.rows if not tested.get(_key(row), _is_settled(row, asides))
    }
    return frozenset({row.benchmark for row in known.rows} - hopeless)


def to_measure(stored: Judgment) -> frozenset[str]:
    """Return the benchmarks that stored runs have not settled, or that look changed.

    Benchmarks that only the base has are left out.
    """
    asides = _asides(stored)
    unsettled = {row.benchmark for row in stored.rows if not _is_settled(row, asides)}
    return frozenset(unsettled | _suspects([e for e in stored.evidence if e.obstacle is None]))


def joined(stored: Judgment, measured: Judgment) -> Judgment:
    """Replace rows from stored runs by the rows that were measured here.

    Settled rows stay as they are. A row that is not settled and was not measured here claims
    nothing, and says so.
    """
    here = {row.benchmark for row in measured.rows}
    changed = {row.benchmark for row in stored.rows if row.outcome in MOVED}
    changed |= _suspects([e for e in stored.evidence if e.obstacle is None])
    unsettled = to_measure(stored)
    asides = _asides(stored)
    kept = [
        _unsettled(row, looks_changed=row.benchmark in changed, settles=_key(row) not in asides)
        if row.benchmark in unsettled and row.tier is Tier.STORED
        else row
        for row in stored.rows
        if row.benchmark not in here
    ]
    return replace(
        measured,
        rows=(*measured.rows, *kept),
        warnings=(*stored.warnings, *measured.warnings),
        base_benchmarks=stored.base_benchmarks,
        evidence=(*measured.evidence, *(e for e in stored.evidence if e.pair.id not in here)),
    )


def _is_settled(row: Row, asides: Collection[tuple[str, str, str]]) -> bool:
    """Whether measuring it here would add nothing that must be known.

    Args:
        asides: see `_asides`.
    """
    if row.outcome is Outcome.MISSING:
        return True
    if _key(row) in asides:
        return row.outcome not in MOVED
    if row.outcome is Outcome.NOT_TESTED and not row.statistic:
        return bool(row.metric)  # it cannot be measured here; without one, a run left out all
    return row.outcome is Outcome.UNCHANGED and not row.advisory


def _asides(judgment: Judgment) -> frozenset[tuple[str, str, str]]:
    """The rows that get no rounds unless they look changed, such as tails."""
    return frozenset(e.key for e in judgment.evidence if not e.settles)


def _key(row: Row) -> tuple[str, str, str]:
    return row.benchmark, row.metric, row.statistic


def _suspects(evidences: Sequence[Evidence]) -> set[str]:
    """Find suspects like the screen of rounds, but from launches that share no rounds."""
    base, head = [np.log(e.base) for e in evidences], [np.log(e.head) for e in evidences]
    suspects: set[str] = set()
    for indices, x, y in by_lengths(base, head):
        chosen = [evidences[i] for i in indices]
        estimate = two_sample_shift(x, y, 0.5).estimate
        test = mann_whitney(x, y)
        p = np.where(estimate > 0, test.p_greater, test.p_less)
        suspected = look_changed(
            estimate,
            p,
            least_p_mann_whitney(x.shape[1], y.shape[1]),
            [e.margin for e in chosen],
            [e.is_tail for e in chosen],
        )
        suspects |= {e.pair.id for e, is_one in zip(chosen, suspected, strict=True) if is_one}
    return suspects


def _unsettled(row: Row, *, looks_changed: bool, settles: bool) -> Row:
    """Make a row that claims nothing, because it should have been measured here."""
    if looks_changed:
        note = "not measured in this run, although its benchmark looks changed"
    else:
        note = "no change found against stored launches, but they can hide one"
    outcome = row.outcome
    if outcome is Outcome.UNCHANGED and row.advisory:
        outcome = open_outcome(settles=settles)
    return replace(row, outcome=outcome, notes=(note, *row.notes))
