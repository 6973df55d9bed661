"""What criterion for Haskell writes: JSON, or a table of summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.formats.contents import RowError, read_json, read_table
from benchgate.formats.rows import (
    begins,
    means,
    reads,
    sampled,
    time_summary,
)
from benchgate.model.metrics import CPU_TIME, TIME, Kind, Metric

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from benchgate.formats.contents import ForeignFile, Node
    from benchgate.formats.rows import ReadRows
    from benchgate.model.run import Series


_HEADER = b"Name,Mean,MeanLB,MeanUB,Stddev"
_LEAST_S = 0.03
_COLUMNS = {
    "time": TIME,
    "cpuTime": CPU_TIME,
    "allocated": Metric("allocated", "B", kind=Kind.EXACT),
}


def _is_haskell_criterion(source: ForeignFile) -> bool:
    is_json = begins(b"[", b'"report', near=(50, b'"criterion"'))(source)
    return is_json or source.head.startswith(_HEADER)


@reads("haskell-criterion", "./BENCHMARK --json FILE", _is_haskell_criterion)
def haskell_criterion(source: ForeignFile, rows: ReadRows) -> None:
    """Criterion for Haskell: the files of `--json` and of `--csv`.

    In JSON, `reportKeys` names the columns of `reportMeasured`, which has a row for each sample
    with the totals of its iterations, in seconds. criterion itself leaves out the samples that took
    less than 30 ms, and so does benchgate if there are others. CSV has only means, in seconds.
    """
    if source.head.startswith(_HEADER):
        for place, cells in read_table(source, source.text("backslashreplace")):
            with rows.row(cells.get("Name", "")) as row:
                try:
                    mean_s = float(cells.get("Mean", ""))
                except ValueError:
                    what = f"{cells.get('Mean')!r} is not a number"
                    raise RowError(f"{place}: Mean: {what}") from None
                row.series.append(time_summary(mean_s, place))
        return
    parts = list(read_json(source).each())
    if len(parts) != 3:
        raise RowError("is not a list of a name, a version and reports")
    rows.version = str(parts[1].value)
    for report in parts[2].each():
        with rows.row() as row:
            row.id = report["reportName"].text
            columns = _columns(report)
            for key, values in columns.items():
                is_known = key in _COLUMNS or key in {"iters", "cycles"}
                if not is_known and any(each is not None for each in values):
                    rows.skip(f"the column {key}: benchgate reads only {', '.join(_COLUMNS)}")
            row.series += _haskell_series(columns, report["reportMeasured"].place)


def _columns(report: Node) -> dict[str, list[Any]]:
    keys = [key.text for key in report["reportKeys"].each()]
    rows = list(report["reportMeasured"].each())
    for row in rows:
        if len(row.list) != len(keys):
            raise RowError(f"{row.place}: has {len(row.list)} values, not {len(keys)}")
    return {key: [row.list[index] for row in rows] for index, key in enumerate(keys)}


def _haskell_series(columns: dict[str, list[Any]], place: str) -> Iterator[Series]:
    for key in ("time", "iters"):
        if key not in columns:
            raise RowError(f"{place}: the key {key!r} is missing")
    long = [isinstance(each, float | int) and each >= _LEAST_S for each in columns["time"]]
    chosen = [index for index, is_long in enumerate(long) if is_long or not any(long)]
    loops = [columns["iters"][index] for index in chosen]
    for key, metric in _COLUMNS.items():
        totals = [columns[key][index] for index in chosen] if key in columns else []
        if key == "time" or any(each is not None for each in totals):
            where = f"{place}: {key}"
            found, usual = means(totals, loops, 1.0, where)
            yield sampled(metric, [found], where, loops=usual)
