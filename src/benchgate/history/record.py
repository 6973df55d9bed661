"""Makes the record of a run: of each statistic that the gate compares, one value."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.config.resolved import LEAST_TAIL_SAMPLES
from benchgate.describe.launches import launch_values
from benchgate.gate.evidence import SUMMARY
from benchgate.gate.under_load import is_step
from benchgate.model.metrics import Better, Kind
from benchgate.model.notes import machine
from benchgate.model.row import VALUE
from benchgate.model.run import CANARY_ID, Status, Tier
from benchgate.units import TIME_UNITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.model.environment import Environment
    from benchgate.model.run import BenchmarkResult, Run, Series

EXACT: Final = "exact"
_TYPICAL: Final = ("p25", 0.25)
_TAIL: Final = ("p95", 0.95)
_ID_CHARACTERS: Final = 24
_KEY_CHARACTERS: Final = 8


@dataclass(frozen=True, slots=True)
class Measured:
    """One statistic of one metric of one benchmark.

    Attributes:
        value: median over the launches, in the metric's unit.
        low, high: the middle half of the launches.
        display_unit: one of `TIME_UNITS`; "" if its author did not choose any.
    """

    benchmark: str
    workload: str
    metric: str
    unit: str
    better: Better
    statistic: str
    display_unit: str
    value: float
    low: float
    high: float
    launches: int


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What the history keeps of a run.

    Attributes:
        id: the same for the same measurement, wherever its file lies.
        sha, ref, subject, url: "" if they are not known.
        committed: when the commit was made, as `started`; "" if it is not known.
        started: when measuring began, in UTC.
        machine: for people.
        machine_key: runs with the same key can be compared.
        conditions: versions of what else may change the values, by name.
        canary_s: what the canary took; None if it was not measured.
        failed: how many benchmarks failed and are not in `measured`.
    """

    id: str
    suite: str
    sha: str
    ref: str
    started: str
    machine: str
    machine_key: str
    conditions: Mapping[str, str]
    canary_s: float | None
    measured: tuple[Measured, ...]
    subject: str = ""
    committed: str = ""
    url: str = ""
    failed: int = field(default=0, compare=False)


def record_of(run: Run) -> RunRecord:
    """Take from a run what the history keeps of it."""
    users = run.of_project
    measured = tuple(
        found for one in users if one.status is Status.OK for found in _measured_of(one)
    )
    environment = run.environment
    return RunRecord(
        id=_identity(run, measured),
        suite=run.suite,
        sha=run.source.sha or "",
        ref=run.source.ref or "",
        started=run.started,
        machine=_machine_name(environment, is_mixed=run.is_mixed),
        machine_key=_machine_key(environment, is_mixed=run.is_mixed),
        conditions=_conditions(environment),
        canary_s=_canary_s(run),
        measured=measured,
        failed=sum(one.status is Status.FAILED for one in users),
    )


def why_not_kept(run: Run, record: RunRecord) -> str | None:
    """Say why a run is not part of a history; None if it can be."""
    if not run.complete:
        return "it was interrupted"
    if run.source.dirty:
        return "it measured uncommitted changes, so it is of no commit"
    if not record.measured:
        return "no benchmark in it was measured"
    return None


def _measured_of(benchmark: BenchmarkResult) -> Iterator[Measured]:
    unit = benchmark.display_unit or ""
    for series in benchmark.series:
        if not series.launches:
            continue
        samples = [launch.samples for launch in series.launches]
        for statistic, p in _statistics(benchmark, series):
            values = launch_values(samples, p)
            low, value, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
            yield Measured(
                benchmark=benchmark.id,
                workload=_work_of(benchmark, series),
                metric=series.metric.name,
                unit=series.metric.unit,
                better=series.metric.better,
                statistic=statistic,
                display_unit=unit if unit in TIME_UNITS else "",
                value=value,
                low=low,
                high=high,
                launches=len(values),
            )


def _work_of(benchmark: BenchmarkResult, series: Series) -> str:
    """What was measured: values that different counters counted are of different work."""
    counted = f", counted by {series.counter}" if series.counter else ""
    return f"{benchmark.workload}{counted}"


def _statistics(benchmark: BenchmarkResult, series: Series) -> tuple[tuple[str, float], ...]:
    """The statistics that the gate compares, each with its quantile of a launch."""
    if series.metric.kind is Kind.SUMMARY:
        return ((SUMMARY, 0.5),)
    if is_step(benchmark):
        return ((VALUE, 0.5),)
    if series.metric.kind is Kind.EXACT:
        return ((EXACT, 0.5),)
    if benchmark.tier is Tier.SUITE:
        return (("median", 0.5),)
    if min(len(launch.samples) for launch in series.launches) < LEAST_TAIL_SAMPLES[_TAIL[0]]:
        return (_TYPICAL,)
    return _TYPICAL, _TAIL


def _identity(run: Run, measured: tuple[Measured, ...]) -> str:
    """The id of a run.

    A result that is made from the files of another tool starts when these files were written, and a
    copy of a file may be younger. So the values stand for the time.
    """
    is_foreign = all(one.tier is Tier.STORED for one in run.benchmarks)
    values = [(one.benchmark, one.metric, one.value) for one in measured]
    told = [run.suite, run.source.sha, run.seed, values if is_foreign else run.started]
    return _digest(told)[:_ID_CHARACTERS]


def _machine_name(environment: Environment, *, is_mixed: bool) -> str:
    name = machine(environment).removeprefix("on ") or "unknown machine"
    return f"several machines, {name}" if is_mixed else name


def _machine_key(environment: Environment, *, is_mixed: bool) -> str:
    """A hash of what makes runs incomparable.

    The version of the runner's image and the user's tools are not part of it: a history is there to
    show what a new version of them changed.
    """
    image, _ = _image(environment)
    told = [environment.cpu_model, environment.machine, environment.cpu_count, environment.os]
    return _digest([*told, image, is_mixed])[:_KEY_CHARACTERS]


def _conditions(environment: Environment) -> dict[str, str]:
    _, version = _image(environment)
    image = {"runner image": version} if version else {}
    return image | dict(sorted(environment.toolchains.items()))


def _image(environment: Environment) -> tuple[str, str]:
    """The name of the runner's image, and its version."""
    name, _, version = (environment.runner_image or "").partition(" ")
    return name, version


def _canary_s(run: Run) -> float | None:
    canary = next((one for one in run.benchmarks if one.id == CANARY_ID), None)
    if canary is None:
        return None
    found = (one.value for one in _measured_of(canary) if one.statistic == _TYPICAL[0])
    return next(found, None)


def _digest(told: object) -> str:
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()
