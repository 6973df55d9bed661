from __future__ import annotations

import random

import pytest

from benchgate.load.cluster import offset_of


def test_the_middle_of_an_exchange_is_when_the_clock_there_was_read() -> None:
    assert offset_of([(1_000, 51_100, 1_200)]) == (50_000, 100)


def test_a_short_round_trip_tells_most() -> None:
    slow, fast = (0, 900, 1_000), (2_000, 2_010, 2_020)
    assert offset_of([slow, fast, slow]) == (0, 10)


def test_exchanges_that_were_slow_in_one_direction_each_tell_as_much_together() -> None:
    there, back = (0, 5_990, 6_000), (10_000, 10_010, 16_000)
    assert offset_of([there, back]) == (0, 10)


def test_a_clock_may_be_behind() -> None:
    assert offset_of([(5_000, 10, 5_020)]) == (-5_000, 10)


@pytest.mark.parametrize("seed", range(20))
def test_the_true_offset_is_within_the_error_however_the_trip_is_split(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - repeatable on purpose
    true_ns = draw.randint(-(10**12), 10**12)
    exchanges = []
    for _ in range(20):
        asked_ns, there_ns, back_ns = (draw.randint(0, 10**6) for _ in range(3))
        exchanges.append((asked_ns, asked_ns + there_ns + true_ns, asked_ns + there_ns + back_ns))
    offset_ns, error_ns = offset_of(exchanges)
    assert abs(offset_ns - true_ns) <= error_ns
