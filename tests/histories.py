"""Histories as `benchgate history` finds them, without having measured anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchgate.model.history_document import History, HistoryRun, Shift, Trend, TrendPoint
from benchgate.model.metrics import Better

if TYPE_CHECKING:
    from collections.abc import Sequence

MACHINE = "AMD EPYC 7763, 4 cores, Debian 12"


def sha_of(index: int) -> str:
    return f"{index + 0xABC0000:040x}"[::-1]


def runs_of(count: int, **more: Any) -> tuple[HistoryRun, ...]:  # noqa: ANN401 - any field of a run
    """One a day."""
    return tuple(
        HistoryRun(
            **{
                "id": f"r{index}",
                "sha": sha_of(index),
                "ref": "main",
                "subject": f"Change number {index}",
                "author": "A. Developer",
                "started": f"2026-{index // 28 % 12 + 1:02}-{index % 28 + 1:02}T03:04:05Z",
                "machine": MACHINE,
                **more,
            }
        )
        for index in range(count)
    )


def trend_of(
    levels: Sequence[tuple[int, float]],
    name: str = "parse/large",
    **more: Any,  # noqa: ANN401 - any field of a trend
) -> Trend:
    """A trend of so many runs at each level, one after another; each value is a bit different."""
    points: list[TrendPoint] = []
    shifts: list[Shift] = []
    for count, level in levels:
        if points:
            at, before = len(points), levels[len(shifts)][1]
            shifts.append(
                Shift(
                    point=at,
                    p=0.001,
                    before=before,
                    after=level,
                    ratio=level / before,
                    worse=level > before,
                    last_before=sha_of(at - 1),
                    first_after=sha_of(at),
                )
            )
        for _ in range(count):
            value = level * (1 + (len(points) * 0.618 % 1 - 0.5) * 0.01)
            points.append(TrendPoint(len(points), value, value * 0.99, value * 1.02))
    fields = {
        "benchmark": name,
        "metric": "time",
        "statistic": "p25",
        "unit": "s",
        "better": Better.LOWER,
        "display_unit": "",
        "machine": MACHINE,
        "points": tuple(points),
        "shifts": tuple(shifts),
        "noise_ratio": 0.008,
    }
    return Trend(**{**fields, **more})


def history_of(*trends: Trend, **more: Any) -> History:  # noqa: ANN401 - any field of a history
    count = max(point.run for one in trends for point in one.points) + 1
    return History(**{"suite": "default", "runs": runs_of(count), "trends": trends, **more})
