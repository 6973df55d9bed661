from __future__ import annotations

from typing import Any

import pytest

from benchgate.load.generator import GeneratorUse

QUIET: dict[str, Any] = {
    "cpu_ratios": (0.3,),
    "workers": 8,
    "cpus": 4,
    "has_processes": False,
    "works_here": False,
    "late_p99_s": None,
    "clock_step_s": 1e-9,
    "p50_s": 0.002,
}


def only(**changes: object) -> str:
    (sentence,) = GeneratorUse(**QUIET | changes).limits()
    return sentence


def test_a_generator_with_time_to_spare_is_no_limit() -> None:
    assert not list(GeneratorUse(**QUIET).limits())
    assert not list(GeneratorUse(**QUIET | {"late_p99_s": 0.0009}).limits())


def test_one_busy_process_says_what_to_do() -> None:
    assert only(cpu_ratios=(0.97,)) == (
        "The load generator used 97 % of a CPU, about all that one Python process can use, so the"
        ' target may be faster than this shows. Use workers = "process", fewer workers, or a lower'
        " rate."
    )


@pytest.mark.parametrize("changes", [{"workers": 1}, {"cpus": 1}])
def test_processes_are_no_advice_where_they_do_not_help(changes: dict[str, int]) -> None:
    sentence = only(cpu_ratios=(1.0,), **changes)
    assert '"process"' not in sentence
    assert "another machine" in sentence


def test_processes_are_a_limit_when_they_use_the_whole_machine() -> None:
    assert not list(
        GeneratorUse(**QUIET | {"has_processes": True, "cpu_ratios": (0.95, 0.95)}).limits()
    )
    assert "used 3.8 of 4 CPUs" in only(has_processes=True, cpu_ratios=(0.95,) * 4)


def test_a_target_in_the_same_process_is_not_blamed_on_the_generator() -> None:
    assert not list(GeneratorUse(**QUIET | {"works_here": True, "cpu_ratios": (1.0,)}).limits())


def test_a_missed_schedule_is_told() -> None:
    sentence = only(late_p99_s=0.0032)
    assert "did not hold its schedule: 1 % of the operations began 3.200 ms or more" in sentence


def test_so_is_a_coarse_clock() -> None:
    sentence = only(clock_step_s=0.0156, p50_s=0.02)
    assert "steps of 15.60 ms, which is too coarse for a median latency of 20.00 ms" in sentence
    assert not list(GeneratorUse(**QUIET | {"clock_step_s": 0.0156, "p50_s": None}).limits())
