"""`benchgate doctor`: equal work on both sides; every difference is noise."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.gate.sensitivity import (
    Procedure,
    judge_as_check,
    sensitivities,
    shuffled,
    slowed,
    summed_up,
)
from benchgate.gate.suite import gather_rows
from benchgate.measure.canary import canary_engine
from benchgate.measure.cpus import kept_off
from benchgate.measure.engine import Arm, ArmName
from benchgate.measure.guardian import Guardian
from benchgate.measure.lanes import free_memory_bytes, largest_cache_bytes
from benchgate.measure.lockstep import STRETCH
from benchgate.measure.machine import CpuTicks
from benchgate.measure.memory_probe import memory_engine
from benchgate.measure.python_workers import PythonSettings
from benchgate.model.policy import Options
from benchgate.model.statistics import SelfCheck
from benchgate.session.check import CheckRequest, check
from benchgate.session.measuring import fixed_rounds
from benchgate.session.session import CLEARLY_WORSE_RATIO, Session
from benchgate.stats.differences import detectable_ratio
from benchgate.stats.spread import nearest_rank, robust_spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray
    from benchgate.config import Config
    from benchgate.gate.evidence import Evidence
    from benchgate.gate.sensitivity import ReplayedBuild
    from benchgate.git.repository import Git
    from benchgate.measure.engine import Engine
    from benchgate.model.result import Result
    from benchgate.model.run import BenchmarkResult
    from benchgate.model.statistics import Rehearsal
    from benchgate.session.choice import Choice
    from benchgate.session.effects import Effects
    from benchgate.session.engines import Place


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


NOISE_ROUNDS: Final = 12
_LANE_ROUNDS = 5
# A cache that is unknown, and what a copy takes at most: then it lasts some hundredths of a second.
_CACHE_BYTES = 32 * 2**20
_MOST_COPIED_BYTES = 256 * 2**20
# Each process has the array that is copied and its copy.
_ARRAYS = 2
_FREE_SHARE = 0.25
# Less than this is hidden by any margin, however much more it is than without lanes.
_LEAST_SPREAD = 0.005


@dataclass(frozen=True, slots=True)
class Noise:
    """A measurement of the canary on two arms that are the same.

    Attributes:
        pair_spread: robust spread of the log ratios of both arms, round by round.
        launch_spread: robust spread of the logs of one arm's launches.
        detectable: smallest ratio that a check of 12 rounds would detect.
    """

    pair_spread: float
    launch_spread: float
    detectable: float


@dataclass(frozen=True, slots=True)
class LaneNoise:
    """What lanes do to each other, if their work waits for memory.

    Attributes:
        slowdown_ratio: time of the work in lanes, by its time while nothing else is measured.
        alone_spread: robust spread of the log ratios of both arms, without lanes.
        lane_spread: the same in lanes.
    """

    slowdown_ratio: float
    alone_spread: float
    lane_spread: float

    @property
    def is_disturbing(self) -> bool:
        """Whether the sides of a benchmark differ clearly more in lanes."""
        allowed = max(CLEARLY_WORSE_RATIO * self.alone_spread, _LEAST_SPREAD)
        return self.lane_spread > allowed


def measure_noise(config: Config, place: Place, effects: Effects) -> Noise:
    """Measure the canary for some rounds."""
    with ExitStack() as stack:
        guardian, arms, settings = _prepare(stack, config, place, effects)
        engine = canary_engine(arms, settings, guardian, in_trees=False)
        stack.callback(engine.close)
        session = _session(engine, effects, place.lane_cpus[:1])
        session.discover()
        for index in range(NOISE_ROUNDS):
            session.measure_round(index, [], effects.progress.measured)
        results = session.results()
    base, head = (_log_values(results[arm][0]) for arm in (ArmName.BASE, ArmName.HEAD))
    spread = robust_spread((head - base)[None, :])
    detectable = detectable_ratio(spread, NOISE_ROUNDS, config.gate.alpha)
    launch_spread = float(robust_spread(head[None, :])[0])
    return Noise(float(spread[0]), launch_spread, float(detectable[0]))


def measure_lanes(config: Config, place: Place, effects: Effects) -> LaneNoise | None:
    """Measure work that waits for memory, in turn without lanes and in all of them.

    Returns:
        None if there is only one lane, or too little memory for arrays that fit into no cache.
    """
    lanes = len(place.lane_cpus)
    copied = copied_bytes(lanes, place.cpu)
    if lanes < 2 or copied is None:
        return None
    with ExitStack() as stack:
        guardian, arms, settings = _prepare(stack, config, place, effects)
        sessions = []
        for cpus in (place.lane_cpus[:1], place.lane_cpus):
            engine = memory_engine(arms, settings, guardian, lanes=lanes, copied=copied)
            session = _session(engine, effects, cpus)
            stack.enter_context(closing(session))
            session.discover()
            sessions.append(session)
        # The first round learns, without lanes: it does not count.
        for index in range(_LANE_ROUNDS + 1):
            for session in sessions:
                session.measure_round(index, session.ids, effects.progress.measured)
        alone, shared = (_in_rounds(session) for session in sessions)
    slowdown = float(np.exp(np.median(shared[1]) - np.median(alone[1])))
    return LaneNoise(slowdown, _pair_spread(alone), _pair_spread(shared))


def copied_bytes(lanes: int, cpu: int | None) -> int | None:
    """How much a call copies: twice the largest cache, if there is memory for all processes."""
    cache = largest_cache_bytes(cpu) or _CACHE_BYTES
    copied = min(2 * cache, _MOST_COPIED_BYTES)
    free = free_memory_bytes()
    needed = copied * _ARRAYS * len(ArmName) * lanes
    return None if copied <= cache or (free and needed > _FREE_SHARE * free) else copied


def _prepare(
    stack: ExitStack, config: Config, place: Place, effects: Effects
) -> tuple[Guardian, Sequence[Arm], PythonSettings]:
    guardian = stack.enter_context(Guardian.start())
    stack.enter_context(kept_off(place.cpu))
    folder = Path(__file__).parent
    arms = [Arm(name, folder, folder, variables=guardian.variables) for name in ArmName]
    settings = PythonSettings(
        measure=config.measure.model_copy(update={"warmup": 3}),
        cpu=place.cpu,
        unpinned=place.unpinned,
        all_cpus=tuple(sorted(place.cpus)),
        interpreter="",
        forbidden=(),
        environ=effects.environ,
    )
    return guardian, arms, settings


def _session(engine: Engine, effects: Effects, lane_cpus: Sequence[int | None]) -> Session:
    seed = effects.draw_seed()
    return Session([engine], list(ArmName), seed, effects.clock, lane_cpus=lane_cpus)


def _in_rounds(session: Session) -> tuple[FloatArray, FloatArray]:
    """The logs of all launches after the first round, in the base and in the head."""
    results = session.results()
    base, head = (
        np.concatenate([_log_values(one)[1:] for one in results[arm]])
        for arm in (ArmName.BASE, ArmName.HEAD)
    )
    return base, head


def _pair_spread(both: tuple[FloatArray, FloatArray]) -> float:
    base, head = both
    return float(robust_spread((head - base)[None, :])[0])


def _log_values(result: BenchmarkResult) -> FloatArray:
    series = next(s for s in result.series if s.metric.name == "time")
    values: FloatArray = np.log([float(nearest_rank(x.samples, 0.25)) for x in series.launches])
    return values
