"""The CSV files of Google Benchmark, as rows with the keys of its JSON files."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from benchgate.formats.nodes import Node

if TYPE_CHECKING:
    from benchgate.formats.parsed import Source

_HEADER = "name,iterations,real_time,cpu_time,time_unit"
_TEXTS = {"name", "time_unit", "label", "error_message"}
_AGGREGATES = ("mean", "median", "stddev", "cv")


def is_csv(source: Source) -> bool:
    """Whether the content has the columns; lines about the machine may come before them."""
    head = source.head
    return head.startswith(_HEADER.encode()) or f"\n{_HEADER}".encode() in head


def csv_rows(source: Source) -> list[Node]:
    """Read the rows of a file.

    CSV does not tell aggregates from repetitions: X_mean is an aggregate of X if the file has
    X_median and X_stddev, too.

    Raises:
        FormatError: it is not CSV, or does not have the columns.
    """
    before, header, rows = source.text("backslashreplace").partition(_HEADER)
    if not header:
        raise source.error("", f"has no line that begins with {_HEADER!r}")
    first = before.count("\n")
    reader = csv.DictReader(io.StringIO(header + rows, newline=""), strict=True)
    try:
        cells = [(first + reader.line_num, _row(each)) for each in reader]
    except csv.Error as error:
        raise source.error(
            f"line {first + reader.reader.line_num}", f"is not CSV: {error}"
        ) from None
    names = {str(row.get("name")) for _, row in cells}
    for _, row in cells:
        row.update(_kind(row, names))
    return [Node(row, f"line {number}") for number, row in cells]


def _row(cells: dict[str | Any, str | Any]) -> dict[str, Any]:
    texts = {key: text for key, text in cells.items() if isinstance(text, str) and text}
    row = {key: text if key in _TEXTS else _number(text) for key, text in texts.items()}
    if "error_occurred" in texts:
        row["error_occurred"] = texts["error_occurred"] == "true"
    return row


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _kind(row: dict[str, Any], names: set[str]) -> dict[str, str]:
    name = str(row.get("name", ""))
    benchmark, _, aggregate = name.rpartition("_")
    is_one = all(f"{benchmark}_{each}" in names for each in _AGGREGATES[:3])
    if aggregate in _AGGREGATES and is_one:
        return {"run_name": benchmark, "aggregate_name": aggregate}
    if "iterations" not in row and aggregate in {"BigO", "RMS"}:
        return {"run_name": benchmark, "aggregate_name": aggregate}
    return {}
