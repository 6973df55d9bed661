from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.finite import all_finite
from tests.gate.arms import bench, heads, judged

from benchgate.gate.other_tests import CompareSettings, with_details
from benchgate.model.metrics import Better, Kind, Metric
from benchgate.model.policy import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchgate.arrays import FloatArray
    from benchgate.model.row import Comparison, RatioEstimate, Significance

    Compare = Callable[..., Comparison]

Side: TypeAlias = Literal["two-sided", "greater", "less"]
Method: TypeAlias = Literal["exact", "asymptotic"]
SIDES: tuple[Side, ...] = ("two-sided", "greater", "less")
TIME = Metric("time", "s")
SETTINGS = CompareSettings(confidence=0.95, alpha=0.01, seed=1)
P25 = '[gate]\nstatistics = ["p25"]'
ROUNDS_RATIOS = ("Hodges-Lehmann, of rounds", "geometric mean, of rounds")
LAUNCHES_RATIOS = ("Hodges-Lehmann, of launches", "geometric mean, of launches")
TAIL = "p95 of all samples"
ROUNDS_TESTS = ("Wilcoxon signed rank", "t of log ratios")
LAUNCHES_TESTS = (
    "Mann-Whitney, exact",
    "Mann-Whitney, continuity corrected",
    "Mann-Whitney, textbook",
    "Welch's t of logs",
)

# Each launch is one value, or a few samples.
positive = st.floats(1e-150, 1e150) | st.sampled_from([1e-150, 1.0, 1e150, 5e-324])
usual = st.floats(0.5, 2.0)
in_rounds = st.lists(st.tuples(usual, usual), min_size=1, max_size=9)


def compare(
    base: Sequence[float | Sequence[float]] | FloatArray,
    head: Sequence[float | Sequence[float]] | FloatArray,
    *,
    paired: bool = True,
    settings: CompareSettings = SETTINGS,
    metric: Metric = TIME,
) -> Comparison:
    """Compare two arms of a benchmark; each value is one launch, or the list of its samples."""
    arms = [bench(values=list(values), metric=metric) for values in (base, head)]
    toml = f'{P25}\nmetrics = ["{metric.name}"]'
    judgment = judged([arms[0]], [arms[1]], toml, paired=paired, waves=None)
    (row,) = with_details(judgment, settings).rows
    assert row.detail is not None
    return row.detail


def ratio_of(found: Comparison, name: str) -> RatioEstimate:
    (one,) = [estimate for estimate in found.ratios if estimate.name == name]
    return one


def ends_of(estimate: RatioEstimate) -> tuple[float, float] | None:
    return (estimate.interval.low, estimate.interval.high) if estimate.interval else None


def significance_of(found: Comparison, name: str) -> Significance:
    (one,) = [test for test in found.tests if test.name == name]
    return one


def p_of(found: Comparison, name: str) -> tuple[float | None, float | None, float | None]:
    one = significance_of(found, name)
    return one.p, one.p_greater, one.p_less


def arms(seed: int, n1: int, n2: int, change: float = 0.01) -> tuple[FloatArray, FloatArray]:
    """Launches around 1 that differ by 2 %, none tied; the head's are slower by the change."""
    rng = np.random.default_rng(seed)
    return np.exp(rng.normal(0, 0.02, n1)), (1 + change) * np.exp(rng.normal(0, 0.02, n2))


def test_a_head_that_is_slower_by_a_tenth_in_every_round() -> None:
    base = heads(12)
    found = compare(base, 1.1 * base)

    assert found.launches == (12, 12)
    assert [one.name for one in found.ratios] == [*ROUNDS_RATIOS, *LAUNCHES_RATIOS, TAIL]
    assert [one.ratio for one in found.ratios] == pytest.approx([1.1] * 5, rel=1e-3)
    assert [ratio_of(found, name).ratio for name in (*ROUNDS_RATIOS, TAIL)] == pytest.approx(
        [1.1] * 3, rel=1e-12
    )
    assert ends_of(found.ratios[0]) == pytest.approx((1.1, 1.1), rel=1e-12)
    assert [one.name for one in found.tests] == [*ROUNDS_TESTS, *LAUNCHES_TESTS]
    assert p_of(found, "Wilcoxon signed rank") == (2**-11, 2**-12, 1.0)
    assert (found.effect.cliffs_delta, found.effect.vargha_delaney_a) == (1.0, 1.0)
    assert found.effect.magnitude == "large"
    assert found.q == 2**-11
    assert found.detectable_ratio == pytest.approx(1.0, abs=1e-12)
    assert found.launches_needed == 7  # the fewest rounds whose p can fall below 0.01


