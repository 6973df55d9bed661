from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from tests.history.conftest import HERE, record_at, run_at
from tests.results import bench, of_series, series_of

from benchgate.errors import UsageError
from benchgate.history.adding import KnownCommit
from benchgate.history.record import record_of, why_not_kept
from benchgate.history.run_rows import SCHEMA, RunReader, to_table
from benchgate.history.stored_rows import Rows
from benchgate.history.trends import HistoryRequest, changes_of_any_length, find_history
from benchgate.model.history_document import HISTORY
from benchgate.model.metrics import Kind, Metric
from benchgate.model.run import CANARY_ID, Source, Status, Tier
from benchgate.stats.changepoint import count_changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchgate.history.record import RunRecord
    from benchgate.model.history_document import History
    from benchgate.model.run import BenchmarkResult

NOISE = np.random.default_rng(7).normal(1, 0.005, 200)


def rows_of(records: Iterable[RunRecord]) -> Rows:
    reader = RunReader()
    return Rows([reader.rows(to_table([one], str)) for one in records], reader)


def found(records: Iterable[RunRecord], **wanted: Any) -> History:  # noqa: ANN401 - any field
    history = find_history(rows_of(records), HistoryRequest(**wanted), lambda _: {})
    assert HISTORY.read(HISTORY.write(history, str), "history.json") == history
    return history


def course(values_s: Sequence[float], **more: Any) -> list[RunRecord]:  # noqa: ANN401
    return [record_at(hour, {"a": value}, **more) for hour, value in enumerate(values_s)]


def step(at: int, count: int, ratio: float) -> list[float]:
    return [1e-3 * NOISE[i] * (ratio if i >= at else 1) for i in range(count)]


def test_a_change_is_found_with_its_commits_and_size() -> None:
    history = found(course(step(20, 40, 1.1)))
    (trend,) = history.trends
    (shift,) = trend.shifts
    assert (shift.point, shift.worse) == (20, True)
    assert (shift.last_before, shift.first_after) == (f"{19:040x}", f"{20:040x}")
    assert shift.ratio == pytest.approx(1.1, abs=0.01)
    assert trend.noise_ratio == pytest.approx(0.005, rel=0.5)
    assert [point.run for point in trend.points] == list(range(40))
    assert history.notes == ()


def test_a_cliff_among_the_newest_runs_is_told_and_later_found() -> None:
    (trend,) = found(course(step(9, 13, 0.52))).trends
    assert trend.shifts == ()
    assert not trend.too_short
    assert trend.moved is not None
    assert (trend.moved.runs, trend.moved.worse) == (4, False)
    assert trend.moved.ratio == pytest.approx(0.52, abs=0.01)
    (trend,) = found(course(step(9, 14, 0.52))).trends
    assert [one.point for one in trend.shifts] == [9]
    assert trend.moved is None


@pytest.mark.parametrize(("at", "count"), [(2, 8), (4, 13), (5, 10), (8, 9), (39, 40)])
def test_a_cliff_anywhere_is_told_before_it_can_be_found(at: int, count: int) -> None:
    (trend,) = found(course(step(at, count, 1.9))).trends
    assert trend.shifts == ()
    assert trend.moved is not None
    assert (trend.moved.runs, trend.moved.worse) == (count - at, True)


def test_few_runs_cannot_tell() -> None:
    (trend,) = found(course([1e-3] * 10)).trends
    assert trend.too_short
    assert not found(course([1e-3] * 11)).trends[0].too_short


@pytest.mark.slow
def test_runs_that_did_not_move_seldom_seem_to_have() -> None:
    rng = np.random.default_rng(3)
    values = (1e-3 * rng.normal(1, 0.05, int(rng.integers(6, 60))) for _ in range(200))
    moved = sum(found(course(one.tolist())).trends[0].moved is not None for one in values)
    assert moved <= 6


