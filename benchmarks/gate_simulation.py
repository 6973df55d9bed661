"""How often the gate is wrong, and how much it finds, on simulated machines whose truth is known.

A build is ten benchmarks, each with a location (p25) and, where a launch has samples enough, a
tail (p95). Rounds are added as the gate's own plan says, and the gate itself judges them: nothing
of it is imitated here. Every rate is printed with its exact (Clopper-Pearson) 95 % bounds.

    python benchmarks/gate_simulation.py [--builds N] [--processes N] [--seed N]
"""

from __future__ import annotations

import argparse
import math
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaincinv

from benchgate.config import loads
from benchgate.config.rules import LEAST_TAIL_SAMPLES
from benchgate.gate.plan import follow_up
from benchgate.gate.suite import judge
from benchgate.gate.waves import WaveSettings
from benchgate.model.environment import Environment
from benchgate.model.result import BenchmarkResult, Launch, Metric, Run, Series, Source, Tier
from benchgate.model.verdict import Outcome
from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchgate.arrays import FloatArray
    from benchgate.config import Config
    from benchgate.model.verdict import Row

BENCHMARKS = 10
SLOWER = "b0"
TIME = Metric("time", "s")
TAIL_RATIO = 2.0
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Machine:
    """How the launches of one benchmark spread.

    Attributes:
        pair_spread: robust standard deviation of log(head / base) of one round.
        tail_spread: the same of p95; None where launches have too few samples for a tail.
        outliers: share of rounds in which one arm is interrupted, and takes 5 to 30 % longer.
        freedom: degrees of freedom of Student's t that the noise follows; None is normal.
        drift: standard deviation of the step from launch to launch of a random walk that
            both arms follow; the arms of a round take turns, so half a step lies between them.
    """

    name: str
    pair_spread: float = 0.011
    tail_spread: float | None = 0.05
    outliers: float = 0.02
    freedom: float | None = None
    drift: float = 0.0


MACHINES = (
    Machine("lockstep"),
    Machine("heavy tails", freedom=2.5),
    Machine("drifting", drift=0.01),
    Machine("commands", pair_spread=0.035, tail_spread=None),
    Machine("noisy Python", pair_spread=0.035),
)


@dataclass(frozen=True, slots=True)
class Truth:
    """What was done to the benchmark that may differ, as fractions.

    Attributes:
        everywhere: it was done to all of them.
    """

    location: float = 0.0
    tail: float = 0.0
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class Build:
    """What the gate said of one build.

    Attributes:
        rounds: launch pairs measured, over all benchmarks.
    """

    rows: Sequence[Row]
    rounds: int


