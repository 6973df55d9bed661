"""Describes this machine: its CPUs, which of them are usable and idle, and each arm's Python."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import psutil

from benchgate.model.run import Environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.measure.engine import Arm, ArmName
    from benchgate.stats.timer import Timer


# Of a CPU's line in /proc/stat: user nice system idle iowait irq softirq steal, see proc(5).
# Guest time, which follows, is already part of user time.
_BUSY_FIELDS = (0, 1, 2, 5, 6, 7)


def why_unpinned() -> str:
    """Try to bind processes to CPUs, which changes nothing; say why it fails, "" if it does not."""
    if sys.platform != "linux":
        return f"not pinned: {sys.platform} does not bind processes to CPUs"
    try:
        os.sched_setaffinity(0, os.sched_getaffinity(0))
    except OSError as error:
        return f"not pinned: the OS refused: {error.strerror}"
    return ""


def supports_pinning() -> bool:
    """Whether this OS binds processes to CPUs."""
    return not why_unpinned()


def available_cpus() -> frozenset[int]:
    """The CPUs that this thread may use now; inside `kept_off` one fewer."""
    if sys.platform != "linux":
        return frozenset(range(os.cpu_count() or 1))
    return frozenset(os.sched_getaffinity(0))


def read_busy_ticks(path: Path = Path("/proc/stat")) -> dict[int, int]:
    """Clock ticks since boot during which each CPU was not idle; empty if unknown."""
    try:
        return parse_busy_ticks(path.read_text(encoding="ascii"))
    except FileNotFoundError:
        return {}


def parse_busy_ticks(text: str) -> dict[int, int]:
    """Busy ticks by CPU from the text of /proc/stat."""
    ticks = {}
    for line in text.splitlines():
        name, *values = line.split()
        if name.startswith("cpu") and name[3:].isdigit():
            ticks[int(name[3:])] = sum(int(values[field]) for field in _BUSY_FIELDS)
    return ticks


def by_idleness(
    before: Mapping[int, int], after: Mapping[int, int], allowed: frozenset[int]
) -> list[int]:
    """Sort CPUs by how idle they were between two readings of `read_busy_ticks`, idlest first.

    Of equal ones the highest number comes first, because interrupts use low ones. CPUs without a
    reading come last.

    Args:
        before: busy ticks by CPU.
        after: the same, later.
        allowed: not empty.
    """
    known = allowed & before.keys() & after.keys()
    return sorted(
        allowed, key=lambda cpu: (cpu not in known, after.get(cpu, 0) - before.get(cpu, 0), -cpu)
    )


@contextmanager
def kept_off(cpu: int | None) -> Iterator[None]:
    """Keep every thread of this process off a CPU, as long as there is another one.

    Processes that start meanwhile inherit this, so set their CPUs. None changes nothing.
    """
    if cpu is None or not supports_pinning():
        yield
        return
    before = _affinities()
    try:
        for thread, cpus in before.items():
            _bind(thread, cpus - {cpu})
        yield
    finally:
        for thread, cpus in before.items():
            _bind(thread, cpus)


def can_bind_to(cpu: int | None) -> bool:
    """Whether this thread may run on a CPU now: it may have been taken away. None is any CPU."""
    try:
        with moved_to(cpu):
            return True
    except OSError:
        return False


@contextmanager
def moved_to(cpu: int | None) -> Iterator[None]:
    """Move this thread to a CPU; None leaves it where it is.

    If benchgate runs on the CPU of the workers, handing over a turn wakes no process on another
    CPU. That would take longer, and even longer if the other CPU is busy.
    """
    with bound_to(None if cpu is None else frozenset({cpu})):
        yield


@contextmanager
def bound_to(cpus: frozenset[int] | None) -> Iterator[None]:
    """Let this thread, and the processes that it starts, use only these CPUs; None: no change."""
    if cpus is None or sys.platform != "linux":
        yield
        return
    before = os.sched_getaffinity(0)
    try:
        _bind(0, cpus)
        yield
    finally:
        _bind(0, frozenset(before))


def _affinities() -> dict[int, frozenset[int]]:
    """CPUs of each thread of this process."""
    if sys.platform != "linux":
        return {}
    try:
        threads = [int(task.name) for task in Path("/proc/self/task").iterdir()]
    except OSError:
        threads = [0]  # without /proc, only this one is known
    affinities = {}
    for thread in threads:
        with suppress(ProcessLookupError):
            affinities[thread] = frozenset(os.sched_getaffinity(thread))
    return affinities


def _bind(thread: int, cpus: frozenset[int]) -> None:
    if sys.platform == "linux" and cpus:
        with suppress(ProcessLookupError):
            os.sched_setaffinity(thread, cpus)


def run_time_ns(pid: int) -> int | None:
    """How long the main thread of a process has been on a CPU; None if the OS does not tell."""
    text = _read(Path(f"/proc/{pid}/schedstat"))
    return int(text.split()[0]) if text else None


@dataclass(frozen=True, slots=True)
class CpuUse:
    """The CPU time that was used up to a moment.

    Attributes:
        at_s: the moment, by a clock that never goes backwards.
        all_s: of all programs, on the CPUs that benchmarks may use.
        own_s: of this process and those that it started.
    """

    at_s: float
    all_s: float
    own_s: float

    @classmethod
    def read(cls, cpus: frozenset[int]) -> Self | None:
        """Read the CPU time up to now; None if the OS does not tell."""
        ticks = read_busy_ticks()
        if not cpus or not cpus & ticks.keys():
            return None
        tick_s = 1 / os.sysconf("SC_CLK_TCK")
        all_s = sum(count for cpu, count in ticks.items() if cpu in cpus) * tick_s
        own_s = sum(os.times()[:4])
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):  # it has ended
                used = process.cpu_times()
                own_s += used.user + used.system + used.children_user + used.children_system
        return cls(time.monotonic(), all_s, own_s)

    def elsewhere_since(self, before: CpuUse) -> float | None:
        """How many CPUs other programs kept busy on average; None if no time has passed."""
        passed_s = self.at_s - before.at_s
        others_s = (self.all_s - before.all_s) - (self.own_s - before.own_s)
        return max(0.0, others_s / passed_s) if passed_s > 0 else None


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
    ((name, version),) = hello["versions"].items()
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