@pytest.mark.parametrize("count", [1, 2])
def test_a_count_that_moved_is_told_before_it_is_found(count: int) -> None:
    values = [100.0] * 6 + [120.0] * count
    counts = [odd("a", value, "allocations", kind=Kind.EXACT) for value in values]
    runs = [replace(run_at(hour, {}), benchmarks=(one,)) for hour, one in enumerate(counts)]
    (trend,) = found(map(record_of, runs)).trends
    assert trend.shifts == ()
    assert trend.moved is not None
    assert (trend.moved.runs, trend.moved.ratio, trend.moved.worse) == (count, 1.2, True)


def long_course(count: int, *, rise: tuple[int, int] = (0, 0)) -> np.ndarray[Any, Any]:
    """Values that are a tenth larger for some runs."""
    values = 1e-3 * np.random.default_rng(count).normal(1, 0.01, count)
    values[slice(*rise)] *= 1.1
    return values


@pytest.mark.parametrize(
    ("count", "rise", "expected"),
    [
        (10_000, (6000, 10_000), [6000]),
        (10_003, (3000, 3100), [3000, 3100]),
        (10_000, (9100, 9150), [9100, 9150]),
        (10_000, (4400, 4700), [4400, 4700]),
        (10_000, (8990, 9200), [8990, 9200]),
        (10_000, (9990, 10_000), [9990]),
        (2001, (700, 2001), [700]),
        (7000, (0, 0), []),
    ],
)
def test_a_change_is_found_in_a_history_of_any_length(
    count: int, rise: tuple[int, int], expected: list[int]
) -> None:
    found_at = [one.index for one in changes_of_any_length(long_course(count, rise=rise))]
    assert found_at == pytest.approx(expected, abs=1)


def test_long_histories_without_a_change_seldom_show_one() -> None:
    rng = np.random.default_rng(5)
    assert sum(bool(changes_of_any_length(rng.normal(1, 0.01, 2500))) for _ in range(100)) <= 3


def test_a_count_in_a_long_history() -> None:
    values = np.where(np.arange(5000) < 1000, 100.0, 120.0)
    assert [one.index for one in count_changes(values)] == [1000]


def test_what_is_not_found_in_a_long_history_is_told() -> None:
    fine = course([1e-3])[0]
    hours = [
        replace(fine, id=f"{n:024x}", sha=f"{n:040x}", measured=fine.measured[:1])
        for n in range(2100)
    ]
    (trend,) = found(hours).trends
    assert len(trend.points) == 2100
    (note,) = found(hours).notes
    assert note == (
        "among the older runs of a long trend, a change that lasted for less than about 100 runs "
        "may be missed"
    )


def test_a_count_that_hardly_varies_has_changed_after_three_runs() -> None:
    values = [100.0] * 6 + [101.0] + [100.0] * 5 + [120.0] * 3
    counts = [odd("a", value, "allocations", kind=Kind.EXACT) for value in values]
    runs = [replace(run_at(hour, {}), benchmarks=(one,)) for hour, one in enumerate(counts)]
    (trend,) = found(map(record_of, runs)).trends
    assert [(one.point, one.p, one.before, one.after) for one in trend.shifts] == [
        (12, 0.0, 100.0, 120.0)
    ]


def test_no_change_of_less_than_the_margin_is_shown() -> None:
    records = course(step(20, 40, 1.015))
    assert found(records).trends[0].shifts == ()
    assert len(found(records, margin=0.0).trends[0].shifts) == 1


def test_machines_are_never_joined() -> None:
    records = course([1e-3] * 12)
    other = replace(HERE, cpu_model="Xeon")
    records += [record_at(12 + hour, {"a": 2e-3}, environment=other) for hour in range(12)]
    history = found(records)
    assert [len(one.points) for one in history.trends] == [12, 12]
    assert [one.shifts for one in history.trends] == [(), ()]
    assert len({one.machine for one in history.trends}) == 2
    assert history.notes == ("the runs are from 2 machines: each has trends of its own",)


