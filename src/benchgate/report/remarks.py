"""Makes annotations in the diff: one for each benchmark that got worse or did not run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.model.outcome import Outcome
from benchgate.report.escape import plain_line

if TYPE_CHECKING:
    from benchgate.report.view import RowView, VerdictView

_WRONG = frozenset({Outcome.FAILED, Outcome.REGRESSED})
_NAME_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Remark:
    """An annotation about one benchmark, in plain text.

    Attributes:
        title: "parse/large regressed".
        text: one line for each row that regressed, or why the benchmark failed.
        location: `path:line` of its definition; "" if unknown.
    """

    title: str
    text: str
    location: str


def remarks(verdict: VerdictView) -> list[Remark]:
    """One annotation for each benchmark that regressed or failed, the worst first."""
    wrong: dict[str, list[RowView]] = {}
    for row in verdict.attention:
        if row.outcome in _WRONG:
            wrong.setdefault(row.benchmark, []).append(row)
    return [_remark(name, rows, verdict.interval_title) for name, rows in wrong.items()]


def _remark(name: str, rows: list[RowView], interval_title: str) -> Remark:
    outcome = rows[0].outcome.value
    return Remark(
        title=f"{plain_line(name, _NAME_LIMIT)} {outcome}",
        text="\n".join(_said(row, interval_title) for row in rows),
        location=rows[0].location,
    )


def _said(row: RowView, interval_title: str) -> str:
    """The row in one line: "typical (p25): +14.6 % (95 % interval ...), 12.30 ms to 14.10 ms"."""
    interval = f" ({interval_title} {row.interval})" if row.interval else ""
    values = f"{row.base} to {row.head}" if row.base and row.head else ""
    change = ", ".join(filter(None, (f"{row.change}{interval}" if row.change else "", values)))
    measured = f"{row.statistic}: {change}" if change else ""
    return "; ".join(filter(None, (measured, row.note)))