def test_the_golden_rounds() -> None:
    found = compare([100, 101, 99, 102, 100], [108, 111, 109, 112, 110])

    of_rounds = ratio_of(found, "geometric mean, of rounds")
    assert of_rounds.ratio == pytest.approx(1.095583, abs=5e-7)
    assert ends_of(of_rounds) == pytest.approx((1.084658, 1.106619), abs=5e-7)
    assert of_rounds.interval is not None
    assert of_rounds.interval.method == "t on logs"
    assert p_of(found, "Wilcoxon signed rank") == (0.0625, 0.03125, 1.0)
    assert ratio_of(found, "Hodges-Lehmann, of rounds").interval is None
    assert "a rank interval needs 6 rounds, not 5" in found.notes


def test_the_golden_launches() -> None:
    found = compare([1, 2, 3, 4, 5], [6, 7, 8, 9, 10], paired=False)

    assert [one.name for one in found.ratios] == [*LAUNCHES_RATIOS, TAIL]
    assert [one.name for one in found.tests] == list(LAUNCHES_TESTS)
    assert [one.p for one in found.tests[:3]] == pytest.approx(
        [0.00793651, 0.01218578, 0.00902344], abs=5e-9
    )
    assert found.tests[0].p_greater == pytest.approx(1 / 252)
    assert found.tests[0].p_less == 1.0
    assert found.tests[2].p_greater is None
    assert found.effect.cliffs_delta == 1.0
    assert found.q == found.tests[0].p


def test_the_golden_effect() -> None:
    found = compare([1000, 1020, 980, 1010, 990], [980, 970, 990, 960, 985], paired=False)

    assert found.effect.cohens_d == pytest.approx(-1.636607, abs=5e-7)
    assert found.effect.hedges_g == pytest.approx(-1.478225, abs=5e-7)
    assert significance_of(found, "Mann-Whitney, exact").p == pytest.approx(0.063492, abs=5e-7)
    assert significance_of(found, "Mann-Whitney, textbook").p == pytest.approx(0.045866, abs=5e-7)


@pytest.mark.parametrize("n", [5, 8, 12, 30])
@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_said_of_rounds_is_what_scipy_says(n: int, seed: int) -> None:
    base, head = arms(seed, n, n)
    found, d = compare(base, head), np.log(head) - np.log(base)

    assert p_of(found, "Wilcoxon signed rank") == pytest.approx(
        tuple(stats.wilcoxon(d, alternative=side, method="exact").pvalue for side in SIDES)
    )
    t = stats.ttest_1samp(d, 0)
    assert p_of(found, "t of log ratios") == pytest.approx(
        tuple(stats.ttest_1samp(d, 0, alternative=side).pvalue for side in SIDES)
    )
    of_rounds = ratio_of(found, "geometric mean, of rounds")
    assert of_rounds.ratio == pytest.approx(stats.gmean(head / base))
    assert ends_of(of_rounds) == pytest.approx(tuple(map(math.exp, t.confidence_interval(0.95))))
    walsh = [(x + y) / 2 for i, x in enumerate(d) for y in d[i:]]
    assert found.ratios[0].ratio == pytest.approx(np.exp(np.median(walsh)))


