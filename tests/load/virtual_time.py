"""A clock that jumps to the next moment at which a thread wakes, as soon as all of them sleep."""

from __future__ import annotations

import heapq
import threading
from itertools import count
from typing import TYPE_CHECKING

from benchgate.load.worker import Timing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class VirtualTime:
    """Time for threads that do nothing but sleep."""

    def __init__(self) -> None:
        self.now_ns = 0
        self._lock = threading.Lock()
        self._awake = 1
        self._sleepers: list[tuple[int, int, threading.Event]] = []
        self._order = count()

    @property
    def timing(self) -> Timing:
        return Timing(
            lambda: self.now_ns,
            lambda seconds: self.sleep(round(seconds * 1e9)),
            # It looks again often, as a thread that is woken does.
            lambda seconds: self.sleep(min(round(seconds * 1e9), 100_000_000)),
        )

    def sleep(self, duration_ns: int) -> None:
        self.sleep_until(self.now_ns + duration_ns)

    def sleep_until(self, wake_ns: int) -> None:
        if wake_ns <= self.now_ns:
            return
        woken = threading.Event()
        with self._lock:
            heapq.heappush(self._sleepers, (wake_ns, next(self._order), woken))
            self._awake -= 1
            self._jump()
        woken.wait()

    def run(self, works: Sequence[Callable[[], None]]) -> None:
        """Run each work in a thread of its own."""
        self._awake = len(works)
        threads = [threading.Thread(target=self._run, args=(work,)) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._awake = 1

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        finally:
            with self._lock:
                self._awake -= 1
                self._jump()

    def _jump(self) -> None:
        if self._awake or not self._sleepers:
            return
        self.now_ns = self._sleepers[0][0]
        while self._sleepers and self._sleepers[0][0] == self.now_ns:
            self._awake += 1
            heapq.heappop(self._sleepers)[2].set()
