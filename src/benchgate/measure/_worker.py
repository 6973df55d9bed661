"""The process that runs a user's benchmark functions, in the user's own interpreter.

It uses the standard library only and starts from one file, because it runs under any
CPython >= 3.8, where benchgate itself is not installed. It is started as `python _worker.py`.
Standard input is a socket, which it moves out of the way of the user's code.

The first line from benchgate is the request: which file, where to import from, and a key. After
that, a JSON object asks for a step and gets a JSON object back. The line "s" asks for one
sample and gets "WALL_NS CPU_NS" back, which keeps a turn cheap. Each line to benchgate begins
with the key. The user's code does not know the key, so benchgate recognizes what that code writes
to the socket. What it prints goes elsewhere and disturbs nothing. When benchgate closes its
side, the open benchmark is torn down, exit handlers run, and the last line is "bye".
"""

# ruff: noqa: E402 - the search path is corrected before the first search

from __future__ import annotations

import sys

if __name__ == "__main__" and not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
    # The folder of this program: its files must not be mistaken for the user's modules.
    del sys.path[0]
LOADED_BY_PYTHON = frozenset(sys.modules)

# Modules that only some steps need are imported in those steps. So a launch starts sooner, and
# the user's process holds fewer modules that the user did not import.
import atexit
import faulthandler
import functools
import gc
import importlib.machinery
import importlib.util
import itertools
import json
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterable
    from types import CodeType, ModuleType
    from typing import Any

    Send = Callable[[bytes], None]

