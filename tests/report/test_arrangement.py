from __future__ import annotations

from dataclasses import replace

from tests.results import verdict_of

from benchgate.model.metrics import Better
from benchgate.model.policy import Outcome
from benchgate.model.row import ConfirmationCost, Row
from benchgate.model.row_order import ORDER, by_benchmark, worst_first
from benchgate.model.verdict import Decision, GateSettings
from benchgate.report.arrangement import Together, arrange

LOCATION = Row("a", Outcome.UNCHANGED, "time", "p25", "s", ratio=1.0)
TAIL = replace(LOCATION, statistic="p95", outcome=Outcome.NOT_SETTLED)


def test_outcomes_come_in_the_order_of_their_urgency() -> None:
    order = (
        *(Outcome.FAILED, Outcome.REGRESSED, Outcome.OVER_LIMIT, Outcome.MISSING),
        Outcome.INCOMPARABLE,
        *(Outcome.BASE_FAILED, Outcome.WAIVED, Outcome.INCONCLUSIVE, Outcome.NOT_TESTED),
        *(Outcome.NOT_SETTLED, Outcome.IMPROVED, Outcome.NEW, Outcome.UNCHANGED),
        Outcome.WITHIN_LIMIT,
        Outcome.SAME_CODE,
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


def shown(
    *rows: Row, decision: Decision = Decision.PASS, fail_on: tuple[str, ...] = ("regressed",)
) -> list[list[Row]]:
    settings = GateSettings(fail_on=fail_on)
    plain = verdict_of(*rows, decision=decision, exit_code=0, settings=settings)
    return [list(group) for group in arrange(plain).shown]


def test_what_fails_comes_first_then_what_improved_then_what_needs_a_person() -> None:
    rows = [Row(outcome.value, outcome) for outcome in Outcome]

    outcomes = [first.outcome for (first,) in shown(*rows)]

    assert outcomes == [
        Outcome.FAILED,
        Outcome.REGRESSED,
        Outcome.OVER_LIMIT,
        Outcome.MISSING,
        Outcome.IMPROVED,
        Outcome.INCOMPARABLE,
        Outcome.BASE_FAILED,
        Outcome.WAIVED,
    ]


def moved(benchmark: str, percent: float, half: float = 1.0) -> Row:
    ratio = 1 + percent / 100
    ends = (ratio - half / 100, ratio + half / 100)
    outcome = Outcome.REGRESSED if percent > 0 else Outcome.IMPROVED
    return replace(LOCATION, benchmark=benchmark, outcome=outcome, ratio=ratio, interval=ends)


def joined(*rows: Row) -> list[str]:
    plain = verdict_of(*rows)
    lines = arrange(plain).lines
    return [one.title if isinstance(one, Together) else one[0].benchmark for one in lines]


def test_what_changed_alike_is_one_line() -> None:
    parser = [moved(f"parser/{index}", 13 + index / 5) for index in range(10)]
    cache = [moved(f"cache/{index}", -11) for index in range(3)]
    quiet = replace(LOCATION, benchmark="cache/quiet")

    assert joined(*parser, *cache, quiet) == ["all 10 `parser/*`", "3 of 4 `cache/*`"]


def test_what_differs_stays_apart() -> None:
    assert joined(moved("a/x", 10), moved("a/y", 10)) == ["a/x", "a/y"]  # two
    far = [moved(f"a/{percent}", percent) for percent in (3, 10, 40)]  # their intervals do not meet
    assert joined(*far) == ["a/40", "a/10", "a/3"]
    wide = [moved(f"a/{percent}", percent, half=20) for percent in (3, 10, 40)]  # 3 to 40 %
    assert joined(*wide) == ["a/40", "a/10", "a/3"]
    both = [moved("a/x", 10), moved("a/y", 10), moved("a/z", -10)]
    assert joined(*both) == ["a/x", "a/y", "a/z"]
    assert joined(*(moved(name, 10) for name in "xyz")) == ["x", "y", "z"]  # nothing in common


def test_a_wider_group_comes_before_a_narrower_one() -> None:
    rows = [moved(f"shop/{kind}/{index}", 10) for kind in ("cart", "tax") for index in range(3)]
    assert joined(*rows) == ["all 6 `shop/*`"]
    rows[0], rows[1] = moved("shop/cart/0", 100), moved("shop/cart/1", 100)
    rows.append(moved("shop/cart/9", 100))
    assert joined(*rows) == ["3 of 4 `shop/cart/*`", "4 of 7 `shop/*`"]


def test_parameters_are_a_part_of_an_id() -> None:
    rows = [moved(f"sort[n={size}/2]", 10) for size in (1, 10, 100)]
    assert joined(*rows) == ["all 3 `sort[*]`"]


def test_what_must_not_be_open_is_among_what_fails() -> None:
    rows = [Row(outcome.value, outcome) for outcome in (Outcome.INCONCLUSIVE, Outcome.IMPROVED)]

    assert [first.benchmark for (first,) in shown(*rows, fail_on=("inconclusive",))] == [
        "inconclusive",
        "improved",
    ]


def test_what_got_too_few_rounds_is_open_as_well() -> None:
    short = replace(LOCATION, outcome=Outcome.NOT_TESTED, launches=(5, 5))

    assert shown(short) == []
    assert shown(short, fail_on=("inconclusive",)) == [[short]]


def test_open_rows_are_shown_only_where_they_are_why_there_is_no_verdict() -> None:
    open_ = replace(LOCATION, outcome=Outcome.INCONCLUSIVE)

    assert shown(open_) == []
    assert shown(open_, decision=Decision.NO_VERDICT) == [[open_]]


def test_a_suspect_is_always_shown() -> None:
    suspect = replace(TAIL, outcome=Outcome.INCONCLUSIVE, unconfirmed=ConfirmationCost(3))

    assert shown(LOCATION, suspect) == [[suspect, LOCATION]]


def test_the_best_improvement_comes_first() -> None:
    some = replace(LOCATION, outcome=Outcome.IMPROVED, ratio=0.9)
    best = replace(some, benchmark="z", ratio=0.5)

    assert shown(some, best) == [[best], [some]]


def test_an_improvement_stands_for_a_benchmark_of_which_something_else_is_open() -> None:
    fast = replace(LOCATION, outcome=Outcome.IMPROVED, ratio=0.5)
    memory = replace(LOCATION, metric="peak_rss", outcome=Outcome.INCONCLUSIVE)

    assert shown(fast, memory) == [[fast, memory]]


def test_what_needs_nobody_is_folded_in_the_same_order() -> None:
    outcomes = (
        *(Outcome.UNCHANGED, Outcome.NOT_SETTLED, Outcome.NOT_TESTED),
        *(Outcome.NEW, Outcome.INCONCLUSIVE),
    )
    rows = tuple(Row(outcome.value, outcome) for outcome in outcomes)

    arranged = arrange(verdict_of(*rows, decision=Decision.PASS, exit_code=0))

    folded = [group[0][0].outcome for group in arranged.folded]
    assert folded == [outcome for outcome in ORDER if outcome in outcomes]
    assert (folded[0], folded[-1]) == (Outcome.INCONCLUSIVE, Outcome.UNCHANGED)


def test_typical_and_tail_of_a_benchmark_are_together() -> None:
    slow = replace(LOCATION, outcome=Outcome.REGRESSED)

    assert shown(LOCATION, TAIL) == []
    assert shown(slow, TAIL) == [[slow, TAIL]]


def test_a_tail_that_regressed_stands_for_its_benchmark() -> None:
    slow_tail = replace(TAIL, outcome=Outcome.REGRESSED)

    assert shown(LOCATION, slow_tail) == [[slow_tail, LOCATION]]


def test_a_tail_that_should_be_settled_stands_for_its_benchmark_while_it_is_open() -> None:
    tail = replace(TAIL, outcome=Outcome.INCONCLUSIVE)

    assert by_benchmark([LOCATION, tail]) == {"a": tail}


def test_what_is_settled_stands_for_a_benchmark() -> None:
    location = replace(LOCATION, outcome=Outcome.NOT_SETTLED)
    shown_only = replace(LOCATION, metric="peak_rss", outcome=Outcome.NOT_TESTED, decides=False)
    settled, untested = (
        replace(TAIL, outcome=outcome) for outcome in (Outcome.UNCHANGED, Outcome.NOT_TESTED)
    )

    assert by_benchmark([location, settled, shown_only]) == {"a": settled}
    assert by_benchmark([location, untested, shown_only]) == {"a": untested}
    assert by_benchmark([location, shown_only]) == {"a": location}


def test_an_open_tail_that_is_alone_stands_for_its_benchmark() -> None:
    assert by_benchmark([TAIL]) == {"a": TAIL}


def test_a_benchmark_is_as_bad_as_its_worst_row_but_not_as_its_open_tail() -> None:
    memory = replace(LOCATION, metric="peak_rss", outcome=Outcome.REGRESSED)

    assert by_benchmark([LOCATION, TAIL]) == {"a": LOCATION}
    assert by_benchmark([LOCATION, memory, TAIL]) == {"a": memory}


def test_of_two_equal_rows_the_typical_one_speaks() -> None:
    tail = replace(TAIL, outcome=Outcome.UNCHANGED, ratio=1.04)

    assert by_benchmark([tail, LOCATION]) == {"a": LOCATION}
