"""How right the time left is, in checks of many kinds that the gate itself judges."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import pytest
from tests.world import BOTH, FakeEngine, World

from benchgate.config import loads
from benchgate.gate.judging import judge_runs
from benchgate.gate.waves import WaveSettings
from benchgate.model.run import Source
from benchgate.session.result_file import ResultFile
from benchgate.session.rounds import RoundLoop, ScreenAndConfirm
from benchgate.session.session import Session

CALM, NOISY = 0.003, 0.02
CONFIG = loads("", "benchgate.toml")


def estimates(
    benchmarks: int,
    slower: int = 0,
    spread: float = CALM,
    *,
    budget_s: float = math.inf,
    change: float = 1.3,
    costs_s: tuple[float, ...] = (1.0,),
    beside_s: float = 0.0,
    has_tail: bool = False,
    seed: int = 7,
) -> list[Reading]:
    """Check some benchmarks; return what was left, and what was said of it, after each round."""
    world = World()
    fakes = {
        f"b{i}": replace(
            world.fake(head_s=1e-3 * (change if i < slower else 1), spread=spread),
            cost_s=costs_s[i % len(costs_s)],
            has_tail=has_tail,
        )
        for i in range(benchmarks)
    }
    session = Session([FakeEngine(fakes, BOTH, world.clock)], BOTH, seed, world.clock)
    session.discover()
    waves = WaveSettings.of(CONFIG)
    result = ResultFile(
        session=session,
        sources=dict.fromkeys(BOTH, Source()),
        effects=world.effects,
        began_s=world.clock(),
        started=world.effects.now(),
        screen_rounds=waves.screen_rounds,
        output=None,
        warnings=(),
    )

    def save() -> None:
        world.clock.now_s += beside_s

    RoundLoop(
        session,
        ScreenAndConfirm(
            session, waves, lambda: judge_runs(result.result(), CONFIG).needs, frozenset()
        ),
        budget_s=budget_s,
        clock=world.clock,
        phases=world.phases,
        progress=world.progress,
        save=save,
    ).measure()
    told = world.progress
    first, *later = zip(told.started, told.started_s, strict=True)
    assert first[0].ends_s is None, "nothing is known yet"
    return [
        Reading(world.clock() - now_s, state.ends_s - now_s, state.may_end_sooner)
        for state, now_s in later
        if state.ends_s is not None
    ]


class Reading(NamedTuple):
    """What was left, and what was said of it."""

    left_s: float
    said_s: float
    at_most: bool

    @property
    def is_right(self) -> bool:
        """Whether it was right within a third, or the limit was one."""
        if self.at_most:
            return self.left_s <= self.said_s * 4 / 3
        return abs(self.said_s - self.left_s) <= self.left_s / 3


def right(found: list[Reading]) -> float:
    """The share of the time in which what was said was right."""
    return sum(one.left_s for one in found if one.is_right) / sum(one.left_s for one in found)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    "found",
    [
        pytest.param({"benchmarks": 1}, id="one"),
        pytest.param({"benchmarks": 1, "slower": 1}, id="one that is slower"),
        pytest.param({"benchmarks": 5}, id="five"),
        pytest.param({"benchmarks": 5, "slower": 1}, id="five, one slower"),
        pytest.param({"benchmarks": 5, "slower": 1, "change": 0.7}, id="five, one faster"),
        pytest.param({"benchmarks": 5, "slower": 5}, id="five, all slower"),
        pytest.param({"benchmarks": 8, "costs_s": (0.2, 1.0, 7.0)}, id="eight, some quick"),
        pytest.param({"benchmarks": 8, "costs_s": (0.1,), "budget_s": 4.0}, id="short budget"),
        pytest.param({"benchmarks": 60}, id="sixty"),
        pytest.param({"benchmarks": 60, "slower": 1}, id="sixty, one slower"),
        pytest.param({"benchmarks": 60, "slower": 10, "change": 1.14}, id="sixty, ten slower"),
        pytest.param({"benchmarks": 60, "budget_s": 300.0}, id="sixty, short budget"),
    ],
)
def test_the_time_left_is_right_within_a_third(found: dict[str, float], seed: int) -> None:
    estimated = estimates(**found, seed=seed)  # type: ignore[arg-type]
    assert right(estimated) == 1.0, estimated
    assert not any(one.at_most for one in estimated), "nothing here is noisy"


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("benchmarks", [1, 5, 60])
def test_of_noisy_benchmarks_a_limit_is_told(benchmarks: int, seed: int) -> None:
    """Nobody can know how many rounds they take."""
    found = estimates(benchmarks, spread=NOISY, seed=seed)
    assert right(found) > 0.8
    assert any(one.at_most for one in found)


@pytest.mark.parametrize("slower", [0, 1, 10])
def test_tails_are_rarely_in_the_way(slower: int) -> None:
    assert right(estimates(60, slower, has_tail=True)) > 0.9


def test_what_a_round_takes_besides_its_benchmarks_is_learned() -> None:
    _, *found = estimates(5, beside_s=2.0)
    assert right(found) == 1.0
