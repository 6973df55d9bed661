"""Takes samples of both arms, in turn or together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from benchgate.measure.functions.sample_plan import (
    WARMUP_WINDOW,
)
from benchgate.stats.trend import settled_index

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence


_MOST_WARMUP = 60

Samples: TypeAlias = "list[tuple[int, int]]"
"""The wall and CPU time of the samples of one arm, in order, each for all loops, in ns."""


class Player(Protocol):
    """A live worker with a benchmark open."""

    def begin_sample(self) -> None: ...

    def end_sample(self) -> tuple[int, int]:
        """Wait for the sample; return (wall_ns, cpu_ns)."""
        ...


def take_samples(
    players: Sequence[Player], count: int, rng: random.Random, *, together: bool = False
) -> list[Samples]:
    """Take `count` samples of every player, in a fresh random order for each.

    Args:
        together: let all begin a sample before any has ended it; otherwise they take turns.
    """
    samples: list[Samples] = [[] for _ in players]
    order = list(range(len(players)))
    for _ in range(count):
        rng.shuffle(order)
        for group in [order] if together else [[index] for index in order]:
            for index in group:
                players[index].begin_sample()
            for index in group:
                samples[index].append(players[index].end_sample())
    return samples


def warm_up_until_settled(
    players: Sequence[Player], rng: random.Random
) -> tuple[list[Samples], bool]:
    """Take samples until those of every player have settled, or a limit is reached.

    Returns:
        The discarded samples, equally many for each player, and whether all have settled.
    """
    samples = take_samples(players, WARMUP_WINDOW, rng)
    while True:
        walls_ns = [np.array(each, np.float64)[:, 0] for each in samples]
        if all(settled_index(each, window=WARMUP_WINDOW) is not None for each in walls_ns):
            return samples, True
        if len(samples[0]) >= _MOST_WARMUP:
            return samples, False
        for each, more in zip(samples, take_samples(players, 1, rng), strict=True):
            each.extend(more)
