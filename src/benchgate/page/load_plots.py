"""The load of a scenario over time, and its latencies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.page.charts import (
    Axis,
    Chart,
    Draw,
    Look,
    Plotted,
    scale_of,
)
from benchgate.units import counted, format_duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.model.figures import (
        BenchmarkFigures,
        LoadArm,
        LoadFigures,
    )


_LOOKS: Final = {"base": Look.BASE, "head": Look.HEAD}
# Beyond this the small bars cannot be seen beside the great ones.
_MOST_LINEAR_LATENCY_RATIO: Final = 20


def load_plots(figures: BenchmarkFigures) -> tuple[Chart, ...]:
    """The load over time and its latencies; nothing for what is no step of a scenario."""
    load = figures.load
    if load is None:
        return ()
    arms = [(name, arm) for name, arm in (("base", load.base), ("head", load.head)) if arm]
    return (*_course(load, arms), *_latencies(arms))


def _course(load: LoadFigures, arms: Sequence[tuple[str, LoadArm]]) -> Iterator[Chart]:
    slow = [value for _, arm in arms for value in arm.p95_s if value is not None]
    if not any(len(arm.at_s) > 1 for _, arm in arms):
        return
    scale = scale_of(max(slow, default=1.0), "s")
    series = [
        Plotted(
            f"throughput, {name}",
            Draw.LINE,
            _LOOKS[name],
            tuple(round(x, 3) for x in arm.at_s),
            tuple(float(f"{x:.5g}") for x in arm.ops_per_s),
            dashed=name == "head",
        )
        for name, arm in arms
    ] + [
        Plotted(
            f"p95, {name}",
            Draw.LINE,
            _LOOKS[name],
            tuple(round(x, 3) for x in arm.at_s),
            tuple(None if x is None else scale.value(x) for x in arm.p95_s),
            right=True,
            dashed=name == "head",
        )
        for name, arm in arms
    ]
    if load.in_line:
        axis = "time under load, one launch after the other (s)"
        value = "Each value is one launch."
    else:
        axis = "time since the load began (s)"
        value = (
            f"A value stands for {format_duration(load.window_s)}: the mean throughput, or the "
            f"median p95, of {_counted_launches(arms)}."
        )
    yield Chart(
        "Throughput and p95 over time",
        Axis(axis, from_zero=True),
        Axis("throughput (operations/s)", from_zero=True),
        tuple(series),
        right=Axis(f"p95 ({scale.name})", from_zero=True),
        zooms=True,
        caption=(
            "Throughput is on the left axis; the p95 of the latencies, with dots, is on the right "
            f"axis. {value}"
        ),
    )


def _counted_launches(arms: Sequence[tuple[str, LoadArm]]) -> str:
    return " and ".join(f"{counted(arm.launches, 'launch')} of the {name}" for name, arm in arms)


def _latencies(arms: Sequence[tuple[str, LoadArm]]) -> Iterator[Chart]:
    names = list(dict.fromkeys(bar.name for _, arm in arms for bar in arm.latencies))
    every = [bar.value_s for _, arm in arms for bar in arm.latencies]
    if not every:
        return
    scale = scale_of(max(every), "s")
    is_wide = min(every) > 0 and max(every) / min(every) > _MOST_LINEAR_LATENCY_RATIO
    series = []
    for name, arm in arms:
        has_ends = any(bar.low_s is not None for bar in arm.latencies)
        lows = tuple(None if b.low_s is None else scale.value(b.low_s) for b in arm.latencies)
        highs = tuple(None if b.high_s is None else scale.value(b.high_s) for b in arm.latencies)
        series.append(
            Plotted(
                name,
                Draw.BARS,
                _LOOKS[name],
                tuple(float(names.index(bar.name)) for bar in arm.latencies),
                tuple(scale.value(bar.value_s) for bar in arm.latencies),
                lows if has_ends else (),
                highs if has_ends else (),
            )
        )
    more = " The axis is logarithmic: compare the numbers, not the lengths." if is_wide else ""
    yield Chart(
        "Latencies",
        Axis("percentile", categories=tuple(names)),
        Axis(f"latency ({scale.name})", from_zero=not is_wide, log=is_wide),
        tuple(series),
        caption=(
            "A bar is the mean over the launches, and the line on it is the 95 % interval of "
            f"that mean.{more}"
        ),
    )
