from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.world import Clock, World

from benchgate.config import loads
from benchgate.gate.suite import gather_rows
from benchgate.model.environment import Environment
from benchgate.model.launch_table import Launch
from benchgate.model.metrics import Metric
from benchgate.model.run import BenchmarkResult, Run, Series, Source, Tier
from benchgate.session.self_check import rehearse

if TYPE_CHECKING:
    from benchgate.gate.evidence import Evidence

CONFIG = loads('[gate]\nstatistics = ["p25"]\n', "x")


def rows(spread: float, names: str = "ab", rounds: int = 30) -> list[Evidence]:
    rng = np.random.default_rng(6)
    runs = []
    for _ in "bh":
        benchmarks = []
        for name in names:
            launches = tuple(
                Launch(index, 0, np.full(3, value), np.empty(0))
                for index, value in enumerate(rng.lognormal(0, spread, rounds))
            )
            series = Series(Metric("time", "s"), 1, launches)
            benchmarks.append(BenchmarkResult(name, "w", Tier.LOCKSTEP, (series,)))
        runs.append(Run(Source(), "", Environment(), tuple(benchmarks)))
    return gather_rows(runs[0], runs[1], CONFIG, paired=True)[1]


class Passing(Clock):
    """A clock on which a second passes whenever somebody looks."""

    def __call__(self) -> float:
        self.now_s += 1
        return self.now_s


def test_builds_are_judged_until_the_time_is_over() -> None:
    found = rehearse(rows(0.004), CONFIG, World(clock=Passing()).effects)
    assert found
    assert (found.clean, found.alarms, found.slower, found.found) == (10, 0, 10, 10)
    assert found.alarms_at_most == pytest.approx(1 - 0.05 ** (1 / 10))


def test_at_least_one_build_is_judged_and_the_seed_repeats_it() -> None:
    world = World(clock=Passing())
    effects = replace(world.effects, clock=lambda: world.clock() * 100)
    once, again = (rehearse(rows(0.03), CONFIG, effects) for _ in "12")
    assert once == again
    assert once
    assert once.clean == 1


def test_a_fixed_number_of_rounds_is_judged_as_such() -> None:
    config = loads("[measure]\nrounds = 12", "x")
    found = rehearse(rows(0.004), config, World(clock=Passing()).effects)
    assert found
    assert found.found == 10
    # Of 23 rounds any two builds of 12 are nearly the same.
    few = rehearse(rows(0.004, rounds=23), config, World(clock=Passing()).effects)
    assert few is None


@pytest.mark.parametrize(
    ("evidences", "toml"), [([], ""), (rows(0.004), '[gate]\nrule = "classical"')]
)
def test_what_cannot_be_rehearsed(evidences: list[Evidence], toml: str) -> None:
    assert rehearse(evidences, loads(toml, "x"), World().effects) is None
