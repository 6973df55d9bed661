"""Simulated machines, whose truth is known, for numbers of builds that no recording can have."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray

BENCHMARKS = tuple(f"b{i}" for i in range(10))
SLOWER = BENCHMARKS[0]
TAIL_RATIO = 2.0
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Machine:
    """How the launches of one benchmark spread.

    Attributes:
        pair_spread: robust standard deviation of log(head / base) of one round.
        tail_spread: the same for p95; None if launches have too few samples for a tail.
        outliers: share of rounds in which one arm is interrupted, and takes 5 to 30 % longer.
        freedom: degrees of freedom of Student's t that the noise follows; None is normal.
        drift: both arms follow a random walk; standard deviation of its step from launch to
            launch. The arms of a round take turns, so half a step is between them.
        two_speeds: how much slower half of all launches are, drawn for each launch, as a
            fraction. The place of data in memory can have this effect.
        uneven: standard deviation of the log of each benchmark's own spread, over `pair_spread`.
        shared: share of the variance of a round that all benchmarks have in common.
        benchmarks: how many the suite has.
    """

    name: str
    pair_spread: float = 0.011
    tail_spread: float | None = 0.05
    outliers: float = 0.02
    freedom: float | None = None
    drift: float = 0.0
    two_speeds: float = 0.0
    uneven: float = 0.0
    shared: float = 0.0
    benchmarks: int = 10


MACHINES = (
    Machine("lockstep"),
    Machine("heavy tails", freedom=2.5),
    Machine("drifting", drift=0.01),
    Machine("commands", pair_spread=0.035, tail_spread=None),
    Machine("noisy Python", pair_spread=0.035),
)


# For tests on few rounds: noise that may mislead a test that trusts few values.
MACHINES_CUT_SHORT = (
    *MACHINES,
    Machine("two benchmarks", tail_spread=None, benchmarks=2),
    Machine("four, hardly any noise", pair_spread=0.0005, tail_spread=None, benchmarks=4),
    Machine("often disturbed", outliers=0.3),
    Machine("very heavy tails", tail_spread=None, freedom=1.2, benchmarks=4),
    Machine("two speeds", two_speeds=0.1),
    Machine("two speeds, little else", 0.0005, None, two_speeds=0.2, benchmarks=4),
    Machine("uneven spreads", uneven=1.5),
    Machine("shared noise", pair_spread=0.035, shared=0.9),
    Machine("a hundred benchmarks", uneven=0.7, shared=0.3, benchmarks=100),
)


@dataclass(frozen=True, slots=True)
class Truth:
    """How much slower the head of the changed benchmark is, as fractions.

    Attributes:
        everywhere: whether all benchmarks changed.
    """

    location: float = 0.0
    tail: float = 0.0
    everywhere: bool = False


def draw_build(
    machine: Machine, truth: Truth, rng: np.random.Generator, rounds: int = LONGEST
) -> dict[str, FloatArray]:
    """Draw all launches that a build could need."""
    unchanged = Truth()
    ids = tuple(f"b{i}" for i in range(machine.benchmarks))
    common = _noise(machine, rng, rounds) if machine.shared else None
    return {
        id_: _draw(
            machine,
            truth if truth.everywhere or id_ == SLOWER else unchanged,
            rng,
            rounds,
            common,
        )
        for id_ in ids
    }


def _noise(machine: Machine, rng: np.random.Generator, rounds: int) -> FloatArray:
    shape = (2, rounds, 2)
    noise = rng.standard_normal(shape)
    if machine.freedom is not None:
        noise = rng.standard_t(machine.freedom, shape)
    return noise


def _draw(
    machine: Machine,
    truth: Truth,
    rng: np.random.Generator,
    rounds: int,
    common: FloatArray | None,
) -> FloatArray:
    noise = _noise(machine, rng, rounds)
    if common is not None:
        noise = math.sqrt(machine.shared) * common + math.sqrt(1 - machine.shared) * noise
    spreads = np.array([machine.pair_spread, machine.tail_spread or 0.0]) / math.sqrt(2)
    if machine.uneven:
        spreads = spreads * math.exp(machine.uneven * rng.standard_normal())
    walk = np.cumsum(machine.drift * rng.standard_normal(2 * rounds)).reshape(rounds, 2)
    first = rng.permuted(np.tile([0, 1], (rounds, 1)), axis=1)
    drift = np.take_along_axis(walk, first, axis=1).T[:, :, None]
    logs = noise * spreads + drift
    hit = rng.random((2, rounds)) < machine.outliers / 2
    logs += (hit * rng.uniform(0.05, 0.3, hit.shape))[:, :, None]
    if machine.two_speeds:
        is_slow = rng.random((2, rounds)) < 1 / 2
        logs += (is_slow * math.log1p(machine.two_speeds))[:, :, None]
    values: FloatArray = np.exp(logs) * np.array([1.0, TAIL_RATIO])
    values[1] *= 1 + np.array([truth.location, truth.tail])
    if machine.tail_spread is None:
        values[:, :, 1] = 0.0  # no such samples
    else:
        values[:, :, 1] = np.maximum(values[:, :, 1], values[:, :, 0])
    return values
