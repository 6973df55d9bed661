from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from benchgate.measure.machine.cpu_use import by_idleness, parse_busy_ticks, read_busy_ticks
from benchgate.measure.machine.cpus import (
    available_cpus,
    kept_off,
    moved_to,
    supports_pinning,
    why_unpinned,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("cpu")

STAT = """\
cpu  60 6 30 1500 12 3 9 21 4 2
cpu0 10 1 5 700 6 1 4 10 3 1
cpu1 50 5 25 800 6 2 5 11 1 1
cpu11 1 0 0 900 0 0 0 0
intr 4242 0 0
ctxt 99
"""

several_cpus = pytest.mark.skipif(
    not supports_pinning() or len(available_cpus()) < 2, reason="needs two CPUs and pinning"
)


def test_busy_is_all_but_idle_and_waiting_and_counts_guests_once() -> None:
    assert parse_busy_ticks(STAT) == {
        0: 10 + 1 + 5 + 1 + 4 + 10,
        1: 50 + 5 + 25 + 2 + 5 + 11,
        11: 1,
    }


def test_reading_a_missing_file_knows_no_cpu(tmp_path: Path) -> None:
    assert read_busy_ticks(tmp_path / "stat") == {}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc/stat")
def test_the_real_file_has_every_available_cpu() -> None:
    assert read_busy_ticks().keys() >= available_cpus()


@pytest.mark.parametrize(
    ("before", "after", "allowed", "chosen"),
    [
        ({0: 5, 1: 5}, {0: 6, 1: 9}, {0, 1}, 0),
        ({0: 500, 1: 5}, {0: 501, 1: 9}, {0, 1}, 0),
        ({0: 5, 1: 7, 2: 9}, {0: 6, 1: 8, 2: 10}, {0, 1, 2}, 2),
        ({0: 5, 1: 7, 2: 9}, {0: 6, 1: 8, 2: 10}, {0, 1}, 1),
        ({0: 5, 1: 7}, {0: 5, 1: 99}, {1}, 1),
        ({0: 5}, {0: 99}, {0, 1}, 0),
        ({}, {}, {0, 3}, 3),
    ],
    ids=[
        "idlest",
        "only the difference counts",
        "tie",
        "tie among the allowed",
        "idlest not allowed",
        "unread CPUs last",
        "nothing read",
    ],
)
def test_choice(
    before: dict[int, int], after: dict[int, int], allowed: set[int], chosen: int
) -> None:
    assert by_idleness(before, after, frozenset(allowed))[0] == chosen


def test_support_is_true_or_gives_a_reason() -> None:
    reason = why_unpinned()
    assert supports_pinning() == (reason == "")
    if sys.platform == "darwin":
        assert "darwin" in reason


@several_cpus
def test_every_thread_is_kept_off_and_comes_back() -> None:
    before = available_cpus()
    cpu = max(before)
    seen: list[frozenset[int]] = []
    enter, leave = threading.Event(), threading.Event()

    def other() -> None:
        for event in (enter, leave):
            event.wait()
            seen.append(available_cpus())

    thread = threading.Thread(target=other)
    thread.start()
    with kept_off(cpu):
        assert available_cpus() == before - {cpu}
        enter.set()
        while not seen:
            pass
    leave.set()
    thread.join()
    assert seen == [before - {cpu}, before]
    assert available_cpus() == before


@several_cpus
def test_comes_back_after_an_error() -> None:
    before = available_cpus()
    with pytest.raises(ZeroDivisionError), kept_off(min(before)):
        _ = 1 / 0
    assert available_cpus() == before


@pytest.mark.skipif(not supports_pinning(), reason="needs pinning")
def test_the_only_cpu_is_not_given_up() -> None:
    before = available_cpus()
    only = frozenset({min(before)})
    try:
        os.sched_setaffinity(0, only)
        with kept_off(min(before)):
            assert available_cpus() == only
    finally:
        os.sched_setaffinity(0, before)


@several_cpus
def test_this_thread_alone_moves_and_comes_back() -> None:
    before = available_cpus()
    cpu = max(before)
    with kept_off(cpu):
        with moved_to(cpu):
            assert available_cpus() == {cpu}
        assert available_cpus() == before - {cpu}
    with pytest.raises(ZeroDivisionError), moved_to(cpu):
        _ = 1 / 0
    with moved_to(None):
        assert available_cpus() == before
    assert available_cpus() == before


def test_keeping_off_no_cpu_changes_nothing() -> None:
    before = available_cpus()
    with kept_off(None):
        assert available_cpus() == before
