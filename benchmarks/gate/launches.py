"""Recorded launches: what is kept of a result, and how it is stored and read.

A recording is a result of `benchgate check`, reduced to the time of its benchmarks, in whole
nanoseconds. A session keeps every sample. There are hundreds of builds, so a build only keeps p25
and p95 of each launch, which is what the gate judges.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.gate.recordings import RECORDINGS

from benchgate.gate.evidence import series_of
from benchgate.model.run import CANARY_IDS
from benchgate.stats.spread import nearest_rank

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.gate.recordings import Recordings

    from benchgate.arrays import FloatArray
    from benchgate.model.result import Result
    from benchgate.model.run import BenchmarkResult, Run

    Values = Mapping[str, FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """The launches of one check, including the canary's; times in seconds.

    Attributes:
        about: what was measured: scenario, seed, machine, verdict.
        statistics: by benchmark p25 and p95 of each launch, shape (2, rounds, 2), base first.
        samples: by benchmark every sample, shape (2, rounds, samples); empty if they were not
            kept.
    """

    about: Mapping[str, Any]
    statistics: Values
    samples: Values = field(default_factory=dict)


def recording_of(result: Result, about: Mapping[str, Any], *, whole: bool) -> Recording:
    """Reduce a result to what is kept.

    Args:
        whole: keep every sample.
    """
    if result.base is None:
        raise ValueError("the result holds one arm only")
    base, head = _by_id(result.base), _by_id(result.head)
    samples = {id_: _samples(base[id_], head[id_]) for id_ in base if id_ in head}
    return Recording(about, _statistics(samples), samples if whole else {})


def write_recording(place: Recordings, name: str, recording: Recording) -> None:
    """Write a recording."""
    kept = "samples_ns" if recording.samples else "p25_p95_ns"
    values = recording.samples or recording.statistics
    arrays_ns = {id_: np.rint(x * 1e9).astype(np.int64) for id_, x in values.items()}
    place.add(name, {"about": dict(recording.about), "kept": kept}, arrays_ns)


def read_recording(name: str, place: Recordings = RECORDINGS) -> Recording:
    """Read a recording."""
    document = place.document(name)
    values: dict[str, FloatArray] = {
        id_: np.asarray(times_ns * 1e-9, np.float64)
        for id_, times_ns in place.arrays_ns(name).items()
    }
    if document["kept"] == "samples_ns":
        return Recording(document["about"], _statistics(values), values)
    return Recording(document["about"], values)


def without_canary(values: Values) -> dict[str, FloatArray]:
    """Leave out benchgate's own workload."""
    return {id_: x for id_, x in values.items() if id_ not in CANARY_IDS}


def _statistics(samples: Values) -> Values:
    return {
        id_: np.stack([nearest_rank(x, 0.25), nearest_rank(x, 0.95)], axis=-1)
        for id_, x in samples.items()
    }


def _by_id(run: Run) -> dict[str, BenchmarkResult]:
    return {benchmark.id: benchmark for benchmark in run.benchmarks}


def _samples(*arms: BenchmarkResult) -> FloatArray:
    """Stack the samples of both arms; the shortest launch says how many of each are taken."""
    launches = []
    for arm in arms:
        series = series_of(arm, "time")
        if series is None:
            raise ValueError(f"{arm.id} has no time")
        launches.append([launch.samples for launch in series.launches])
    shortest = min(len(samples) for of_arm in launches for samples in of_arm)
    return np.array([[samples[:shortest] for samples in of_arm] for of_arm in launches])
