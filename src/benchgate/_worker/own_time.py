"""Clocks that stand still while the calling thread waits for a CPU."""

from __future__ import annotations

import os

from .clocks import perf_counter_ns, process_time_ns
from .standard import STANDARD_LIBRARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Clock = Callable[[], int]


class OwnTime:
    """Clocks that stand still while the calling thread waits for a CPU.

    Attributes:
        is_known: whether the OS tells how long that is; if not, `wall_ns` counts it.
    """

    def __init__(self) -> None:
        with STANDARD_LIBRARY:
            import resource  # noqa: PLC0415 - seldom needed

        # Bound here, so that the user's code can replace them.
        self.open, self.read, self.close = os.open, os.read, os.close
        self.usage, self.children = resource.getrusage, resource.RUSAGE_CHILDREN
        self.is_known = True
        try:
            self.waited_ns()
        except (OSError, ValueError):
            self.is_known = False

    def waited_ns(self) -> int:
        """How long the thread could have run, but the CPU was busy with something else."""
        if not self.is_known:
            return 0
        file = self.open("/proc/thread-self/schedstat", os.O_RDONLY)
        try:
            _, waited_ns, _ = map(int, self.read(file, 100).split())
        finally:
            self.close(file)
        return waited_ns

    def wall_ns(self) -> int:
        while True:
            waited_ns = self.waited_ns()
            now_ns: int = perf_counter_ns()
            if waited_ns == self.waited_ns():
                return now_ns - waited_ns

    def cpu_ns(self) -> int:
        """CPU time of all threads, and of the children that have ended."""
        used = self.usage(self.children)
        own_ns: int = process_time_ns()
        return own_ns + round((used.ru_utime + used.ru_stime) * 1e9)