@pytest.mark.parametrize(("n1", "n2"), [(4, 9), (12, 12), (35, 40)])
@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_said_of_launches_is_what_scipy_says(n1: int, n2: int, seed: int) -> None:
    base, head = arms(seed, n1, n2)
    found = compare(base, head, paired=False)

    def u_test(side: Side, method: Method, *, corrected: bool = True) -> float:
        done = stats.mannwhitneyu(
            head, base, alternative=side, method=method, use_continuity=corrected
        )
        return float(done.pvalue)

    assert p_of(found, "Mann-Whitney, continuity corrected") == pytest.approx(
        tuple(u_test(side, "asymptotic") for side in SIDES)
    )
    assert significance_of(found, "Mann-Whitney, textbook").p == pytest.approx(
        u_test("two-sided", "asymptotic", corrected=False)
    )
    if n1 + n2 <= 60:
        assert p_of(found, "Mann-Whitney, exact") == pytest.approx(
            tuple(u_test(side, "exact") for side in SIDES)
        )
    else:
        assert found.tests[0].name == "Mann-Whitney, continuity corrected"
    logs = np.log(head), np.log(base)
    assert p_of(found, "Welch's t of logs") == pytest.approx(
        tuple(stats.ttest_ind(*logs, equal_var=False, alternative=side).pvalue for side in SIDES)
    )
    of_launches = ratio_of(found, "geometric mean, of launches")
    interval = stats.ttest_ind(*logs, equal_var=False).confidence_interval(0.95)
    assert of_launches.ratio == pytest.approx(stats.gmean(head) / stats.gmean(base))
    assert ends_of(of_launches) == pytest.approx(tuple(map(math.exp, interval)))
    assert ratio_of(found, "Hodges-Lehmann, of launches").ratio == pytest.approx(
        np.exp(np.median(np.subtract.outer(*logs)))
    )


@pytest.mark.parametrize("paired", [True, False])
def test_what_could_be_seen_follows_its_formula(*, paired: bool) -> None:
    base, head = arms(3, 10, 10)
    found = compare(base, head, paired=paired)

    x, y = np.log(base), np.log(head)
    d = y - x
    mads = [stats.median_abs_deviation(values) for values in ((d,) if paired else (x, y))]
    spread = 10 / 9.2 * 1.4826 * np.mean(mads)
    df, error = (9, spread / math.sqrt(10)) if paired else (18, spread * math.sqrt(2 / 10))
    reach = stats.t.ppf(0.99, df) + stats.t.ppf(0.8, df)
    assert found.power == 0.8
    assert found.detectable_ratio == pytest.approx(math.exp(reach * error))
    assert found.detectable_ratio is not None
    assert found.launches_needed is not None
    # Both agree on whether 10 launches are enough for the margin.
    assert (found.launches_needed > 10) is (found.detectable_ratio > 1.02)


@pytest.mark.parametrize(
    ("launches", "samples", "note"),
    [
        (8, 45, "p95: 8 launches: intervals may be too short; 10 or more are better"),
        (12, 1, "p95: the greatest of 12 samples: no interval"),
    ],
)
def test_doubts_about_the_tail_are_not_said_of_the_other_figures(
    launches: int, samples: int, note: str
) -> None:
    rng = np.random.default_rng(9)
    base, head = rng.lognormal(0, 0.01, (2, launches, samples)).tolist()

    (found,) = compare(base, head).notes
    assert found.startswith(note)


def test_more_rows_take_more_to_be_seen() -> None:
    base, head = arms(4, 12, 12)

    def seen(rows: int) -> float:
        sides = [[bench(f"b{k}", list(arm)) for k in range(rows)] for arm in (base, head)]
        found = with_details(judged(sides[0], sides[1], P25), SETTINGS).rows[0].detail
        assert found is not None
        assert found.detectable_ratio is not None
        return found.detectable_ratio

    assert seen(1) < seen(5) < seen(20)


def swapped(found: Comparison, name: str) -> tuple[float, tuple[float, float] | None]:
    """An estimate and its ends as the other direction would have them."""
    one = ratio_of(found, name)
    ends = ends_of(one)
    return 1 / one.ratio, (1 / ends[1], 1 / ends[0]) if ends else None


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(in_rounds, st.booleans())
def test_the_other_direction_is_the_reverse(
    rounds: list[tuple[float, float]],
    paired: bool,  # noqa: FBT001 - drawn
) -> None:
    base, head = [b for b, _ in rounds], [h for _, h in rounds]
    one, other = compare(base, head, paired=paired), compare(head, base, paired=paired)

    for estimate in other.ratios:
        ratio, ends = swapped(one, estimate.name)
        assert estimate.ratio == pytest.approx(ratio)
        if estimate.name != TAIL:  # which is drawn at random
            assert ends_of(estimate) == (None if ends is None else pytest.approx(ends))
    for test in other.tests:
        p, greater, less = p_of(one, test.name)
        assert (test.p, test.p_greater, test.p_less) == pytest.approx((p, less, greater))
    assert other.effect.cliffs_delta == -one.effect.cliffs_delta
    assert other.effect.vargha_delaney_a == pytest.approx(1 - one.effect.vargha_delaney_a)
    for name in ("cohens_d", "hedges_g"):
        before, after = getattr(one.effect, name), getattr(other.effect, name)
        assert after == (None if before is None else pytest.approx(-before))
    assert other.effect.magnitude == one.effect.magnitude
    assert other.detectable_ratio == (one.detectable_ratio and pytest.approx(one.detectable_ratio))


