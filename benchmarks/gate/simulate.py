"""Builds of simulated machines: clean ones, slower ones, and changes equal to the margin."""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.gate.build import run_build, samples_with
from benchmarks.gate.machines import LONGEST, MACHINES, SLOWER, Truth, draw_build
from benchmarks.gate.tally import rate, rounds_each, share, with_bounds

from benchgate.config import loads
from benchgate.gate.waves import WaveSettings
from benchgate.model.policy import Outcome
from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.gate.machines import Machine
    from benchmarks.gate.replayed_builds import ReplayedBuild

    from benchgate.config import Config


def simulate(
    machine: Machine, truth: Truth, config: Config, seed: tuple[int, ...]
) -> ReplayedBuild:
    """Draw and judge one build."""
    rounds = max(LONGEST, WaveSettings.of(config).late_looks[-1])
    drawn = draw_build(machine, truth, np.random.default_rng(seed), rounds)
    return run_build(samples_with(drawn), config)


def report_clean(builds: Sequence[ReplayedBuild]) -> str:
    """Report false alarms, and the outcomes of unchanged rows."""
    shares = []
    for outcome in (Outcome.UNCHANGED, Outcome.INCONCLUSIVE, Outcome.NOT_SETTLED):
        found = [share(builds, statistic, outcome) for statistic in ("p25", "p95")]
        texts = ["-" if one is None else f"{one:.0%}" for one in found]
        shares.append(f"{outcome.value} {' / '.join(texts)}")
    praise = rate(bool(build.having(Outcome.IMPROVED)) for build in builds)
    return (
        f"false alarms {with_bounds(rate(bool(build.regressed) for build in builds))}, "
        f"false praise {with_bounds(praise)}, {rounds_each(builds):.1f} rounds each, "
        f"p25 / p95: {', '.join(shares)}"
    )


def report_slower(builds: Sequence[ReplayedBuild]) -> str:
    """Report how often the slower benchmark, and no other, was found."""
    found = rate(build.regressed == {SLOWER} for build in builds)
    return f"found {with_bounds(found)}, {rounds_each(builds):.1f} rounds each"


def report_at_margin(builds: Sequence[ReplayedBuild]) -> str:
    """Report how often a change of exactly the margin was called unchanged."""
    texts = []
    for statistic in ("p25", "p95"):
        rows = [row for build in builds for row in build.rows if row.statistic == statistic]
        wrong = rate(row.outcome is Outcome.UNCHANGED for row in rows if row.ratio is not None)
        if wrong.trials:
            texts.append(f"{statistic} called unchanged {with_bounds(wrong)}")
    return ", ".join(texts)


def simulate_all(
    builds: int, *, config: str, seed: int, processes: int, say: Callable[[str], None]
) -> None:
    """Simulate every machine, and report the results.

    Args:
        builds: how many clean ones for each machine; there are fewer of the others.
        config: TOML that overrides the defaults.
    """
    settings = loads(config, "--config")
    gate = settings.gate
    questions: list[tuple[str, Truth, int, Callable[[Sequence[ReplayedBuild]], str]]] = [
        ("clean", Truth(), 1, report_clean),
        *(
            (f"+{change:.0%}", Truth(change, change), 5, report_slower)
            for change in (0.02, 0.03, 0.05, 0.10)
        ),
        ("margin", Truth(gate.margin, gate.tail_margin, everywhere=True), 10, report_at_margin),
    ]
    with ProcessPoolExecutor(processes) as pool:
        for machine in MACHINES:
            say(str(machine))
            for number, (name, truth, divisor, report) in enumerate(questions):
                began_s = time.perf_counter()
                one = partial(simulate, machine, truth, settings)
                seeds = [(seed, number, i) for i in range(builds // divisor)]
                found = list(pool.map(one, seeds, chunksize=8))
                took = format_duration(time.perf_counter() - began_s)
                say(f"  {name:6} {report(found)} ({took})")
