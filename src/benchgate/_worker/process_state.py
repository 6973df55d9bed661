"""The state of this process: its memory, its CPUs, its clocks and its children.

As in `opened.py`, functions of the standard library are bound here, so that the user's code can
replace them in their modules.
"""

from __future__ import annotations

import os
import sys
from gc import collect, disable, enable, freeze, get_threshold, isenabled

from .clocks import process_time_ns, thread_time_ns
from .standard import STANDARD_LIBRARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Clock = Callable[[], int]


# One part in so many: what works less beside a benchmark changes its time less than any margin.
LEAST_SHARE = 100
PAGE_BYTES = 4096
GAP_PARTS = 32


def reset_peak_rss() -> bool:
    """Forget the peak of earlier benchmarks in this process, if the OS can."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        return False
    return True


def peak_rss_bytes() -> int:
    """Return the peak resident memory since the last reset."""
    try:
        with open("/proc/self/status") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    with STANDARD_LIBRARY:
        import resource  # noqa: PLC0415 - not needed if /proc exists

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def occupy(blocks: list[int], chunks: list[int], gap_bytes: int) -> list[Any]:
    """Allocate memory, so that later objects lie elsewhere; see benchgate's memory_layout.py.

    Args:
        blocks: numbers of objects of 16, 32, ... bytes.
        chunks: sizes of larger objects, in bytes.
    """
    taken: list[Any] = [[empty_object(16 * i) for _ in range(n)] for i, n in enumerate(blocks, 1)]
    taken += [bytearray(size) for size in chunks]
    # For zeros that nobody reads, the OS assigns addresses but no memory.
    taken += [bytes(size) for size in gap_parts(gap_bytes)]
    return taken


def gap_parts(gap_bytes: int) -> list[int]:
    """Divide a gap into blocks, equally many for every gap; return the bytes that they hold.

    Some kernels align what is at least as large as a huge page. This leaves a hole above it, where
    the next small library would lie, and not move.
    """
    part = gap_bytes // (GAP_PARTS * PAGE_BYTES) * PAGE_BYTES
    sizes = [gap_bytes - part * (GAP_PARTS - 1)] + [part] * (GAP_PARTS - 1)
    # The header of a block takes the rest of its last page.
    return [max(0, size - PAGE_BYTES) for size in sizes]


def empty_object(size: int) -> object:
    """Make an object that takes this many bytes, a multiple of 16."""
    bytes_alone = sys.getsizeof(b"")
    if size > bytes_alone:
        return bytes(size - bytes_alone)
    return object() if size <= object.__sizeof__(object()) else float(size)


def set_heap_aside() -> None:
    """Let later collections of garbage leave out the objects that exist now.

    With pytest there are so many of them that a collection takes longer than most tests.
    """
    collect()
    freeze()


def set_gc(*, enabled: bool) -> None:
    if enabled:
        enable()
    else:
        disable()


def set_cpus(cpus: list[int] | None) -> None:
    if cpus and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cpus)


def surroundings() -> dict[str, Any]:
    """Return the state that a benchmark must leave unchanged for the next one in this process."""
    try:
        folder = os.getcwd()
    except OSError:
        folder = ""
    return {
        "folder": folder,
        "environment": dict(os.environ),
        "output": [describe_stream(1, sys.stdout), describe_stream(2, sys.stderr)],
        "gc": (isenabled(), get_threshold()),
        "threads": len(sys._current_frames()),  # noqa: SLF001 - documented
        "children": has_children(),
    }


def describe_stream(descriptor: int, stream: Any) -> tuple[int, bool, int]:
    """Identify an output stream, including whether it is closed and the file behind it."""
    try:
        inode = os.fstat(descriptor).st_ino
    except OSError:
        inode = 0
    return id(stream), getattr(stream, "closed", True), inode


class CpuTime:
    """The CPU time that this process has used up to a moment, by whom."""

    def __init__(self) -> None:
        self.main_ns = thread_time_ns()
        self.threads_ns = process_time_ns() - self.main_ns
        ended = os.times()
        self.children_ns = int((ended.children_user + ended.children_system) * 1e9)

    def beside_since(self, before: CpuTime) -> list[str]:
        """Name what else has worked for a benchmark since then, if that is more than a trace."""
        used = {
            "threads": self.threads_ns - before.threads_ns,
            "processes": self.children_ns - before.children_ns,
        }
        all_ns = self.main_ns - before.main_ns + sum(used.values())
        found = [name for name, used_ns in used.items() if used_ns * LEAST_SHARE > all_ns]
        if has_children() and "processes" not in found:
            found.append("processes")
        return found


def has_children() -> bool:
    """Tell whether this process has children, if the OS can tell without reaping them."""
    if not hasattr(os, "waitid"):
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def use_of_children() -> tuple[float, ...]:
    """Return what this process's ended children have used; it differs after each of them."""
    with STANDARD_LIBRARY:
        import resource  # noqa: PLC0415 - seldom needed

    return tuple(resource.getrusage(resource.RUSAGE_CHILDREN))


def had_children(before: tuple[float, ...]) -> bool:
    """Tell whether this process has or had children, whose imports it cannot see.

    Args:
        before: the use of those that do not count.
    """
    return has_children() or use_of_children() != before