def test_a_metric_of_which_more_is_better_is_compared_as_measured() -> None:
    base, head = arms(5, 8, 8, change=0.1)

    found = [
        compare(base, head, paired=paired, metric=Metric("throughput", "op/s", better))
        for paired in (True, False)
        for better in Better
    ]

    assert found[0] == found[1]
    assert found[2] == found[3]
    assert found[0].ratios[0].ratio > 1.05
    assert found[0].effect.cliffs_delta > 0


def test_rows_that_rest_on_no_test_have_no_details() -> None:
    count = Metric("count", "", kind=Kind.EXACT)
    good, zero = [1.0] * 8, [0.0] * 8
    before = [
        bench("good", good),
        bench("zero", zero),
        bench("apart", good, rounds=range(8)),
        bench("old", good),
        bench("changed", good, workload="v"),
        bench("exact", good, metric=count),
    ]
    after = [
        bench("good", good),
        bench("zero", good),
        bench("apart", good, rounds=range(10, 18)),
        bench("new", good),
        bench("changed", good),
        bench("exact", good, metric=count),
    ]
    toml = '[gate]\nstatistics = ["p25", "p95"]\nmetrics = ["time", "count"]'
    judgment = judged(before, after, toml)

    found = with_details(judgment, SETTINGS)

    # A tail takes 40 samples of each launch.
    assert [(row.benchmark, row.statistic) for row in found.rows if row.detail] == [("good", "p25")]
    assert len(found.rows) > 6
    assert [replace(row, detail=None) for row in found.rows] == list(judgment.rows)
    assert found.needs == judgment.needs


def test_nothing_to_compare_is_no_error() -> None:
    assert with_details(judged([], []), SETTINGS).rows == ()


def test_all_rounds_count_and_not_only_those_that_decide() -> None:
    judgment = judged([bench("b", [1.0] * 17)], [bench("b", list(heads(17, 0.1)))], P25)

    (row,) = with_details(judgment, SETTINGS).rows

    assert row.outcome is Outcome.REGRESSED
    assert row.launches == (12, 12)
    assert row.detail is not None
    assert row.detail.launches == (17, 17)
    assert row.detail.tests[0].p == 2**-16


@pytest.mark.parametrize("paired", [True, False])
def test_one_launch_shows_no_spread(*, paired: bool) -> None:
    found = compare([[1.0, 2.0, 3.0]], [[2.0, 4.0, 6.0]], paired=paired)

    assert found.launches == (1, 1)
    assert [one.ratio for one in found.ratios] == [pytest.approx(2.0)] * len(found.ratios)
    assert all(one.interval is None for one in found.ratios)
    assert all(one.p == 1 or one.name == "Mann-Whitney, textbook" for one in found.tests)
    assert (found.effect.cohens_d, found.effect.hedges_g) == (None, None)
    assert (found.detectable_ratio, found.launches_needed) == (None, None)
    assert "one launch: no spread between launches; take at least 2 of each side" in found.notes
    assert "a rank interval needs 4 v 4 launches, not 1 v 1" in found.notes
    assert len(set(found.notes)) == len(found.notes)


@pytest.mark.parametrize("paired", [True, False])
def test_identical_arms_do_not_differ(*, paired: bool) -> None:
    found = compare([1.0] * 8, [1.0] * 8, paired=paired)

    assert {one.ratio for one in found.ratios} == {1.0}
    assert {one.p for one in found.tests} == {1.0}
    assert found.effect.cliffs_delta == 0
    assert found.effect.cohens_d is None
    assert any(note.startswith("no spread within the sides") for note in found.notes)
    assert found.detectable_ratio == 1.0
    assert found.q == 1.0