OLDEST_PYTHON = (3, 8)
PREFIX = "bench_"
UNITS = ("ns", "us", "ms", "s")
SAMPLE = b"s"
GOODBYE = b"bye\n"
TIMER_PAIRS = 1000
LONG_NS = 100_000_000
LABEL_LIMIT = 60
LINE_LIMIT = 500
TRACE_LIMIT = 8192
OWN_FRAMES = (__file__, "<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR = 0x20, 0x80, 0x200


class Fault(Exception):  # noqa: N818 - a fault of the benchmark file, not of this program
    """Something in the benchmark file that the author must change."""


class Benchmark:
    """One function with one set of parameters."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        kwargs: dict[str, Any],
        labels: dict[str, str],
    ) -> None:
        self.name = name
        self.function = function
        self.kwargs = kwargs
        self.labels = labels
        short = name[len(PREFIX) :]
        suffix = ",".join(f"{key}={label}" for key, label in labels.items())
        self.id = f"{short}[{suffix}]" if suffix else short

    def describe(self, root: str, workloads: Any) -> dict[str, Any]:
        return {
            "id": self.id,
            "parts": self._parts(workloads),
            "also_runs": workloads.others(self.name),
            "location": location_of(self.function, root),
            "parallel": getattr(self.function, "parallel", False),
            "unit": getattr(self.function, "unit", None),
            "data": getattr(self.function, "data", None) or [],
        }

    def _parts(self, workloads: Any) -> dict[str, str]:
        """Identify the work: its code in the file, and the values that it is called with."""
        values = self.kwargs.values()
        are_plain = all(v is None or isinstance(v, (bool, int, float, str)) for v in values)
        parts: dict[str, str] = workloads.parts(self.name, with_params=not are_plain)
        texts = {"its number": repr(getattr(self.function, "number", None))}
        if self.kwargs:
            given = {**self.labels, **self.kwargs} if are_plain else self.labels
            texts["its params"] = repr(sorted(given.items()))
        if not workloads.defines(self.name):
            setup = getattr(self.function, "setup", None)
            texts["its code"] = source_tokens(self.function)
            texts["the code of its setup"] = source_tokens(setup)
        return {**parts, **{label: workloads.digest(text) for label, text in texts.items()}}


def unwrap(function: Any) -> Any:
    """Return the function below its decorators, whose source is the work."""
    while True:
        below = getattr(function, "__wrapped__", None) or getattr(function, "func", None)
        if below is None:
            return function
        function = below


def code_of(function: Any) -> CodeType | None:
    """Return the code that a call runs first: a partial's function, or an object's `__call__`."""
    while isinstance(function, functools.partial):
        function = function.func
    code = getattr(function, "__code__", None)
    return code or getattr(getattr(function, "__call__", None), "__code__", None)  # noqa: B004 - its code is wanted


def is_async(function: Any) -> bool:
    """Tell whether a call returns a coroutine, whatever a decorator wraps."""
    code = code_of(function)
    return code is not None and bool(code.co_flags & CO_COROUTINE)


def is_generator(function: Any) -> bool:
    code = code_of(function)
    return code is not None and bool(code.co_flags & (CO_GENERATOR | CO_ASYNC_GENERATOR))


def location_of(function: Any, root: str) -> str | None:
    """Return `path:line` of a function in the tree; None if it comes from elsewhere."""
    code = code_of(unwrap(function))
    if code is None:
        return None
    path = os.path.relpath(os.path.realpath(code.co_filename), os.path.realpath(root))
    return None if path.startswith("..") else f"{path}:{code.co_firstlineno}"


def source_tokens(function: Callable[..., Any] | None) -> str:
    """Return a function's source without comments, layout and its name; "" if it has none.

    The name is left out because a renamed function does the same work.
    """
    import inspect  # noqa: PLC0415
    import io  # noqa: PLC0415
    import tokenize  # noqa: PLC0415

    try:
        source = inspect.getsource(unwrap(function))
    except (OSError, TypeError):
        return ""
    indent = source[: len(source) - len(source.lstrip())]
    lines = [
        line[len(indent) :] if line.startswith(indent) else line for line in source.split("\n")
    ]
    layout = {tokenize.NEWLINE: "\n", tokenize.INDENT: "\t", tokenize.DEDENT: "\b"}
    dropped = (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return source
    kept = [t for t in tokens if t.type not in dropped]
    name = next((i + 1 for i, t in enumerate(kept) if t.string == "def"), None)
    return "".join(layout.get(t.type, t.string) for i, t in enumerate(kept) if i != name)


def label_of(value: object, index: int) -> str:
    """Name a parameter's value in a benchmark id."""
    if value is None or isinstance(value, (bool, int, float, str)):
        text = str(value)
    else:
        text = getattr(value, "__name__", None) or str(index)
    text = "".join(c if c.isprintable() and c not in ",[]=" else "_" for c in text)
    return text if len(text) <= LABEL_LIMIT else f"{text[:LABEL_LIMIT]}~{index}"


def grid_of(
    where: str, function: Callable[..., Any]
) -> list[tuple[dict[str, Any], dict[str, str]]]:
    """Expand `params` to (kwargs, labels) for each point of the grid."""
    params = getattr(function, "params", None)
    if params is None:
        return [({}, {})]
    if not isinstance(params, dict) or not params:
        raise Fault(
            f"{where}.params is {params!r}: it must be a table of lists, "
            "such as {'n': [10, 1000]}"
        )
    axes = []
    for name, given in params.items():
        values = [] if isinstance(given, str) or not iterable(given) else list(given)
        if not values:
            raise Fault(f"{where}.params[{name!r}] must be a list with at least one value")
        labels = [label_of(value, index) for index, value in enumerate(values)]
        if len(set(labels)) < len(labels):
            labels = [f"{label}~{index}" for index, label in enumerate(labels)]
        axes.append([(name, value, label) for value, label in zip(values, labels)])
    return [
        ({n: v for n, v, _ in point}, {n: label for n, _, label in point})
        for point in itertools.product(*axes)
    ]


def iterable(value: object) -> bool:
    return hasattr(value, "__iter__")


def check_function(name: str, function: Callable[..., Any]) -> None:
    """Say what is wrong with a benchmark function before it is measured."""
    if name == PREFIX:
        raise Fault(f"a function is named {PREFIX}: add a name after it")
    # A callable object has attributes of its own.
    attributes = vars(function) if isinstance(function, type(check_function)) else ()
    unknown = beside("_attributes").unknown_attribute(name, attributes)
    if unknown:
        raise Fault(unknown)
    refuse_wrong_attributes(name, function)


def refuse_wrong_attributes(name: str, function: Callable[..., Any]) -> None:
    if is_generator(function):
        raise Fault(f"{name} is a generator: calling it would not run its body")
    number = getattr(function, "number", 1)
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise Fault(f"{name}.number is {number!r}: it must be a whole number >= 1")
    unit = getattr(function, "unit", UNITS[0])
    if unit not in UNITS:
        raise Fault(f"{name}.unit is {unit!r}: it must be one of {', '.join(UNITS)}")
    parallel = getattr(function, "parallel", False)
    if not isinstance(parallel, bool):
        raise Fault(f"{name}.parallel is {parallel!r}: it must be True or False")
    data = getattr(function, "data", None) or []
    if not isinstance(data, (list, tuple)) or not all(isinstance(each, str) for each in data):
        raise Fault(f"{name}.data is {data!r}: it must be a list of paths, such as ['words/*.txt']")
    for hook in ("setup", "teardown"):
        found = getattr(function, hook, None)
        if found is not None and not callable(found):
            raise Fault(f"{name}.{hook} is a {type(found).__name__}: it must be a function")
        if found is not None and is_generator(found):
            raise Fault(f"{name}.{hook} is a generator: calling it would not run its body")


def find_benchmarks(
    module: ModuleType, check: Callable[[str, Any], None] | None
) -> tuple[dict[str, Benchmark], dict[str, str]]:
    """Return the benchmarks of a module by id, in the order of the file.

    Args:
        check: raises Fault for a function that cannot be measured; None to skip it silently.

    Returns:
        The benchmarks, and by name what is wrong with functions that cannot be one.
    """
    found = {}
    faults = {}
    for name, function in list(vars(module).items()):
        if not name.startswith(PREFIX) or not callable(function) or isinstance(function, type):
            continue
        try:
            if check:
                check(name, function)
            for kwargs, labels in grid_of(name, function):
                benchmark = Benchmark(name, function, kwargs, labels)
                found[benchmark.id] = benchmark
        except Exception as error:  # noqa: BLE001 - of the user's code: one function's alone
            faults[name[len(PREFIX) :] or name] = failure(error)["error"]
    return found, faults


def beside(name: str) -> Any:
    """Import another file of benchgate from this folder, without a name in `sys.modules`."""
    path = os.path.join(os.path.dirname(__file__), f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_workloads(request: dict[str, Any]) -> Any:
    """Read the file's text about its benchmarks before its code can change what is found."""
    folders = [os.path.dirname(request["file"]), *request["path"], *request["path_after"]]
    work = beside("_workload")
    try:
        return work.Workloads(request["file"], request["helpers"], folders, beside("_statements"))
    except (OSError, SyntaxError, ValueError):
        return None  # importing the file reports what is wrong with it


def load(request: dict[str, Any]) -> ModuleType:
    """Import the benchmark file as a module with its own name."""
    path = request["file"]
    after = request["path_after"]
    beside = [folder for folder in [os.path.dirname(path)] if folder not in after]
    folders = [*beside, *request["path"]]
    sys.path[:0] = folders
    sys.path += after
    # Processes that the benchmark starts must find the arm's code too.
    os.environ["PYTHONPATH"] = os.pathsep.join(request["path"])
    give_back_names(folders)
    sys.argv = [path]
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Fault(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    compile_from_source(path, request["helpers"])
    spec.loader.exec_module(module)
    return module


def compile_from_source(file: str, helpers: str | None) -> None:
    """Never run a `.pyc` in place of the benchmark's own files, because it may hold other code."""
    external: Any = importlib._bootstrap_external  # noqa: SLF001 - no public way
    cache_of = external.cache_from_source
    own = tuple(os.path.realpath(each) for each in (file, helpers) if each)

    def cache_from_source(path: str, *arguments: Any, **more: Any) -> str:
        if os.path.realpath(path).startswith(own):
            raise NotImplementedError  # importlib then compiles the source
        cached: str = cache_of(path, *arguments, **more)
        return cached

    external.cache_from_source = cache_from_source


def give_back_names(folders: list[str]) -> None:
    """Forget modules that only this program has imported, if the user has modules of that name."""
    mine = sys.modules.keys() - LOADED_BY_PYTHON - {"__main__"}
    find = importlib.machinery.PathFinder.find_spec
    taken = {name for name in mine if "." not in name and find(name, folders)}
    for name in mine:
        if name.partition(".")[0] in taken:
            del sys.modules[name]


def file_of(name: str) -> str:
    """Return the real path of a module's file; "" if it has none."""
    try:
        # Not getattr, which would load a lazy module.
        file = object.__getattribute__(sys.modules[name], "__file__")
    except (AttributeError, KeyError):
        return ""
    return os.path.realpath(file) if isinstance(file, str) else ""


def prefixes_of(folders: Iterable[str]) -> tuple[str, ...]:
    return tuple(os.path.join(os.path.realpath(folder), "") for folder in folders)


class Origins:
    """Finds out where the modules of this process came from.

    Args:
        request: `forbidden` trees, which are not this arm's; `root` and other `own` folders,
            which are; `provided`, top-level names that the arm's tree has itself; `helpers` and
            `file`, which are the benchmarks', and not what they measure.
    """

    def __init__(self, request: dict[str, Any]) -> None:
        own = [*request["own"], *([sys.prefix] if request["own_interpreter"] else [])]
        self.own = prefixes_of(own)
        self.root = prefixes_of([request["root"]])
        self.forbidden = prefixes_of(request["forbidden"])
        # An interpreter inside such a tree, e.g. in a virtual environment, is not part of it.
        python = prefixes_of((sys.prefix, sys.base_prefix))
        self.inner = tuple(p for p in python if p.startswith(self.forbidden))
        self.standard = prefixes_of([os.path.dirname(os.__file__)])
        self.benchmarks = prefixes_of([request["helpers"]] if request["helpers"] else [])
        self.file = os.path.realpath(request["file"])
        self.provided = frozenset(request["provided"])
        self.seen: set[str] = set()
        self.packages: dict[str, str] = {}
        self.has_own = False

    def look(self) -> dict[str, Any]:
        """Look at the modules that were imported since the last look, without this program.

        Returns:
            `foreign`, of the forbidden trees, and `elsewhere`, of those that the arm's tree has
            itself: [name, file]. `packages`: the same of all that is installed, but for the
            standard library, and not only of late; `shared`: names of those that are not the
            arm's; `has_own`: whether any module is the arm's.
        """
        new = sorted(sys.modules.keys() - self.seen - {"__main__"})
        self.seen.update(new)
        foreign, elsewhere = [], []
        for name in new:
            path = file_of(name)
            if not path:
                continue
            if path.startswith(self.forbidden) and not path.startswith(self.inner):
                foreign.append([name, path])
            is_own = path.startswith(self.own)
            if is_own and path != self.file and not path.startswith(self.benchmarks):
                self.has_own = True
            if "." not in name and self.is_package(name, path):
                self.packages[name] = path
                if name in self.provided and not is_own:
                    elsewhere.append([name, path])
        return {
            "foreign": foreign,
            "elsewhere": elsewhere,
            "packages": sorted(self.packages.items()),
            "shared": sorted(
                n for n, path in self.packages.items() if not path.startswith(self.own)
            ),
            "has_own": self.has_own,
        }

    def is_package(self, name: str, path: str) -> bool:
        """Tell whether a module is installed: it belongs neither to the tree nor to Python."""
        places = os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep
        if any(place in path for place in places):
            return name not in LOADED_BY_PYTHON
        return not path.startswith(self.root + self.standard) and name not in LOADED_BY_PYTHON


def had_children() -> bool:
    """Tell whether this process has or had children, whose imports it cannot see."""
    import resource  # noqa: PLC0415 - seldom needed

    return has_children() or resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss > 0


def clock_steps_ns() -> list[int]:
    """Read the clock twice in a row, many times; return the differences."""
    clock = time.perf_counter_ns
    return [-clock() + clock() for _ in range(TIMER_PAIRS)]


class Launch:
    """One benchmark in this process, from its setup to its teardown.

    Every public method with a `message` is a step that benchgate asks for; it returns the reply.
    """

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.loops = 1
        self.first_ns: int | None = None
        self.turns: itertools.repeat[None] = itertools.repeat(None, 0)
        self.gc_was_enabled = gc.isenabled()
        function = benchmark.function
        setup = getattr(function, "setup", None)
        self.teardown = getattr(function, "teardown", None)
        self.is_async = is_async(function)
        self.event_loop: asyncio.AbstractEventLoop | None = None
        if any(is_async(f) for f in (function, setup, self.teardown)):
            import asyncio  # noqa: PLC0415

            self.event_loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.event_loop)
        state = self._finish(setup(**benchmark.kwargs), "setup") if setup else None
        self.args = () if state is None else (state,)
        self.call = function
        if self.args or benchmark.kwargs:
            self.call = functools.partial(function, *self.args, **benchmark.kwargs)

    def _finish(self, outcome: Any, what: str) -> Any:
        """Wait for the coroutine that an `async def` function returned."""
        if type(outcome).__name__ != "coroutine":
            return outcome
        if self.event_loop:
            return self.event_loop.run_until_complete(outcome)
        outcome.close()
        raise Fault(
            f"{what} returns a coroutine that nobody awaits: define it with `async def`, and "
            "give its decorators `async def` wrappers"
        )

    # The clocks are bound once, so that a benchmark that freezes time does not freeze these.
    def sample(
        self,
        loops: int,
        wall: Callable[[], int] = time.perf_counter_ns,
        cpu: Callable[[], int] = time.process_time_ns,
    ) -> tuple[int, int]:
        """Time this many calls; return (wall_ns, cpu_ns)."""
        if self.is_async and self.event_loop:
            return self.event_loop.run_until_complete(self._sample_async(loops, wall, cpu))
        call = self.call
        turns = self.turns = itertools.repeat(None, loops)
        cpu_start = cpu()
        start = wall()
        for _ in turns:
            call()
        end = wall()
        return end - start, cpu() - cpu_start

    async def _sample_async(
        self, loops: int, wall: Callable[[], int], cpu: Callable[[], int]
    ) -> tuple[int, int]:
        call = self.call
        turns = self.turns = itertools.repeat(None, loops)
        cpu_start = cpu()
        start = wall()
        for _ in turns:
            await call()
        end = wall()
        return end - start, cpu() - cpu_start

    def calibrate(self, message: dict[str, Any]) -> dict[str, Any]:
        """Find how many loops make a sample long enough."""
        target_ns = message["target_ns"]
        number = getattr(self.benchmark.function, "number", None)
        loops = number or 1
        while True:
            elapsed_ns = self._shortest_ns(loops)
            if number or elapsed_ns >= target_ns:
                return {"loops": loops, "sample_ns": elapsed_ns, "first_ns": self.first_ns}
            # Aim a little high, but grow at most tenfold: the timing of few loops is coarse.
            loops = max(loops + 1, min(loops * 10, int(loops * target_ns * 1.2 / elapsed_ns)))

    def time_loops(self, message: dict[str, Any]) -> dict[str, Any]:
        """Measure how long this many loops take."""
        return {"sample_ns": self._shortest_ns(message["loops"])}

    def _shortest_ns(self, loops: int) -> int:
        """Time a sample three times, or twice if it is long.

        Return the shortest time: first calls import, connect and fill caches, and interruptions
        only ever add time. This time decides how a whole session takes its samples.
        """
        elapsed_ns = [self.sample(loops)[0], self.sample(loops)[0]]
        if sum(elapsed_ns) < LONG_NS:
            elapsed_ns.append(self.sample(loops)[0])
        if self.first_ns is None:
            self.first_ns = elapsed_ns[0]
        return max(1, min(elapsed_ns))

    def set_loops(self, message: dict[str, Any]) -> dict[str, Any]:
        self.loops = message["loops"]
        return {}

    def begin(self, message: dict[str, Any]) -> dict[str, Any]:
        gc.collect()
        gc.disable()
        return {}

    def peak(self, message: dict[str, Any]) -> dict[str, Any]:
        return {"peak_rss": peak_rss_bytes()}

    def end(self, message: dict[str, Any]) -> dict[str, Any]:
        self.restore_gc()
        return {}

    def restore_gc(self) -> None:
        if self.gc_was_enabled:
            gc.enable()
        else:
            gc.disable()

    def allocations(self, message: dict[str, Any]) -> dict[str, Any]:
        """Trace a call; return its peak memory, and the blocks alive when it returns.

        Takes the minimum of three calls, or only one call if it is long: filling a cache, or a
        list of freed objects, only ever adds memory.
        """
        start = time.perf_counter_ns()
        traced = [self._trace()]
        if time.perf_counter_ns() - start < LONG_NS:
            traced += [self._trace(), self._trace()]
        peaks, blocks = zip(*traced)
        return {"alloc_peak": min(peaks), "alloc_blocks": min(blocks)}

    def _trace(self) -> tuple[int, int]:
        import tracemalloc  # noqa: PLC0415 - only in this pass, outside of every timing

        gc.collect()
        tracemalloc.start(1)
        try:
            kept = self._finish(self.call(), "it")
            peak = tracemalloc.get_traced_memory()[1]
            blocks = len(tracemalloc.take_snapshot().traces)
        finally:
            tracemalloc.stop()
        del kept
        return peak, blocks

    def close(self, message: dict[str, Any]) -> dict[str, Any]:
        self.restore_gc()
        try:
            if self.teardown:
                self._finish(self.teardown(*self.args, **self.benchmark.kwargs), "teardown")
        finally:
            if self.event_loop:
                close_event_loop(self.event_loop)
        return {}


def close_event_loop(loop: asyncio.AbstractEventLoop) -> None:
    """End an event loop as asyncio.run does: cancel the remaining tasks, then close it."""
    import asyncio  # noqa: PLC0415

    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks))
    loop.run_until_complete(loop.shutdown_asyncgens())
    if hasattr(loop, "shutdown_default_executor"):
        loop.run_until_complete(loop.shutdown_default_executor())
    asyncio.set_event_loop(None)
    loop.close()


