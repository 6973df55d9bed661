"""What the gate and simple rules say about builds made of recorded launches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from benchmarks.gate.build import TIME, run_build, samples_with
from benchmarks.gate.replay import Replayed, RuledBuild
from benchmarks.gate.replayed_builds import ReplayedBuild, ReplayedRow
from benchmarks.gate.rules import RULES, slower_by
from benchmarks.gate.ways import draw

from benchgate.config import loads
from benchgate.gate.conclusion import VerdictTerms, conclude
from benchgate.gate.suite import Design, judge_suite
from benchgate.model.environment import Environment
from benchgate.model.launch_table import Launch
from benchgate.model.run import BenchmarkResult, Run, Series, Source, Tier
from benchgate.model.verdict import Decision
from benchgate.stats.mann_whitney import mann_whitney
from benchgate.stats.spread import nearest_rank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from concurrent.futures import Executor

    from benchmarks.gate.independent import Samples
    from benchmarks.gate.rules import Rule
    from benchmarks.gate.ways import Way

    from benchgate.arrays import FloatArray
    from benchgate.model.row import Row

T = TypeVar("T")

CONFIG = loads("", "defaults")
_MARGIN = CONFIG.gate.margin
_P = 0.05


@dataclass(frozen=True, slots=True)
class Answer:
    """One build: what was changed, what the gate said, and whether the build fails."""

    replayed: Replayed
    fails: bool


def ask(
    way: Way, percent: int, builds: int, *, seed: int, pool: Executor | None = None
) -> list[Answer]:
    """Let the gate judge a number of builds.

    Args:
        pool: shares the work; the answers do not depend on it.
    """
    return _of_each(partial(_answer, way, percent, seed), builds, pool)


def _of_each(one: Callable[[int], T], builds: int, pool: Executor | None) -> list[T]:
    if pool is None:
        return [one(index) for index in range(builds)]
    return list(pool.map(one, range(builds), chunksize=16))


def _answer(way: Way, percent: int, seed: int, index: int) -> Answer:
    slower, samples = draw(way, percent, seed, index)
    if way.in_waves:
        quantiles = {id_: _quantiles(x) for id_, x in samples.items()}
        build = run_build(samples_with(quantiles), CONFIG)
        return Answer(Replayed(slower, build), bool(build.regressed))
    rows = _judged_at_once(samples, paired=way.paired)
    terms = VerdictTerms(CONFIG.gate.fail_on, len(samples), CONFIG.baseline.advisory_fails)
    decision = conclude(rows, terms).decision
    rounds = [values.shape[1] for values in samples.values()]
    build = ReplayedBuild(tuple(map(_replayed, rows)), sum(rounds), max(rounds))
    return Answer(Replayed(slower, build), decision is Decision.FAIL)


def _quantiles(samples: FloatArray) -> FloatArray:
    return np.stack([nearest_rank(samples, 0.25), nearest_rank(samples, 0.95)], axis=-1)


def _judged_at_once(samples: Samples, *, paired: bool) -> tuple[Row, ...]:
    base, head = (
        _run(_result(id_, values[arm]) for id_, values in samples.items()) for arm in (0, 1)
    )
    return judge_suite(base, head, CONFIG, Design(paired=paired)).rows


def _run(benchmarks: Iterable[BenchmarkResult]) -> Run:
    return Run(Source(), "2026-01-01T00:00:00Z", Environment(), tuple(benchmarks))


def _result(id_: str, samples: FloatArray) -> BenchmarkResult:
    launches = tuple(Launch(index, 0, values, np.empty(0)) for index, values in enumerate(samples))
    return BenchmarkResult(id_, "workload", Tier.INTERLEAVED, (Series(TIME, 1, launches),))


def _replayed(row: Row) -> ReplayedRow:
    return ReplayedRow(row.benchmark, row.metric, row.statistic, row.outcome, row.worse_ratio)


def launch_p25(base: FloatArray, head: FloatArray) -> bool:
    """Test p25 of the launches against a ratio of the margin, by exact one-sided Mann-Whitney."""
    before, after = (1 + _MARGIN) * nearest_rank(base, 0.25), nearest_rank(head, 0.25)
    test = mann_whitney(before[np.newaxis], after[np.newaxis])
    return bool(test.p_greater[0] < _P)


LAUNCH_RULES: Mapping[str, Rule] = {
    **RULES,
    f"Mann-Whitney over launch p25, against a ratio of {1 + _MARGIN:g}": launch_p25,
}


def ask_rules(
    way: Way, percent: int, builds: int, *, seed: int, pool: Executor | None = None
) -> dict[str, list[RuledBuild]]:
    """Ask each simple rule about a number of builds; about a changed benchmark alone, if any."""
    found = _of_each(partial(_called, way, percent, seed), builds, pool)
    return {name: [called[name] for called in found] for name in LAUNCH_RULES}


def _called(way: Way, percent: int, seed: int, index: int) -> dict[str, RuledBuild]:
    slower, samples = draw(way, percent, seed, index)
    asked = {slower: samples[slower]} if slower else samples
    return {name: RuledBuild(slower, slower_by(rule, asked)) for name, rule in LAUNCH_RULES.items()}