@pytest.mark.parametrize("paired", [True, False])
def test_constant_arms_that_differ_have_no_t(*, paired: bool) -> None:
    found = compare([1.0] * 8, [2.0] * 8, paired=paired)

    assert [one.ratio for one in found.ratios] == [pytest.approx(2.0)] * len(found.ratios)
    assert not any(" t " in f" {one.name} " for one in found.tests)
    assert found.tests[0].p == pytest.approx(2**-7 if paired else 2 / math.comb(16, 8))
    assert "no spread between launches: the difference cannot be tested" in found.notes


def test_the_tail_is_that_of_all_samples() -> None:
    rng = np.random.default_rng(6)
    base = [list(rng.lognormal(0, 0.1, 45)) for _ in range(10)]
    head = [list(rng.lognormal(0.05, 0.1, 45)) for _ in range(10)]

    found = compare(base, head)

    tail = ratio_of(found, TAIL)
    pooled = [np.quantile(np.ravel(arm), 0.95, method="inverted_cdf") for arm in (base, head)]
    assert tail.ratio == pooled[1] / pooled[0]
    assert tail.interval is not None
    assert tail.interval.low < tail.ratio < tail.interval.high
    assert found.notes == ()
    assert compare(base, head) == found
    assert ends_of(ratio_of(compare(base, head, settings=replace(SETTINGS, seed=2)), TAIL)) != (
        ends_of(tail)
    )


def test_the_rows_of_one_metric_share_its_tail() -> None:
    rng = np.random.default_rng(7)
    sides = [[bench(values=[list(rng.lognormal(0, 0.1, 45)) for _ in range(8)])] for _ in range(2)]
    toml = '[gate]\nstatistics = ["p25", "p95"]'

    rows = with_details(judged(sides[0], sides[1], toml), SETTINGS).rows

    assert [row.statistic for row in rows] == ["p25", "p95"]
    details = [row.detail for row in rows if row.detail]
    assert ratio_of(details[0], TAIL) == ratio_of(details[1], TAIL)
    assert details[0].ratios[0] != details[1].ratios[0]


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.lists(positive, min_size=1, max_size=3), min_size=1, max_size=8),
    st.lists(st.lists(positive, min_size=1, max_size=3), min_size=1, max_size=8),
    st.booleans(),
)
def test_whatever_was_measured_is_compared_in_finite_numbers(
    base: list[list[float]],
    head: list[list[float]],
    paired: bool,  # noqa: FBT001 - drawn
) -> None:
    found = compare(base, head, paired=paired)

    assert all_finite(found)
    for one in found.ratios:
        assert one.ratio >= 0
        if one.interval:
            assert one.interval.low <= one.interval.high
    for test in found.tests:
        assert all(0 <= p <= 1 for p in (test.p, test.p_greater, test.p_less) if p is not None)


@pytest.mark.parametrize("paired", [True, False])
def test_arms_as_far_apart_as_can_be(*, paired: bool) -> None:
    found = compare([1e-150] * 8, [1e150] * 8, paired=paired)

    of_launches = {name: ratio_of(found, name).ratio for name in LAUNCHES_RATIOS}
    assert of_launches == {name: pytest.approx(1e300, rel=1e-12) for name in LAUNCHES_RATIOS}
    assert found.effect.cliffs_delta == 1.0


def test_q_values_follow_p() -> None:
    changes = np.linspace(0, 0.03, 12)
    sides = [
        [bench(f"b{k}", list(arms(k, 9, 9, change)[side])) for k, change in enumerate(changes)]
        for side in range(2)
    ]
    untested = bench("zero", [0.0] * 9)

    rows = with_details(judged([*sides[0], untested], [*sides[1], untested], P25), SETTINGS).rows

    found = [row.detail for row in rows if row.detail]
    assert len(found) == len(changes)
    p = [one.tests[0].p for one in found]
    q = [one.q for one in found if one.q is not None]
    assert q == pytest.approx(stats.false_discovery_control(p))
    in_order = [value for _, value in sorted(zip(p, q, strict=True))]
    assert in_order == sorted(q)
    assert all(a <= b for a, b in zip(p, q, strict=True))
    assert max(p) == max(q)
