from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from benchgate.load.group import GivenUpError, epoch_ns, tell_ended
from benchgate.load.schedule import TurnOrder

if TYPE_CHECKING:
    from pathlib import Path

TO_WAKE_NS = 1_000_000


def order(folder: Path, place: int) -> TurnOrder:
    return TurnOrder(place=place, turn_ns=20_000_000, meeting=str(folder))


def never() -> bool:
    return False


@pytest.mark.parametrize("first", [0, 1])
def test_both_begin_at_the_same_time_after_the_later_one_is_ready(
    tmp_path: Path, first: int
) -> None:
    found: dict[int, int] = {}

    def wait(place: int) -> None:
        found[place] = epoch_ns(order(tmp_path, place), TO_WAKE_NS * (1 + place), never)

    thread = threading.Thread(target=wait, args=(first,))
    thread.start()
    time.sleep(0.05)
    assert not found
    ready_ns = time.perf_counter_ns()
    wait(1 - first)
    thread.join()
    assert found[0] == found[1] >= ready_ns + 2 * TO_WAKE_NS


@pytest.mark.parametrize("place", [0, 1])
def test_who_waits_is_told_that_the_other_one_has_ended(tmp_path: Path, place: int) -> None:
    tell_ended(tmp_path)
    with pytest.raises(GivenUpError):
        epoch_ns(order(tmp_path, place), TO_WAKE_NS, never)


@pytest.mark.parametrize("place", [0, 1])
def test_who_waits_can_be_stopped(tmp_path: Path, place: int) -> None:
    with pytest.raises(GivenUpError):
        epoch_ns(order(tmp_path, place), TO_WAKE_NS, lambda: True)


def test_a_launch_that_runs_alone_waits_for_nobody() -> None:
    before_ns = time.perf_counter_ns()
    assert epoch_ns(None, TO_WAKE_NS, never) >= before_ns + TO_WAKE_NS
