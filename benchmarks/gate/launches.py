"""Recorded launches: what is kept of a result, and how it is stored and read.

A recording is a result of `benchgate check`, reduced to the time of its benchmarks, rounded to
0.05 % of the median. Only sessions are kept like this. Of a build, it is kept what its verdict
said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.gate.recordings import RECORDINGS

from benchgate.gate.evidence import series_of
from benchgate.model.run import CANARY_IDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.gate.recordings import Recordings

    from benchgate.arrays import FloatArray, IntArray
    from benchgate.model.result import Result
    from benchgate.model.run import BenchmarkResult, Run

    Values = Mapping[str, FloatArray]


_STEPS = 2048


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """The launches of one check, including the canary's; times in seconds.

    Attributes:
        about: what was measured: scenario, seed, machine, verdict.
        samples: by benchmark, shape (2, rounds, samples), base first.
    """

    about: Mapping[str, Any]
    samples: Values


def recording_of(result: Result, about: Mapping[str, Any]) -> Recording:
    """Reduce a result to what is kept."""
    if result.base is None:
        raise ValueError("the result holds one arm only")
    base, head = _by_id(result.base), _by_id(result.head)
    return Recording(about, {id_: _samples(base[id_], head[id_]) for id_ in base if id_ in head})


def write_recording(place: Recordings, name: str, recording: Recording) -> None:
    """Write a recording."""
    arrays_ns = {id_: rounded_ns(x * 1e9) for id_, x in recording.samples.items()}
    place.add(name, {"about": dict(recording.about)}, arrays_ns)


def rounded_ns(times_ns: FloatArray) -> IntArray:
    """Round times to a power of two, because the digits of noise do not compress."""
    step_ns = 2 ** int(np.log2(max(1.0, float(np.median(times_ns)) / _STEPS)))
    return np.asarray(np.rint(times_ns / step_ns) * step_ns, np.int64)


def read_recording(name: str, place: Recordings = RECORDINGS) -> Recording:
    """Read a recording."""
    samples: dict[str, FloatArray] = {
        id_: np.asarray(times_ns * 1e-9, np.float64)
        for id_, times_ns in place.arrays_ns(name).items()
    }
    return Recording(place.document(name)["about"], samples)


def without_canary(values: Values) -> dict[str, FloatArray]:
    """Leave out benchgate's own workload."""
    return {id_: x for id_, x in values.items() if id_ not in CANARY_IDS}


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
