from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.gate.arms import WAVES, bench, heads, judged
from tests.results import series_of

from benchgate.config import loads
from benchgate.measure.contract.found import Definition
from benchgate.model.metrics import Better, Kind, Metric
from benchgate.model.policy import Outcome
from benchgate.model.run import BenchmarkResult, Status, Tier
from benchgate.session.fixed_rounds import too_few_rounds

if TYPE_CHECKING:
    from benchgate.model.row import Row

P25 = '[gate]\nstatistics = ["p25"]'
COUNT = Metric("count", "", kind=Kind.EXACT)
SPEED = Metric("speed", "/s", better=Better.HIGHER)

LOOPS_DIFFER = (
    "a sample of time is the mean of different numbers of calls: 10 in the base and 12 in the head"
)


def row_of(
    change: float,
    n: int = 17,
    spread: float = 0.002,
    toml: str = P25,
    **more: Any,  # noqa: ANN401 - any argument of judge
) -> Row:
    """Judge one benchmark of `n` rounds, base 1 and head 1 + change, and give its one row."""
    metric = more.pop("metric", Metric("time", "s"))
    base = bench("b", [1] * n, metric=metric)
    head = bench("b", heads(n, change, spread).tolist(), metric=metric)
    (row,) = judged([base], [head], toml, **more).rows
    return row


@pytest.mark.parametrize(
    ("case", "outcome"),
    [
        ((0.05, 17, 0.002), Outcome.REGRESSED),
        ((-0.05, 17, 0.002), Outcome.IMPROVED),
        ((0.0, 17, 0.002), Outcome.UNCHANGED),
        ((0.0, 7, 0.002), Outcome.UNCHANGED),
        ((0.015, 17, 0.002), Outcome.UNCHANGED),
        ((-0.015, 17, 0.002), Outcome.UNCHANGED),
        ((0.0205, 17, 0.0005), Outcome.REGRESSED),
        ((0.0, 17, 0.2), Outcome.INCONCLUSIVE),
        ((0.017, 17, 0.02), Outcome.INCONCLUSIVE),
        ((0.05, 4, 0.002), Outcome.NOT_TESTED),
        ((0.0, 6, 0.1), Outcome.NOT_TESTED),
        ((0.05, 5, 0.002), Outcome.REGRESSED),  # by its launches: the others are to come
        ((-0.05, 5, 0.002), Outcome.INCONCLUSIVE),  # suspected, not confirmed
    ],
)
@pytest.mark.parametrize("higher", [False, True])
def test_outcomes_of_rows_measured_in_turn(
    case: tuple[float, int, float],
    outcome: Outcome,
    higher: bool,  # noqa: FBT001 - a parameter
) -> None:
    change, n, spread = case
    if higher:
        toml = P25 + '\nmetrics = ["speed"]'
        row = row_of(1 / (1 + change) - 1, n, spread, toml, metric=SPEED)
    else:
        row = row_of(change, n, spread)
    assert row.outcome is outcome
    assert row.better is (Better.HIGHER if higher else Better.LOWER)
    if outcome is Outcome.NOT_TESTED:
        assert row.notes == (f"too few rounds to decide: {n} rounds, and a test needs 7",)


def test_a_regressed_row_tells_what_it_rests_on() -> None:
    row = row_of(0.05)
    assert (row.metric, row.statistic, row.unit, row.test) == ("time", "p25", "s", "wilcoxon")
    assert (row.base, row.launches, row.tier) == (1.0, (12, 12), Tier.LOCKSTEP)
    assert row.ratio == pytest.approx(1.05, abs=1e-3)
    assert row.interval is not None
    assert row.interval[0] < 1.05 < row.interval[1]
    assert (row.p, row.p_adjusted) == (2**-12, 5 * 2**-12)
    assert row.notes == ("confirmed in 12 of 12 rounds",)
    assert row.margin == 0.02
    assert not row.advisory
    assert row.rounds_needed is None


def test_an_open_row_tells_what_would_settle_it() -> None:
    row = row_of(0.0, 12, 0.08)
    assert row.outcome is Outcome.INCONCLUSIVE
    assert row.rounds_needed is not None
    assert row.detectable is not None
    assert row.detectable > 1.02
    assert row.p is None


