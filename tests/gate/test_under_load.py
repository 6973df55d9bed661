"""Steps of scenarios: which metrics decide, by which margin, and what the rows say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.gate.arms import judged
from tests.loads import GENERATOR, WINDOWS, load_launch, load_result, step

from benchgate.gate.estimates import RowStage
from benchgate.gate.under_load import is_step
from benchgate.model.load import KeptError, Loop, WorkerGroup
from benchgate.model.metrics import DECIDE_UNDER_LOAD, TIME, UNDER_LOAD
from benchgate.model.policy import Outcome
from benchgate.model.row_order import by_benchmark
from benchgate.model.run import BenchmarkResult, Status, Tier

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.arrays import FloatArray
    from benchgate.gate.suite import Judgment
    from benchgate.model.load import LoadLaunch, LoadResult
    from benchgate.model.row import Row

ROUNDS = 20
NOISE = 1 + 1e-4 * np.cos(np.arange(ROUNDS))
OTHER_NOISE = 1 + 1e-4 * np.sin(np.arange(ROUNDS))


def made(
    slower: float = 1.0,
    errors: float = 0.0,
    *,
    is_head: bool = False,
    **more: Any,  # noqa: ANN401 - any field
) -> BenchmarkResult:
    noise = OTHER_NOISE if is_head else NOISE
    values = {
        metric.name: 0.001 * scale * slower * noise
        for metric, scale in zip(UNDER_LOAD[1:5], (1, 3, 5, 9), strict=True)
    }
    values["throughput"] = 4000 / slower * noise
    values["error_ratio"] = np.full(ROUNDS, errors)
    return step(values, **more)


def rows_of(
    judged: Callable[..., Judgment], head: BenchmarkResult, toml: str = "", errors: float = 0.0
) -> dict[str, Row]:
    base = made(errors=errors)
    return {row.metric: row for row in judged([base], [head], toml).rows}


def test_these_metrics_decide_and_the_others_are_shown() -> None:
    rows = rows_of(judged, made(1.1, is_head=True))
    assert {name for name, row in rows.items() if row.decides} == {
        metric.name for metric in DECIDE_UNDER_LOAD
    }
    assert set(rows) == {metric.name for metric in UNDER_LOAD}
    assert rows["throughput"].outcome is Outcome.REGRESSED
    assert rows["throughput"].ratio == pytest.approx(1 / 1.1, rel=1e-3)
    assert rows["time_p50"].outcome is Outcome.REGRESSED
    assert rows["error_ratio"].outcome is Outcome.UNCHANGED
    assert any(" rounds" in note for note in rows["throughput"].notes)
    assert not any("needs 40 samples" in note for row in rows.values() for note in row.notes)
    assert {row.statistic for row in rows.values()} == {"value"}


def test_more_throughput_is_better() -> None:
    rows = rows_of(judged, made(0.8, is_head=True))
    assert rows["throughput"].outcome is Outcome.IMPROVED
    assert rows["throughput"].ratio == pytest.approx(1.25, rel=1e-3)


def test_the_slowest_operations_have_the_margin_of_tails() -> None:
    rows = rows_of(judged, made(1.03, is_head=True))
    assert rows["time_p50"].outcome is Outcome.REGRESSED
    assert rows["time_p95"].outcome is Outcome.UNCHANGED
    assert (rows["time_p50"].margin, rows["time_p95"].margin) == (0.02, 0.05)
    assert (rows["time_p50"].is_tail, rows["time_p95"].is_tail) == (False, True)


@pytest.mark.parametrize(
    ("toml", "deciding"),
    [
        ('[gate]\nmetrics = ["throughput"]', {"throughput"}),
        ('[gate]\nmetrics = ["time", "instructions"]', {m.name for m in DECIDE_UNDER_LOAD}),
        (
            '[gate]\nmetrics = ["time", "time_p99"]',
            {*(m.name for m in DECIDE_UNDER_LOAD), "time_p99"},
        ),
        (
            '[[rule]]\nbenchmark = "orders/*"\nmetrics = ["time_p99"]',
            {"time_p99"},
        ),
    ],
)
def test_the_configuration_chooses_others(toml: str, deciding: set[str]) -> None:
    rows = rows_of(judged, made(1.2, is_head=True), toml)
    assert {name for name, row in rows.items() if row.decides} == deciding
    assert rows["time_p99"].outcome is (
        Outcome.REGRESSED if "time_p99" in deciding else Outcome.NOT_TESTED
    )


def test_a_metric_that_no_scenario_has_is_named() -> None:
    rows = rows_of(judged, made(is_head=True), '[gate]\nmetrics = ["instructions"]')
    assert "there is throughput, time_p50" in rows["instructions"].notes[0]


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        (0.0, 0.2, Outcome.REGRESSED),
        (0.2, 0.0, Outcome.IMPROVED),
        (0.2, 0.2, Outcome.UNCHANGED),
    ],
)
def test_errors_alone_decide(before: float, after: float, outcome: Outcome) -> None:
    rows = rows_of(judged, made(errors=after, is_head=True), errors=before)
    assert rows["error_ratio"].outcome is outcome
    assert by_benchmark(list(rows.values()))["orders/lookup"].outcome is outcome


def test_errors_that_may_be_chance_do_not_stand_for_the_step() -> None:
    base, head = made(), made(is_head=True)
    base, head = (
        replace(one, series=(*one.series[:-1], step({"error_ratio": rates}).series[0]))
        for one, rates in ((base, [0.01, 0.02] * 10), (head, [0.01, 0.03] * 10))
    )
    rows = judged([base], [head]).rows
    (rate,) = (row for row in rows if row.metric == "error_ratio")
    assert rate.outcome is Outcome.NOT_SETTLED
    assert by_benchmark(rows)["orders/lookup"].outcome is Outcome.UNCHANGED
    (alone,) = (
        row
        for row in judged([base], [head], 'gate.metrics = ["error_ratio"]').rows
        if row.metric == "error_ratio"
    )
    assert alone.outcome is Outcome.INCONCLUSIVE


def test_what_another_tool_measured_is_no_step() -> None:
    assert is_step(made())
    assert is_step(replace(made(), load=None))  # as in the result of a fork
    assert not is_step(replace(made(), tier=Tier.STORED))
    metric = replace(made().series[0], metric=TIME)
    assert not is_step(replace(made(), series=(metric,)))


def limited(*limits: str) -> LoadLaunch:
    return load_launch(generator=replace(GENERATOR, limits=limits))


@pytest.mark.parametrize(
    ("base", "head", "notes"),
    [
        (load_result(), load_result(), ("closed loop: service time",)),
        (
            load_result(loop=Loop.OPEN),
            load_result(loop=Loop.OPEN),
            ("open loop: timed from when each operation was due",),
        ),
        (
            load_result(limited("It used 97 % of a CPU. Use less.")),
            load_result(limited("It used 99.5 % of a CPU. Use less.", "Late by 2 ms."), limited()),
            (
                "closed loop: service time",
                "in 2 of 3 launches, it used 97 % of a CPU. Use less",
                "in 1 of 3 launches, late by 2 ms",
            ),
        ),
        (
            load_result(load_launch()),
            load_result(load_launch(generator=replace(
                GENERATOR, groups=(WorkerGroup("tcp://a:1", 2, 0.1, lost="it died"),)
            ))),
            (
                "closed loop: service time",
                "workers were lost in 1 of 2 launches: tcp://a:1: it died",
            ),
        ),
        (
            load_result(server={"version": "15", "a": "1"}),
            load_result(server={"version": "16", "a": "1"}),
            (
                "closed loop: service time",
                "the servers of base and head differ in version (15, 16)",
            ),
        ),
    ],
)  # fmt: skip
def test_rows_say_what_a_reader_must_know(
    base: LoadResult, head: LoadResult, notes: tuple[str, ...]
) -> None:
    found = judged([made(load=base)], [made(is_head=True, load=head)]).rows
    (row,) = (row for row in found if row.metric == "throughput")
    assert row.notes[-len(notes) :] == notes


def test_the_texts_of_errors_are_at_the_error_rate() -> None:
    failing = load_launch(
        errors=3,
        kept_errors=tuple(KeptError(1.0, text) for text in ("locked", "gone", "locked")),
        windows=replace(WINDOWS, errors=(0, 3, 0)),
    )
    base = load_result(
        load_launch(errors=0, kept_errors=(), windows=replace(WINDOWS, errors=(0, 0, 0)))
    )
    head = made(is_head=True, load=load_result(failing, failing))
    rows = {row.metric: row for row in judged([made(load=base)], [head]).rows}
    assert rows["error_ratio"].notes[-1] == "6 of 12 operations failed on the head: locked; gone"
    assert not any("failed on" in note for note in rows["throughput"].notes)


def less_served(id_: str, load: LoadResult, *, slower: float = 1.0) -> BenchmarkResult:
    """A step that is served less often, whatever its own time is."""
    head = made(slower, is_head=True, load=load, id_=id_)
    less = step({"throughput": 3000 * OTHER_NOISE}).series[0]
    return replace(head, series=(less, *head.series[1:]))


WAIVED = """
[[waive]]
benchmark = "orders/report"
ceiling = "50%"
until = 2027-01-01
reason = "known"
"""


def of(judgment: Judgment, benchmark: str) -> dict[str, Outcome]:
    return {row.metric: row.outcome for row in judgment.rows if row.benchmark == benchmark}


@pytest.fixture
def loads() -> tuple[LoadResult, LoadResult]:
    lookup = load_result(load_launch(), loop=Loop.CLOSED)
    return lookup, replace(lookup, step="report")


def test_the_throughput_of_a_closed_loop_is_that_of_its_scenario(
    loads: tuple[LoadResult, LoadResult],
) -> None:
    lookup, report = loads
    base = [made(load=lookup), made(load=report, id_="orders/report")]
    head = [less_served("orders/lookup", lookup), less_served("orders/report", report, slower=1.2)]
    judgment = judged(base, head)
    assert of(judgment, "orders/lookup") == {
        "time_p50": Outcome.UNCHANGED,
        "time_p95": Outcome.UNCHANGED,
        "time_p99": Outcome.NOT_TESTED,
        "time_p99.9": Outcome.NOT_TESTED,
        "error_ratio": Outcome.UNCHANGED,
    }
    assert of(judgment, "orders/report")["time_p50"] is Outcome.REGRESSED
    assert of(judgment, "orders") == {"throughput": Outcome.REGRESSED}
    (row,) = (row for row in judgment.rows if row.benchmark == "orders")
    assert (row.base, row.head) == pytest.approx((8000, 6000), rel=1e-3)
    assert judgment.base_benchmarks == 3
    # The session measures steps, not scenarios.
    assert {need.benchmark for need in judgment.needs} == {"orders/lookup", "orders/report"}


def test_nobody_misses_a_throughput_that_had_too_few_rounds(
    loads: tuple[LoadResult, LoadResult],
) -> None:
    lookup, report = loads
    arm = [made(load=lookup), made(load=report, id_="orders/report")]
    brief = [
        replace(one, series=tuple(replace(s, launches=s.launches[:2]) for s in one.series))
        for one in arm
    ]
    judgment = judged(brief, brief, waves=None)
    assert of(judgment, "orders") == {"throughput": Outcome.NOT_TESTED}
    assert judgment.base_benchmarks == 2


def test_a_step_has_its_throughput_if_it_is_alone_or_has_a_rate_of_its_own(
    loads: tuple[LoadResult, LoadResult],
) -> None:
    lookup, report = loads
    alone = judged([made(load=lookup)], [less_served("orders/lookup", lookup)])
    assert of(alone, "orders/lookup")["throughput"] is Outcome.REGRESSED
    assert not of(alone, "orders")
    base, head = (
        [
            replace(one, load=replace(one.load, loop=Loop.OPEN)) if one.load else one
            for one in (step_of("orders/lookup", lookup), made(load=report, id_="orders/report"))
        ]
        for step_of in (lambda id_, load: made(load=load, id_=id_), less_served)
    )
    judgment = judged(base, head)
    assert of(judgment, "orders/lookup")["throughput"] is Outcome.REGRESSED
    assert of(judgment, "orders/report")["throughput"] is Outcome.UNCHANGED
    assert not of(judgment, "orders")


def test_a_scenario_has_no_throughput_if_a_step_of_it_failed(
    loads: tuple[LoadResult, LoadResult],
) -> None:
    lookup, report = loads
    base = [made(load=lookup), made(load=report, id_="orders/report")]
    broken = replace(base[1], status=Status.FAILED, error="gone", series=())
    judgment = judged(base, [less_served("orders/lookup", lookup), broken])
    assert not of(judgment, "orders")
    assert "throughput" not in of(judgment, "orders/lookup")
    assert judgment.base_benchmarks == 2


def test_who_does_not_ask_for_throughput_sees_it_all_the_same(
    loads: tuple[LoadResult, LoadResult],
) -> None:
    lookup, report = loads
    arm = [made(load=lookup), made(load=report, id_="orders/report")]
    judgment = judged(arm, arm, 'gate.metrics = ["time_p50"]')
    (row,) = (row for row in judgment.rows if row.benchmark == "orders")
    assert (row.metric, row.decides, row.outcome) == ("throughput", False, Outcome.NOT_TESTED)


def test_a_scenario_with_other_steps_is_not_compared(loads: tuple[LoadResult, LoadResult]) -> None:
    lookup, report = loads
    base = [made(load=lookup), made(load=report, id_="orders/report")]
    head = [base[0], replace(base[1], workload="other")]
    (row,) = (row for row in judged(base, head).rows if row.benchmark == "orders")
    assert row.outcome is Outcome.INCOMPARABLE
    assert "changed: orders/report" in row.notes[0]


def swinging(scale: float, more: float, pace: float) -> FloatArray:
    """Values that are larger in the middle, and spread so far that much remains open."""
    values: FloatArray = scale * (1 + more + 0.03 * np.cos(pace * np.arange(ROUNDS)))
    return values


OPEN = {"time_p50": swinging(0.001, 0.006, 1.7)}
SUSPECT = {"time_p50": swinging(0.001, 0.01, 2.5)}
SUSPECT_TAIL = {"time_p95": swinging(0.003, 0.04, 2.5)}


@pytest.mark.parametrize(
    ("values", "toml", "outcome", "is_open"),
    [
        (OPEN, "", Outcome.INCONCLUSIVE, False),
        (SUSPECT, "", Outcome.INCONCLUSIVE, False),
        (SUSPECT_TAIL, "", Outcome.NOT_SETTLED, False),
        # A waiver may accept what got worse; then the rest decides.
        (OPEN, WAIVED, Outcome.INCONCLUSIVE, True),
        (SUSPECT, WAIVED, Outcome.INCONCLUSIVE, True),
        (SUSPECT_TAIL, WAIVED, Outcome.INCONCLUSIVE, True),
        # So it does if this fails no build.
        (OPEN, '[gate]\nfail_on = ["failed"]', Outcome.INCONCLUSIVE, True),
    ],
)
def test_a_scenario_that_got_worse_is_not_measured_further(
    values: dict[str, FloatArray],
    toml: str,
    outcome: Outcome,
    is_open: bool,  # noqa: FBT001 - a parameter
) -> None:
    load = load_result(load_launch(), loop=Loop.CLOSED)
    slower = "orders/report"
    base = [made(load=load), made(load=replace(load, step="report"), id_=slower)]
    steps = [made(is_head=True, load=load), made(1.2, is_head=True, load=base[1].load, id_=slower)]
    (unclear,) = step(values).series
    series = [unclear if one.metric == unclear.metric else one for one in steps[0].series]
    judgment = judged(base, [replace(steps[0], series=tuple(series)), steps[1]], toml)
    places = {(row.benchmark, row.metric): row for row in judgment.rows}
    row = places[steps[0].id, unclear.metric.name]
    stages = {need.stage for need in judgment.needs} - {RowStage.DONE}
    assert (row.outcome, bool(stages)) == (outcome, is_open)
    assert any(need.ahead for need in judgment.needs) is is_open
    assert any(note.startswith("not measured further") for note in row.notes) is not is_open
    assert is_open or row.unconfirmed is None
    assert places[slower, "time_p50"].outcome is Outcome.REGRESSED
