from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.gate.arms import bench, heads, judged

from benchgate.config import loads
from benchgate.gate.screening import can_settle, joined, to_measure
from benchgate.gate.suite import Design, judge_suite
from benchgate.model.environment import Environment
from benchgate.model.metrics import Better, Kind, Metric
from benchgate.model.policy import Outcome
from benchgate.model.row import Row
from benchgate.model.run import Run, Source, Status, Tier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.gate.suite import Judgment
    from benchgate.model.run import BenchmarkResult

P25 = '[gate]\nstatistics = ["p25"]'
COUNT = Metric("count", "", kind=Kind.EXACT)


def screened(
    *changes: float, earlier: int = 1, base: int = 10, head: int = 5, spread: float = 0.002
) -> Judgment:
    """Judge heads of given changes by K earlier runs of another day, which were all alike."""
    runs = [
        _run([bench(f"b{i}", heads(base, 0.0, spread).tolist()) for i in range(len(changes))])
        for _ in range(earlier)
    ]
    this = _run([bench(f"b{i}", heads(head, c, spread).tolist()) for i, c in enumerate(changes)])
    return judge_suite(runs[0], this, loads(P25, "t"), Design(paired=False), earlier=runs)


def _run(benchmarks: Sequence[BenchmarkResult]) -> Run:
    return Run(Source(), "2026-01-01T00:00:00Z", Environment(), tuple(benchmarks))


def test_what_enough_runs_show_to_be_unchanged_is_settled() -> None:
    stored = screened(0.0, 0.05, -0.05, 0.009, 0.012, 0.019, earlier=10)
    by_id = {row.benchmark: row.outcome for row in stored.rows}
    assert {by_id[f"b{i}"] for i in (0, 3, 4, 5)} == {Outcome.UNCHANGED}
    # Of those, the launches of the base and the head differ by more than half a margin.
    assert to_measure(stored) == {"b1", "b2", "b4", "b5"}


@pytest.mark.parametrize("earlier", [1, 9])
def test_too_few_runs_settle_nothing(earlier: int) -> None:
    assert to_measure(screened(0.0, 0.05, earlier=earlier)) == {"b0", "b1"}


def test_runs_that_differ_too_much_settle_nothing() -> None:
    days = [0.03 * (-1) ** day for day in range(12)]
    runs = [_run([bench("a", heads(10, day, 0.002).tolist())]) for day in days]
    head = _run([bench("a", heads(10, 0.0, 0.002).tolist())])
    stored = judge_suite(runs[0], head, loads(P25, "t"), Design(paired=False), earlier=runs)
    assert [row.outcome for row in stored.rows] == [Outcome.INCONCLUSIVE]
    assert to_measure(stored) == {"a"}


def test_a_tail_that_stays_open_is_not_measured_for_its_own_sake() -> None:
    config = loads('[gate]\nstatistics = ["p25", "p95"]', "t")
    runs = [_run([bench("a", [1e-3] * 10)]) for _ in range(10)]
    stored = judge_suite(runs[0], runs[0], config, Design(paired=False), earlier=runs)
    assert {row.statistic: row.outcome for row in stored.rows} == {
        "p25": Outcome.UNCHANGED,
        "p95": Outcome.NOT_TESTED,
    }
    assert to_measure(stored) == frozenset()


def test_a_tail_that_changed_is_measured_even_if_the_rest_is_settled() -> None:
    config = loads('[gate]\nstatistics = ["p25", "p95"]', "t")
    runs = [_run([bench("a", [1e-3] * 10)]) for _ in range(10)]
    stored = judge_suite(runs[0], runs[0], config, Design(paired=False), earlier=runs)
    for outcome in (Outcome.REGRESSED, Outcome.IMPROVED):
        rows = tuple(
            replace(row, outcome=outcome) if row.statistic == "p95" else row for row in stored.rows
        )
        assert to_measure(replace(stored, rows=rows)) == {"a"}