def test_machines_of_one_name_are_told_apart() -> None:
    arms = [
        record_at(i, {"a": 1e-3}, environment=replace(HERE, machine=name))
        for i, name in enumerate(("x86_64", "aarch64"))
    ]
    names = {one.machine for one in found(arms).trends}
    assert len(names) == 2


def test_new_tools_stay_in_the_trend_and_are_named_at_the_change() -> None:
    values = step(20, 40, 1.2)
    records = [
        record_at(
            hour,
            {"a": value},
            environment=replace(
                HERE,
                toolchains={"python": "3.12.1" if hour < 20 else "3.13.0"},
                runner_image=f"ubuntu24 2026{hour // 20}",
            ),
        )
        for hour, value in enumerate(values)
    ]
    (trend,) = found(records).trends
    (shift,) = trend.shifts
    assert shift.also == ("python: '3.12.1' and '3.13.0'", "runner image: '20260' and '20261'")


def test_other_work_begins_a_new_trend() -> None:
    def run(hour: int, workload: str) -> RunRecord:
        return record_of(
            replace(run_at(hour, {}), benchmarks=(replace(bench("a", 1e-3), workload=workload),))
        )

    history = found(
        [*(run(hour, "old") for hour in range(6)), *(run(hour, "new") for hour in (6, 7))]
    )
    assert {(one.workload, len(one.points), one.ended) for one in history.trends} == {
        ("old", 6, True),
        ("new", 2, False),
    }
    assert "1 trend ended because the work of the benchmark changed" in history.notes


def test_those_that_changed_last_come_first() -> None:
    late, early = step(30, 40, 1.1), step(10, 40, 0.9)
    records = [
        record_at(hour, {"a/same": 1e-3, "b/early": early[hour], "c/late": late[hour]})
        for hour in range(40)
    ]
    names = [one.benchmark for one in found(records).trends]
    assert names == ["c/late", "b/early", "a/same"]
    assert [one.shifts[0].worse for one in found(records).trends[:2]] == [True, False]


def test_a_single_run_has_a_history() -> None:
    history = found(course([1e-3]))
    assert [(len(one.points), one.noise_ratio) for one in history.trends] == [(1, None)]
    (note,) = history.notes
    assert note.startswith("changes can be found from 11 runs on one machine on")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e308, -1e308])
def test_values_that_no_statistic_takes_are_left_out_and_counted(value: float) -> None:
    good, bad = course([1e-3, 1e-3])
    bad = replace(bad, measured=(replace(bad.measured[0], value=value),))
    history = found([good, bad])
    assert [len(one.points) for one in history.trends] == [1]
    assert history.notes[0] == "1 value left out: not a number, or too large"


@pytest.mark.parametrize("text", ["[" * 100_000, "[1]", "'"])
def test_conditions_that_are_no_object_are_none(text: str) -> None:
    place = SCHEMA.get_field_index("conditions")
    reader, runs = RunReader(), []
    for record in course(step(20, 40, 1.1)):
        table = to_table([record], str)
        texts = pa.array([text] * len(table))
        runs.append(reader.rows(table.set_column(place, "conditions", texts)))
    history = find_history(Rows(runs, reader), HistoryRequest(), lambda _: {})
    assert [one.also for one in history.trends[0].shifts] == [()]


def test_zero_and_negative_values_have_a_history() -> None:
    records = [
        record_of(replace(run_at(hour, {}), benchmarks=(odd("a", float(hour >= 10) - 1.0),)))
        for hour in range(20)
    ]
    (trend,) = found(records).trends
    assert [(one.before, one.after, one.ratio) for one in trend.shifts] == [(-1.0, 0.0, 0.0)]
    assert trend.noise_ratio is None


def odd(id_: str, value: float, metric: str = "delta", **more: Any) -> BenchmarkResult:  # noqa: ANN401
    return of_series(id_, series_of([value], metric=Metric(metric, "", **more)))


