"""Benchmarks as the configuration gives them, without a file."""

from __future__ import annotations

from typing import Any

from benchgate.config import CommandBenchmark, Measure, PythonBenchmark


def program(
    name: str,
    words: tuple[str, ...],
    **fields: Any,  # noqa: ANN401 - of any type
) -> CommandBenchmark:
    """A command."""
    return CommandBenchmark.model_construct(name=name, command=words, **fields)


def functions(*paths: str, **fields: Any) -> PythonBenchmark:  # noqa: ANN401 - of any type
    """Python functions in these files or folders."""
    return PythonBenchmark.model_construct(paths=paths, **fields)


def sampling(samples: int, launch_s: float, warmup: int | None = 1) -> Measure:
    """[measure] with so many samples in a launch; None discards until they settle."""
    discarded = "auto" if warmup is None else warmup
    update = {"samples": samples, "launch_time_s": launch_s, "warmup": discarded}
    return Measure().model_copy(update=update)


TAKEN = """
import sys, time
clocks = type(sys)("benchgate_worker.clocks")
clocks.perf_counter_ns, clocks.process_time_ns = time.perf_counter_ns, time.process_time_ns
clocks.thread_time_ns, clocks.are_genuine = time.thread_time_ns, True
sys.modules[clocks.__name__] = clocks
"""
"""Run by Python before the worker, it makes the worker take the clocks that `time` has then."""

OWN_TIME = """
import time
time.now_ns = 0
def read():
    time.now_ns += 50
    return time.now_ns
time.perf_counter_ns = time.process_time_ns = read
"""
"""Before `TAKEN`, it lets time pass only if benchmarks add to `time.now_ns`."""