STEPS: dict[str, Callable[[Launch, dict[str, Any]], dict[str, Any]]] = {
    "calibrate": Launch.calibrate,
    "time": Launch.time_loops,
    "loops": Launch.set_loops,
    "begin": Launch.begin,
    "peak": Launch.peak,
    "end": Launch.end,
    "allocations": Launch.allocations,
    "close": Launch.close,
}


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
    import resource  # noqa: PLC0415 - not needed if /proc exists

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def occupy(blocks: list[int], chunks: list[int], gap_bytes: int) -> list[Any]:
    """Allocate memory, so that later objects lie elsewhere; see benchgate's layout.py.

    Args:
        blocks: numbers of objects of 16, 32, ... bytes.
        chunks: sizes of larger objects, in bytes.
    """
    taken: list[Any] = [[empty_object(16 * i) for _ in range(n)] for i, n in enumerate(blocks, 1)]
    taken += [bytearray(size) for size in chunks]
    # For zeros that nobody reads, the OS assigns addresses but no memory.
    taken.append(bytes(gap_bytes))
    return taken


def empty_object(size: int) -> object:
    """Make an object that takes this many bytes, a multiple of 16."""
    bytes_alone = sys.getsizeof(b"")
    if size > bytes_alone:
        return bytes(size - bytes_alone)
    return object() if size <= object.__sizeof__(object()) else float(size)


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
        "gc": (gc.isenabled(), gc.get_threshold()),
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


