"""Describes this machine for a result: its CPU, memory, OS and settings."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.measure.machine.cpus import available_cpus
from benchgate.measure.machine.os_files import read_os_file
from benchgate.model.environment import Environment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.stats.timer import Timer


_CPU_FOLDER = Path("/sys/devices/system/cpu")
_HYPERVISORS = {"QEMU": "KVM", "Amazon EC2": "Amazon EC2", "Google": "Google Compute Engine"}


def read_environment(
    environ: Mapping[str, str],
    toolchains: Mapping[str, str] | None = None,
    *,
    timer: Timer | None = None,
    cpu_count: int | None = None,
) -> Environment:
    """Describe this machine.

    Args:
        environ: the environment of the process, where CI systems name their image.
        toolchains: versions of the tools that run the benchmarks.
        timer: the clock that times them; None if unknown.
        cpu_count: usable CPUs, including one that this process itself is kept off.
    """
    cpu = _cpu_fields()
    return Environment(
        os=_os_name(),
        kernel=f"{platform.system()} {platform.release()}",
        machine=platform.machine(),
        cpu_model=cpu.get("model name") or _sysctl("machdep.cpu.brand_string"),
        cpu_flags_hash=_short_hash(cpu.get("flags") or cpu.get("Features") or ""),
        cpu_count=cpu_count or len(available_cpus()),
        memory_bytes=_memory_bytes(),
        governor=read_os_file(_CPU_FOLDER / "cpu0/cpufreq/scaling_governor") or None,
        turbo=_turbo(),
        virtualization=_virtualization(cpu),
        runner_image=_runner_image(environ),
        load_average=_load_average(),
        python=platform.python_version(),
        toolchains=dict(toolchains or {}),
        timer_cost_ns=timer.cost_ns if timer else None,
        timer_resolution_ns=timer.resolution_ns if timer else None,
    )


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return f"{platform.system()} {platform.mac_ver()[0] or platform.release()}"


def _cpu_fields() -> dict[str, str]:
    """The fields of the first processor in /proc/cpuinfo; empty elsewhere."""
    first = read_os_file(Path("/proc/cpuinfo")).split("\n\n", maxsplit=1)[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None


def _load_average() -> float | None:
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def _turbo() -> bool | None:
    no_turbo = read_os_file(_CPU_FOLDER / "intel_pstate/no_turbo")
    if no_turbo:
        return no_turbo == "0"
    boost = read_os_file(_CPU_FOLDER / "cpufreq/boost")
    return boost == "1" if boost else None


def _virtualization(cpu: Mapping[str, str]) -> str:
    """Name the container and the hypervisor, if they can be detected."""
    inside = []
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        inside.append("container")
    vendor = read_os_file(Path("/sys/class/dmi/id/sys_vendor"))
    known = next((name for mark, name in _HYPERVISORS.items() if mark in vendor), None)
    if known or "hypervisor" in cpu.get("flags", "").split():
        inside.append(known or "virtual machine")
    return ", ".join(inside)


def _runner_image(environ: Mapping[str, str]) -> str | None:
    image = environ.get("ImageOS")
    return f"{image} {environ.get('ImageVersion', '')}".strip() if image else None


def _short_hash(text: str) -> str:
    if not text:
        return ""
    return hashlib.sha256(" ".join(sorted(text.split())).encode()).hexdigest()[:12]


def _sysctl(name: str) -> str:
    if platform.system() != "Darwin":
        return platform.processor()
    done = subprocess.run(
        ["/usr/sbin/sysctl", "-n", name], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()
