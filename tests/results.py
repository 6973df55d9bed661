"""Results as a job leaves them, without having measured anything."""

from __future__ import annotations

import gzip
import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from tests.contract.scene import zip_of

from benchgate.config import to_keep
from benchgate.config.origin import Origin
from benchgate.model.codec import encode_result
from benchgate.model.environment import Environment
from benchgate.model.launch_table import Launch
from benchgate.model.metrics import TIME, Metric
from benchgate.model.result import Result
from benchgate.model.run import BenchmarkResult, Run, Series, Source, Tier
from benchgate.model.verdict import Decision, GateSettings, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchgate.arrays import FloatArray
    from benchgate.model.policy import ConfigTables
    from benchgate.model.row import Row

STARTED = "2026-01-02T03:04:05Z"
MEMBER = "result.json.gz"


def kept(name: str, text: str) -> ConfigTables:
    """What is kept of a configuration, valid or not."""
    prefix = ("tool", "benchgate") if name.endswith("pyproject.toml") else ()
    tables = tomllib.loads(text)
    for key in prefix:
        tables = tables.get(key, {})
    return to_keep(Origin(name=name, prefix=prefix, tables=tables, text=text), str)


def series_of(
    values: Iterable[float | Sequence[float] | FloatArray],
    *,
    metric: Metric = TIME,
    rounds: Iterable[int] | None = None,
    samples: int = 1,
    warmup: Sequence[float] = (),
    loops: int = 1,
    counter: str = "",
) -> Series:
    """Each value is one launch, or the samples of one; rounds count from 0 unless given."""
    each = list(values)
    launches = tuple(
        Launch(
            round=number,
            order=0,
            samples=np.array([x] * samples if isinstance(x, (int, float)) else x, np.float64),
            warmup=np.array(warmup, np.float64),
        )
        for number, x in zip(range(len(each)) if rounds is None else rounds, each, strict=True)
    )
    return Series(metric, loops, launches, counter)


def of_series(id_: str, *given: Series, **more: Any) -> BenchmarkResult:  # noqa: ANN401 - any field
    """A benchmark of these series."""
    return BenchmarkResult(id_, "w", Tier.LOCKSTEP, given, **more)


def of_benchmarks(*benchmarks: BenchmarkResult, **more: Any) -> Run:  # noqa: ANN401 - any field of a run
    """A run of these benchmarks, of an unknown commit and machine unless they are given."""
    return arm({}, **{"benchmarks": benchmarks, **more})


def verdict_of(*rows: Row, **more: Any) -> Verdict:  # noqa: ANN401 - any field of a verdict
    """A verdict of these rows; it fails unless something else is given."""
    plain = Verdict(Decision.FAIL, 3, "", Source(), Source(), GateSettings(), rows)
    return replace(plain, **more)


def bench(id_: str, value_s: float, *, rounds: int = 12, **more: Any) -> BenchmarkResult:  # noqa: ANN401 - any field
    """One that takes about this long in every launch; no two of its launches are equal."""
    values = [[value_s * (1 + (k * 0.618 % 1 - 0.5) * 1e-6)] * 3 for k in range(rounds)]
    return of_series(id_, *([series_of(values)] if rounds else []), **more)


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
