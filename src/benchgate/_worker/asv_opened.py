"""One benchmark of asv, opened: its times and values as asv_runner takes them."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from copy import copy
from functools import partial
from itertools import repeat
from math import isfinite, isnan
from shutil import rmtree
from tempfile import mkdtemp
from textwrap import dedent

from .asv_benchmark import AsvDefinition, measure_of_size, needs_no_arguments, skipping
from .clocks import perf_counter_ns
from .failures import Fault, Skipped, failure
from .functions import Benchmark
from .opened import OpenBenchmark
from .process_state import peak_rss_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .observed import AllocationWatch
    from .opened import Clock


FILE = "cache.pickle"


def read(folder: str) -> Any:
    """Return a fresh copy of what `setup_cache` returned."""
    with open(os.path.join(folder, FILE), "rb") as file:
        return pickle.load(file)  # noqa: S301 - this program's child wrote it


def fill(folder: str, benchmark: AsvDefinition) -> None:
    """Let a forked child run `setup_cache`, and pickle what it returns.

    So the memory that it needs does not count for a benchmark, and what it leaves behind does not
    change one. It runs in every launch: random data then differs from launch to launch, and not
    only between base and head.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        code = 1
        try:
            os.chdir(folder)
            for setup in filter(needs_no_arguments, benchmark.setups):
                setup()
            with open(FILE, "wb") as file:
                pickle.dump(benchmark.setup_cache(), file)
            code = 0
        except BaseException as error:  # noqa: BLE001 - SystemExit of the user's code too
            described = failure(error)
            os.write(writer, described["error"].encode("utf-8", "replace"))
            sys.stderr.write(described["trace"])
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    os.close(writer)
    with open(reader, "rb") as answer:
        why = answer.read().decode("utf-8", "replace")
    status = os.waitpid(child, 0)[1]
    if status != 0:
        raise Fault(f"its setup_cache failed: {why or 'its process was killed'}")


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
    """Runs the setups, and after all the teardowns, in a folder as asv does.

    Args:
        values: of its params.
        cache: the folder of its cache; "" if it has none, and runs in a temporary one.
    """

    def __init__(self, definition: AsvDefinition, values: tuple[Any, ...], cache: str) -> None:
        made = read(cache) if cache else None
        self.definition = definition
        self.given = values if made is None else (made, *values)
        self.cache = cache
        self.before = os.getcwd()
        self.folder = cache or mkdtemp(prefix="asv-")
        os.chdir(self.folder)
        start = perf_counter_ns()
        try:
            self.set_up()
        except BaseException:
            self.leave_folder()
            raise
        self.setup_ns = perf_counter_ns() - start
        self.is_fresh = True
        super().__init__(Benchmark("", "", self.run))

    def set_up(self) -> None:
        """Run its setups; one that raises NotImplementedError skips it."""
        try:
            for setup in self.definition.setups:
                setup(*self.given)
        except NotImplementedError as error:
            raise Skipped(f"its setup raised {error!r}") from None

    def tear_down(self) -> None:
        for teardown in self.definition.teardowns:
            teardown(*self.given)

    def run(self) -> Any:
        return self.definition.function(*self.given)

    def leave_folder(self) -> None:
        os.chdir(self.before)
        if not self.cache:
            rmtree(self.folder, ignore_errors=True)

    def renew(self) -> None:
        """Tear down and set up again, unless nothing has used what was set up."""
        if self.is_fresh:
            self.is_fresh = False
        else:
            self.tear_down()
            self.set_up()

    def close(self) -> dict[str, Any]:
        """Tear it down; return what worked beside it."""
        reply = super().close()
        try:
            self.tear_down()
        finally:
            self.leave_folder()
        return reply


class OpenTime(OpenAsvBenchmark):
    """`time_*`: calls, which are timed.

    Args:
        before_each_call: whether the setups run before each call, and not before each sample.
    """

    def __init__(
        self,
        definition: AsvDefinition,
        values: tuple[Any, ...],
        cache: str,
        *,
        before_each_call: bool,
    ) -> None:
        super().__init__(definition, values, cache)
        # The setup may change it.
        self.number = definition.whole("number", 0) or None
        self.call = partial(definition.function, *self.given) if self.given else definition.function
        self.times_each = before_each_call and bool(definition.setups)
        # A sample of asv is that long, unless it has a number of calls. Ours may be shorter:
        # several of them then share a setup.
        self.limit_ns = max(1, int(float(definition.first("sample_time", 0.01)) * 1e9))
        self.used_ns = 0

    def sample(self, loops: int, wall: Clock, cpu: Clock) -> tuple[int, int]:
        """Set up, and time the calls."""
        if self.is_alone or self.used_ns >= self.limit_ns:
            self.renew()
            self.used_ns = 0
        self.is_fresh = False
        try:
            if self.times_each:
                return self.time_each(loops, wall, cpu)
            spent = self.time_calls(self.call, loops, wall, cpu)
        except NotImplementedError as error:
            raise skipping(error) from error
        self.used_ns += spent[0]
        return spent

    def timed(self) -> tuple[int, int, int]:
        """Take a sample, as any other; those that share a setup have a part of its time each."""
        wall_ns, cpu_ns, beside_ns = super().timed()
        if not self.is_alone:
            beside_ns = int(min(1.0, wall_ns / self.limit_ns) * self.setup_ns)
        return wall_ns, cpu_ns, beside_ns

    @property
    def is_alone(self) -> bool:
        """Whether each sample has a setup of its own."""
        return self.times_each or self.number is not None

    def time_each(self, loops: int, wall: Clock, cpu: Clock) -> tuple[int, int]:
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

    def _trace(self, watch: AllocationWatch | None = None) -> tuple[int, int]:
        self.renew()
        self.is_fresh = False
        return super()._trace(watch)


class OpenTimeraw(OpenAsvBenchmark):
    """`timeraw_*`: code, which fresh processes run; each of them gives a sample."""

    is_inside = False
    number: int

    def __init__(self, definition: AsvDefinition, values: tuple[Any, ...], cache: str) -> None:
        super().__init__(definition, values, cache)
        self.number = definition.whole("number", 1)
        more = definition.first("env", {})
        self.variables = {**os.environ, **{str(key): str(value) for key, value in more.items()}}

    def sample(self, loops: int, wall: Clock, cpu: Clock) -> tuple[int, int]:
        """Run the code that the function returns in a process of its own."""
        self.renew()
        returned = self.run()
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

    def close(self) -> dict[str, Any]:
        """Tear it down; the processes that it started are what was measured."""
        return {**super().close(), "beside": []}


class OpenValue(OpenAsvBenchmark):
    """`peakmem_*`, `mem_*` and `track_*`: a number instead of a time."""

    def value(self, message: str) -> dict[str, Any]:
        """Set up, call the function, and return the number."""
        self.renew()
        try:
            returned = self.run()
        except NotImplementedError as error:
            raise skipping(error) from error
        kind = self.definition.candidate.kind
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
