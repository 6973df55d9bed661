"""Measures how noisy this machine is, alone and with several lanes: equal work on both sides."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.measure.affinity import kept_off
from benchgate.measure.canary import canary_engine
from benchgate.measure.engine import Arm, ArmName
from benchgate.measure.guardian import Guardian
from benchgate.measure.memory_probe import memory_engine
from benchgate.measure.python_workers import PythonSettings
from benchgate.measure.room import free_memory_bytes, largest_cache_bytes
from benchgate.session.session import Session
from benchgate.session.sharing import CLEARLY_WORSE_RATIO
from benchgate.stats.differences import detectable_ratio
from benchgate.stats.spread import nearest_rank, robust_spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray
    from benchgate.config import Config
    from benchgate.measure.engine import Engine
    from benchgate.model.run import BenchmarkResult
    from benchgate.session.effects import Effects
    from benchgate.session.engines import Place

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
