from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING

import pytest

from benchgate.measure.machine import description as environment
from benchgate.measure.machine.cpus import available_cpus
from benchgate.measure.machine.description import read_environment
from benchgate.stats.timer import Timer

if TYPE_CHECKING:
    from pathlib import Path


def test_describes_this_machine() -> None:
    found = read_environment({}, {"python": "cpython 3.9"})
    assert found.os
    assert found.kernel == f"{platform.system()} {platform.release()}"
    assert found.machine == platform.machine()
    assert found.cpu_count == len(available_cpus())
    assert read_environment({}, cpu_count=99).cpu_count == 99
    assert found.memory_bytes is not None
    assert found.memory_bytes > 2**26
    assert found.python == platform.python_version()
    assert found.toolchains == {"python": "cpython 3.9"}
    assert found.runner_image is None
    assert found.load_average is not None
    assert found.timer_cost_ns is None


def test_the_timer_is_recorded_and_not_compared() -> None:
    found = read_environment({}, timer=Timer(cost_ns=45.5, resolution_ns=20.0, pairs=1000))
    assert (found.timer_cost_ns, found.timer_resolution_ns) == (45.5, 20.0)
    assert found.differences(read_environment({})) == ()


def test_the_same_machine_is_comparable_with_itself() -> None:
    assert read_environment({}).differences(read_environment({})) == ()
    other = read_environment({"ImageOS": "ubuntu24"}, {"python": "cpython 3.9"})
    assert read_environment({}).differences(other) == (), "only one of them tells"
    this = read_environment({"ImageOS": "ubuntu22"}, {"python": "cpython 3.8", "go": "1.25"})
    assert this.differences(other) == (
        "runner image: 'ubuntu22' and 'ubuntu24'",
        "python: 'cpython 3.8' and 'cpython 3.9'",
    )


@pytest.mark.parametrize(
    ("environ", "image"),
    [
        ({}, None),
        ({"ImageOS": "ubuntu24"}, "ubuntu24"),
        ({"ImageOS": "ubuntu24", "ImageVersion": "20260101.1"}, "ubuntu24 20260101.1"),
        ({"ImageVersion": "1"}, None),
    ],
)
def test_the_image_of_a_runner(environ: dict[str, str], image: str | None) -> None:
    assert read_environment(environ).runner_image == image


@pytest.mark.parametrize(
    ("files", "governor", "turbo"),
    [
        ({}, None, None),
        ({"cpu0/cpufreq/scaling_governor": "powersave\n"}, "powersave", None),
        ({"intel_pstate/no_turbo": "0\n"}, None, True),
        ({"intel_pstate/no_turbo": "1\n"}, None, False),
        ({"cpufreq/boost": "1\n"}, None, True),
        ({"cpufreq/boost": "0\n"}, None, False),
    ],
)
def test_what_the_kernel_says_of_frequencies(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, str],
    governor: str | None,
    turbo: bool | None,  # noqa: FBT001 - a value of the table
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(environment, "_CPU_FOLDER", tmp_path)
    found = read_environment({})
    assert (found.governor, found.turbo) == (governor, turbo)


def test_a_machine_without_a_load_average(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> tuple[float, float, float]:
        raise OSError

    monkeypatch.setattr(os, "getloadavg", refuse)
    assert read_environment({}).load_average is None
