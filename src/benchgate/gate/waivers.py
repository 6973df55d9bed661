"""Regressions that somebody has allowed: up to a ceiling, and until a day."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.config.rules import concerns
from benchgate.model.verdict import Outcome, Row, Waiver

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from benchgate.config import Config, Waive

# 1 + 0.07 and 107 / 100 may differ in their last digit.
_ROUNDING = 1e-9


def apply_waivers(rows: Iterable[Row], config: Config, day: date) -> tuple[Row, ...]:
    """Turn each regression that is waived into a row that says so, and fails nothing.

    The ceiling is held against what the margin is held against: the estimate. A change as large
    as the ceiling is therefore waived about as often as not, and one whose interval reaches
    beyond it is waived all the same: what counts as too much is judged as what counts at all.

    Of several waivers the first that is high enough counts. Where none is, the row has regressed,
    and names the highest.

    Args:
        day: the one on which a waiver must hold, in UTC.
    """
    holding = [waiver for waiver in config.waivers if day <= waiver.until]
    return tuple(_waive(row, config, holding) for row in rows)


def _waive(row: Row, config: Config, holding: Iterable[Waive]) -> Row:
    if row.outcome is not Outcome.REGRESSED:
        return row
    name = config.name_in_policy(row.benchmark, row.renamed_from)
    matching = [waiver for waiver in holding if concerns(waiver, name, row.metric)]
    if not matching:
        return row
    worse = _worse_ratio(row)
    enough = (one for one in matching if worse and worse - 1 <= one.ceiling + _ROUNDING)
    if waiver := next(enough, None):
        return replace(row, outcome=Outcome.WAIVED, waiver=_of(waiver))
    return replace(row, waiver=_of(max(matching, key=lambda one: one.ceiling)))


def _worse_ratio(row: Row) -> float | None:
    """The ratio that decided; None from 0, which no percentage reaches."""
    return replace(row, ratio=row.deciding_ratio).worse_ratio


def _of(waiver: Waive) -> Waiver:
    return Waiver(waiver.ceiling, waiver.until.isoformat(), waiver.reason)
