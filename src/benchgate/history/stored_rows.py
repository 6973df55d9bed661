"""The rows of a store: series over runs, each value once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from benchgate.stats.checks import LARGEST

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from benchgate.arrays import FloatArray, IntArray
    from benchgate.history.run_rows import RunReader, RunRows


# As the first fields of StoredSeries.
_Name: TypeAlias = "tuple[str, str, str, str, str, str, str]"
_UNWANTED: Final = -1


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run as the rows describe it; see `RunRecord`."""

    id: str
    suite: str
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


@dataclass(frozen=True, slots=True)
class _Key:
    """What a value is of, in the order of the columns."""

    benchmark: str
    workload: str
    metric: str
    unit: str
    better: str
    statistic: str
    display_unit: str


class Rows:
    """The rows of all runs.

    Args:
        reader: what has read them.
    """

    def __init__(self, runs: Sequence[RunRows], reader: RunReader) -> None:
        self._keys = [_Key(*key) for key in reader.keys]
        self._rows = {one.id: one for one in runs}
        self._runs = tuple(ListedRun(*one.of_run) for one in runs)

    def suites(self) -> tuple[str, ...]:
        return tuple(sorted({run.suite for run in self._runs}))

    def runs(self, suite: str) -> tuple[ListedRun, ...]:
        """The runs of a suite, in no particular order."""
        return tuple(run for run in self._runs if run.suite == suite)

    def metrics(self, suite: str) -> tuple[tuple[str, str], ...]:
        of_suite = (self._rows[run.id].keys for run in self.runs(suite))
        # Most runs share one array.
        numbers = {number for keys in _each_once(of_suite) for number in keys.tolist()}
        return tuple(sorted({(self._keys[n].benchmark, self._keys[n].metric) for n in numbers}))

    def series(
        self, runs: Sequence[str], wanted: Collection[tuple[str, str]]
    ) -> tuple[tuple[StoredSeries, ...], int]:
        """The series of some runs, and how many values are no numbers or too large.

        Args:
            runs: their ids, in order.
            wanted: benchmarks with their metrics.
        """
        machines = {run.id: run.machine_key for run in self._runs}
        numbers: dict[_Name, int] = {}
        of_machine = {
            machine: self._series_of_keys(machine, set(wanted), numbers)
            for machine in {machines[id_] for id_ in runs}
        }
        rows = [self._rows[id_] for id_ in runs]
        if not numbers:
            return (), 0
        series = np.concatenate(
            [of_machine[machines[id_]][one.keys] for id_, one in zip(runs, rows, strict=True)]
        )
        values = np.concatenate([one.values for one in rows], axis=1)
        usable = np.ones(len(series), dtype=np.bool_)
        with np.errstate(invalid="ignore"):
            for column in values:  # one after the other: they are large
                usable &= np.abs(column) <= LARGEST
        order = np.flatnonzero((series != _UNWANTED) & usable)
        order = order[np.argsort(series[order], kind="stable")]
        unusable = int(np.count_nonzero(~usable))
        series = series[order]
        keys = np.concatenate([one.keys for one in rows])[order]
        positions = np.repeat(np.arange(len(rows)), [len(one.keys) for one in rows])[order]
        value, low, high = values[:, order]
        bounds = [0, *(np.flatnonzero(np.diff(series)) + 1).tolist(), len(series)]
        names = list(numbers)
        found = []
        for a, b in pairwise(bounds):
            if a < b:
                unit = self._keys[keys[b - 1]].display_unit
                of_runs = (positions[a:b], value[a:b], low[a:b], high[a:b])
                found.append(StoredSeries(*names[int(series[a])], unit, *of_runs))
        found.sort(key=lambda one: (*_place(one), int(one.positions[0])))
        return tuple(found), unusable

    def _series_of_keys(
        self, machine: str, wanted: Collection[tuple[str, str]], numbers: dict[_Name, int]
    ) -> NDArray[np.int32]:
        """The number of the series of each key on a machine; each new one is added to `numbers`."""
        found = np.full(len(self._keys), _UNWANTED, dtype=np.int32)
        for place, key in enumerate(self._keys):
            if (key.benchmark, key.metric) in wanted:
                what = (key.benchmark, key.metric, key.statistic)
                name = (*what, machine, key.unit, key.better, key.workload)
                found[place] = numbers.setdefault(name, len(numbers))
        return found


def _place(series: StoredSeries) -> tuple[str, ...]:
    return series.benchmark, series.metric, series.statistic, series.machine_key


def _each_once(arrays: Iterator[IntArray]) -> Iterator[IntArray]:
    """Leave out the same object if it comes again."""
    seen: set[int] = set()
    for one in arrays:
        if id(one) not in seen:
            seen.add(id(one))
            yield one
