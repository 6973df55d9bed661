from __future__ import annotations

from pathlib import Path

import pytest

from benchgate.measure.machine.cpu_use import CpuTicks

STAT = "cpu  10 2 3 80 1 0 0 4 9 0\ncpu0 1 1 1 1 1 1 1 1\nintr 7\n"


def test_the_first_line_is_that_of_all_cpus(tmp_path: Path) -> None:
    path = tmp_path / "stat"
    path.write_text(STAT)
    ticks = CpuTicks.read(path)
    assert ticks == CpuTicks(stolen=4, total=100)  # guest time is a part of user time
    assert CpuTicks(stolen=29, total=200).share_since(ticks) == 0.25


def test_no_time_has_no_shares() -> None:
    assert CpuTicks(4, 100).share_since(CpuTicks(4, 100)) is None


@pytest.mark.parametrize(
    "text", ["", "cpu 1 2 3\n", "cpu 1 2 3 4 5 6 7\n", "intr 1 2 3 4 5 6 7 8\n"]
)
def test_another_system_does_not_tell(tmp_path: Path, text: str) -> None:
    path = tmp_path / "stat"
    assert CpuTicks.read(path) is None
    path.write_text(text)
    assert CpuTicks.read(path) is None


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="no /proc/stat here")
def test_this_machine_tells() -> None:
    before, after = CpuTicks.read(), CpuTicks.read()
    assert before
    assert after
    share = after.share_since(before)
    assert share is None or 0 <= share <= 1
