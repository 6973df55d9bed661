"""Says which rows the plan settles: they get rounds until they are decided or hopeless.

The others are screened and confirmed like all rows. If they show no change, they are not settled,
which the plan expects: they are no reason to measure longer or to doubt a pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.model.policy import Outcome
from benchgate.model.run import ERROR_RATIO
from benchgate.model.verdict import TAIL_STATISTICS, VALUE, is_tail

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


def settles_metric(name: str, names: Sequence[str], settle: Collection[str] | None) -> bool:
    """Whether a metric under load is settled; a launch under load has no other statistics of it.

    Error rates are only settled if nothing else is: more rounds do not show that they are equal.

    Args:
        names: of the metrics that decide.
        settle: the statistics to settle, which stand for all typical values, or for all tails; None
            for the typical values.
    """
    tails = {False} if settle is None else {one in TAIL_STATISTICS for one in settle}
    timed = [one for one in names if one != ERROR_RATIO.name]
    settled = [one for one in timed if is_tail(one, VALUE) in tails]
    return name in (settled or timed or names)


def open_outcome(*, settles: bool) -> Outcome:
    """The outcome of a row that is neither changed nor unchanged."""
    return Outcome.INCONCLUSIVE if settles else Outcome.NOT_SETTLED
