from __future__ import annotations

import random

import pytest

from benchgate.load.cluster.member import Exchange, Offset, offset_of, over_launch


def test_the_middle_of_an_exchange_is_when_the_clock_there_was_read() -> None:
    assert offset_of([Exchange(1_000, 51_100, 1_200)]) == Offset(50_000, 100)


def test_a_short_round_trip_tells_most() -> None:
    slow, fast = Exchange(0, 900, 1_000), Exchange(2_000, 2_010, 2_020)
    assert offset_of([slow, fast, slow]) == Offset(0, 10)


def test_exchanges_that_were_slow_in_one_direction_each_tell_as_much_together() -> None:
    there, back = Exchange(0, 5_990, 6_000), Exchange(10_000, 10_010, 16_000)
    assert offset_of([there, back]) == Offset(0, 10)


def test_a_clock_may_be_behind() -> None:
    assert offset_of([Exchange(5_000, 10, 5_020)]) == Offset(-5_000, 10)


@pytest.mark.parametrize("seed", range(20))
def test_the_true_offset_is_within_the_error_however_the_trip_is_split(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - repeatable on purpose
    true_ns = draw.randint(-(10**12), 10**12)
    exchanges = []
    for _ in range(20):
        asked_ns, there_ns, back_ns = (draw.randint(0, 10**6) for _ in range(3))
        exchanges.append(
            Exchange(asked_ns, asked_ns + there_ns + true_ns, asked_ns + there_ns + back_ns)
        )
    found = offset_of(exchanges)
    assert abs(found.offset_ns - true_ns) <= found.error_ns


def test_clocks_that_do_not_drift_are_as_certain_as_before() -> None:
    assert over_launch(Offset(100, 50), Offset(110, 20)) == Offset(100, 50)


def test_clocks_that_drift_are_less_certain() -> None:
    assert over_launch(Offset(100, 50), Offset(400, 60)) == Offset(100, 360)
