from __future__ import annotations

import math
from dataclasses import replace

import pytest
from tests.loads import load_result

from benchgate.config import loads
from benchgate.gate.waves import WaveSettings
from benchgate.measure.contract.found import Definition
from benchgate.model.run import Tier
from benchgate.session.fixed_rounds import too_few_rounds
from benchgate.session.outlook import (
    BudgetForecast,
    describe_rounds,
    describe_screen,
    of_fixed_rounds,
    of_the_screen,
)

WAVES = WaveSettings(alpha=0.01, screen_rounds=5, confirm_rounds=12, max_rounds=30)


def definitions(count: int, tier: Tier = Tier.LOCKSTEP) -> list[Definition]:
    return [Definition(f"b{i}", "w", tier) for i in range(count)]


def forecast(round_s: float, slowest_s: float, budget_s: float) -> BudgetForecast:
    """Forecast from a first round that took as long as the others will."""
    return BudgetForecast(round_s, slowest_s, round_s, budget_s)


@pytest.mark.parametrize(
    ("spending", "rows", "expected"),
    [
        (
            forecast(41.0, 12.0, 300.0),
            4,
            (
                "the budget of 5 min is too short to confirm a slowdown, because a round takes "
                "about 41 s: use --budget 7m, or --budget 15m if many benchmarks get slower. "
                "Within 5 min, only a large slowdown can be shown: one that makes every launch of "
                "the head slower than every launch of the base."
            ),
        ),
        (
            forecast(150.0, 8.0, 600.0),
            20,
            (
                "the budget of 10 min is too short to confirm a slowdown, because a round takes "
                "about 2 min 30 s: use --budget 16m, or --budget 61m if many benchmarks get "
                "slower. Within 10 min, no slowdown can be shown."
            ),
        ),
        (
            forecast(2.0, 2.0, 10.0),
            1,
            (
                "the budget of 10 s is too short to confirm a slowdown, because a round takes "
                "about 2.0 s: use --budget 40s. Within 10 s, only a large slowdown can be shown: "
                "one that makes every launch of the head slower than every launch of the base."
            ),
        ),
        (forecast(41.0, 12.0, 400.0), 4, None),  # only the suspects get all 17 rounds
        (forecast(150.0, 8.0, 600.0), 0, None),
    ],
)
def test_what_a_short_budget_can_show_is_said_with_a_budget_that_is_long_enough(
    spending: BudgetForecast, rows: int, expected: str | None
) -> None:
    assert of_the_screen(spending, WAVES, lambda: rows) == expected


def test_a_budget_that_has_no_time_for_all_rounds_says_for_how_many() -> None:
    spending = forecast(41.0, 41.0, 600.0)
    assert of_fixed_rounds(spending, 20) == (
        "the budget of 10 min allows only 14 of 20 rounds, because a round takes about 41 s: use "
        "--budget 16m"
    )
    assert of_fixed_rounds(spending, 14) is None


def test_a_first_round_that_takes_longer_than_the_budget_is_one_round() -> None:
    found = of_fixed_rounds(forecast(41.0, 41.0, 10.0), 2)
    assert found
    assert found.startswith("the budget of 10 s allows only 1 of 2 rounds, ")


def test_the_plan_is_said_before_the_first_round() -> None:
    assert describe_screen(WAVES, 600.0) == (
        "5 rounds each, then more where it is not clear; at most 10 min"
    )
    assert describe_screen(WAVES, math.inf).endswith("; no limit of time")
    assert describe_rounds({1}, 90.0) == "1 round each; at most 1 min 30 s"
    assert describe_rounds({4, 10}, 90.0).startswith("4 to 10 rounds each; ")


@pytest.mark.parametrize(
    ("rounds", "benchmarks", "toml", "expected"),
    [
        (
            5,
            10,
            "",
            (
                "too few rounds to decide: 5 rounds, and it takes at least 12, because fewer "
                "cannot rule out chance for 20 rows at an alpha of 1 %"
            ),
        ),
        (
            1,
            1,
            "gate.alpha = 0.05",
            (
                "too few rounds to decide: 1 round, and it takes at least 7, because fewer cannot "
                "rule out chance for 2 rows at an alpha of 5 %"
            ),
        ),
        (12, 10, "", None),
        (11, 10, "measure.samples = 39", None),  # too few for a tail
        (1, 3, 'gate.metrics = ["alloc_blocks"]', None),
        (
            8,
            1,
            'gate.metrics = ["time", "alloc_blocks"]',
            (
                "too few rounds to decide, except about counts: 8 rounds, and it takes at least "
                "9, because fewer cannot rule out chance for 2 rows at an alpha of 1 %"
            ),
        ),
        (1, 0, "", None),
        (
            4,
            10,
            'gate.rule = "classical"',
            (
                "too few rounds to decide: 4 rounds, and it takes at least 5, because the "
                "textbook rule needs that many launches"
            ),
        ),
        (5, 10, 'gate.rule = "classical"', None),
        (1, 10, 'gate.rule = "classical"\ngate.unit = "sample"', None),
    ],
)
def test_too_few_rounds_for_any_change_are_told(
    rounds: int, benchmarks: int, toml: str, expected: str | None
) -> None:
    found = too_few_rounds(rounds, definitions(benchmarks), loads(toml, "test.toml"))
    assert found == expected


def test_programs_and_suites_have_one_row() -> None:
    for tier in (Tier.INTERLEAVED, Tier.SUITE):
        assert too_few_rounds(8, definitions(1, tier), loads("", "test.toml")) is None


def test_a_step_of_a_scenario_has_several_rows() -> None:
    config = loads("", "test.toml")
    steps = [replace(one, load=load_result()) for one in definitions(2, Tier.INTERLEAVED)]

    found = too_few_rounds(10, steps, config)

    assert found == (
        "too few rounds to decide, except about error ratios: 10 rounds, and it takes at least 11,"
        " because fewer cannot rule out chance for 6 rows at an alpha of 1 %"
    )
    assert too_few_rounds(11, steps, config) is None


def test_a_shard_needs_more_rounds() -> None:
    found = too_few_rounds(11, definitions(10), loads("", "test.toml"), shards=8)
    assert found is not None
    assert "at least 15" in found


def test_the_warning_names_the_time_of_counting() -> None:
    shortage = of_fixed_rounds(BudgetForecast(2.0, 2.0, 55.0, 60.0, counting_s=50.0), 10)
    assert shortage is not None
    assert "because a round takes about 2.0 s, and counting 50 s in all" in shortage