def test_a_part_can_be_chosen() -> None:
    records = [record_at(hour, {"a/x": 1e-3, "b/y": 1e-3}) for hour in range(30)]
    assert [one.benchmark for one in found(records, wants=lambda id_: id_ == "b/y").trends] == [
        "b/y"
    ]
    assert len(found(records, last=3).runs) == 3
    assert len(found(records, since="2026-01-02").runs) == 6
    with pytest.raises(UsageError, match="none of a/x, b/y"):
        found(
            records,
            wants=lambda _: False,
            none_of=lambda ids: UsageError(f"none of {', '.join(sorted(ids))}"),
        )
    with pytest.raises(UsageError, match="no run of the suite 'default' is left"):
        found(records, since="2027-01-01")
    with pytest.raises(UsageError, match="a metric 'tim'; did you mean 'time'"):
        found(records, metrics=("tim",))


def test_suites_are_apart() -> None:
    records = [record_at(hour, {"a": 1e-3}, suite=suite) for hour, suite in enumerate("xyxy")]
    assert len(found(records, suite="y").runs) == 2
    with pytest.raises(UsageError, match="there are runs of 2 suites"):
        found(records)
    with pytest.raises(UsageError, match="no runs of the suite 'z'"):
        found(records, suite="z")


def test_the_usual_metrics_are_those_that_decide() -> None:
    time = odd("a", 1.0, "time")
    both = replace(time, series=(*time.series, *odd("a", 1.0, "peak_rss").series))
    run = replace(run_at(0, {}), benchmarks=(both, odd("b", 1.0, "size", kind=Kind.EXACT)))
    history = found([record_of(run)])
    assert [(one.benchmark, one.metric, one.statistic) for one in history.trends] == [
        ("a", "time", "p25"),
        ("b", "size", "exact"),
    ]
    assert [one.metric for one in found([record_of(run)], metrics=("peak_rss",)).trends] == [
        "peak_rss"
    ]


def test_commits_of_which_the_repository_knows_only_some() -> None:
    records = course([1e-3, 1e-3])
    known = {records[1].sha: KnownCommit(0, "2020-01-01T00:00:00Z", "the first", "Ann")}
    history = find_history(rows_of(records), HistoryRequest(), lambda _: known)
    assert [run.sha for run in history.runs] == [records[1].sha, records[0].sha]
    assert (history.runs[0].subject, history.runs[0].author) == ("the first", "Ann")
    assert not history.runs[1].author
    assert "lacks the commits of 1 run of 2" in history.notes[0]


def test_what_does_not_belong_into_a_history() -> None:
    run = run_at(0, {"a": 1e-3})
    whole = record_of(run)
    assert why_not_kept(run, whole) is None
    interrupted = replace(run, complete=False)
    assert why_not_kept(interrupted, record_of(interrupted)) == "it was interrupted"
    dirty = replace(run, source=Source("1" * 40, dirty=True))
    assert "uncommitted changes" in str(why_not_kept(dirty, record_of(dirty)))
    failed = replace(run, benchmarks=(bench("a", 1.0, status=Status.FAILED, error="boom"),))
    assert record_of(failed).failed == 1
    assert why_not_kept(failed, record_of(failed)) == "no benchmark in it was measured"


def test_the_id_is_that_of_the_measurement() -> None:
    run = run_at(0, {"a": 1e-3})
    assert record_of(run).id == record_of(replace(run)).id
    assert record_of(run).id != record_of(replace(run, seed=1)).id
    # A copy of another tool's file may be younger than the file.
    foreign = replace(run, benchmarks=(replace(bench("a", 1e-3), tier=Tier.STORED),))
    later = replace(foreign, started="2027-01-01T00:00:00Z")
    assert record_of(foreign).id == record_of(later).id


def test_the_canary_is_kept_beside_the_values() -> None:
    run = run_at(0, {"a": 1e-3, CANARY_ID: 2e-3})
    record = record_of(run)
    assert record.canary_s == pytest.approx(2e-3, rel=1e-5)
    assert {one.benchmark for one in record.measured} == {"a"}
