"""A result described in full: every kind of series, written down and not computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.interval import Interval
from benchgate.model.environment import Environment
from benchgate.model.metrics import Kind
from benchgate.model.run import Source
from benchgate.model.statistics import (
    BetweenLaunches,
    Failure,
    Grid,
    GridCell,
    GridPair,
    LaunchesForChange,
    Mean,
    Quantile,
    Reach,
    ResultStatistics,
    RunStatistics,
    SeriesDetail,
    SeriesStatistics,
    Warmup,
    WithinLaunch,
    WithoutOutliers,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

HOSTILE = "\x1b[31mred\x1b[0m\nline\r\x00\u202egnp.exe"

_QUANTILES = {
    "min": 0.0,
    "p25": 0.25,
    "median": 0.5,
    "p75": 0.75,
    "p95": 0.95,
    "p99": 0.99,
    "p99.9": 0.999,
    "max": 1.0,
}


def quantiles(
    values: Sequence[float], half_width: float | None, last: str = "p99"
) -> tuple[Quantile, ...]:
    """With intervals up to the last that is not the maximum."""
    found = []
    known = True
    for (name, p), value in zip(_QUANTILES.items(), values, strict=True):
        interval = None
        if half_width is not None and known and p > 0:
            ends = (value - half_width, value + 2 * half_width)
            interval = Interval(*ends, 0.95, "hierarchical bootstrap")
        note = "" if known or p == 1 else "equals the maximum"
        found.append(Quantile(name, p, value, interval, note))
        known = known and name != last
    return tuple(found)


def mean(n: int, value: float, sd: float, method: str, *, geometric: bool = False) -> Mean:
    """With an interval of two standard errors."""
    sem = sd / 4
    interval = Interval(value - 2 * sem, value + 2 * sem, 0.95, method)
    return Mean(n, value, sd, sd / value, sem, interval, geometric)


TIME_DETAIL = SeriesDetail(
    samples=540,
    quantiles=quantiles(
        (0.99e-6, 1.17e-6, 1.19e-6, 1.21e-6, 1.26e-6, 1.57e-6, 1.61e-6, 1.61e-6), 7e-9
    ),
    full=mean(540, 1.21e-6, 78e-9, "t"),
    trimmed=WithoutOutliers("iqr", 2, 25, mean(513, 1.19e-6, 26e-9, "Winsorized t")),
    within=WithinLaunch(lag_one=0.42, effective_n=17.3, samples=45),
    between=BetweenLaunches(
        between_ratio=0.0053,
        within_ratio=0.0642,
        intraclass_correlation=0.31,
        understatement=3.74,
        mean=mean(12, 1.21e-6, 13e-9, "t on logs", geometric=True),
        trend_p=0.38,
    ),
    reach=Reach(
        spread_ratio=0.004,
        alpha=0.01,
        power=0.8,
        detectable_ratio=1.0074,
        needed=(
            LaunchesForChange(0.01, 22),
            LaunchesForChange(0.02, 9),
            LaunchesForChange(0.05, 5),
            LaunchesForChange(0.1, 5),
        ),
    ),
    warmup=Warmup(
        curve=tuple(1.2e-6 * (1 + 5 * 0.5**k) for k in range(50)),
        discarded=3,
        launches=12,
        settled=11,
        settled_at=8,
    ),
    timer_ratio=0.0026,
)
TIME = SeriesStatistics(
    benchmark="json/dumps",
    metric="time",
    unit="s",
    launches=12,
    samples=45,
    loops=16,
    p25=1.18e-6,
    median=1.2e-6,
    p95=1.26e-6,
    spread_ratio=0.011,
    detail=TIME_DETAIL,
)
MEMORY = SeriesStatistics(
    benchmark="json/dumps",
    metric="peak_rss",
    unit="B",
    launches=6,
    samples=1,
    loops=1,
    p25=50.1e6,
    median=50.1e6,
    p95=None,
    spread_ratio=0.002,
    notes=("the kernel counts it in pages",),
    detail=SeriesDetail(
        samples=6,
        quantiles=quantiles(
            (50.04e6, 50.06e6, 50.1e6, 50.2e6, 50.3e6, 50.3e6, 50.3e6, 50.3e6), 4e4, last="p75"
        ),
        full=mean(6, 50.1e6, 1.2e5, "t"),
        trimmed=WithoutOutliers("iqr", 0, 0, mean(6, 50.1e6, 1.2e5, "Winsorized t")),
        between=BetweenLaunches(
            between_ratio=None,
            within_ratio=None,
            intraclass_correlation=None,
            understatement=None,
            mean=mean(6, 50.1e6, 1.2e5, "t on logs", geometric=True),
            trend_p=0.0028,
        ),
        reach=Reach(
            0.002, 0.001, 0.8, None, (LaunchesForChange(0.01, 7), LaunchesForChange(0.001, None))
        ),
        notes=(
            "one sample per launch: the spread within a launch is unknown",
            "quantiles: 6 launches: intervals may be too short; 10 or more are better",
        ),
    ),
)
EXACT = SeriesStatistics(
    benchmark="json/dumps",
    metric="alloc_blocks",
    unit="",
    launches=12,
    samples=1,
    loops=1,
    p25=1204.0,
    median=1204.0,
    p95=None,
    spread_ratio=None,
    kind=Kind.EXACT,
    detail=SeriesDetail(
        samples=12,
        quantiles=quantiles([1204.0] * 8, None),
        full=Mean(12, 1204.0, 0.0, 0.0, 0.0),
        trimmed=WithoutOutliers("iqr", 0, 0, Mean(12, 1204.0, 0.0, 0.0, 0.0)),
        notes=("exact: it does not vary, so there is nothing to estimate",),
    ),
)
ONE_LAUNCH = SeriesStatistics(
    benchmark="cli/start",
    metric="time",
    unit="s",
    launches=1,
    samples=30,
    loops=1,
    p25=0.0294,
    median=0.0298,
    p95=None,
    spread_ratio=None,
    display_unit="ms",
    detail=SeriesDetail(
        samples=30,
        quantiles=quantiles(
            (0.0275, 0.0294, 0.0298, 0.0305, 0.0379, 0.0389, 0.0389, 0.0389), 5e-4, last="p95"
        ),
        full=mean(30, 0.0306, 0.0026, "t"),
        trimmed=WithoutOutliers("iqr", 0, 3, mean(27, 0.0299, 6e-4, "Winsorized t")),
        within=WithinLaunch(lag_one=-0.07, effective_n=30.0, samples=30),
        warmup=Warmup((0.051, 0.03, 0.031, 0.0295, 0.03), 1, 1, 1, 1),
        timer_ratio=1.7e-6,
        notes=(
            "one launch: how launches differ is unknown, so no interval here covers another run",
        ),
    ),
)
STRANGE = SeriesStatistics(
    benchmark=f"group/{HOSTILE}",
    metric=HOSTILE,
    unit=f"points {HOSTILE}",
    launches=2,
    samples=2,
    loops=1,
    p25=1.0,
    median=1.5,
    p95=None,
    spread_ratio=0.7,
    notes=(HOSTILE,),
    detail=SeriesDetail(
        samples=4,
        quantiles=quantiles((1.0, 1.25, 1.5, 2.75, 3.0, 3.0, 3.0, 3.0), None, last="p75"),
        full=mean(4, 1.9, 0.8, "t"),
        trimmed=WithoutOutliers("none", 0, 0, mean(4, 1.9, 0.8, "t")),
        notes=(HOSTILE,),
    ),
)
MATTERS = Grid(
    benchmark="sort/list",
    metric="time",
    unit="s",
    cells=(
        GridCell("kind=sorted,n=1000", 8, 12e-6),
        GridCell("kind=reversed,n=1000", 8, 12.1e-6),
        GridCell("kind=random,n=1000", 8, 99e-6),
        GridCell("kind=random,n=100000", 7, 0.0132),
    ),
    h=28.4,
    df=3,
    p=3e-6,
    pairs=(
        GridPair("kind=sorted,n=1000", "kind=reversed,n=1000", 1.0083, 0.4418, 0.4418),
        GridPair("kind=sorted,n=1000", "kind=random,n=1000", 8.25, 1.6e-4, 9.3e-4),
        GridPair("kind=sorted,n=1000", "kind=random,n=100000", 1100.0, 3.1e-4, 9.3e-4),
        GridPair("kind=reversed,n=1000", "kind=random,n=1000", 8.18, 1.6e-4, 9.3e-4),
        GridPair("kind=reversed,n=1000", "kind=random,n=100000", 1090.9, 3.1e-4, 9.3e-4),
        GridPair("kind=random,n=1000", "kind=random,n=100000", 133.3, 3.1e-4, 9.3e-4),
    ),
)
MATTERS_NOT = Grid(
    benchmark="hash/file",
    metric="time",
    unit="s",
    cells=(
        GridCell("algorithm=md5", 4, 1.004e-5),
        GridCell("algorithm=sha1", 4, 1.007e-5),
        GridCell(f"algorithm={HOSTILE}", 4, 0.993e-5),
    ),
    h=3.6,
    df=2,
    p=0.165,
    pairs=(
        GridPair("algorithm=md5", "algorithm=sha1", 1.003, 0.8, 1.0),
        GridPair("algorithm=md5", f"algorithm={HOSTILE}", 0.989, 0.2, 0.6),
        GridPair("algorithm=sha1", f"algorithm={HOSTILE}", 0.986, 0.2, 0.6),
    ),
    notes=("fewer than 5 launches in a cell: p is approximate",),
)
RUN = RunStatistics(
    arm="head",
    source=Source(sha="e4f5a6b7c8d9", dirty=True),
    started="2026-11-21T07:29:04Z",
    complete=True,
    environment=Environment(cpu_model="AMD EPYC 7763", cpu_count=4, os="Debian GNU/Linux 12"),
    series=(TIME, MEMORY, EXACT, ONE_LAUNCH, STRANGE),
    failures=(Failure("db/insert", "ValueError: gone\n  at \x1b[31mx\x1b[0m"),),
    grids=(MATTERS, MATTERS_NOT),
)
RESULT = ResultStatistics(runs=(RUN,), duration_s=42.0, warnings=("the machine was busy",))
