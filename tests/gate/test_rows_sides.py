from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.config import loads
from benchgate.gate.rows import sides
from benchgate.gate.suite import Design, judge_suite
from benchgate.gate.waves import WaveSettings
from benchgate.model.environment import Environment
from benchgate.model.launch_table import Launch
from benchgate.model.metrics import Better, Kind, Metric
from benchgate.model.run import BenchmarkResult, Run, Series, Source, Tier

if TYPE_CHECKING:
    from benchgate.model.row import Row

medians = st.floats(1e-9, 1e12)


def test_the_head_is_the_base_with_the_change_and_the_medians_stay() -> None:
    # Seen in a comment: "regressed, base 27.16 us, head 26.04 us, +2.9 %".
    found = sides(27.16e-6, 26.04e-6, 1.029)
    assert found["base"] == 27.16e-6
    assert found["head"] == pytest.approx(27.95e-6, rel=1e-4)
    assert (found["base_median"], found["head_median"]) == (27.16e-6, 26.04e-6)


def test_of_a_calibrated_row_the_base_follows_from_the_head() -> None:
    found = sides(1.1e-3, 1.2e-3, 1.25, from_head=True)
    assert found["head"] == 1.2e-3
    assert found["base"] == pytest.approx(0.96e-3)


@given(medians, medians, st.booleans())
def test_medians_that_agree_are_shown_as_they_are(
    base: float,
    head: float,
    from_head: bool,  # noqa: FBT001 - drawn by hypothesis
) -> None:
    found = sides(base, head, head / base, from_head=from_head)
    assert (found["base"], found["head"]) == (base, head)


@given(medians, medians, st.floats(1e-3, 1e3), st.booleans())
def test_values_never_point_the_other_way(
    base: float,
    head: float,
    ratio: float,
    from_head: bool,  # noqa: FBT001 - drawn by hypothesis
) -> None:
    found = sides(base, head, ratio, from_head=from_head)
    assert found["base"] is not None
    assert found["head"] is not None
    assert found["head"] / found["base"] == pytest.approx(ratio, rel=1e-9)


@pytest.mark.parametrize("ratio", [None, 0.0, math.inf, math.nan, -1.0])
@pytest.mark.parametrize(("base", "head"), [(0.0, 3.0), (2.0, None), (None, 2.0), (4.0, 0.0)])
def test_without_a_ratio_the_medians_are_shown(
    base: float | None, head: float | None, ratio: float | None
) -> None:
    found = sides(base, head, ratio)
    assert (found["base"], found["head"]) == (base, head)


def run(rng: np.random.Generator, rounds: int, *, started: str = "2026-01-31T00:00:00Z") -> Run:
    """A run in which each round has its own speed, which both arms of it share."""
    metrics = (
        Metric("time", "s"),
        Metric("throughput", "op/s", Better.HIGHER),
        Metric("allocations", "", kind=Kind.EXACT),
    )
    benchmarks = []
    for index in range(10):
        drift = np.exp(np.linspace(-0.5, 0.5, rounds))
        series = []
        for metric in metrics:
            noise = np.exp(0.02 * rng.standard_normal((rounds, 45)))
            samples = drift[:, None] * noise * rng.uniform(0.9, 1.1)
            if metric.kind is Kind.EXACT:
                samples = np.round(1000 * samples)
            launches = (Launch(i, 0, x, np.empty(0)) for i, x in enumerate(samples))
            series.append(Series(metric, 1, tuple(launches)))
        benchmarks.append(BenchmarkResult(f"b{index}", "w", Tier.LOCKSTEP, tuple(series)))
    return Run(Source(), started, Environment(), tuple(benchmarks))


def odd(run_: Run, rng: np.random.Generator) -> Run:
    """The same, with launches that came out far off, by chance not those of the other arm."""
    benchmarks = []
    for b in run_.benchmarks:
        series = []
        for s in b.series:
            off = rng.random(len(s.launches)) < 0.3
            launches = (
                Launch(x.round, x.order, x.samples * (3.0 if far else 1.0), x.warmup)
                for x, far in zip(s.launches, off, strict=True)
            )
            series.append(Series(s.metric, s.loops, tuple(launches)))
        benchmarks.append(BenchmarkResult(b.id, b.workload, b.tier, tuple(series)))
    return Run(run_.source, run_.started, run_.environment, tuple(benchmarks))


CONFIG = '[gate]\nmetrics = ["time", "throughput", "allocations"]\n'
WAYS = {
    "in waves": (True, True, 0, CONFIG),
    "at once": (True, False, 0, CONFIG),
    "classical": (True, False, 0, f'{CONFIG}rule = "classical"\n'),
    "stored": (False, False, 1, CONFIG),
    "calibrated": (False, False, 12, CONFIG),
}


@pytest.mark.parametrize("way", WAYS)
def test_base_head_and_change_of_every_row_have_one_source(way: str) -> None:
    paired, in_waves, earlier, toml = WAYS[way]
    config = loads(toml, "benchgate.toml")
    contradicted = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        base, head = odd(run(rng, 20), rng), odd(run(rng, 20), rng)
        more = [odd(run(rng, 20), rng) for _ in range(earlier - 1)]
        found = judge_suite(
            base,
            head,
            config,
            Design(paired=paired, waves=WaveSettings.of(config) if in_waves else None),
            earlier=[base, *more] if earlier else (),
        )
        assert len(found.rows) == 50
        contradicted += sum(map(points_the_other_way, found.rows))
    # The launches are such that medians alone would have contradicted some change.
    assert contradicted or way == "calibrated"


def points_the_other_way(row: Row) -> bool:
    """Check what is shown of a row; whether its medians would have contradicted its change."""
    assert row.ratio is not None
    assert row.base is not None
    assert row.head is not None
    assert row.base_median is not None
    assert row.head_median is not None
    assert row.head / row.base == pytest.approx(row.ratio, rel=1e-9)
    assert (row.head > row.base) is (row.ratio > 1)
    return (row.head_median > row.base_median) is not (row.ratio > 1)