@dataclass(slots=True)
class Simulated:
    """One benchmark: its launches are drawn in advance, and given out round by round."""

    id: str
    base_values: FloatArray
    head_values: FloatArray
    base: list[Launch] = field(default_factory=list)
    head: list[Launch] = field(default_factory=list)

    def measure(self, round_index: int) -> None:
        """Add the pair of launches of a round."""
        for launches, values in ((self.base, self.base_values), (self.head, self.head_values)):
            samples = np.repeat(values[round_index], LEAST_TAIL_SAMPLES // 2)
            launches.append(Launch(round_index, 0, samples[samples > 0], np.empty(0)))

    def result(self, launches: Sequence[Launch]) -> BenchmarkResult:
        """What a result file would hold of one arm."""
        series = Series(TIME, 1, tuple(launches))
        return BenchmarkResult(self.id, "workload", Tier.LOCKSTEP, (series,))


def draw(machine: Machine, truth: Truth, id_: str, rng: np.random.Generator) -> Simulated:
    """Draw all launches that a benchmark could need: (round, location and tail) of each arm."""
    shape = (2, LONGEST, 2)
    noise = rng.standard_normal(shape)
    if machine.freedom is not None:
        noise = rng.standard_t(machine.freedom, shape)
    spreads = np.array([machine.pair_spread, machine.tail_spread or 0.0]) / math.sqrt(2)
    walk = np.cumsum(machine.drift * rng.standard_normal(2 * LONGEST)).reshape(LONGEST, 2)
    first = rng.permuted(np.tile([0, 1], (LONGEST, 1)), axis=1)
    drift = np.take_along_axis(walk, first, axis=1).T[:, :, None]
    logs = noise * spreads + drift
    hit = rng.random((2, LONGEST)) < machine.outliers / 2
    logs += (hit * rng.uniform(0.05, 0.3, hit.shape))[:, :, None]
    values = np.exp(logs) * np.array([1.0, TAIL_RATIO])
    values[1] *= 1 + np.array([truth.location, truth.tail])
    if machine.tail_spread is None:
        values[:, :, 1] = 0.0  # no such samples
    else:
        values[:, :, 1] = np.maximum(values[:, :, 1], values[:, :, 0])
    return Simulated(id_, values[0], values[1])


def simulate(machine: Machine, truth: Truth, config: Config, seed: tuple[int, ...]) -> Build:
    """Measure and judge one build as `check` does, the budget without end."""
    rng = np.random.default_rng(seed)
    waves = WaveSettings(
        config.gate.alpha,
        config.measure.screen_rounds,
        config.measure.confirm_rounds,
        config.measure.max_rounds,
    )
    suite = {
        id_: draw(machine, truth if truth.everywhere or id_ == SLOWER else Truth(), id_, rng)
        for id_ in (f"b{i}" for i in range(BENCHMARKS))
    }
    open_ids: Sequence[str] = tuple(suite)
    round_index = 0
    while True:
        for id_ in open_ids:
            suite[id_].measure(round_index)
        round_index += 1
        if round_index < waves.screen_rounds:
            continue
        base = _run([s.result(s.base) for s in suite.values()])
        head = _run([s.result(s.head) for s in suite.values()])
        judgement = judge(base, head, config, paired=True, waves=waves)
        open_ids = follow_up(judgement.needs, {}, math.inf).ids
        if not open_ids:
            return Build(judgement.rows, sum(len(s.base) for s in suite.values()))


def _run(benchmarks: list[BenchmarkResult]) -> Run:
    return Run(Source(), "2026-01-01T00:00:00Z", Environment(), tuple(benchmarks), screen_rounds=5)


def clopper_pearson(successes: int, trials: int) -> tuple[float, float]:
    """Give the exact two-sided 95 % bounds of a probability (Clopper and Pearson, 1934)."""
    low = float(betaincinv(successes, trials - successes + 1, 0.025)) if successes else 0.0
    if successes == trials:
        return low, 1.0
    return low, float(betaincinv(successes + 1, trials - successes, 0.975))


def rate(successes: int, trials: int) -> str:
    """Write a rate with its bounds, in percent."""
    low, high = clopper_pearson(successes, trials)
    return f"{successes}/{trials} = {successes / trials:.2%} [{low:.2%}, {high:.2%}]"


def regressed(build: Build) -> set[str]:
    """Give the benchmarks that regressed."""
    return {row.benchmark for row in build.rows if row.outcome is Outcome.REGRESSED}


def share(builds: Sequence[Build], statistic: str, outcome: Outcome) -> str:
    """Write how many of the rows of a statistic came out so; "-" where none was tested."""
    outcomes = [
        row.outcome
        for build in builds
        for row in build.rows
        if row.statistic == statistic and not (statistic == "p95" and row.ratio is None)
    ]
    return f"{outcomes.count(outcome) / len(outcomes):.0%}" if outcomes else "-"


def rounds_each(builds: Sequence[Build]) -> str:
    """Write how many rounds a benchmark took on average."""
    return f"{sum(b.rounds for b in builds) / len(builds) / BENCHMARKS:.1f} rounds each"


def report_clean(builds: Sequence[Build]) -> str:
    """False alarms, and what becomes of unchanged rows."""
    improved = sum(any(row.outcome is Outcome.IMPROVED for row in b.rows) for b in builds)
    shares = [
        f"{outcome.value} {share(builds, 'p25', outcome)} / {share(builds, 'p95', outcome)}"
        for outcome in (Outcome.UNCHANGED, Outcome.INCONCLUSIVE)
    ]
    return (
        f"false alarms {rate(sum(bool(regressed(b)) for b in builds), len(builds))}, "
        f"false praise {rate(improved, len(builds))}, {rounds_each(builds)}, "
        f"p25 / p95: {', '.join(shares)}"
    )


def report_slower(builds: Sequence[Build]) -> str:
    """How often the slower benchmark, and no other, was found."""
    found = sum(regressed(b) == {SLOWER} for b in builds)
    return f"found {rate(found, len(builds))}, {rounds_each(builds)}"


def report_at_margin(builds: Sequence[Build]) -> str:
    """How often a change that is exactly the margin was called unchanged."""
    texts = []
    for statistic in ("p25", "p95"):
        rows = [row for b in builds for row in b.rows if row.statistic == statistic]
        tested = [row for row in rows if row.ratio is not None]
        if tested:
            wrong = sum(row.outcome is Outcome.UNCHANGED for row in tested)
            texts.append(f"{statistic} called unchanged {rate(wrong, len(tested))}")
    return ", ".join(texts)


def main() -> None:
    """Simulate every machine and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--builds", type=int, default=1000, help="clean builds per machine")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--config", default="", help="TOML laid over the defaults")
    options = parser.parse_args()
    config = loads(options.config, "--config")
    gate = config.gate
    questions: list[tuple[str, Truth, int, Callable[[Sequence[Build]], str]]] = [
        ("clean", Truth(), 1, report_clean),
        *(
            (f"+{change:.0%}", Truth(change, change), 5, report_slower)
            for change in (0.02, 0.03, 0.05, 0.10)
        ),
        ("margin", Truth(gate.margin, gate.tail_margin, everywhere=True), 10, report_at_margin),
    ]
    with ProcessPoolExecutor(options.processes) as pool:
        for machine in MACHINES:
            print(machine)
            for number, (name, truth, divisor, report) in enumerate(questions):
                began_s = time.perf_counter()
                one = partial(simulate, machine, truth, config)
                seeds = [(options.seed, number, i) for i in range(options.builds // divisor)]
                builds = list(pool.map(one, seeds, chunksize=8))
                took = format_duration(time.perf_counter() - began_s)
                print(f"  {name:6} {report(builds)} ({took})", flush=True)


if __name__ == "__main__":
    main()
