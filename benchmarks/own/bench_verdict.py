"""From a file of twenty benchmarks to the comment about them."""

import numpy as np

from benchgate.config import loads
from benchgate.gate.suite import judge
from benchgate.model.codec import decode_result, encode_result
from benchgate.model.environment import Environment
from benchgate.model.launch_table import Launch
from benchgate.model.metrics import Metric
from benchgate.model.result import Result
from benchgate.model.run import BenchmarkResult, Run, Series, Source, Tier

_RANDOM = np.random.default_rng(1)
_TIME = Metric("time", "s")


def _run() -> Run:
    return Run(
        Source("0" * 40),
        "2026-01-01T00:00:00Z",
        Environment(),
        tuple(_benchmark(f"parse/{number}") for number in range(20)),
    )


def _benchmark(id_: str) -> BenchmarkResult:
    launches = tuple(
        Launch(index, 0, 1e-3 * _RANDOM.lognormal(0, 0.01, 45), np.empty(0)) for index in range(12)
    )
    return BenchmarkResult(id_, "workload", Tier.LOCKSTEP, (Series(_TIME, 1, launches),))


CONFIG = loads("", "defaults")
RESULT = Result(_run(), _run())
FILE = encode_result(RESULT, str)


def bench_decode():
    decode_result(FILE, "result.json")


def bench_encode():
    encode_result(RESULT, str)


def bench_judge():
    judge(RESULT.base, RESULT.head, CONFIG, paired=True, waves=None)
