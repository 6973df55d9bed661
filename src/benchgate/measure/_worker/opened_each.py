"""One benchmark each of whose calls is prepared by itself: by its setup, or by a collection.

Neither these nor the teardown of a call are timed.
"""

from __future__ import annotations

from functools import partial
from gc import collect

from .clocks import perf_counter_ns, process_time_ns
from .opened import OpenBenchmark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .functions import Benchmark


class OpenEach(OpenBenchmark):
    """Times its calls one by one; see `OpenBenchmark`.

    Attributes:
        beside_ns: how long the setups, collections and teardowns of the last sample took.
    """

    times_each = True

    def __init__(self, benchmark: Benchmark) -> None:
        self.setup_each = getattr(benchmark.function, "setup_each", None)
        self.teardown_each = getattr(benchmark.function, "teardown_each", None)
        self.collects = getattr(benchmark.function, "collect_each", False)
        self.beside_ns = 0
        super().__init__(benchmark)
        self.each = self.args

    def sample(
        self,
        loops: int,
        wall: Callable[[], int] = perf_counter_ns,
        cpu: Callable[[], int] = process_time_ns,
    ) -> tuple[int, int]:
        """Time this many calls, each after its setup; return (wall_ns, cpu_ns) of all calls."""
        start = perf_counter_ns()
        wall_ns = cpu_ns = 0
        for _ in range(loops):
            self.prepare()
            try:
                spent = super().sample(1, wall, cpu)
            finally:
                self.clean()
            wall_ns += spent[0]
            cpu_ns += spent[1]
        self.beside_ns = max(0, perf_counter_ns() - start - wall_ns)
        return wall_ns, cpu_ns

    def prepare(self) -> None:
        """Set up the next call."""
        kwargs = self.benchmark.kwargs
        made = None
        if self.setup_each:
            made = self._finish(self.setup_each(*self.args, **kwargs), "setup_each")
        if self.collects:
            collect()
        self.each = self.args if made is None else (made,)
        self.call = self.benchmark.function
        if self.each or kwargs:
            self.call = partial(self.call, *self.each, **kwargs)

    def clean(self) -> None:
        """Tear down after a call, even if it failed."""
        if self.teardown_each:
            self._finish(self.teardown_each(*self.each, **self.benchmark.kwargs), "teardown_each")

    def find_loops(self, target_ns: int) -> dict[str, int]:
        """Find how many loops make a sample long enough, or take long enough with their setups."""
        sample_ns, loops = self._shortest_ns(1), self.number
        if loops is None:
            loops = max(1, target_ns // max(sample_ns, self.beside_ns))
        if loops > 1:
            sample_ns = self._shortest_ns(loops)
        return {"loops": loops, "sample_ns": sample_ns, "beside_ns": self.beside_ns}

    def _trace(self) -> tuple[int, int]:
        self.prepare()
        try:
            return super()._trace()
        finally:
            self.clean()
