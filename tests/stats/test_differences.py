from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import spearmanr

from benchgate.stats.differences import ratios_in_turn
from benchgate.stats.spread import nearest_rank

M, N = 200, 45


def spread(values: np.ndarray) -> float:
    return float(np.std(values))


def of_p25(base: np.ndarray, head: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.log(nearest_rank(head, 0.25) / nearest_rank(base, 0.25))
    return found


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_where_the_speed_of_the_machine_changes_pairs_are_steadier(
    rng: np.random.Generator,
) -> None:
    # For stretches of a launch, other work takes a third of the speed; at their ends, it takes it
    # from one sample of a pair.
    changes = np.cumsum(rng.random((M, 2 * N)) < 0.05, axis=1) + rng.integers(2, size=(M, 1))
    speed = np.where(changes % 2, 1.5, 1.0)
    noise = np.exp(rng.exponential(0.004, (2, M, N)))
    base, head = speed[:, ::2] * noise[0], 1.03 * speed[:, 1::2] * noise[1]
    found = ratios_in_turn(base, head)
    assert np.median(found) == pytest.approx(np.log(1.03), abs=0.001)
    assert spread(found) < 0.5 * spread(of_p25(base, head))


def test_where_samples_vary_by_themselves_p25_is_kept(rng: np.random.Generator) -> None:
    base, head = np.exp(rng.exponential(0.1, (2, M, N)))
    found, plain = ratios_in_turn(base, head), of_p25(base, head)
    assert spread(found) < 1.1 * spread(plain)
    uncorrelated = np.array([spearmanr(b, h)[0] <= 0 for b, h in zip(base, head, strict=True)])
    assert 0.3 < uncorrelated.mean() < 0.7
    assert found[uncorrelated] == pytest.approx(plain[uncorrelated])


def test_a_rank_correlation_of_a_half_leaves_the_pairs_alone(rng: np.random.Generator) -> None:
    speed = rng.lognormal(0, 0.1, (M, N))
    base, head = speed * rng.lognormal(0, 0.01, (M, N)), speed * rng.lognormal(0.5, 0.01, (M, N))
    assert min(spearmanr(b, h)[0] for b, h in zip(base, head, strict=True)) > 0.5
    fastest = np.argsort(base * head, axis=1)[:, :34]  # three quarters of 45
    expected = np.median(np.log(np.take_along_axis(head / base, fastest, 1)), axis=1)
    assert ratios_in_turn(base, head) == pytest.approx(expected)


@pytest.mark.parametrize("n", [1, 2, 5, 45])
def test_swapping_the_sides_changes_the_sign(n: int, rng: np.random.Generator) -> None:
    base, head = rng.lognormal(0, 0.1, (2, M, n)).round(1)  # with ties
    assert ratios_in_turn(head, base).tolist() == (-ratios_in_turn(base, head)).tolist()


def test_samples_that_do_not_vary() -> None:
    assert ratios_in_turn(np.full((2, 9), 2.0), np.full((2, 9), 3.0)) == pytest.approx(np.log(1.5))
    assert ratios_in_turn(np.array([[2.0]]), np.array([[3.0]])) == pytest.approx(np.log(1.5))


@pytest.mark.parametrize("n", [2_500, 100_000])
def test_the_weight_of_the_pairs_is_right_for_many_samples(
    n: int, rng: np.random.Generator
) -> None:
    speed = rng.lognormal(0, 0.1, (1, n))
    base = speed * rng.lognormal(0, 0.2, (1, n))
    head = speed * rng.lognormal(0.5, 0.2, (1, n)) ** 2
    weight = 2 * spearmanr(base[0], head[0])[0]
    assert 0.1 < weight < 0.9
    fastest = np.argsort(base * head, axis=1)[:, : math.ceil(0.75 * n)]
    of_pairs = np.median(np.log(np.take_along_axis(head / base, fastest, 1)), axis=1)
    expected = weight * of_pairs + (1 - weight) * of_p25(base, head)
    assert ratios_in_turn(base, head) == pytest.approx(expected)