def test_what_no_machine_here_can_measure_is_left() -> None:
    config = loads(P25 + '\nmetrics = ["time", "instructions"]', "t")
    runs = [_run([bench("a", [1e-3] * 10)]) for _ in range(10)]
    stored = judge_suite(runs[0], runs[0], config, Design(paired=False), earlier=runs)
    assert {row.outcome for row in stored.rows} == {Outcome.UNCHANGED, Outcome.NOT_TESTED}
    assert to_measure(stored) == frozenset()


@pytest.mark.parametrize(("base", "head"), [(1, 1), (2, 1), (1, 5)])
def test_launches_that_do_not_overlap_look_changed_however_few(base: int, head: int) -> None:
    assert looks_changed(screened(0.1, 0.0, base=base, head=head)) == {"b0"}


def looks_changed(stored: Judgment) -> set[str]:
    """The benchmarks of which that is said where they were not measured here."""
    return {
        row.benchmark
        for row in joined(stored, _nothing()).rows
        if row.notes[:1] == ("not measured in this run, although its benchmark looks changed",)
    }


def test_a_change_that_the_spread_explains_does_not_look_like_one() -> None:
    assert looks_changed(screened(0.03, spread=0.3)) == set()
    assert looks_changed(screened(0.03, spread=0.01)) == {"b0"}


def test_more_is_worse_or_better_all_the_same() -> None:
    speed = Metric("speed", "/s", better=Better.HIGHER)
    toml = P25 + '\nmetrics = ["speed"]'
    base = [bench(id_, [100, 101, 102, 103], metric=speed) for id_ in ("slower", "faster", "same")]
    head = [
        bench("slower", [90, 91, 92, 93], metric=speed),
        bench("faster", [110, 111, 112, 113], metric=speed),
        bench("same", [100, 101, 102, 103], metric=speed),
    ]
    stored = judged(base, head, toml, paired=False, waves=None)
    assert looks_changed(stored) == {"slower", "faster"}


def test_what_the_baseline_knows_nothing_of_is_measured() -> None:
    base = [
        bench("same", [1] * 10),
        bench("other work", [1] * 10, workload="old"),
        bench("broken", [1] * 10, status=Status.FAILED, error="boom"),
        bench("other metric", [1] * 10, metric=Metric("rss", "B")),
        bench("gone", [1] * 10),
    ]
    head = [bench(id_, [1] * 10) for id_ in ("same", "other work", "broken", "other metric", "new")]
    runs = [_run(base)] * 10
    stored = judge_suite(runs[0], _run(head), loads(P25, "t"), Design(paired=False), earlier=runs)
    assert to_measure(stored) == {"other work", "broken", "other metric", "new"}


def test_counts_of_another_machine_are_taken_anew() -> None:
    toml = loads('[gate]\nmetrics = ["count"]', "t")
    base = _run([bench("a", [5], metric=COUNT), bench("b", [5], metric=COUNT)])
    head = _run([bench("a", [6], metric=COUNT), bench("b", [5], metric=COUNT)])
    here = judge_suite(base, head, toml, Design(paired=False), earlier=[base])
    assert to_measure(here) == {"a"}  # one machine counts the same, until something else changed
    assert [row.advisory for row in here.rows] == [False, False]
    elsewhere = judge_suite(base, head, toml, Design(paired=False))
    assert to_measure(elsewhere) == {"a", "b"}
    assert [row.advisory for row in elsewhere.rows] == [True, True]


def _outcomes(found: Judgment) -> dict[str, Outcome]:
    return {row.benchmark: row.outcome for row in found.rows}


