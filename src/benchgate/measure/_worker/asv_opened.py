"""One benchmark of asv in this process, from its setup to its teardown."""

from __future__ import annotations

import os
import subprocess
import sys
from copy import copy
from functools import partial
from itertools import repeat
from math import isfinite, isnan
from textwrap import dedent

from .asv_benchmark import measure_of_size, skipping
from .clocks import perf_counter_ns, process_time_ns
from .failures import Fault, Skipped
from .functions import Benchmark
from .opened import OpenBenchmark
from .process_state import peak_rss_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .asv_benchmark import Prepared
    from .asv_cache import Place

# asv reads the statement from the same text, so that a backslash means the same in it.
IN_CHILD = '''
from timeit import timeit
from time import perf_counter as wall, process_time_ns as cpu
seen = []
def timer():
    seen.append(cpu())
    return wall()
took = timeit(stmt="""{stmt}""", setup="""{setup}""", number={number}, timer=timer)
print(int(took * 1e9), seen[-1] - seen[0])
'''


class OpenAsvBenchmark(OpenBenchmark):
    """Runs the setups, and after all the teardowns.

    Args:
        prepared: the benchmark.
        place: its current folder.
    """

    def __init__(self, prepared: Prepared, place: Place) -> None:
        self.prepared = prepared
        self.place = place
        start = perf_counter_ns()
        try:
            prepared.set_up()
        except BaseException:
            place.leave()
            raise
        self.setup_ns = perf_counter_ns() - start
        self.is_fresh = True
        super().__init__(Benchmark("", "", prepared.call))

    def renew(self) -> None:
        """Tear down and set up again, unless nothing has used what was set up."""
        if self.is_fresh:
            self.is_fresh = False
        elif self.prepared.is_surrounded:
            self.prepared.tear_down()
            self.prepared.set_up()

    def close(self) -> dict[str, Any]:
        """Tear it down; return what worked beside it."""
        reply = super().close()
        try:
            self.prepared.tear_down()
        finally:
            self.place.leave()
        return reply


class OpenTime(OpenAsvBenchmark):
    """`time_*`: calls, which are timed.

    Args:
        before_each_call: whether the setups run before each call, and not before each sample.
    """

    def __init__(self, prepared: Prepared, place: Place, *, before_each_call: bool) -> None:
        super().__init__(prepared, place)
        # The setup may change it.
        self.number = prepared.benchmark.whole("number", 0) or None
        args, function = prepared.args, prepared.benchmark.function
        self.call = partial(function, *args) if args else function
        self.before_each_call = before_each_call and bool(prepared.benchmark.setups)
        # A sample of asv is that long, unless it has a number of calls. Ours may be shorter:
        # several of them then share a setup.
        self.limit_ns = max(1, int(float(prepared.benchmark.first("sample_time", 0.01)) * 1e9))
        self.used_ns = 0

    def sample(
        self,
        loops: int,
        wall: Callable[[], int] = perf_counter_ns,
        cpu: Callable[[], int] = process_time_ns,
    ) -> tuple[int, int]:
        """Set up, and time the calls."""
        if self.is_alone or self.used_ns >= self.limit_ns:
            self.renew()
            self.used_ns = 0
        self.is_fresh = False
        try:
            if self.before_each_call:
                return self.time_each(loops, wall, cpu)
            spent = self.time_calls(self.call, loops, wall, cpu)
        except NotImplementedError as error:
            raise skipping(error) from error
        self.used_ns += spent[0]
        return spent

    @property
    def is_alone(self) -> bool:
        """Whether each sample has a setup of its own."""
        return self.before_each_call or self.number is not None

    def time_each(
        self, loops: int, wall: Callable[[], int], cpu: Callable[[], int]
    ) -> tuple[int, int]:
        """Time the calls one by one, with the setups between them."""
        call = self.call
        wall_ns = cpu_ns = 0
        turns = self.turns = repeat(None, loops)
        for index, _ in enumerate(turns):
            if index:
                self.renew()
            cpu_start = cpu()
            start = wall()
            call()
            end = wall()
            wall_ns += end - start
            cpu_ns += cpu() - cpu_start
        return wall_ns, cpu_ns

    def find_loops(self, target_ns: int) -> dict[str, int]:
        """Find how many loops make a sample long enough, or take long enough with their setups."""
        if self.number or not self.before_each_call:
            found = super().find_loops(target_ns)
        else:
            found = {"loops": 1, "sample_ns": self._shortest_ns(1)}
            loops = target_ns // max(found["sample_ns"], self.setup_ns, 1)
            if loops > 1:
                found = {"loops": loops, "sample_ns": self._shortest_ns(loops)}
        setups = min(1.0, found["sample_ns"] / self.limit_ns)
        if self.is_alone:
            setups = found["loops"] if self.before_each_call else 1
        return {**found, "beside_ns": int(setups * self.setup_ns)}

    def _shortest_ns(self, loops: int) -> int:
        # asv, too, looks for the number of calls without setting up again.
        limit_ns, self.limit_ns = self.limit_ns, sys.maxsize
        try:
            return super()._shortest_ns(loops)
        finally:
            self.limit_ns = limit_ns

    def _trace(self) -> tuple[int, int]:
        self.renew()
        self.is_fresh = False
        return super()._trace()


