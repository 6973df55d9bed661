"""The values of earlier runs, in their order, for each row."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from benchgate.gate.suite import gather_rows
from benchgate.model.result import MOST_RECENT, Course

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchgate.config import Config
    from benchgate.gate.suite import Judgment
    from benchgate.model.row import Row
    from benchgate.model.run import Run


_Key: TypeAlias = tuple[str, str, str]


def courses(earlier: Iterable[Run], head: Run, config: Config) -> tuple[Course, ...]:
    """Collect the values of the newest earlier runs, for each row of the head that they have.

    Args:
        earlier: runs on the head's machine, in any order.
    """
    newest = sorted(earlier, key=_started_at)[-MOST_RECENT:]
    found: dict[_Key, list[float]] = {}
    for run in newest:
        for key, value in _values(run, head, config):
            if math.isfinite(value):
                found.setdefault(key, []).append(value)
    return tuple(Course(*key, tuple(values)) for key, values in found.items())


def courses_of(rows: Iterable[Row]) -> tuple[Course, ...]:
    """The values that rows have already."""
    return tuple(
        Course(row.benchmark, row.metric, row.statistic, row.recent) for row in rows if row.recent
    )


def with_courses(judgment: Judgment, known: Iterable[Course]) -> Judgment:
    """Add to each row what earlier runs measured, if that is known."""
    recent = {(one.benchmark, one.metric, one.statistic): one.values for one in known}
    rows = (
        replace(row, recent=recent.get((row.benchmark, row.metric, row.statistic), row.recent))
        for row in judgment.rows
    )
    return replace(judgment, rows=tuple(rows))


def _values(run: Run, head: Run, config: Config) -> Iterator[tuple[_Key, float]]:
    """The value of a run for each row of the head whose work it measured."""
    rows, evidences = gather_rows(run, head, config, paired=False)
    for row in rows:
        if row.test == "exact" and row.base_median is not None:
            yield (row.benchmark, row.metric, row.statistic), row.base_median
    for one in evidences:
        if one.obstacle is None:
            yield one.key, float(np.median(one.base))


def _started_at(run: Run) -> datetime:
    return datetime.fromisoformat(run.started)
