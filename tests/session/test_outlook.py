from __future__ import annotations

import pytest

from benchgate.config import loads
from benchgate.gate.waves import WaveSettings
from benchgate.session.outlook import BudgetForecast, of_fixed_rounds, of_the_screen, too_few_rounds

WAVES = WaveSettings(alpha=0.01, screen_rounds=5, confirm_rounds=12, max_rounds=30)


def ids(count: int) -> list[str]:
    return [f"b{i}" for i in range(count)]


@pytest.mark.parametrize(
    ("round_s", "left_s", "rows", "expected"),
    [
        (
            41.0,
            559.0,
            4,
            (
                "a round takes about 41 s, so the budget of 10 min allows 14 rounds, but "
                "confirming a slowdown takes 17 (about 11 min 37 s). Fewer rounds show only a "
                "large slowdown, from 6 rounds on: one that makes every launch of the head "
                "slower than every launch of the base."
            ),
        ),
        (
            150.0,
            450.0,
            20,
            (
                "a round takes about 2 min 30 s, so the budget of 10 min allows 4 rounds, but "
                "confirming a slowdown takes 17 (about 42 min 30 s). Even a large slowdown takes 8 "
                "(about 20 min) to show."
            ),
        ),
        (20.0, 580.0, 4, None),
        (150.0, 450.0, 0, None),
    ],
)
def test_what_a_short_budget_can_show_is_said(
    round_s: float, left_s: float, rows: int, expected: str | None
) -> None:
    assert of_the_screen(BudgetForecast(round_s, left_s, 600.0), WAVES, rows) == expected


def test_a_budget_that_has_no_time_for_all_rounds_says_for_how_many() -> None:
    spending = BudgetForecast(41.0, 559.0, 600.0)
    assert of_fixed_rounds(spending, 20) == (
        "a round takes about 41 s, so the budget of 10 min allows 14 of 20 rounds"
    )
    assert of_fixed_rounds(spending, 14) is None


@pytest.mark.parametrize(
    ("rounds", "benchmarks", "toml", "expected"),
    [
        (
            5,
            10,
            "",
            (
                "5 rounds cannot show any change: it takes at least 11, because fewer cannot "
                "rule out chance for 10 benchmarks at an alpha of 1 %"
            ),
        ),
        (
            1,
            1,
            "gate.alpha = 0.05",
            (
                "1 round cannot show any change: it takes at least 6, because fewer cannot rule "
                "out chance for 1 benchmark at an alpha of 5 %"
            ),
        ),
        (11, 10, "", None),
        (1, 3, 'gate.metrics = ["alloc_blocks"]', None),
        (
            7,
            1,
            'gate.metrics = ["time", "alloc_blocks"]',
            (
                "7 rounds cannot show any change except in counts: it takes at least 8, "
                "because fewer cannot rule out chance for 1 benchmark at an alpha of 1 %"
            ),
        ),
        (1, 0, "", None),
        (
            4,
            10,
            'gate.rule = "classical"',
            (
                "4 rounds cannot show any change: it takes at least 5, because the textbook rule "
                "needs that many launches"
            ),
        ),
        (5, 10, 'gate.rule = "classical"', None),
        (1, 10, 'gate.rule = "classical"\ngate.unit = "sample"', None),
    ],
)
def test_too_few_rounds_for_any_change_are_told(
    rounds: int, benchmarks: int, toml: str, expected: str | None
) -> None:
    assert too_few_rounds(rounds, ids(benchmarks), loads(toml, "test.toml")) == expected


def test_a_shard_needs_more_rounds() -> None:
    found = too_few_rounds(11, ids(10), loads("", "test.toml"), shards=8)
    assert found is not None
    assert "at least 14" in found
