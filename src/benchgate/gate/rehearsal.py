"""Simulates builds: judges rounds in which nothing changed as a check would judge them.

A build takes the rounds in random order. The order is the same for every benchmark, because what
disturbs one often disturbs its neighbors. A change that is found in an unmodified build is a false
alarm.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaincinv

from benchgate.gate.at_once import judge_at_once
from benchgate.gate.recorded_build import build_of, replay
from benchgate.gate.waves import WaveSettings
from benchgate.model.statistics import Rehearsal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import IntArray
    from benchgate.config import Config
    from benchgate.gate.evidence import Evidence
    from benchgate.gate.recorded_build import ReplayedBuild

CHANGE_MARGINS = 1.5
"""A change of so many margins is promised to be found."""
_ERROR = 0.05


def shuffled(evidences: Sequence[Evidence], rng: np.random.Generator) -> list[Evidence]:
    """Put the rounds of all rows into the same random order."""
    order = rng.permutation(max((evidence.rounds for evidence in evidences), default=0))
    return [_taken(evidence, order[order < evidence.rounds]) for evidence in evidences]


def slowed(evidences: Sequence[Evidence], benchmark: str) -> list[Evidence]:
    """Make one benchmark slower by one and a half times its narrowest margin."""
    margins = [evidence.margin for evidence in evidences if evidence.pair.id == benchmark]
    factor = 1 + CHANGE_MARGINS * min(margins)
    return [
        replace(one, head=one.head * factor**one.worse_sign) if one.pair.id == benchmark else one
        for one in evidences
    ]


def judge_as_check(
    evidences: Sequence[Evidence], config: Config, fixed: int | None
) -> ReplayedBuild:
    """Judge existing rounds as `check` would judge them while it measures.

    Args:
        fixed: number of rounds to measure in any case; None to screen and confirm.
    """
    if fixed is None:
        waves = replace(WaveSettings.of(config), until_decided=False)
        return replay(evidences, waves, config.gate.confidence)
    cut = [_taken(one, np.arange(min(fixed, one.rounds))) for one in evidences]
    testable = [one for one in cut if one.obstacle is None]
    gate = config.gate
    findings = judge_at_once(testable, alpha=gate.alpha, confidence=gate.confidence)
    measured = {one.pair.id: fixed for one in cut}
    short = tuple(dict.fromkeys(one.pair.id for one in cut if one.rounds < fixed))
    return build_of(cut, findings, measured, short)


def _taken(evidence: Evidence, rounds: IntArray) -> Evidence:
    return replace(evidence, base=evidence.base[rounds], head=evidence.head[rounds])


def summed_up(
    clean: Sequence[ReplayedBuild], slower: Sequence[tuple[str, ReplayedBuild]]
) -> Rehearsal:
    """Count false alarms and regressions found, with exact bounds (Clopper and Pearson, 1934).

    Args:
        clean: unmodified builds, at least one.
        slower: equally many builds, each with the benchmark that was made slower in it.
    """
    blamed = Counter(id_ for build in clean for id_ in sorted(build.regressed))
    alarms = sum(bool(build.regressed) for build in clean)
    missed = Counter(benchmark for benchmark, build in slower if benchmark not in build.regressed)
    found = len(slower) - missed.total()
    return Rehearsal(
        clean=len(clean),
        alarms=alarms,
        alarms_at_most=_at_most(alarms, len(clean)),
        blamed=tuple(id_ for id_, _ in blamed.most_common()),
        slower=len(slower),
        found=found,
        found_at_least=1 - _at_most(missed.total(), len(slower)),
        missed=tuple(id_ for id_, _ in missed.most_common()),
        cut_short=sum(bool(build.unfinished) for build in (*clean, *(b for _, b in slower))),
    )


def _at_most(hits: int, trials: int) -> float:
    return float(betaincinv(hits + 1, trials - hits, 1 - _ERROR)) if hits < trials else 1.0
