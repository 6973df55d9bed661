"""Rows whose clock is too coarse for the margin."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchgate.model.policy import Outcome
from benchgate.model.run import Better, Metric, Tier

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.gate.suite import Judgment
    from benchgate.model.run import BenchmarkResult
    from benchgate.model.verdict import Row

NS = 1e-9
RATE = Metric("time", "1/s", Better.HIGHER)


def ticks(value: float, *, clock: float, seed: int, launches: int = 20) -> list[list[float]]:
    """Samples of a clock: a time begins at any moment between two ticks."""
    random = np.random.default_rng(seed)
    shape = (launches, 40)
    exact = value * (1 + 0.01 * abs(random.standard_normal(shape)))
    begun = random.random(shape) * clock
    read = np.floor((begun + exact) / clock) * clock - np.floor(begun / clock) * clock
    return [[float(each) for each in launch] for launch in read]


@pytest.fixture
def compare(
    bench: Callable[..., BenchmarkResult], judged: Callable[..., Judgment]
) -> Callable[..., Row]:
    def make(
        base: list[list[float]] | list[float],
        head: list[list[float]] | list[float],
        *,
        toml: str = "",
        paired: bool = False,
        tier: Tier = Tier.STORED,
        metric: Metric | None = None,
    ) -> Row:
        about = {} if metric is None else {"metric": metric}
        sides = [replace(bench("b", each, **about), tier=tier) for each in (base, head)]
        toml = f'[gate]\nstatistics = ["p25"]\n{toml}'
        (row,) = judged([sides[0]], [sides[1]], toml, paired=paired).rows
        return row

    return make


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("rule", ["launch", "classical"])
@pytest.mark.parametrize(
    "case",
    [
        (1.0, 10, Outcome.NOT_TESTED),
        (1.05, 10, Outcome.NOT_TESTED),
        (1.6, 10, Outcome.REGRESSED),
        (0.5, 10, Outcome.IMPROVED),
        (1.0, 0.05, Outcome.UNCHANGED),
    ],
)
def test_what_the_clock_hides_is_not_called_unchanged(
    compare: Callable[..., Row],
    case: tuple[float, float, Outcome],
    rule: str,
    paired: bool,  # noqa: FBT001 - a parameter
) -> None:
    change, clock, outcome = case
    base, head = (
        ticks(value * NS, clock=clock * NS, seed=seed)
        for seed, value in enumerate((74, 74 * change), start=1)
    )
    row = compare(base, head, toml=f'rule = "{rule}"', paired=paired)
    assert row.outcome is outcome
    if outcome is Outcome.NOT_TESTED:
        assert row.notes == ("the clock shows steps of 14.3 % of the value",)
        assert (row.ratio, row.interval, row.p) == (None, None, None)


@pytest.mark.parametrize(
    ("base", "head", "outcome"),
    [
        ([7.0] * 10, [7.0] * 10, Outcome.NOT_TESTED),  # all rounded alike
        ([70.0] * 10, [70.0] * 10, Outcome.NOT_TESTED),
        ([1234.0] * 10, [1234.0] * 10, Outcome.UNCHANGED),
        ([5.0, 5, 6, 5, 5, 7, 5, 5, 5, 5], [5.0] * 10, Outcome.NOT_TESTED),
        ([5.0, 5, 6, 5, 5, 7, 5, 5, 5, 5], [6.0] * 10, Outcome.NOT_TESTED),
        ([5.0, 5, 6, 5, 5, 7, 5, 5, 5, 5], [9.0] * 10, Outcome.REGRESSED),
    ],
)
def test_numbers_that_a_tool_rounds(
    compare: Callable[..., Row], base: list[float], head: list[float], outcome: Outcome
) -> None:
    assert compare(base, head).outcome is outcome
    assert compare(head, base).outcome is (
        Outcome.IMPROVED if outcome is Outcome.REGRESSED else outcome
    )


def test_rates_have_clocks_and_counts_have_none(compare: Callable[..., Row]) -> None:
    values = [5.0, 5, 6, 5, 5, 7, 5, 5, 5, 5]
    assert compare(values, [5.0] * 10, metric=RATE).outcome is Outcome.NOT_TESTED
    assert compare([5.0] * 10, [5.0] * 10, metric=Metric("time", "B")).outcome is Outcome.UNCHANGED


def test_rows_of_a_coarse_clock_get_no_rounds_for_nothing(
    bench: Callable[..., BenchmarkResult], judged: Callable[..., Judgment]
) -> None:
    arms = [bench("b", ticks(74 * NS, clock=10 * NS, seed=seed)) for seed in (1, 2)]
    (need,) = judged([arms[0]], [arms[1]], '[gate]\nstatistics = ["p25"]').needs
    assert need.stage == "done"