@pytest.mark.parametrize(
    ("n", "outcome"), [(5, "not tested"), (6, "not tested"), (7, "inconclusive")]
)
def test_the_least_rounds_are_those_of_the_test(n: int, outcome: str) -> None:
    assert row_of(0.0, n, 0.1).outcome == outcome


def test_a_change_that_is_real_but_below_the_margin_is_no_regression() -> None:
    row = row_of(0.019, spread=0.0004)
    assert row.outcome is Outcome.UNCHANGED
    assert row.p is not None
    assert row.p < 0.001


@pytest.mark.parametrize(
    ("change", "n", "outcome"),
    [
        (0.05, 12, Outcome.REGRESSED),
        (-0.05, 12, Outcome.IMPROVED),
        (0.0, 12, Outcome.UNCHANGED),
        (0.05, 4, Outcome.NOT_TESTED),
        (0.05, 5, Outcome.REGRESSED),
    ],
)
def test_outcomes_of_stored_launches(change: float, n: int, outcome: Outcome) -> None:
    row = row_of(change, n, paired=False, waves=None)
    assert row.outcome is outcome
    assert row.advisory
    assert row.tier is Tier.STORED
    assert row.test == "mann-whitney"


@pytest.mark.parametrize(
    ("change", "n", "outcome"),
    [
        (0.05, 8, Outcome.REGRESSED),
        (-0.05, 8, Outcome.IMPROVED),
        (0.0, 8, Outcome.UNCHANGED),
        (0.0, 6, Outcome.UNCHANGED),  # its own claim, which needs fewer rounds than the test
        (0.05, 7, Outcome.NOT_TESTED),
    ],
)
def test_outcomes_of_fixed_rounds(change: float, n: int, outcome: Outcome) -> None:
    assert row_of(change, n, waves=None).outcome is outcome


@pytest.mark.parametrize(
    ("base", "head", "rows"),
    [
        ({}, {}, [("b", "unchanged", ())]),
        (None, {}, [("b", "new", ())]),
        ({}, None, [("b", "missing", ())]),
        ({"broken": True}, {}, [("b", "failed", ("crashed on the base",))]),
        ({"never_ran": True}, {}, [("b", "base failed", ("crashed on the base",))]),
        (
            {"never_ran": True},
            {"broken": True},
            [("b", "base failed", ("crashed on base and head",))],
        ),
        (
            {"never_ran": True, "of_all": True},
            {"broken": True, "of_all": True},
            [("b", "failed", ("crashed on base and head",))],
        ),
        # A change cannot leave out what it broke.
        ({"never_ran": True}, None, [("b", "missing", ())]),
        ({}, {"broken": True}, [("b", "failed", ("crashed on the head",))]),
        ({"broken": True}, {"broken": True}, [("b", "failed", ("crashed on base and head",))]),
        (None, {"broken": True}, [("b", "failed", ("crashed on the head",))]),
        (
            {},
            {"workload": "other"},
            [
                (
                    "b",
                    "incomparable",
                    ("the benchmark's own definition changed: base and head did different work",),
                )
            ],
        ),
        (
            {},
            {"metric": Metric("rss", "B")},
            [("b", "incomparable", ("time was measured only on the base",))],
        ),
        (
            {"metric": Metric("rss", "B")},
            {},
            [("b", "incomparable", ("time was measured only on the head",))],
        ),
        (
            {"metric": Metric("rss", "B")},
            {"metric": Metric("rss", "B")},
            [("b", "unchanged", ())],
        ),
        (
            {},
            {"metric": Metric("time", "ms")},
            [
                (
                    "b",
                    "incomparable",
                    ("time differs in its unit, direction or kind between base and head",),
                )
            ],
        ),
        (
            {"loops": 10},
            {"loops": 12},
            [
                (
                    "b",
                    "incomparable",
                    (LOOPS_DIFFER,),
                )
            ],
        ),
        (
            {"rounds": range(12)},
            {"rounds": range(12, 24)},
            [("b", "not tested", ("base and head have no round in common",))],
        ),
    ],
)
def test_what_cannot_be_compared_is_a_row_with_its_reason(
    base: dict[str, Any] | None,
    head: dict[str, Any] | None,
    rows: list[tuple[str, str, tuple[str, ...]]],
) -> None:
    def arm(side: dict[str, Any] | None, error: str) -> list[BenchmarkResult]:
        if side is None:
            return []
        more = dict(side)
        if more.pop("never_ran", False):
            return [BenchmarkResult("b", "w", Tier.LOCKSTEP, (), Status.FAILED, error)]
        if more.pop("broken", False):
            more |= {"status": Status.FAILED, "error": error}
        return [bench("b", [1] * 12, **more)]

    found = judged(arm(base, "in base"), arm(head, "in head"), P25).rows
    assert [(row.benchmark, row.outcome, row.notes) for row in found] == rows
    if rows[0][1] == "failed":
        assert found[0].error == ("in head" if head and head.get("broken") else "in base")


