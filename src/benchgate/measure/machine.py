"""Describes this machine, and the Python that runs the functions of each arm."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from benchgate.measure.cpus import available_cpus
from benchgate.model.run import Environment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.measure.engine import Arm, ArmName
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
        governor=_read(_CPU_FOLDER / "cpu0/cpufreq/scaling_governor"),
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
    first = (_read(Path("/proc/cpuinfo")) or "").split("\n\n", maxsplit=1)[0]
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
    no_turbo = _read(_CPU_FOLDER / "intel_pstate/no_turbo")
    if no_turbo is not None:
        return no_turbo == "0"
    boost = _read(_CPU_FOLDER / "cpufreq/boost")
    return None if boost is None else boost == "1"


def _virtualization(cpu: Mapping[str, str]) -> str:
    """Name the container and the hypervisor, if they can be detected."""
    inside = []
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        inside.append("container")
    vendor = _read(Path("/sys/class/dmi/id/sys_vendor")) or ""
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


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


# The first line of /proc/stat: user nice system idle iowait irq softirq steal, see proc(5).
_FIELDS = 8
_STEAL = 7


@dataclass(frozen=True, slots=True)
class CpuTicks:
    """Clock ticks of all CPUs since the start of the machine."""

    stolen: int
    total: int

    @classmethod
    def read(cls, path: Path = Path("/proc/stat")) -> Self | None:
        """Read the ticks; None if the OS does not report them."""
        try:
            text = path.read_text(encoding="ascii")
        except OSError:
            return None
        words = text.partition("\n")[0].split()
        if words[:1] != ["cpu"] or len(words) <= _FIELDS:
            return None
        ticks = [int(word) for word in words[1 : _FIELDS + 1]]
        return cls(ticks[_STEAL], sum(ticks))

    def share_since(self, before: CpuTicks) -> float | None:
        """Return the share of stolen time since an earlier reading; None if no time passed."""
        total = self.total - before.total
        return (self.stolen - before.stolen) / total if total > 0 else None


def describe_runtime(arm: Arm, hello: Mapping[str, Any]) -> str:
    """Describe one arm, in the same words for both arms if they differ only by their folders.

    Args:
        hello: the first reply of the arm's worker.
    """
    name, _, version = hello["python"].partition(" ")
    implementation = "CPython" if name == "cpython" else name
    places: dict[str, list[str]] = {}
    for module, file in hello["own"]:
        places.setdefault(_place(arm, Path(file)), []).append(module)
    code = "".join(f"; {', '.join(modules)} {place}" for place, modules in places.items())
    python = arm.generalize(hello["executable"] or "an unknown place")
    return f"{implementation} {version} ({python}){code}"


def describe_runtimes(runtimes: Mapping[ArmName, str]) -> tuple[str, ...]:
    """Say it once if both arms are alike, and otherwise for each; nothing for a single arm."""
    if len(runtimes) <= 1:
        return ()
    if len(set(runtimes.values())) == 1:
        return (f"functions run in {next(iter(runtimes.values()))}",)
    return tuple(f"functions of the {arm} run in {text}" for arm, text in sorted(runtimes.items()))


def _place(arm: Arm, file: Path) -> str:
    """Where a module was imported from."""
    env = arm.env.resolve()
    if file.is_relative_to(env):
        return "as installed in {env}"
    folder = file.parent.parent if file.name.startswith("__init__.") else file.parent
    root = arm.root.resolve()
    if not folder.is_relative_to(root):
        return f"from {folder}"
    inner = folder.relative_to(root).as_posix()
    return "from the root of its tree" if inner == "." else f"from {inner} of its tree"
