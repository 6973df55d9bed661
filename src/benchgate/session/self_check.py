"""`benchgate doctor --self-check`: the same code on both sides; every difference is noise."""

from __future__ import annotations

from itertools import cycle, islice
from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.rehearsal import judge_as_check, shuffled, slowed, summed_up
from benchgate.gate.sensitivity import Procedure, sensitivities
from benchgate.gate.suite import gather_rows
from benchgate.measure.lockstep import STRETCH
from benchgate.measure.machine import CpuTicks
from benchgate.model.policy import Options
from benchgate.model.statistics import SelfCheck
from benchgate.session.arms import fixed_rounds
from benchgate.session.checking import CheckRequest, check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.config import Config
    from benchgate.gate.evidence import Evidence
    from benchgate.gate.recorded_build import ReplayedBuild
    from benchgate.git.repository import Git
    from benchgate.model.result import Result
    from benchgate.model.statistics import Rehearsal
    from benchgate.session.choice import Choice
    from benchgate.session.effects import Effects

DEFAULT_ROUNDS = 30
LEAST_ROUNDS = 10
_BUILDS = 200
_REHEARSAL_S = 10.0


def self_check(
    choice: Choice, rounds: int, config: Config, git: Git, effects: Effects
) -> SelfCheck:
    """Measure the working tree against itself, and judge which changes a check could detect.

    Args:
        rounds: how many, of everything.

    Raises:
        As `check`.
    """
    before = CpuTicks.read()
    request = CheckRequest(choice, self_check=True)
    verdict, result = check(request, config.with_overrides(Options(rounds=rounds)), git, effects)
    after = CpuTicks.read()
    evidences = _evidences(result, config)
    procedure = Procedure.of(config, len(evidences), fixed_rounds(config))
    return SelfCheck(
        verdict=verdict,
        rows=tuple(sensitivities(evidences, procedure)),
        rehearsal=rehearse(evidences, config, effects),
        launch_time_s=config.measure.launch_time_s,
        executions=config.measure.executions,
        alpha=config.gate.alpha,
        samples=config.measure.samples,
        stretch=STRETCH,
        stolen=after.share_since(before) if after and before else None,
    )


def rehearse(evidences: Sequence[Evidence], config: Config, effects: Effects) -> Rehearsal | None:
    """Judge builds that are simulated from these rounds; takes a few seconds.

    The result is None under the textbook rule, which compares samples: the rows do not keep them.
    It is also None if a build takes more than half of all rounds: builds would be nearly the same.
    """
    testable = [one for one in evidences if one.obstacle is None]
    ids = list(dict.fromkeys(one.pair.id for one in testable))
    fixed = fixed_rounds(config)
    if not ids or config.gate.rule == "classical":
        return None
    if fixed and 2 * fixed > min(one.rounds for one in testable):
        return None
    rng = np.random.default_rng(effects.draw_seed())
    ends_s = effects.clock() + _REHEARSAL_S
    clean: list[ReplayedBuild] = []
    slower: list[tuple[str, ReplayedBuild]] = []
    for benchmark in islice(cycle(ids), _BUILDS):
        clean.append(judge_as_check(shuffled(evidences, rng), config, fixed))
        changed = slowed(shuffled(evidences, rng), benchmark)
        slower.append((benchmark, judge_as_check(changed, config, fixed)))
        if effects.clock() >= ends_s:
            break
    return summed_up(clean, slower)


def _evidences(result: Result, config: Config) -> list[Evidence]:
    if result.base is None:
        return []
    return gather_rows(result.base, result.head, config, paired=True)[1]