def test_runs_of_different_times_calibrate_their_loops_anew() -> None:
    base, head = (
        bench("b", [1] * 12, samples=40, loops=100),
        bench("b", [1] * 12, samples=40, loops=120),
    )
    found = judged([base], [head], paired=False, waves=None)
    assert [row.outcome for row in found.rows] == [Outcome.UNCHANGED] * 2
    far = bench("b", [1] * 12, samples=40, loops=200)
    location, tail = judged([base], [far], paired=False, waves=None).rows
    assert location.outcome is Outcome.UNCHANGED
    assert tail.outcome is Outcome.NOT_TESTED
    assert "mean of 100 in the base and of 200 in the head" in tail.notes[0]


@pytest.mark.parametrize(
    ("values", "tolerance", "expected"),
    [
        ((5, 5), "0%", (Outcome.UNCHANGED, 1)),
        ((5, 6), "0%", (Outcome.REGRESSED, 1.2)),
        ((6, 5), "0%", (Outcome.IMPROVED, 5 / 6)),
        ((100, 105), "5%", (Outcome.UNCHANGED, 1.05)),
        ((100, 106), "5%", (Outcome.REGRESSED, 1.06)),
        ((0, 3), "5%", (Outcome.REGRESSED, None)),
    ],
)
def test_exact_metrics(
    values: tuple[int, int], tolerance: str, expected: tuple[Outcome, float | None]
) -> None:
    toml = f'[gate]\nmetrics = ["count"]\ntolerance = "{tolerance}"'
    arms = [bench("b", [value], metric=COUNT) for value in values]
    found = judged([arms[0]], [arms[1]], toml)
    (row,) = found.rows
    assert ((row.outcome, row.ratio), row.test, row.statistic) == (expected, "exact", "exact")
    assert found.needs == ()