def has_children() -> bool:
    """Tell whether this process has children, if the OS can tell without reaping them."""
    if not hasattr(os, "waitid"):
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def take_channel() -> int:
    """Move benchgate's socket away from standard input, and make standard input empty."""
    channel = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return channel


def connect(channel: int) -> tuple[dict[str, Any], Callable[[], bytes | None], Send]:
    """Wait for the request; return it, a function that receives a line and one that sends.

    Only these two functions hold what the user's code must not know or replace.
    """
    read, write = os.read, os.write
    pending = b""

    def receive() -> bytes | None:
        """Return the next line from benchgate; None at the end."""
        nonlocal pending
        while b"\n" not in pending:
            chunk = read(channel, 65536)
            if not chunk:
                return None
            pending += chunk
        line, _, pending = pending.partition(b"\n")
        return line

    request = json.loads((receive() or b"{}").decode())
    key = request.pop("key").encode()

    def send(data: bytes) -> None:
        data = key + data
        while data:
            data = data[write(channel, data) :]

    return request, receive, send


class Server:
    """Carries out benchgate's requests, one line at a time."""

    def __init__(self, receive: Callable[[], bytes | None], send: Send) -> None:
        self.receive = receive
        self.send_line = send
        self.origins: Any = None
        self.dumps, self.loads = json.dumps, json.loads
        self.is_fork = False
        self.taken: list[Any] = []
        self.benchmarks: dict[str, Benchmark] = {}
        self.launch: Launch | None = None
        self.clean: dict[str, Any] = {}

    def note_fork(self) -> None:
        """Runs in a forked child: end its loop, which would otherwise keep forking."""
        self.is_fork = True
        if self.launch:
            for _ in self.launch.turns:
                pass

    def reply(self, message: dict[str, Any]) -> None:
        self.send(self.dumps(message).encode() + b"\n")

    def send(self, data: bytes) -> None:
        if self.is_fork:
            problem = "it forked, and the child process returned too: end the child with os._exit"
            data = self.dumps({"error": problem, "trace": ""}).encode() + b"\n"
        self.send_line(data)
        if self.is_fork:
            os._exit(1)

    def open_file(self, request: dict[str, Any]) -> dict[str, Any]:
        """Import the benchmark file and find its benchmarks."""
        if sys.version_info < OLDEST_PYTHON:
            raise Fault(
                f"{sys.executable} is Python {sys.version.split()[0]}: benchgate needs 3.8 or newer"
            )
        set_cpus(request["cpus"])
        self.origins = Origins(request)
        self.taken = occupy(*request["occupy"])
        describe = request["describe"]
        workloads = read_workloads(request) if describe else None
        module = load(request)
        check = check_function if describe else None
        self.benchmarks, faults = find_benchmarks(module, check)
        described = []
        if describe:
            described = [b.describe(request["root"], workloads) for b in self.benchmarks.values()]
        self.clean = surroundings()
        return {
            "benchmarks": described,
            "faults": faults,
            "executable": sys.executable,
            "pid": os.getpid(),
            "python": f"{sys.implementation.name} {sys.version.split()[0]}",
            "clock_steps_ns": clock_steps_ns(),
            **self.origins.look(),
        }

    def serve(self, request: dict[str, Any]) -> None:
        """Open the file of the request, then carry out requests until benchgate closes its side."""
        try:
            self.reply(self.open_file(request))
        except BaseException as error:  # noqa: BLE001 - SystemExit of the user's code too
            self.reply(failure(error))
        line = self.receive()
        while line is not None:
            try:
                if line == SAMPLE and self.launch:
                    self.send(b"%d %d\n" % self.launch.sample(self.launch.loops))
                else:
                    self.reply(self.step(self.loads(line.decode())))
            except BaseException as error:  # noqa: BLE001 - SystemExit of the user's code too
                if self.launch:
                    self.launch.restore_gc()
                self.reply(failure(error))
            line = self.receive()
        if self.launch:
            self.launch.close({})

    def step(self, message: dict[str, Any]) -> dict[str, Any]:
        if message["do"] == "open":
            rss_is_own = reset_peak_rss()
            benchmark = self.benchmarks.get(message["id"])
            if benchmark is None:
                raise Fault("its file no longer defines it")
            self.launch = Launch(benchmark)
            return {"rss_is_own": rss_is_own}
        if self.launch is None:
            raise ValueError("no benchmark is open")
        launch = self.launch
        if message["do"] == "close":
            self.launch = None
        reply = STEPS[message["do"]](launch, message)
        if message["do"] == "close":
            found = surroundings()
            reply["changed"] = [key for key, was in self.clean.items() if found[key] != was]
            reply.update(self.origins.look())
            if reply["shared"] and not reply["has_own"]:
                reply["had_children"] = had_children()
        return reply


