"""Queries the rows of runs with DuckDB."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import duckdb
import numpy as np

from benchgate.errors import UsageError
from benchgate.stats.checks import LARGEST

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from types import TracebackType
    from typing import Self

    import pyarrow as pa

    from benchgate.arrays import FloatArray, IntArray

_SETTINGS: Final[dict[str, str | bool | int | float | list[str]]] = {
    "memory_limit": "512MB",
    "threads": 2,
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
# In DuckDB, NaN is larger than any number.
_USABLE: Final = " AND ".join(f"abs({name}) <= {LARGEST!r}" for name in ("value", "low", "high"))
_RUNS: Final = """
    SELECT run, any_value(sha), any_value(ref), any_value(subject), any_value(committed),
           any_value(started), any_value(machine), any_value(machine_key),
           any_value(conditions), any_value(url)
    FROM stored WHERE suite = ? GROUP BY run ORDER BY run
"""
_SERIES: Final = f"""
    SELECT benchmark, metric, statistic, machine_key, unit, better, workload,
           arg_max(display_unit, position), list(position ORDER BY position),
           list(value ORDER BY position), list(low ORDER BY position), list(high ORDER BY position)
    FROM stored JOIN positions USING (run) JOIN wanted USING (benchmark, metric)
    WHERE {_USABLE}
    GROUP BY benchmark, metric, statistic, machine_key, unit, better, workload
    ORDER BY benchmark, metric, statistic, machine_key, min(position)
"""  # noqa: S608 - our own text


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as the rows describe it; see `RunRecord`."""

    id: str
    sha: str
    ref: str
    subject: str
    committed: str
    started: str
    machine: str
    machine_key: str
    conditions: str
    url: str


@dataclass(frozen=True, slots=True, eq=False)
class StoredSeries:
    """The values of one statistic on one machine, while its benchmark did the same work.

    Attributes:
        positions: shape (n,), ascending positions of the runs.
        values, low, high: shape (n,), finite.
    """

    benchmark: str
    metric: str
    statistic: str
    machine_key: str
    unit: str
    better: str
    workload: str
    display_unit: str
    positions: IntArray
    values: FloatArray
    low: FloatArray
    high: FloatArray


class Rows:
    """The rows of all runs; use it in a `with` block."""

    def __init__(self, table: pa.Table) -> None:
        self._database = duckdb.connect(":memory:", config=_SETTINGS)
        self._database.register("stored", table)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._database.close()
        if isinstance(error, duckdb.Error):
            first = str(error).partition("\n")[0]
            raise UsageError(
                f"the runs cannot be analyzed: {first}",
                hint="Name fewer runs, or delete files of the store that others wrote.",
            ) from None

    def suites(self) -> tuple[str, ...]:
        """The names of all suites."""
        found = self._database.execute("SELECT DISTINCT suite FROM stored ORDER BY suite")
        return tuple(name for (name,) in found.fetchall())

    def runs(self, suite: str) -> tuple[StoredRun, ...]:
        """The runs of a suite, in no particular order."""
        found = self._database.execute(_RUNS, [suite]).fetchall()
        return tuple(StoredRun(*row) for row in found)

    def metrics(self, suite: str) -> tuple[tuple[str, str], ...]:
        """Each benchmark of a suite with each of its metrics."""
        query = "SELECT DISTINCT benchmark, metric FROM stored WHERE suite = ? ORDER BY ALL"
        found = self._database.execute(query, [suite]).fetchall()
        return tuple((benchmark, metric) for benchmark, metric in found)

    def unusable(self) -> int:
        """How many values are not numbers, or too large for the statistics."""
        query = f"SELECT count(*) FROM stored WHERE NOT ({_USABLE})"  # noqa: S608 - our own text
        found = self._database.execute(query).fetchone()
        return int(found[0]) if found else 0

    def series(
        self, runs: Sequence[str], wanted: Collection[tuple[str, str]]
    ) -> Iterator[StoredSeries]:
        """The series of some runs.

        Args:
            runs: their ids, in order.
            wanted: benchmarks with their metrics.
        """
        import pyarrow as pa  # noqa: PLC0415 - with DuckDB it is loaded already

        places = {"run": list(runs), "position": list(range(len(runs)))}
        pairs = {"benchmark": [one for one, _ in wanted], "metric": [one for _, one in wanted]}
        text = pa.string()
        self._database.register(
            "positions",
            pa.table(places, schema=pa.schema([("run", text), ("position", pa.int64())])),
        )
        self._database.register(
            "wanted", pa.table(pairs, schema=pa.schema([("benchmark", text), ("metric", text)]))
        )
        found = self._database.sql(_SERIES).to_arrow_table()
        *texts, positions, values, low, high = (found.column(i) for i in range(found.num_columns))
        lists = [column.combine_chunks() for column in (positions, values, low, high)]
        offsets = lists[0].offsets.to_numpy() if found.num_rows else np.zeros(1, dtype=np.int64)
        flat = [column.values.to_numpy(zero_copy_only=False) for column in lists]
        for index, names in enumerate(zip(*(text.to_pylist() for text in texts), strict=True)):
            start, end = int(offsets[index]), int(offsets[index + 1])
            yield StoredSeries(*names, *(column[start:end] for column in flat))
