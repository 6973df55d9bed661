"""Writes the rows of a verdict as CSV, for spreadsheets and programs for data analysis."""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING, Final, TypeAlias

from benchgate.report.escape import spreadsheet_cell
from benchgate.report.notes import notes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.model.verdict import Row, Verdict

_Value: TypeAlias = str | float | bool | None
_Column: TypeAlias = "Callable[[Row, Verdict], _Value]"

_COLUMNS: Final[Mapping[str, _Column]] = {
    "benchmark": lambda row, _: row.benchmark,
    "metric": lambda row, _: row.metric,
    "statistic": lambda row, _: row.statistic,
    "outcome": lambda row, _: row.outcome.value,
    "fails": lambda row, verdict: verdict.settings.fails(row),
    "decides": lambda row, _: row.decides,
    "advisory": lambda row, _: row.advisory,
    "unit": lambda row, _: row.unit,
    "better": lambda row, _: row.better.value,
    "base": lambda row, _: row.base,
    "head": lambda row, _: row.head,
    "change_ratio": lambda row, _: _change(row.ratio),
    "change_low_ratio": lambda row, _: _change(row.interval and row.interval[0]),
    "change_high_ratio": lambda row, _: _change(row.interval and row.interval[1]),
    "confidence_ratio": lambda row, _: row.confidence if row.interval else None,
    "margin_ratio": lambda row, _: row.margin,
    "detectable_ratio": lambda row, _: _change(row.detectable),
    "p": lambda row, _: row.p,
    "p_adjusted": lambda row, _: row.p_adjusted,
    "base_launches": lambda row, _: row.launches[0],
    "head_launches": lambda row, _: row.launches[1],
    "test": lambda row, _: row.test,
    "location": lambda row, _: row.location,
    "note": lambda row, verdict: "; ".join(notes_of(row, verdict.settings)),
    "decision": lambda _, verdict: verdict.decision.value,
    "base_commit": lambda _, verdict: verdict.base.sha,
    "head_commit": lambda _, verdict: verdict.head.sha,
    "uncommitted": lambda _, verdict: verdict.head.uncommitted,
}


def render_csv(verdict: Verdict, redact: Callable[[str], str]) -> bytes:
    """A line for each row, worst first, below a line of names, as RFC 4180 says; UTF-8.

    What does not apply is empty. Changes are fractions: 0.146 is 14.6 %.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for row in verdict.rows:
        writer.writerow([_cell(value(row, verdict), redact) for value in _COLUMNS.values()])
    return text.getvalue().encode()


def _change(ratio: float | None) -> float | None:
    """A ratio as a change, without the digits that the subtraction makes up."""
    if ratio is None or not math.isfinite(ratio):
        return None
    return float(f"{ratio - 1:.12g}")


def _cell(value: _Value, redact: Callable[[str], str]) -> str:
    if isinstance(value, str):
        return spreadsheet_cell(redact(value))
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if value is not None and math.isfinite(value) else ""
