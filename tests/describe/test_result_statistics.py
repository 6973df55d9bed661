from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.describe.conftest import COUNT, TIME, noisy_launches
from tests.finite import all_finite
from tests.results import of_benchmarks, of_series, series_of

from benchgate.describe.result_statistics import describe
from benchgate.model.environment import Environment
from benchgate.model.metrics import Kind, Metric
from benchgate.model.result import Result
from benchgate.model.run import CANARY_ID, Status
from benchgate.stats.spread import OUTLIER_MODES

if TYPE_CHECKING:
    from benchgate.stats.spread import OutlierMode

FEW = "fewer than 10 samples in a launch: too few to see how neighbors depend on each other"
# What a result file can hold: see the codec's limits.
magnitudes = st.floats(1e-150, 1e150)
values = magnitudes | magnitudes.map(lambda x: -x) | st.sampled_from([0.0, 1.0, 5e-324])
launches = st.lists(st.lists(values, min_size=1, max_size=12), min_size=1, max_size=6)


@given(launches, st.sampled_from(OUTLIER_MODES))
def test_whatever_was_measured_is_described_in_finite_numbers(
    samples: list[list[float]], mode: OutlierMode
) -> None:
    metric = Metric("score", "points")
    cells = [of_series(f"a[n={n}]", series_of(samples, metric=metric)) for n in range(2)]

    found = describe(Result(of_benchmarks(*cells)), outliers=mode)

    assert all_finite(found)
    assert found.runs[0].series[0].detail is not None


@pytest.mark.parametrize(
    "samples",
    [
        [[1.0], [5e-324], [5e-324]],
        [[7.5e107], [7.6e107], [1.1e-308], [1.1e-308]],
        [*[[1e-150]] * 5, *[[1e150]] * 5],
    ],
)
def test_values_as_far_apart_as_can_be(samples: list[list[float]]) -> None:
    cells = [series_of(some) for some in (samples, [[1e150]] * 3, [[5e-324]] * 3)]
    result = Result(of_benchmarks(*(of_series(f"a[n={n}]", cell) for n, cell in enumerate(cells))))
    head = replace(result.head, environment=Environment(timer_cost_ns=50.0))

    found = describe(Result(head), outliers="iqr")

    assert all_finite(found)
    # What is divided by 5e-324 is beyond the largest float; the other way round it is 0.
    assert found.runs[0].grids[0].pairs[2].ratio == 0.0
    assert found.runs[0].series[2].detail is not None
    assert found.runs[0].series[2].detail.timer_ratio is None


def test_details_come_only_when_asked_for() -> None:
    benchmark = of_series("a[n=1]", series_of(noisy_launches(1, 5, 45, between=0.01, within=0.01)))
    result = Result(of_benchmarks(benchmark, replace(benchmark, id="a[n=2]")))

    plain, detailed = describe(result), describe(result, outliers="iqr")

    assert plain.runs[0].series[0].detail is None
    assert plain.runs[0].grids == ()
    assert detailed.runs[0].series[0].detail is not None
    assert len(detailed.runs[0].grids) == 1


def test_both_runs_are_described_without_the_canary() -> None:
    series = series_of([[1.0]])
    run = Result(of_benchmarks(*(of_series(id_, series) for id_ in ("a", CANARY_ID)))).head
    failed = replace(of_series("bad"), status=Status.FAILED, error="boom")
    result = Result(run, base=replace(run, benchmarks=(*run.benchmarks, failed)), duration_s=3.0)

    found = describe(result)

    assert [run.arm for run in found.runs] == ["head", "base"]
    assert [[s.benchmark for s in run.series] for run in found.runs] == [["a"], ["a"]]
    assert [[(f.benchmark, f.error) for f in r.failures] for r in found.runs] == [
        [],
        [("bad", "boom")],
    ]


@pytest.mark.parametrize(
    ("metric", "samples", "note"),
    [
        (COUNT, [[9.0]], "exact"),
        (replace(TIME, kind=Kind.SUMMARY), [[9.0]], "a summary"),
        (TIME, [[1.0, 2.0, 3.0]], "one launch"),
        (TIME, [[1.0], [2.0]], "one sample per launch"),
        (
            TIME,
            [[1.0] * 9, [2.0] * 8],
            f"{FEW}, or when a launch is warm",
        ),
        (
            Metric("score", "points"),
            [[1.0] * 9],
            FEW,
        ),
    ],
)
def test_what_is_missing_is_explained(
    metric: Metric, samples: list[list[float]], note: str
) -> None:
    result = Result(of_benchmarks(of_series("a", series_of(samples, metric=metric))))

    detail = describe(result, outliers="iqr").runs[0].series[0].detail

    assert detail is not None
    assert any(text == note or text.startswith(f"{note}: ") for text in detail.notes)


def test_enough_samples_are_not_called_few() -> None:
    nine = series_of([[1.0, 2.0] * 4], warmup=(3.0, 2.0))
    ten = series_of([[1.0, 2.0] * 5])
    result = Result(of_benchmarks(of_series("a", nine), of_series("b", ten)))

    first, second = (s.detail for s in describe(result, outliers="iqr").runs[0].series)

    assert first is not None
    assert first.within is None
    assert first.warmup is not None  # the discarded ones count
    assert FEW in first.notes
    assert second is not None
    assert not any(note.startswith(FEW) for note in second.notes)


def test_the_timer_is_a_share_of_a_sample() -> None:
    result = Result(of_benchmarks(of_series("a", series_of([[1e-6] * 20] * 2, loops=5))))
    head = replace(result.head, environment=Environment(timer_cost_ns=50.0))

    detail = describe(Result(head), outliers="iqr").runs[0].series[0].detail

    assert detail is not None
    assert detail.timer_ratio == pytest.approx(0.01)


def test_the_same_result_is_described_alike_twice() -> None:
    samples = noisy_launches(2, 12, 45, between=0.01, within=0.02)
    result = Result(of_benchmarks(of_series("a", series_of(samples))))

    assert describe(result, outliers="iqr") == describe(result, outliers="iqr")
