from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchgate.measure.machine.cpu_use import CpuUse
from benchgate.measure.machine.cpus import available_cpus

BURN = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"


@pytest.mark.parametrize(
    ("after", "busy"),
    [
        (CpuUse(at_s=20.0, all_s=115.0, own_s=1.0), 1.5),
        (CpuUse(at_s=20.0, all_s=115.0, own_s=9.0), 0.7),
        (CpuUse(at_s=20.0, all_s=100.0, own_s=2.0), 0.0),  # the clocks are not equally exact
        (CpuUse(at_s=10.0, all_s=100.0, own_s=1.0), None),
    ],
)
def test_what_others_use_is_what_is_not_ones_own(after: CpuUse, busy: float | None) -> None:
    before = CpuUse(at_s=10.0, all_s=100.0, own_s=1.0)
    found = after.elsewhere_since(before)
    assert found == (None if busy is None else pytest.approx(busy))


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc here")
def test_processes_that_one_started_are_ones_own_alive_or_not() -> None:
    uses = [CpuUse.read(available_cpus())]
    child = subprocess.Popen(
        [sys.executable, "-c", BURN], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout
    child.stdout.readline()
    uses.append(CpuUse.read(available_cpus()))
    child.communicate(b"\n")
    uses.append(CpuUse.read(available_cpus()))
    before, alive, ended = [use for use in uses if use]
    assert alive.own_s - before.own_s >= 0.25
    assert ended.own_s - before.own_s >= 0.25


def test_without_cpus_nothing_is_known() -> None:
    assert CpuUse.read(frozenset()) is None
