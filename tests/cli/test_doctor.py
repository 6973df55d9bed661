from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchgate.cli.doctor import TIMER_PAIRS, about_valgrind, give_advice, read_timer
from benchgate.model.environment import Environment
from benchgate.session.self_check import Noise
from benchgate.stats.timer import Timer

if TYPE_CHECKING:
    from pathlib import Path

GOOD = Environment(cpu_count=8, governor="performance", turbo=False, load_average=0.3)
QUICK = Timer(cost_ns=40.0, resolution_ns=1.0, pairs=1000)
QUIET = Noise(pair_spread=0.01, launch_spread=0.02, detectable=1.02)


@pytest.mark.parametrize(
    ("environment", "timer", "noise", "pinned", "words"),
    [
        (GOOD, QUICK, QUIET, True, []),
        (replace(GOOD, governor=None, turbo=None, load_average=None), QUICK, QUIET, True, []),
        (replace(GOOD, load_average=4.1), QUICK, QUIET, True, ["the load is 4.1 on 8 CPUs"]),
        (replace(GOOD, load_average=4.0), QUICK, QUIET, True, []),
        (replace(GOOD, load_average=9.0, busy_elsewhere=4.0), QUICK, QUIET, True, []),
        (
            replace(GOOD, load_average=9.0, busy_elsewhere=4.1),
            QUICK,
            QUIET,
            True,
            ["other programs kept 4.1 of 8 CPUs busy while benchgate measured, and the load"],
        ),
        (replace(GOOD, governor="powersave"), QUICK, QUIET, True, ["cpupower frequency-set"]),
        (replace(GOOD, turbo=True), QUICK, QUIET, True, ["turbo is on"]),
        (GOOD, QUICK, QUIET, False, ["cannot be pinned to one CPU"]),
        (GOOD, replace(QUICK, cost_ns=1500.0), QUIET, True, ["reading the clock costs 1500 ns"]),
        (GOOD, QUICK, replace(QUIET, pair_spread=0.05), True, ["differs by 5.0% from round"]),
        (
            replace(GOOD, turbo=True, cpu_count=1, load_average=3.0),
            QUICK,
            replace(QUIET, pair_spread=0.2),
            False,
            ["the load is", "turbo is on", "cannot be pinned", "differs by 20.0%"],
        ),
    ],
)
def test_advice(
    environment: Environment, timer: Timer, noise: Noise, *, pinned: bool, words: list[str]
) -> None:
    advice = give_advice(environment, timer, noise, pinned=pinned)
    assert len(advice) == len(words)
    for sentence, word in zip(advice, words, strict=True):
        assert word in sentence


def test_the_timer_is_read() -> None:
    timer = read_timer()
    assert timer.pairs == TIMER_PAIRS
    assert timer.cost_ns >= 0
    assert timer.resolution_ns is None or timer.resolution_ns >= 1


def test_it_says_whether_valgrind_can_count(tmp_path: Path) -> None:
    environ = {"PATH": f"{tmp_path}:/bin"}
    assert about_valgrind({"PATH": str(tmp_path)}).startswith(
        "cannot count: valgrind is not installed: apt-get install valgrind"
    )
    program = tmp_path / "valgrind"
    program.write_text("#!/bin/sh\necho valgrind-3.99.0\n")
    program.chmod(0o700)
    assert about_valgrind(environ) == (
        "3.99.0 can count instructions; code runs 50 to 100 times slower under it"
    )
