"""`benchgate doctor`: equal work on both sides; every difference is noise."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.gate.evidence import log_ratios_by_round, statistic_of
from benchgate.gate.sensitivity import Procedure, sensitivities
from benchgate.gate.suite import gather_rows
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract import EngineSettings, StartingEnvironment
from benchgate.measure.functions import STRETCH, canary_engine
from benchgate.measure.machine import CpuTicks, kept_off
from benchgate.measure.processes import Guardian
from benchgate.model.policy import Options
from benchgate.model.self_check_findings import SelfCheck
from benchgate.session.checking import CheckRequest, check
from benchgate.session.conditions import Conditions
from benchgate.session.measuring import fixed_rounds
from benchgate.session.session import Session
from benchgate.stats.detectable import detectable_ratio
from benchgate.stats.spread import robust_spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.config import Config
    from benchgate.gate.evidence import Evidence
    from benchgate.git.repository import Git
    from benchgate.measure.contract import Engine
    from benchgate.measure.machine import Place
    from benchgate.model.result import Result
    from benchgate.model.run import BenchmarkResult, Series
    from benchgate.session.choice import Choice
    from benchgate.session.effects import Effects


DEFAULT_ROUNDS = 30
LEAST_ROUNDS = 10


def self_check(
    choice: Choice, rounds: int, config: Config, git: Git, effects: Effects
) -> SelfCheck:
    """Measure the working tree against itself, and judge which changes a check could detect.

    Args:
        rounds: how many, of everything.
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
        launch_time_s=config.measure.launch_time_s,
        executions=config.measure.executions,
        alpha=config.gate.alpha,
        samples=config.measure.samples,
        stretch=STRETCH,
        stolen=after.share_since(before) if after and before else None,
    )


def _evidences(result: Result, config: Config) -> list[Evidence]:
    if result.base is None:
        return []
    return gather_rows(result.base, result.head, config, paired=True)[1]


NOISE_ROUNDS: Final = 12


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
    base, head = (_time_of(results[arm][0]) for arm in (ArmName.BASE, ArmName.HEAD))
    ratios = log_ratios_by_round(base.launches, head.launches)
    spread = robust_spread(np.array([[*ratios.values()]]))
    detectable = detectable_ratio(spread, NOISE_ROUNDS, config.gate.alpha)
    values = np.log(statistic_of([launch.samples for launch in head.launches], "p25"))
    launch_spread = float(robust_spread(values[None, :])[0])
    return Noise(float(spread[0]), launch_spread, float(detectable[0]))


def _prepare(
    stack: ExitStack, config: Config, place: Place, effects: Effects
) -> tuple[Guardian, Sequence[Arm], EngineSettings]:
    guardian = stack.enter_context(Guardian.start())
    stack.enter_context(kept_off(place.cpu))
    folder = Path(__file__).parent
    arms = [Arm(name, folder, folder, variables=guardian.variables) for name in ArmName]
    settings = EngineSettings(
        measure=config.measure.model_copy(update={"warmup": 3}),
        cpu=place.cpu,
        unpinned=place.unpinned,
        all_cpus=place.cpus,
        outside=StartingEnvironment(effects.environ),
    )
    return guardian, arms, settings


def _session(engine: Engine, effects: Effects, lane_cpus: Sequence[int | None]) -> Session:
    seed = effects.draw_seed()
    return Session([engine], list(ArmName), seed, effects.clock, Conditions(lane_cpus=lane_cpus))


def _time_of(result: BenchmarkResult) -> Series:
    return next(one for one in result.series if one.metric.name == "time")
