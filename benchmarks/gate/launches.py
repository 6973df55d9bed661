"""Recorded launches: what is kept of a result, and how it is stored and read.

A recording is a result of `benchgate check`, reduced to the time of its benchmarks, in whole
nanoseconds. A session keeps every sample. There are hundreds of builds, so a build only keeps p25
and p95 of each launch, which is what the gate judges. Recordings are gzip files of JSON.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from benchgate.gate.evidence import series_of
from benchgate.model.run import CANARY_IDS
from benchgate.stats.spread import nearest_rank

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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


def write_recording(path: Path, recording: Recording) -> None:
    """Write a recording; the same one always gives the same bytes."""
    kept = "samples_ns" if recording.samples else "p25_p95_ns"
    values = recording.samples or recording.statistics
    document = {
        "about": dict(recording.about),
        kept: {id_: np.rint(x * 1e9).astype(np.int64).tolist() for id_, x in values.items()},
    }
    text = json.dumps(document, separators=(",", ":")).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_bytes(gzip.compress(text, mtime=0))
    partial.replace(path)


def read_recording(path: Path) -> Recording:
    """Read a recording."""
    document = json.loads(gzip.decompress(path.read_bytes()))
    if "samples_ns" in document:
        samples = _in_seconds(document["samples_ns"])
        return Recording(document["about"], _statistics(samples), samples)
    return Recording(document["about"], _in_seconds(document["p25_p95_ns"]))


def without_canary(values: Values) -> dict[str, FloatArray]:
    """Leave out benchgate's own workload."""
    return {id_: x for id_, x in values.items() if id_ not in CANARY_IDS}


def _statistics(samples: Values) -> Values:
    return {
        id_: np.stack([nearest_rank(x, 0.25), nearest_rank(x, 0.95)], axis=-1)
        for id_, x in samples.items()
    }


def _in_seconds(values_ns: Mapping[str, Any]) -> Values:
    return {id_: np.array(values) * 1e-9 for id_, values in values_ns.items()}


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