@pytest.mark.parametrize(
    ("base", "samples", "note"),
    [
        ([1.0] * 12, 39, "tail not tested: needs 40 samples per launch"),
        ([1.0] * 11 + [0.0], 40, "times are 0: the clock is too coarse, or nothing was measured"),
        ([1.0] * 11 + [-1.0], 40, "times are 0: the clock is too coarse, or nothing was measured"),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_an_obstacle_is_told_and_values_are_shown_all_the_same(
    base: list[float],
    samples: int,
    note: str,
    swapped: bool,  # noqa: FBT001 - a parameter
) -> None:
    arms = [base, [1.0] * 12]
    row = compare_tails(*(arms[::-1] if swapped else arms), samples=samples)
    assert (row.outcome, row.notes) == (Outcome.NOT_TESTED, (note,))
    assert (row.base, row.head) == (1.0, 1.0)


@pytest.mark.parametrize("rounds", [8, 9])
def test_a_warning_before_the_first_round_foretells_which_rows_lack_rounds(rounds: int) -> None:
    """A benchmark has two rows, p25 and p95, so a test needs 9 rounds."""
    warning = too_few_rounds(rounds, [Definition("b", "w", Tier.LOCKSTEP)], loads("", "x"))
    arms = [bench("b", list(heads(rounds, change)), samples=45) for change in (0.0, 0.3)]
    rows = judged([arms[0]], [arms[1]], waves=None).rows
    assert [row.outcome for row in rows] == [
        Outcome.REGRESSED if warning is None else Outcome.NOT_TESTED
    ] * 2
    for row in rows if warning else ():
        assert row.notes == ("too few rounds to decide: 8 rounds, and a test needs 9",)
    assert (warning is None) is (rounds == 9)


def compare_tails(base: list[float], head: list[float], *, samples: int) -> Row:
    arms = [bench("b", x, samples=samples) for x in (base, head)]
    (row,) = judged([arms[0]], [arms[1]], '[gate]\nstatistics = ["p95"]').rows
    return row


def test_a_summary_has_one_row_and_is_tested_like_other_launches() -> None:
    metric = Metric("time", "s", kind=Kind.SUMMARY)
    base, head = [1.0] * 17, heads(17, 0.1).tolist()
    sides = [bench("b", values, metric=metric) for values in (base, head)]
    (row,) = judged([sides[0]], [sides[1]], "").rows
    assert (row.statistic, row.outcome) == ("summary", Outcome.REGRESSED)


def test_a_renamed_benchmark_is_compared_with_what_it_was() -> None:
    toml = P25 + '\n[aliases]\n"old" = "new"'
    found = judged([bench("old", [1] * 17)], [bench("new", heads(17, 0.1).tolist())], toml)
    (row,) = found.rows
    assert (row.benchmark, row.outcome) == ("new", Outcome.REGRESSED)
    assert row.renamed_from == "old"


def test_a_rule_gives_one_benchmark_another_margin() -> None:
    toml = P25 + '\n[[rule]]\nbenchmark = "wide*"\nmargin = "10%"'
    values = heads(17, 0.05).tolist()
    found = judged(
        [bench(id_, [1] * 17) for id_ in ("wide[n=1]", "tight")],
        [bench(id_, values) for id_ in ("wide[n=1]", "tight")],
        toml,
    )
    assert [(row.margin, row.outcome) for row in found.rows] == [
        (0.1, Outcome.UNCHANGED),
        (0.02, Outcome.REGRESSED),
    ]


@pytest.mark.parametrize("waves_given", [True, False])
def test_more_rounds_than_the_exact_test_takes_are_cut_with_a_note(
    waves_given: bool,  # noqa: FBT001 - a parameter
) -> None:
    many = replace(WAVES, max_rounds=5000)
    row = row_of(0.0, 1003, waves=many if waves_given else None)
    assert row.outcome is Outcome.UNCHANGED
    assert row.launches == (1000, 1000)
    assert "of 1003 rounds, only the first 1000 are used" in row.notes


def test_rounds_that_one_arm_lacks_are_left_out() -> None:
    base = series_of([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0], rounds=range(8))
    head = series_of([2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0], rounds=range(1, 8))
    (row,) = judged([bench("b", base)], [bench("b", head)], P25).rows
    assert (row.ratio, row.launches) == (1.0, (7, 7))
    assert row.outcome is Outcome.UNCHANGED


def test_nothing_to_judge() -> None:
    for paired in (True, False):
        found = judged([], [], paired=paired)
        assert (found.rows, found.needs, found.base_benchmarks) == ((), (), 0)


def test_a_file_that_cannot_be_read_in_the_head_is_one_row() -> None:
    names = ["db/get[path=a/b]", "db/put", "db/x", "db/y", "db/more/put", "dbx/put"]
    unread = BenchmarkResult("db", "", Tier.LOCKSTEP, (), Status.FAILED, "ImportError")
    judgment = judged([bench(name, [1] * 12) for name in names], [unread], P25)
    assert {row.benchmark: row.outcome for row in judgment.rows} == {
        "db": Outcome.FAILED,
        "db/more/put": Outcome.MISSING,  # in another file
        "dbx/put": Outcome.MISSING,
    }
    assert judgment.rows[0].notes == (
        "crashed on the head",
        "not compared, because this file has them: db/get[path=a/b], db/put, db/x and 1 more",
    )
    assert judgment.base_benchmarks == len(names)


def test_a_file_that_cannot_be_read_in_the_base_stands_for_its_benchmarks() -> None:
    unread = BenchmarkResult("db", "", Tier.LOCKSTEP, (), Status.FAILED, "ImportError")
    kept = judged([unread], [bench("db/put", [1] * 12)], P25).rows
    (row,) = kept
    assert (row.benchmark, row.outcome) == ("db", Outcome.BASE_FAILED)
    assert row.notes == ("crashed on the base", "not compared, because this file has them: db/put")
    left_out = judged([unread], [bench("dbx/put", [1] * 12)], P25).rows
    assert {row.benchmark: row.outcome for row in left_out}["db"] is Outcome.MISSING
