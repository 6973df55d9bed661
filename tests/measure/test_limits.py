from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

import pytest

from benchgate.measure.machine.limits import (
    Room,
    free_memory_bytes,
    parse_cpu_list,
    peak_memory_bytes,
)

if TYPE_CHECKING:
    from pathlib import Path


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def topology(*lists: str) -> dict[str, str]:
    folder = "sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
    return {folder.format(cpu): f"{text}\n" for cpu, text in enumerate(lists)}


@pytest.mark.parametrize(
    ("text", "cpus"), [("0\n", {0}), ("0-3,8", {0, 1, 2, 3, 8}), ("1,5", {1, 5})]
)
def test_cpu_list(text: str, cpus: set[int]) -> None:
    assert parse_cpu_list(text) == cpus


def test_siblings_count_once(tmp_path: Path) -> None:
    write(tmp_path, topology("0,2", "1,3", "0,2", "1,3"))
    room = Room.read(range(4), tmp_path)
    assert room.cores == (frozenset({0, 2}), frozenset({1, 3}))
    assert room.lanes == 2
    assert Room.read({0, 2, 3}, tmp_path).lanes == 2
    assert Room.read({0, 2}, tmp_path).lanes == 1


def test_without_topology_each_cpu_is_a_core(tmp_path: Path) -> None:
    assert Room.read({0, 5}, tmp_path).lanes == 2


@pytest.mark.parametrize(
    ("quota", "lanes"),
    [("max 100000", 4), ("200000 100000", 2), ("150000 100000", 1), ("50000 100000", 1)],
)
def test_a_quota_limits_the_lanes(tmp_path: Path, quota: str, lanes: int) -> None:
    write(tmp_path, {"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": f"{quota}\n"})
    room = Room.read(range(4), tmp_path)
    assert room.lanes == lanes
    assert ("quota" in room.limit) == (lanes < 4)
    if lanes == 1:
        assert "CPUs" in room.limit


def test_the_quota_of_an_older_control_group(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "4:cpu,cpuacct:/docker/x\n1:name=systemd:/y\n",
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "300000\n",
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    }
    write(tmp_path, files)
    assert Room.read(range(8), tmp_path).lanes == 3
    write(tmp_path, {"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n"})
    assert Room.read(range(8), tmp_path).quota_cpus == math.inf


def test_lanes_get_cores_of_their_own_first() -> None:
    room = Room((frozenset({0, 2}), frozenset({1, 3})))
    assert room.lane_cpus([2, 0, 3, 1], 2) == (2, 3)
    assert room.lane_cpus([2, 0, 3, 1], 3) == (2, 3, 0)
    assert room.lane_cpus([2, 0, 3, 1], 9) == (2, 3, 0, 1)
    assert room.lane_cpus([2, 0, 3, 1], 1) == (2,)


def test_free_memory_is_that_of_the_tightest_limit(tmp_path: Path) -> None:
    assert free_memory_bytes(tmp_path) is None
    write(tmp_path, {"proc/meminfo": "MemTotal: 9000 kB\nMemAvailable:    4000 kB\n"})
    assert free_memory_bytes(tmp_path) == 4000 * 1024
    files = {
        "proc/self/cgroup": "0::/job\n",
        "sys/fs/cgroup/job/memory.max": "max\n",
        "sys/fs/cgroup/job/memory.current": "1000\n",
        "sys/fs/cgroup/memory.max": "1000000\n",
        "sys/fs/cgroup/memory.current": "400000\n",
    }
    write(tmp_path, files)
    assert free_memory_bytes(tmp_path) == 600_000


def test_of_this_machine() -> None:
    assert Room.read({0}).lanes == 1
    if os.path.exists("/proc/self/status"):  # noqa: PTH110 - one path
        assert (free_memory_bytes() or 0) > 0
        assert peak_memory_bytes(os.getpid()) > 2**20
    assert peak_memory_bytes(2**22 + 1) == 0
