"""Results as a job leaves them, without having measured anything."""

from __future__ import annotations

import gzip
import tomllib
from typing import TYPE_CHECKING, Any

import numpy as np
from tests.contract.scene import zip_of

from benchgate.config import to_keep
from benchgate.config.origin import Origin
from benchgate.model.codec import encode_result
from benchgate.model.environment import Environment
from benchgate.model.launch_table import Launch
from benchgate.model.metrics import Metric
from benchgate.model.result import Result
from benchgate.model.run import BenchmarkResult, Run, Series, Source, Tier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.model.policy import ConfigTables

STARTED = "2026-01-02T03:04:05Z"
MEMBER = "result.json.gz"


def kept(name: str, text: str) -> ConfigTables:
    """What is kept of a configuration, valid or not."""
    prefix = ("tool", "benchgate") if name.endswith("pyproject.toml") else ()
    tables = tomllib.loads(text)
    for key in prefix:
        tables = tables.get(key, {})
    return to_keep(Origin(name=name, prefix=prefix, tables=tables, text=text), str)


def bench(id_: str, value_s: float, *, rounds: int = 12, **more: Any) -> BenchmarkResult:  # noqa: ANN401 - any field
    """One that takes about this long in every launch; no two of its launches are equal."""
    launches = tuple(
        Launch(
            round=index,
            order=0,
            samples=np.full(3, value_s * (1 + (index * 0.618 % 1 - 0.5) * 1e-6)),
            warmup=np.empty(0),
        )
        for index in range(rounds)
    )
    series = (Series(Metric("time", "s"), 1, launches),) if launches else ()
    return BenchmarkResult(id_, "w", Tier.LOCKSTEP, series, **more)


def arm(values_s: Mapping[str, float], *, rounds: int = 12, **more: Any) -> Run:  # noqa: ANN401 - any field
    """A run of these benchmarks."""
    benchmarks = tuple(bench(id_, value, rounds=rounds) for id_, value in values_s.items())
    return Run(
        **{
            "source": Source(),
            "started": STARTED,
            "environment": Environment(),
            "benchmarks": benchmarks,
            **more,
        }
    )


def measured(
    base_s: Mapping[str, float],
    head_s: Mapping[str, float] | None = None,
    **more: Any,  # noqa: ANN401 - any field of the result
) -> Result:
    """A result of both arms, alike where the head's values are not given."""
    return Result(head=arm(base_s if head_s is None else head_s), base=arm(base_s), **more)


def as_file(result: Result) -> bytes:
    """The result file that a job makes of it."""
    return gzip.compress(encode_result(result, str))


def as_archive(result: Result) -> bytes:
    """The artifact with that file."""
    return zip_of({MEMBER: as_file(result)})
