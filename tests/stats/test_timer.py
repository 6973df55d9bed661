from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.stats.timer import TIMER_FACTOR, Timer, clock_step, timer, timer_note


def pairs(*pattern: float, count: int = 1000) -> np.ndarray:
    return np.resize(np.array(pattern), count)


def test_cost_and_resolution() -> None:
    assert timer(pairs(50, 40, 60, 5000)) == Timer(cost_ns=55, resolution_ns=40, pairs=1000)


def test_a_coarse_clock_costs_nothing_that_it_shows() -> None:
    coarse = timer(pairs(0, 0, 0, 100))
    assert coarse == Timer(cost_ns=0, resolution_ns=100, pairs=1000)
    assert coarse.error_ns == 100


def test_a_clock_that_stands_has_no_resolution() -> None:
    still = timer(np.zeros(2000))
    assert still == Timer(cost_ns=0, resolution_ns=None, pairs=2000)
    assert still.error_ns == 0


def test_an_interval_is_off_by_the_worse_of_both() -> None:
    assert timer(pairs(50)).error_ns == 50
    assert Timer(50, 20, 1000).error_ns == 50
    assert Timer(50, 100, 1000).error_ns == 100


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=50), st.integers(0, 20))
def test_neither_unit_nor_order_matters(pattern: list[int], exponent: int) -> None:
    differences = pairs(*map(float, pattern))
    plain = timer(differences)
    scaled = timer(np.ldexp(differences[::-1], exponent))
    assert scaled.cost_ns == plain.cost_ns * 2**exponent
    if plain.resolution_ns is None:
        assert scaled.resolution_ns is None
        assert plain.cost_ns == 0
    else:
        assert scaled.resolution_ns == plain.resolution_ns * 2**exponent


@pytest.mark.parametrize(
    ("differences_ns", "message"),
    [
        (np.array([]), "empty"),
        (np.ones((1000, 2)), "shape"),
        (pairs(1, np.nan), "nan"),
        (pairs(50, count=999), "at least 1000 pairs of readings are needed, not 999"),
        (pairs(50, -3), "the clock ran backwards, by 3 ns"),
    ],
)
def test_bad_differences_are_refused(differences_ns: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        timer(differences_ns)


def test_an_interval_of_100_times_the_cost_is_long_enough() -> None:
    assert timer_note(1000, 50) == "reading the clock costs 50 ns, 5.0 % of a sample of 1000 ns"
    assert timer_note(5000, 50) is None
    assert timer_note(4999, 50) is not None
    assert timer_note(5e-324, 0) is None


@given(st.integers(1, 10**12), st.integers(0, 10**9))
def test_longer_never_gets_worse(interval_ns: int, cost_ns: int) -> None:
    is_short = timer_note(interval_ns, cost_ns) is not None
    assert is_short == (cost_ns * TIMER_FACTOR > interval_ns)
    assert is_short or timer_note(interval_ns + 1, cost_ns) is None


@pytest.mark.parametrize(
    ("interval_ns", "cost_ns", "message"),
    [
        (0, 50, "interval_ns must be above 0"),
        (-1, 50, "interval_ns"),
        (float("nan"), 50, "interval_ns"),
        (float("inf"), 50, "interval_ns"),
        (1000, -1, "cost_ns must be at least 0"),
        (1000, float("nan"), "cost_ns"),
    ],
)
def test_bad_intervals_are_refused(interval_ns: float, cost_ns: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        timer_note(interval_ns, cost_ns)


def test_the_step_of_a_clock_is_seen_in_its_ties() -> None:
    jagged = np.repeat([60, 61, 70, 71, 80, 81, 90, 1362], [20, 2, 333, 38, 3, 1, 1, 1])
    assert clock_step([jagged, jagged], 70, 0.02) == pytest.approx(10)
    assert clock_step([jagged, jagged], 70, 0.2) == 0
    off = jagged * (1 + 1e-9 * np.arange(len(jagged)) % 3)  # as subtracting readings leaves them
    assert clock_step([off], 70, 0.02) == pytest.approx(10)


@pytest.mark.parametrize("spread", [0.0003, 0.003, 0.03])
@pytest.mark.parametrize("value", [1237.1, 11342.3, 1.2e6])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_fine_clock_shows_no_step_however_steady_the_work_is(
    spread: float, value: float, seed: int
) -> None:
    random = np.random.default_rng(seed)
    x = value * (1 + spread * np.abs(random.standard_normal((2, 400))))
    x[random.random(x.shape) < 0.05] *= 1.3
    assert clock_step(list(np.round(x)), value, 0.02) == 0


def test_equal_values_show_no_step() -> None:
    assert clock_step([np.full(5, 70.0)] * 2, 70, 0.02) == 0


def test_what_two_steady_sides_differ_by_is_no_step() -> None:
    assert clock_step([np.full(10, 1.0), np.full(10, 2.0)], 1, 0.02) == 0