def test_what_was_measured_here_takes_the_place_of_what_was_stored() -> None:
    stored = screened(0.0, 0.05)
    measured = judged([bench("b1", [1] * 17)], [bench("b1", heads(17, 0.05).tolist())], P25)
    both = joined(stored, measured)
    assert _outcomes(both) == {"b0": Outcome.INCONCLUSIVE, "b1": Outcome.REGRESSED}
    by_id = {row.benchmark: row for row in both.rows}
    assert (by_id["b1"].tier, by_id["b1"].advisory) == (Tier.LOCKSTEP, False)
    assert (by_id["b0"].tier, by_id["b0"].advisory) == (Tier.STORED, True)
    assert by_id["b0"].notes == ("no change found against stored launches, but they can hide one",)
    assert both.base_benchmarks == 2
    assert [e.pair.id for e in both.evidence] == ["b1", "b0"]
    assert both.needs == measured.needs


def test_a_calibrated_row_keeps_what_it_shows() -> None:
    stored = screened(0.0, 0.005, earlier=10)
    both = joined(stored, _nothing())
    assert _outcomes(both) == {"b0": Outcome.UNCHANGED, "b1": Outcome.UNCHANGED}
    assert not any(row.advisory for row in both.rows)


def test_what_looks_changed_and_was_not_measured_says_so() -> None:
    both = joined(screened(0.015, 0.05, base=20, head=20), _nothing())
    assert _outcomes(both) == {"b0": Outcome.INCONCLUSIVE, "b1": Outcome.REGRESSED}
    for row in both.rows:
        assert row.advisory
        assert row.notes[0] == "not measured in this run, although its benchmark looks changed"


def test_the_warnings_of_both_are_kept() -> None:
    stored = replace(screened(0.0), warnings=("stored",))
    measured = replace(_nothing(), warnings=("measured",), doubted=True)
    both = joined(stored, measured)
    assert both.warnings == ("stored", "measured")
    assert both.doubted


def test_rows_without_a_test_stay() -> None:
    gone = Row("gone", Outcome.MISSING)
    stored = replace(screened(0.0), rows=(gone,))
    assert joined(stored, _nothing()).rows == (gone,)


def _nothing() -> Judgment:
    empty = _run([])
    return judge_suite(empty, empty, loads(P25, "t"), Design(paired=True))


def test_only_what_enough_steady_runs_have_measured_can_be_settled() -> None:
    def run_of(day: float) -> Run:
        return _run(
            [
                bench("steady", heads(10, 0.005 * day, 0.002).tolist()),
                bench("noisy", heads(10, 0.03 * day, 0.002).tolist()),
                bench("broken", [1], status=Status.FAILED, error="boom"),
            ]
        )

    runs = [run_of((-1) ** day) for day in range(10)]
    config = loads(P25, "t")
    assert can_settle(runs, config) == {"steady"}
    assert can_settle(runs[:9], config) == frozenset()
    assert can_settle((), config) == frozenset()


def test_one_run_is_enough_for_what_is_counted() -> None:
    runs = [_run([bench("a", [7], metric=COUNT)])]
    counted = loads('[gate]\nmetrics = ["count"]', "t")
    assert can_settle(runs, counted) == {"a"}


def test_what_can_be_settled_is_settled_for_an_unchanged_head_half_of_the_time() -> None:
    rng = np.random.default_rng(3)
    config = loads(P25, "t")

    def run_of(tau: float) -> Run:
        level = float(np.exp(tau * rng.standard_normal()))
        return _run([bench("a", (level * np.linspace(0.999, 1.001, 5)).tolist())])

    settled: dict[bool, list[bool]] = {True: [], False: []}
    for tau in np.repeat([0.004, 0.006, 0.008], 60):
        runs = [run_of(tau) for _ in range(10)]
        stored = judge_suite(runs[0], run_of(tau), config, Design(paired=False), earlier=runs)
        unchanged = stored.rows[0].outcome is Outcome.UNCHANGED
        settled[bool(can_settle(runs, config))].append(unchanged)
    assert np.mean(settled[True]) > 0.55
    assert np.mean(settled[False]) < 0.4
