"""Stored baselines on simulated machines, on which runs of the same code differ.

Each run shifts all launches of a benchmark by an effect of its own. All benchmarks of the run share
half of the variance of these effects. The gate's own code judges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.gate.build import TIME, run_build, samples_with
from benchmarks.gate.machines import BENCHMARKS, MACHINES, Truth, draw_build

from benchgate.config import loads
from benchgate.gate.rows import tested_row
from benchgate.gate.screening import to_measure
from benchgate.gate.single_runs import is_steady, judge_at_once, run_value
from benchgate.gate.suite import Judgment, gather_rows
from benchgate.model.environment import Environment
from benchgate.model.launch_table import Launch
from benchgate.model.policy import Outcome
from benchgate.model.row import Classical
from benchgate.model.run import BenchmarkResult, Run, Series, Source, Tier

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray
    from benchgate.gate.evidence import Evidence

_CONFIG = loads('gate.statistics = ["p25"]', "stored")
_LAUNCHES = 10
_LAUNCH_SPREAD = 0.02
_INTERRUPTED = 0.01
_MERGED = 0.20
_SLOWER_MACHINE = 0.30
_NOT_COMPARED = Classical(None, None, "not tested")


class Between(StrEnum):
    """How runs differ from one to the next, beside the effect of each."""

    CHANCE = "chance alone"
    HEAVY = "odd days (Student's t, 3 degrees of freedom)"
    DRIFT = "a machine that drifts (random walk)"
    MERGED = "20 % more work in every benchmark, merged one run ago"
    MERGED_EARLIER = "the same, merged three runs ago"
    UNEVEN = "30 launches in each earlier run, 8 in the head"


@dataclass(frozen=True, slots=True)
class Question:
    """A question that many builds answer.

    Attributes:
        effect: standard deviation of the shift that all launches of a run share.
        runs: how many earlier runs there are.
        changes: of the first benchmarks of the head; the others did not change.
        other_machine: the earlier runs come from another machine, which was 30 % faster.
        launch_spread: standard deviation of the launches of a run.
    """

    effect: float
    runs: int
    changes: tuple[float, ...] = ()
    other_machine: bool = False
    between: Between = Between.CHANCE
    launch_spread: float = _LAUNCH_SPREAD


@dataclass(frozen=True, slots=True)
class Screened:
    """One build that was screened by stored runs and confirmed in turn, and its cost.

    Attributes:
        settled: how many benchmarks were not measured in turn.
        launches: of both arms and all benchmarks.
        without: the same if everything is measured in turn.
    """

    regressed: frozenset[str]
    settled: int
    launches: int
    without: int


def ask(question: Question, seed: tuple[int, ...]) -> frozenset[str]:
    """Draw and judge one build, and give the benchmarks that fail it."""
    evidences = _draw(question, np.random.default_rng(seed), _LAUNCHES)
    gate = _CONFIG.gate
    findings = judge_at_once(evidences, alpha=gate.alpha, confidence=gate.confidence)
    return frozenset(
        evidence.pair.id
        for evidence, finding in zip(evidences, findings, strict=True)
        if finding.outcome is Outcome.REGRESSED
        and finding.calibration is not None
        and finding.calibration.calibrated
    )


def screen(question: Question, seed: tuple[int, ...]) -> Screened:
    """Screen the head by steady stored runs, and confirm on a lockstep machine."""
    rng = np.random.default_rng(seed)
    gate = _CONFIG.gate
    evidences = [
        e for e in _draw(question, rng, _LAUNCHES) if is_steady(e, confidence=gate.confidence)
    ]
    findings = judge_at_once(evidences, alpha=gate.alpha, confidence=gate.confidence)
    rows = (
        tested_row(e, found, _NOT_COMPARED, gate.confidence)
        for e, found in zip(evidences, findings, strict=True)
    )
    screened = {e.pair.id for e in evidences}
    settled = screened - to_measure(Judgment(tuple(rows), evidence=tuple(evidences)))
    source = samples_with(draw_build(MACHINES[0], Truth(location=sum(question.changes)), rng))
    whole = run_build(source, _CONFIG)
    part = run_build({id_: x for id_, x in source.items() if id_ not in settled}, _CONFIG)
    cost = _LAUNCHES * len(screened) + 2 * part.rounds
    return Screened(frozenset(part.regressed), len(settled), cost, 2 * whole.rounds)


def _draw(question: Question, rng: np.random.Generator, launches: int) -> list[Evidence]:
    """Draw the earlier runs and the head."""
    earlier_launches = _LAUNCHES
    if question.between is Between.UNEVEN:
        earlier_launches, launches = 30, 8
    levels = _levels(question, rng)
    levels[-1, : len(question.changes)] += np.log1p(question.changes)
    if question.other_machine:
        levels[-1] += math.log1p(_SLOWER_MACHINE)
    spread = question.launch_spread
    earlier = np.exp(_with_noise(levels[:-1], earlier_launches, spread, rng))
    head = np.exp(_with_noise(levels[-1], launches, spread, rng))
    _, evidences = gather_rows(_run(earlier[-1]), _run(head), _CONFIG, paired=False)
    if question.other_machine:
        return evidences
    values = run_value(earlier, launches)[::-1]
    return [replace(e, runs=values[:, i]) for i, e in enumerate(evidences)]


def _levels(question: Question, rng: np.random.Generator) -> FloatArray:
    """Draw what each run does to each benchmark, shape (runs + 1, benchmarks), in logs."""
    shape = (question.runs + 1, len(BENCHMARKS))
    common, own = _effects(question, (shape[0], 1), rng), _effects(question, shape, rng)
    levels: FloatArray = question.effect * math.sqrt(0.5) * (common + own)
    if question.between is Between.DRIFT:
        levels = np.cumsum(levels, axis=0)
    ago = {Between.MERGED: 1, Between.MERGED_EARLIER: 3}.get(question.between)
    if ago:
        levels[-ago - 1 :] += math.log1p(_MERGED)
    return levels


def _effects(question: Question, shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    """Draw effects with a standard deviation of 1."""
    if question.between is Between.HEAVY:
        return rng.standard_t(3, shape) / math.sqrt(3)
    return rng.standard_normal(shape)


def _with_noise(
    levels: FloatArray, launches: int, spread: float, rng: np.random.Generator
) -> FloatArray:
    """Draw the launches of runs in logs, shape (..., launches): some are interrupted."""
    shape = (*levels.shape, launches)
    noise = spread * rng.standard_normal(shape)
    hit = rng.random(shape) < _INTERRUPTED
    return levels[..., np.newaxis] + noise + hit * rng.uniform(0.05, 0.3, shape)


def _run(launches: FloatArray) -> Run:
    """Make a run of launches that have one sample each, shape (benchmarks, launches)."""
    benchmarks = (
        BenchmarkResult(id_, "workload", Tier.LOCKSTEP, (Series(TIME, 1, _launches(values)),))
        for id_, values in zip(BENCHMARKS, launches, strict=True)
    )
    return Run(Source(), "2026-01-01T00:00:00Z", Environment(), tuple(benchmarks))


def _launches(values: FloatArray) -> tuple[Launch, ...]:
    samples = values[:, np.newaxis]
    return tuple(Launch(index, 0, sample, np.empty(0)) for index, sample in enumerate(samples))
