"""Whose turn it is, and how many turns there are: pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

if TYPE_CHECKING:
    import random

T = TypeVar("T")


def starting_order(arms: tuple[T, ...], benchmark: str, round_index: int) -> tuple[T, ...]:
    """The order in which the arms begin a round: ABBA over rounds, which cancels a linear drift.

    About half of the benchmarks begin with B, BAAB, so that a round is balanced too.
    """
    swapped = round_index % 4 in (1, 2)
    return arms[::-1] if swapped ^ (crc32(benchmark.encode()) & 1) else arms


def later_orders(first: tuple[T, ...], count: int, rng: random.Random) -> list[tuple[T, ...]]:
    """The orders of the executions that follow the first, in random succession.

    With the first together each arm goes first equally often, or the starting one once more.
    """
    swapped = (count + 1) // 2
    orders = [first[::-1]] * swapped + [first] * (count - swapped)
    rng.shuffle(orders)
    return orders


def executions_within(limit_s: float, one_s: float, most: int) -> int:
    """How many executions of `one_s` seconds fit into `limit_s`: one at least, `most` at most."""
    return most if one_s * most <= limit_s else max(1, int(limit_s / one_s))
