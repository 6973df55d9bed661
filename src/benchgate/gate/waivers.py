"""Applies waivers: which rows they allow to be worse, and which of them have expired."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.config.resolved import concerns
from benchgate.model.policy import Outcome, Waiver

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from benchgate.config import Config, Waive
    from benchgate.model.policy import Acceptance
    from benchgate.model.row import Row


# 1 + 0.07 and 107 / 100 may differ in their last digit.
_ROUNDING = 1e-9


def apply_waivers(rows: Iterable[Row], config: Config, day: date) -> tuple[Row, ...]:
    """Turn each row whose outcome is waived into one that does not fail the build.

    The ceiling is compared with the same value as the margin: the estimate. So a change that is as
    large as the ceiling is waived about half of the time, and a change whose interval reaches
    beyond the ceiling is still waived.

    If there are several waivers, the first one that is high enough counts, the base's before those
    of the change. If none is high enough, the row has regressed, and names the highest one.

    Args:
        day: the day, in UTC, on which a waiver must be valid.
    """
    holding = [one for one in _usable_waivers(config) if day <= one.waive.until]
    return tuple(_waive(row, config, holding) for row in rows)


@dataclass(frozen=True, slots=True)
class _UsableWaiver:
    """A waiver, and the condition for it if it comes from the change itself."""

    waive: Waive
    accepted: Acceptance | None = None

    @property
    def ceiling(self) -> float:
        return self.waive.ceiling or 0.0

    def concerns(self, row: Row, config: Config) -> bool:
        """Whether it applies to a row; the change uses the new name of a renamed benchmark."""
        # What would confirm a suspect would only show what is accepted already.
        is_worse = row.unconfirmed or row.is_worse_together
        outcomes = {row.outcome.value, *((Outcome.REGRESSED.value,) if is_worse else ())}
        if self.waive.outcome not in outcomes:
            return False
        name = row.benchmark
        if self.accepted is None:
            name = config.name_in_policy(row.benchmark, row.renamed_from)
        return concerns(self.waive, name, row.metric)

    def shown(self) -> Waiver:
        waive = self.waive
        outcome, until = Outcome(waive.outcome), waive.until.isoformat()
        return Waiver(outcome, waive.ceiling, until, waive.reason, self.accepted)


def _usable_waivers(config: Config) -> list[_UsableWaiver]:
    usable = [_UsableWaiver(waive) for waive in config.waivers]
    if config.sides and config.sides.accepted:
        usable += [
            _UsableWaiver(waive, config.sides.accepted) for waive in config.sides.head.waivers
        ]
    return usable


def _waive(row: Row, config: Config, holding: Iterable[_UsableWaiver]) -> Row:
    matching = [one for one in holding if one.concerns(row, config)]
    if not matching:
        return row
    worse = _worse_ratio(row)
    enough = (one for one in matching if _allows(one, worse))
    if usable := next(enough, None):
        if row.unconfirmed:
            return replace(row, unconfirmed=None)
        return replace(row, outcome=Outcome.WAIVED, waiver=usable.shown())
    if row.outcome is not Outcome.REGRESSED:
        return row
    return replace(row, waiver=max(matching, key=lambda one: one.ceiling).shown())


def _allows(usable: _UsableWaiver, worse: float | None) -> bool:
    if usable.waive.ceiling is None:
        return True
    return worse is not None and worse - 1 <= usable.ceiling + _ROUNDING


def _worse_ratio(row: Row) -> float | None:
    """The ratio that decided; None if the base is 0, which no percentage can express."""
    return replace(row, ratio=row.deciding_ratio).worse_ratio
