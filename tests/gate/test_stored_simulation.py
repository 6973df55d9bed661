"""Stored baselines with a known truth; `python -m benchmarks.gate stored` has the large version."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.gate.machines import BENCHMARKS
from benchmarks.gate.stored import Between, Question, ask, screen
from benchmarks.gate.stored_page import stored_blocks

BUILDS = 100


def failed(question: Question, builds: int = BUILDS) -> int:
    return sum(bool(ask(question, (3, i))) for i in range(builds))


@pytest.mark.parametrize("runs", [1, 3, 9])
@pytest.mark.parametrize("effect", [0.0, 0.05, 0.15])
def test_too_few_runs_never_fail_a_build(runs: int, effect: float) -> None:
    assert failed(Question(effect, runs), 20) == 0
    assert failed(Question(effect, runs, (0.5,)), 5) == 0


def test_runs_of_another_machine_never_fail_a_build() -> None:
    assert failed(Question(0.05, 30, other_machine=True), 20) == 0


@pytest.mark.parametrize("runs", [10, 30])
@pytest.mark.parametrize("effect", [0.0, 0.02, 0.05, 0.15])
def test_a_calibrated_baseline_keeps_its_false_alarm_rate(runs: int, effect: float) -> None:
    assert failed(Question(effect, runs)) <= 4  # at alpha itself, five or more occur in 0.3 %


@pytest.mark.parametrize("between", [Between.DRIFT, Between.MERGED_EARLIER, Between.UNEVEN])
def test_what_else_happens_between_runs_raises_few_alarms(between: Between) -> None:
    assert failed(Question(0.02, 10, between=between)) <= 4


@pytest.mark.parametrize(
    ("effect", "change", "least"), [(0.0, 0.1, 0.8), (0.02, 0.2, 0.9), (0.05, 0.5, 0.9)]
)
def test_what_is_well_beyond_the_spread_of_runs_is_found(
    effect: float, change: float, least: float
) -> None:
    found = [ask(Question(effect, 10, (change,)), (4, i)) for i in range(30)]
    assert sum(BENCHMARKS[0] in x for x in found) >= least * 30


def test_a_screen_by_steady_runs_finds_what_changed_for_half_the_launches() -> None:
    steady = Question(0.002, 30, launch_spread=0.005)
    clean = [screen(steady, (5, i)) for i in range(5)]
    assert not any(x.regressed for x in clean)
    assert sum(x.settled for x in clean) > 0.9 * 5 * len(BENCHMARKS)
    assert sum(x.launches for x in clean) < 0.7 * sum(x.without for x in clean)
    slower = [screen(replace(steady, changes=(0.05,)), (5, i)) for i in range(5)]
    assert all(BENCHMARKS[0] in x.regressed for x in slower)


@pytest.mark.parametrize("question", [Question(0.0, 9, launch_spread=0.001), Question(0.02, 30)])
def test_by_few_runs_or_such_that_differ_nothing_is_screened(question: Question) -> None:
    found = [screen(question, (6, i)) for i in range(3)]
    assert [x.settled for x in found] == [0, 0, 0]
    assert all(x.launches == x.without for x in found)


def test_the_blocks_are_tables_and_always_the_same() -> None:
    blocks = stored_blocks(5, seed=1, processes=1, say=lambda _: None)
    assert blocks == stored_blocks(5, seed=1, processes=1, say=lambda _: None)
    tables = [block.splitlines() for block in blocks if block.startswith("|")]
    assert len(tables) == 4
    for lines in tables:
        assert len({line.count("|") for line in lines}) == 1
