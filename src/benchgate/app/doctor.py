"""`benchgate doctor`: how small a change this machine can detect, and what would help."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchgate.app.engines import choose_place
from benchgate.measure import counters, layout
from benchgate.measure.affinity import kept_off
from benchgate.measure.canary import canary_engine
from benchgate.measure.engine import Arm, ArmName
from benchgate.measure.environment import read_environment
from benchgate.measure.guardian import Guardian
from benchgate.measure.python_workers import PythonSettings
from benchgate.measure.session import Session
from benchgate.stats.power import detectable_ratio
from benchgate.stats.quantiles import nearest_rank
from benchgate.stats.spread import robust_spread
from benchgate.stats.timer import Timer, timer

if TYPE_CHECKING:
    from benchgate.app.effects import Effects
    from benchgate.arrays import FloatArray
    from benchgate.config import Config
    from benchgate.model.environment import Environment
    from benchgate.model.run import BenchmarkResult

TIMER_PAIRS = 10_000
NOISE_ROUNDS = 12
_BUSY_LOAD = 0.5
_TOO_NOISY_SPREAD = 0.03


@dataclass(frozen=True, slots=True)
class Noise:
    """The canary measured on two arms that are the same.

    Attributes:
        pair_spread: robust spread of the log ratios of both arms, round by round.
        launch_spread: of one arm's launches.
        detectable: smallest ratio that a check of 12 rounds would find.
    """

    pair_spread: float
    launch_spread: float
    detectable: float
    rounds: int


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is to be shown."""

    environment: Environment
    timer: Timer
    noise: Noise
    pinning: str
    addresses: str
    counters: str
    advice: tuple[str, ...]


def diagnose(config: Config, effects: Effects) -> Diagnosis:
    """Look at the machine; takes a few seconds."""
    environment = read_environment(effects.environ)
    timer = read_timer()
    place = choose_place(config, None)
    noise = _measure_noise(config, effects)
    pinning = f"on CPU {place.cpu}" if place.cpu is not None else place.unpinned
    drawn = layout.find_obstacle()
    addresses = f"not shared: {drawn}" if drawn else "the same on both sides"
    obstacle = counters.find_obstacle(counters.USER_INSTRUCTIONS)
    counted = f"none: {obstacle}" if obstacle else "instructions"
    advice = tuple(give_advice(environment, timer, noise, pinned=place.cpu is not None))
    return Diagnosis(environment, timer, noise, pinning, addresses, counted, advice)


def read_timer() -> Timer:
    """Measure the clock's cost and resolution from back-to-back readings."""
    clock = time.perf_counter_ns
    steps_ns = [-clock() + clock() for _ in range(TIMER_PAIRS)]
    return timer(np.array(steps_ns, dtype=np.float64))


def give_advice(environment: Environment, timer: Timer, noise: Noise, *, pinned: bool) -> list[str]:
    """Say what would make measurements on this machine better; a sentence each."""
    advice = []
    load, cpus = environment.load_average, environment.cpu_count
    if load is not None and load > _BUSY_LOAD * cpus:
        advice.append(f"the load is {load:.1f} on {cpus} CPUs: close other programs, or wait")
    if environment.governor not in {None, "performance"}:
        advice.append(
            f"the CPU governor is {environment.governor!r}: `performance` keeps the clock steady "
            "(sudo cpupower frequency-set -g performance)"
        )
    if environment.turbo:
        advice.append("turbo is on: turn it off, and heat and other cores change the clock less")
    if not pinned:
        advice.append(
            "base and head cannot be pinned to one CPU here, so small changes are harder to "
            "detect; Linux can pin them"
        )
    if timer.cost_ns > 1000:
        advice.append(
            f"reading the clock costs {timer.cost_ns:.0f} ns: the kernel's clock source is slow "
            "(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
        )
    if noise.pair_spread > _TOO_NOISY_SPREAD:
        advice.append(
            f"equal work differs by {noise.pair_spread:.1%} from round to round: raise the margin, "
            "or measure on a quieter machine"
        )
    return advice


def _measure_noise(config: Config, effects: Effects) -> Noise:
    folder = Path(__file__).parent
    with ExitStack() as stack:
        guardian = stack.enter_context(Guardian.start())
        place = choose_place(config, None)
        stack.enter_context(kept_off(place.cpu))
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
        engine = canary_engine(arms, settings, guardian, in_trees=False)
        stack.callback(engine.close)
        session = Session([engine], list(ArmName), effects.draw_seed(), effects.clock)
        session.discover()
        for index in range(NOISE_ROUNDS):
            session.measure_round(index, [], effects.progress.measured)
        results = session.results()
    base, head = (_log_values(results[arm][0]) for arm in (ArmName.BASE, ArmName.HEAD))
    spread = robust_spread((head - base)[None, :])
    detectable = detectable_ratio(spread, NOISE_ROUNDS, config.gate.alpha)
    launch_spread = float(robust_spread(head[None, :])[0])
    return Noise(float(spread[0]), launch_spread, float(detectable[0]), NOISE_ROUNDS)


def _log_values(result: BenchmarkResult) -> FloatArray:
    series = next(s for s in result.series if s.metric.name == "time")
    values: FloatArray = np.log([float(nearest_rank(x.samples, 0.25)) for x in series.launches])
    return values
