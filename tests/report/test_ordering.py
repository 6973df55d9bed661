from __future__ import annotations

from dataclasses import replace

from benchgate.model.outcome import Outcome
from benchgate.model.row import Row
from benchgate.model.run import Better
from benchgate.report.ordering import by_benchmark, needs_attention, worst_first

LOCATION = Row("a", Outcome.UNCHANGED, "time", "p25", "s", ratio=1.0)
TAIL = replace(LOCATION, statistic="p95", outcome=Outcome.INCONCLUSIVE)


def test_outcomes_come_in_the_order_of_their_urgency() -> None:
    order = (
        *(Outcome.FAILED, Outcome.REGRESSED, Outcome.MISSING, Outcome.INCOMPARABLE),
        *(Outcome.BASE_FAILED, Outcome.WAIVED, Outcome.INCONCLUSIVE, Outcome.NOT_TESTED),
        *(Outcome.IMPROVED, Outcome.NEW, Outcome.UNCHANGED),
    )
    rows = [Row("x", outcome) for outcome in Outcome]

    assert tuple(row.outcome for row in worst_first(rows)) == order
    assert set(order) == set(Outcome)


def test_inside_an_outcome_the_worst_comes_first_whatever_its_direction() -> None:
    slow = replace(LOCATION, benchmark="slow", outcome=Outcome.REGRESSED, ratio=1.1)
    lost = replace(slow, benchmark="lost", ratio=0.5, better=Better.HIGHER)
    unknown = replace(slow, benchmark="unknown", ratio=None)
    broken = replace(slow, benchmark="broken", ratio=float("nan"))

    rows = worst_first([unknown, slow, broken, lost])

    assert [row.benchmark for row in rows] == ["lost", "slow", "broken", "unknown"]


def test_an_open_tail_alone_needs_no_attention() -> None:
    assert needs_attention([LOCATION, TAIL]) == frozenset()


def test_an_open_tail_is_shown_with_a_benchmark_that_needs_attention() -> None:
    slow = replace(LOCATION, outcome=Outcome.REGRESSED)

    assert needs_attention([slow, TAIL]) == {slow, TAIL}


def test_a_tail_that_regressed_needs_attention() -> None:
    slow_tail = replace(TAIL, outcome=Outcome.REGRESSED)

    assert needs_attention([LOCATION, slow_tail]) == {slow_tail}


def test_an_open_tail_that_speaks_for_its_benchmark_needs_attention() -> None:
    assert needs_attention([TAIL]) == {TAIL}
    assert by_benchmark([TAIL]) == {"a": TAIL}


def test_a_benchmark_is_as_bad_as_its_worst_row_but_not_as_its_open_tail() -> None:
    memory = replace(LOCATION, metric="peak_rss", outcome=Outcome.REGRESSED)

    assert by_benchmark([LOCATION, TAIL]) == {"a": LOCATION}
    assert by_benchmark([LOCATION, memory, TAIL]) == {"a": memory}


def test_of_two_equal_rows_the_typical_one_speaks() -> None:
    tail = replace(TAIL, outcome=Outcome.UNCHANGED, ratio=1.04)

    assert by_benchmark([tail, LOCATION]) == {"a": LOCATION}
