"""Rates with a known truth; `benchmarks/gate_simulation.py` has the large version."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from benchgate.config import loads

BUILDS = 12
CONFIG = loads("", "defaults")


@pytest.fixture(scope="module")
def simulation() -> dict[str, Any]:
    script = Path(__file__).parents[2] / "benchmarks" / "gate_simulation.py"
    return runpy.run_path(str(script))


def builds(simulation: dict[str, Any], machine: int, **truth: Any) -> list[Any]:  # noqa: ANN401 - fields of Truth
    return [
        simulation["simulate"](
            simulation["MACHINES"][machine], simulation["Truth"](**truth), CONFIG, (17, machine, i)
        )
        for i in range(BUILDS)
    ]


def test_clean_builds_pass_with_every_location_unchanged(simulation: dict[str, Any]) -> None:
    clean = builds(simulation, 0)
    assert not any(simulation["regressed"](build) for build in clean)
    locations = [row for build in clean for row in build.rows if row.statistic == "p25"]
    assert sum(row.outcome == "unchanged" for row in locations) >= 0.98 * len(locations)
    assert sum(build.rounds for build in clean) / BUILDS / 10 < 12


@pytest.mark.parametrize("machine", [1, 2, 3])
def test_heavy_tails_drift_and_wide_spreads_raise_no_alarm(
    simulation: dict[str, Any], machine: int
) -> None:
    alarms = sum(bool(simulation["regressed"](build)) for build in builds(simulation, machine))
    assert alarms <= 1  # at alpha itself, two or more occur in 0.6 % of trials


@pytest.mark.parametrize("change", [0.03, 0.05])
def test_a_change_from_one_and_a_half_margins_up_is_found_and_nothing_else(
    simulation: dict[str, Any], change: float
) -> None:
    slower = builds(simulation, 0, location=change, tail=change)
    found = sum(simulation["regressed"](build) == {"b0"} for build in slower)
    assert found >= BUILDS - 1


@pytest.mark.parametrize("machine", [0, 3])
def test_looking_after_every_round_does_not_spoil_unchanged(
    simulation: dict[str, Any], machine: int
) -> None:
    at_margin = builds(simulation, machine, location=0.02, tail=0.05, everywhere=True)
    rows = [row for build in at_margin for row in build.rows if row.ratio is not None]
    wrong = sum(row.outcome == "unchanged" for row in rows)
    assert wrong <= 0.05 * len(rows)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (0, 300, 0.0, 0.012221),
        (300, 300, 0.987779, 1.0),
        (5, 100, 0.016432, 0.112835),
        (1, 20, 0.001265, 0.248733),
    ],
)
def test_bounds_of_a_rate(
    simulation: dict[str, Any], successes: int, trials: int, low: float, high: float
) -> None:
    assert simulation["clopper_pearson"](successes, trials) == pytest.approx((low, high), abs=1e-6)