def failure(error: BaseException) -> dict[str, str]:
    """Describe an exception: one line, and the traceback of the user's frames."""
    flush()
    if isinstance(error, Fault):
        return {"error": str(error), "trace": ""}
    import traceback  # noqa: PLC0415

    # Notes follow the type and message; the place of a SyntaxError precedes them.
    lines = traceback.format_exception_only(type(error), error)
    line = next(line for line in lines if not line.startswith(" ")).strip()
    described = traceback.TracebackException.from_exception(error)
    cause: traceback.TracebackException | None = described
    while cause is not None:
        cause.stack[:] = [f for f in cause.stack if f.filename not in OWN_FRAMES]
        cause = cause.__cause__ or cause.__context__
    trace = "".join(described.format())
    return {"error": line[:LINE_LIMIT], "trace": trace[-TRACE_LIMIT:]}


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105 - contextlib would be one more import in every launch
            stream.flush()
        except Exception:  # noqa: BLE001, S110 - the user may have closed or replaced it
            pass


def main() -> None:
    # Its purpose, to move the stack, is fulfilled; no other process should get it.
    os.environ.pop("BENCHGATE_PADDING", None)
    request, receive, send = connect(take_channel())
    # After a crash, the output before it and the place where it happened explain it.
    faulthandler.enable(2)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True)
    server = Server(receive, send)
    os.register_at_fork(after_in_child=server.note_fork)
    # Hide this program's own names from the user's code, which finds an empty module.
    sys.modules["__main__"] = type(sys)("__main__")
    server.serve(request)
    # Exit handlers remove the temporary files of the user's code.
    atexit._run_exitfuncs()  # noqa: SLF001 - an ordinary end would wait for every thread
    flush()
    server.send(GOODBYE)


if __name__ == "__main__":
    # Whatever happens, threads of the user's code must not keep the process alive.
    try:
        main()
    except BaseException:  # noqa: BLE001 - shown, and then it ends
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    os._exit(0)