class OpenTimeraw(OpenAsvBenchmark):
    """`timeraw_*`: code, which fresh processes run; each of them gives a sample."""

    is_inside = False
    number: int

    def __init__(self, prepared: Prepared, place: Place) -> None:
        super().__init__(prepared, place)
        self.number = prepared.benchmark.whole("number", 1)
        more = prepared.benchmark.first("env", {})
        self.variables = {**os.environ, **{str(key): str(value) for key, value in more.items()}}

    def sample(
        self,
        loops: int,
        wall: Callable[[], int] = perf_counter_ns,
        cpu: Callable[[], int] = process_time_ns,
    ) -> tuple[int, int]:
        """Run the code that the function returns in a process of its own."""
        self.renew()
        returned = self.prepared.call()
        stmt, setup = returned if isinstance(returned, tuple) else (returned, "")
        if not isinstance(stmt, str) or not isinstance(setup, str):
            raise Fault(f"it returned {returned!r}: it must return code, or code and its setup")
        stmt, setup = (dedent(each).replace('"""', r"\"\"\"") for each in (stmt, setup))
        ran = subprocess.run(
            [sys.executable, "-c", "import sys; exec(sys.stdin.read())"],
            input=IN_CHILD.format(stmt=stmt, setup=setup, number=loops).encode(),
            stdout=subprocess.PIPE,
            env=self.variables,
            check=False,
        )
        if ran.returncode != 0:
            raise Fault(f"the process that runs its code ended with exit code {ran.returncode}")
        # The code may print, too.
        wall_ns, cpu_ns = map(int, ran.stdout.split()[-2:])
        return wall_ns, cpu_ns

    def find_loops(self, target_ns: int) -> dict[str, int]:
        """Say how long the samples take, together with the start of their processes."""
        start = perf_counter_ns()
        wall_ns, _ = self.sample(self.number)
        beside_ns = max(0, perf_counter_ns() - start - wall_ns)
        return {**super().find_loops(target_ns), "beside_ns": beside_ns}

    def close(self) -> dict[str, Any]:
        """Tear it down; the processes that it started are what was measured."""
        return {**super().close(), "beside": []}


class OpenValue(OpenAsvBenchmark):
    """`peakmem_*`, `mem_*` and `track_*`: a number instead of a time."""

    def value(self, message: dict[str, Any]) -> dict[str, Any]:
        """Set up, call the function, and return the number."""
        self.renew()
        try:
            returned = self.prepared.call()
        except NotImplementedError as error:
            raise skipping(error) from error
        kind = self.prepared.benchmark.candidate.kind
        if kind == "peakmemory":
            return {"value": float(peak_rss_bytes())}
        return {"value": size_of(returned) if kind == "memory" else number_of(returned)}


def size_of(value: Any) -> float:
    """Measure an object as asv does: by what a second, shallow copy of it needs."""
    asizeof = measure_of_size()
    return float(asizeof([value, copy(value)]) - asizeof([value, value]))


def number_of(value: Any) -> float:
    """Return the number that a function has returned; NaN says that there is none."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise Fault(f"it returned {str(value)[:100]!r}, which is no number") from None
    if isnan(number):
        raise Skipped("it returned NaN")
    if not isfinite(number):
        raise Fault(f"it returned {number}, which is no finite number")
    return number
