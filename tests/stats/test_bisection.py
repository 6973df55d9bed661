"""The search for a commit, by tests that may err."""

from __future__ import annotations

import random
from statistics import NormalDist

import pytest

from benchgate.stats.bisection import Bisection

LINE = [[], *([index] for index in range(63))]
# 0 - 1 - 4 - 5, with the branch 2 - 3 merged by 4.
MERGED = [[], [0], [0], [2], [1, 3], [4]]


def searched(parents: list[list[int]], changes: set[int]) -> tuple[Bisection, int]:
    """Search with tests that do not err; the commits with the change are given."""
    search, tests = Bisection(parents), 0
    while (index := search.next()) is not None:
        search.learn(index, float(index in changes))
        tests += 1
    return search, tests


@pytest.mark.parametrize("first", [0, 1, 17, 62, 63])
def test_each_test_halves_what_is_left(first: int) -> None:
    search, tests = searched(LINE, set(range(first, 64)))
    assert search.suspects() == [first]
    assert tests in {6, 7}


@pytest.mark.parametrize(
    ("first", "changes"),
    [(3, {3, 4, 5}), (2, {2, 3, 4, 5}), (1, {1, 4, 5}), (4, {4, 5}), (5, {5}), (0, set(range(6)))],
)
def test_commits_of_merged_branches_are_searched(first: int, changes: set[int]) -> None:
    assert searched(MERGED, changes)[0].suspects() == [first]


def test_what_is_not_in_the_last_commit_is_not_searched() -> None:
    search = Bisection([[], [0], [0]])
    search.learn(0, 0.0)
    assert search.suspects() == [2]
    assert search.probabilities[1] == 0.0


def test_commits_that_cannot_be_tested_share_the_suspicion() -> None:
    search = Bisection([[], [0], [1], [2]])
    while (index := search.next(left_out=[1, 2])) is not None:
        search.learn(index, float(index == 3))
    assert sorted(search.suspects()) == [1, 2, 3]
    assert search.probabilities[1:] == pytest.approx(1 / 3, abs=0.01)


def test_a_test_that_shows_little_is_made_again() -> None:
    search = Bisection([[], [0]])
    assert search.next() == 0
    search.learn(0, 0.6)
    assert search.next() == 0
    assert search.probabilities[0] == pytest.approx(0.6)


def test_a_commit_that_proves_to_be_another_one_gives_way() -> None:
    search, _ = searched(LINE[:8], set(range(5, 8)))
    search.clear(5)
    assert search.next() in {4, 5}


def test_errors_are_found_and_corrected() -> None:
    """Each test errs as often as it says: one in ten at worst."""
    rng, right, tests = random.Random(3), 0, 0  # noqa: S311
    for number in range(200):
        first = number % 64
        search = Bisection(LINE)
        while (index := search.next()) is not None:
            distance = rng.gauss(1.3 if index >= first else -1.3, 1.0)
            # The probability of one of two equally likely distances, by Bayes' rule.
            near, far = (NormalDist(mean).pdf(distance) for mean in (1.3, -1.3))
            search.learn(index, near / (near + far))
            tests += 1
        right += search.suspects() == [first]
    assert right >= 190
    assert tests / 200 < 25
