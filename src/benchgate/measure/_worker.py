"""The process that runs a user's benchmark functions, in the user's own interpreter.

Standard library only, and one file, because it runs under any CPython >= 3.8 that
benchgate itself is not installed in. It is started as

    python _worker.py REQUEST.json IN OUT

REQUEST.json names the benchmark file. IN and OUT are descriptors of two pipes: lines from
benchgate, lines to benchgate. A JSON object asks for a step and gets a JSON object back; the
line "s" asks for one sample and gets "WALL_NS CPU_NS" back, so that a turn costs little.
What the user's code prints goes elsewhere and disturbs nothing. When IN ends, so does this.
"""

from __future__ import annotations

# What only some steps need is imported there: a launch starts sooner, and the user's
# process holds less that is not the user's.
import functools
import gc
import importlib.util
import itertools
import json
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable
    from types import ModuleType
    from typing import Any

PREFIX = "bench_"
SAMPLE = b"s"
TIMER_PAIRS = 1000
LABEL_LIMIT = 60
CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR = 0x20, 0x80, 0x200


class Fault(Exception):  # noqa: N818 - a fault of the benchmark file, not of this program
    """Something in the benchmark file that its author must change."""


class Benchmark:
    """One function with one set of parameters."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        kwargs: dict[str, Any],
        labels: dict[str, str],
    ) -> None:
        self.function = function
        self.kwargs = kwargs
        self.labels = labels
        suffix = ",".join(f"{key}={label}" for key, label in labels.items())
        self.id = f"{name}[{suffix}]" if suffix else name

    def describe(self, root: str) -> dict[str, Any]:
        code = getattr(unwrap(self.function), "__code__", None)
        location = None
        if code is not None:
            path = os.path.relpath(os.path.realpath(code.co_filename), os.path.realpath(root))
            location = f"{path}:{code.co_firstlineno}"
        return {
            "id": self.id,
            "workload": self._workload_hash(),
            "location": location,
            "parallel": bool(getattr(self.function, "parallel", False)),
            "unit": getattr(self.function, "unit", None),
        }

    def _workload_hash(self) -> str:
        """Identify the work: the function's and its setup's code, parameters and loop count."""
        parts = [source_tokens(self.function), source_tokens(hook(self.function, "setup"))]
        parts += [f"{key}={label}" for key, label in self.labels.items()]
        parts.append(str(getattr(self.function, "number", None)))
        import hashlib  # noqa: PLC0415

        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def unwrap(function: Any) -> Any:
    """Give the function below its decorators."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def code_flags(function: Any) -> int:
    """Give the flags that tell a coroutine function and a generator from a plain one."""
    return getattr(getattr(unwrap(function), "__code__", None), "co_flags", 0)


def source_tokens(function: Callable[..., Any] | None) -> str:
    """Give a function's source without comments and layout; "" where there is none."""
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
    return "".join(layout.get(t.type, t.string) for t in tokens if t.type not in dropped)


def hook(function: Callable[..., Any], name: str) -> Callable[..., Any] | None:
    """Give the setup or teardown of a benchmark function, checked."""
    found = getattr(function, name, None)
    if isinstance(found, staticmethod):
        found = found.__func__
    if found is not None and not callable(found):
        raise Fault(
            f"{function.__name__}.{name} is a {type(found).__name__}: it must be a function"
        )
    return found


def label_of(value: object, index: int) -> str:
    """Name a parameter's value in a benchmark id."""
    if value is None or isinstance(value, (bool, int, float, str)):
        text = str(value)
    else:
        text = getattr(value, "__name__", None) or str(index)
    text = "".join(c if c.isprintable() and c not in ",[]=" else "_" for c in text)
    return text if len(text) <= LABEL_LIMIT else f"{text[:LABEL_LIMIT]}~{index}"


def grid_of(function: Callable[..., Any]) -> list[tuple[dict[str, Any], dict[str, str]]]:
    """Expand `params` to (kwargs, labels) for each point of the grid."""
    params = getattr(function, "params", None)
    if params is None:
        return [({}, {})]
    if not isinstance(params, dict) or not params:
        raise Fault(
            f"{function.__name__}.params is {params!r}: "
            "it must be a table of lists, such as {'n': [10, 1000]}"
        )
    axes = []
    for name, given in params.items():
        values = [] if isinstance(given, str) else list(given)
        if not values:
            raise Fault(
                f"{function.__name__}.params[{name!r}] must be a list of at least one value"
            )
        labels = [label_of(value, index) for index, value in enumerate(values)]
        if len(set(labels)) < len(labels):
            labels = [f"{label}~{index}" for index, label in enumerate(labels)]
        axes.append([(name, value, label) for value, label in zip(values, labels)])
    return [
        ({n: v for n, v, _ in point}, {n: label for n, _, label in point})
        for point in itertools.product(*axes)
    ]


def find_benchmarks(module: ModuleType) -> dict[str, Benchmark]:
    """Give the benchmarks of a module by id, in the order in which they are written."""
    found = {}
    for name, function in list(vars(module).items()):
        if not name.startswith(PREFIX) or not callable(function) or isinstance(function, type):
            continue
        if code_flags(function) & (CO_GENERATOR | CO_ASYNC_GENERATOR):
            raise Fault(f"{name} is a generator: a call would run none of its body")
        number = getattr(function, "number", None)
        if number is not None and (not isinstance(number, int) or number < 1):
            raise Fault(f"{name}.number is {number!r}: it must be a whole number >= 1")
        hook(function, "setup")
        hook(function, "teardown")
        for kwargs, labels in grid_of(function):
            benchmark = Benchmark(name[len(PREFIX) :], function, kwargs, labels)
            found[benchmark.id] = benchmark
    return found


def load(request: dict[str, Any]) -> ModuleType:
    """Import the benchmark file as a module of its own name."""
    path = request["file"]
    # The folder of this program must not shadow the user's modules.
    sys.path[0:1] = [os.path.dirname(path)] + request["path"]
    sys.argv = [path]
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Fault(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def foreign_modules(forbidden: list[str]) -> list[list[str]]:
    """List modules that came from a tree which is not this arm's: [name, file]."""
    prefixes = tuple(os.path.realpath(p) + os.sep for p in (sys.prefix, sys.base_prefix))
    roots = tuple(os.path.realpath(p) + os.sep for p in forbidden)
    found = []
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str):
            continue
        path = os.path.realpath(file)
        if path.startswith(roots) and not path.startswith(prefixes):
            found.append([name, path])
    return found


def timer_cost_ns() -> int:
    """Give the median cost of reading the clock, from back-to-back pairs."""
    clock = time.perf_counter_ns
    pairs = sorted(-clock() + clock() for _ in range(TIMER_PAIRS))
    return pairs[TIMER_PAIRS // 2]


def sampler(call: Callable[[], Any]) -> Callable[[int], tuple[int, int]]:
    """Make the function that times `loops` calls: returns (wall_ns, cpu_ns)."""
    wall, cpu, repeat = time.perf_counter_ns, time.process_time_ns, itertools.repeat

    def sample(loops: int) -> tuple[int, int]:
        turns = repeat(None, loops)
        cpu_start = cpu()
        start = wall()
        for _ in turns:
            call()
        end = wall()
        return end - start, cpu() - cpu_start

    return sample


def async_sampler(
    call: Callable[[], Awaitable[Any]], loop: asyncio.AbstractEventLoop
) -> Callable[[int], tuple[int, int]]:
    """Do the same for a coroutine function, inside one event loop."""
    wall, cpu, repeat = time.perf_counter_ns, time.process_time_ns, itertools.repeat

    async def timed(loops: int) -> tuple[int, int]:
        turns = repeat(None, loops)
        cpu_start = cpu()
        start = wall()
        for _ in turns:
            await call()
        end = wall()
        return end - start, cpu() - cpu_start

    return lambda loops: loop.run_until_complete(timed(loops))


class Launch:
    """One benchmark in this process, from its setup to its teardown.

    Every public method is a step that benchgate asks for: message in, reply out.
    """

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.loops = 1
        self.gc_was_enabled = gc.isenabled()
        function = benchmark.function
        self.setup, self.teardown = hook(function, "setup"), hook(function, "teardown")
        functions = [f for f in (function, self.setup, self.teardown) if f]
        self.event_loop = None
        if any(code_flags(f) & CO_COROUTINE for f in functions):
            import asyncio  # noqa: PLC0415

            self.event_loop = asyncio.new_event_loop()
        state = self._finish(self.setup(**benchmark.kwargs)) if self.setup else None
        self.args = () if state is None else (state,)
        self.call = function
        if self.args or benchmark.kwargs:
            self.call = functools.partial(function, *self.args, **benchmark.kwargs)
        if code_flags(function) & CO_COROUTINE and self.event_loop:
            self.sample = async_sampler(self.call, self.event_loop)
        else:
            self.sample = sampler(self.call)

    def _finish(self, outcome: Any) -> Any:
        """Wait for what a coroutine function gave."""
        if self.event_loop and hasattr(outcome, "__await__"):
            return self.event_loop.run_until_complete(outcome)
        return outcome

    def calibrate(self, message: dict[str, Any]) -> dict[str, Any]:
        """Find how many loops make a sample last long enough."""
        target_ns = message["target_ns"]
        number = getattr(self.benchmark.function, "number", None)
        loops = number or 1
        self.sample(loops)
        while True:
            elapsed_ns = max(self.sample(loops)[0], 1)
            if number or elapsed_ns >= target_ns:
                return {"loops": loops, "sample_ns": elapsed_ns}
            # Aim a little high, and never by more than tenfold: the first calls are slow.
            loops = max(loops + 1, min(loops * 10, int(loops * target_ns * 1.2 / elapsed_ns)))

    def set_loops(self, message: dict[str, Any]) -> dict[str, Any]:
        self.loops = message["loops"]
        return {}

    def begin(self, message: dict[str, Any]) -> dict[str, Any]:
        gc.collect()
        gc.disable()
        return {}

    def end(self, message: dict[str, Any]) -> dict[str, Any]:
        self.restore_gc()
        return {"peak_rss": peak_rss_bytes()}

    def restore_gc(self) -> None:
        if self.gc_was_enabled:
            gc.enable()

    def allocations(self, message: dict[str, Any]) -> dict[str, Any]:
        """Trace one call: the peak of its memory, and the blocks alive when it returns."""
        import tracemalloc  # noqa: PLC0415 - only in this pass, outside of every timing

        gc.collect()
        tracemalloc.start(1)
        try:
            kept = self._finish(self.call())
            peak = tracemalloc.get_traced_memory()[1]
            blocks = len(tracemalloc.take_snapshot().traces)
        finally:
            tracemalloc.stop()
        del kept
        return {"alloc_peak": peak, "alloc_blocks": blocks}

    def close(self, message: dict[str, Any]) -> dict[str, Any]:
        self.restore_gc()
        try:
            if self.teardown:
                self._finish(self.teardown(*self.args, **self.benchmark.kwargs))
        finally:
            if self.event_loop:
                self.event_loop.close()
        return {}


STEPS: dict[str, Callable[[Launch, dict[str, Any]], dict[str, Any]]] = {
    "calibrate": Launch.calibrate,
    "loops": Launch.set_loops,
    "begin": Launch.begin,
    "end": Launch.end,
    "allocations": Launch.allocations,
    "close": Launch.close,
}


def reset_peak_rss() -> bool:
    """Forget the peak of earlier benchmarks in this process, where the OS can."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        return False
    return True


def peak_rss_bytes() -> int:
    """Give the peak resident memory since the last reset."""
    try:
        with open("/proc/self/status") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    import resource  # noqa: PLC0415 - not needed where /proc exists

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def set_cpus(cpus: list[int] | None) -> None:
    if cpus and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cpus)


class Server:
    """Carries out what benchgate asks, one line at a time."""

    def __init__(self, request: dict[str, Any], incoming: int, outgoing: int) -> None:
        self.request = request
        self.incoming = incoming
        self.outgoing = outgoing
        self.benchmarks: dict[str, Benchmark] = {}
        self.launch: Launch | None = None

    def reply(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(self.outgoing, data) :]

    def serve(self) -> None:
        buffer = b""
        while True:
            while b"\n" not in buffer:
                chunk = os.read(self.incoming, 65536)
                if not chunk:
                    return
                buffer += chunk
            line, _, buffer = buffer.partition(b"\n")
            try:
                if line == SAMPLE and self.launch:
                    os.write(self.outgoing, b"%d %d\n" % self.launch.sample(self.launch.loops))
                else:
                    self.reply(self.step(json.loads(line.decode())))
            except BaseException as error:  # noqa: BLE001 - SystemExit of the user's code too
                if self.launch:
                    self.launch.restore_gc()
                self.reply(failure(error))

    def step(self, message: dict[str, Any]) -> dict[str, Any]:
        if message["do"] == "open":
            set_cpus(message["cpus"])
            exact = reset_peak_rss()
            self.launch = Launch(self.benchmarks[message["id"]])
            return {"rss_is_own": exact}
        if self.launch is None:
            raise ValueError("no benchmark is open")
        reply = STEPS[message["do"]](self.launch, message)
        if message["do"] == "close":
            self.launch = None
            reply["foreign"] = foreign_modules(self.request["forbidden"])
        return reply


def failure(error: BaseException) -> dict[str, str]:
    """Describe an exception: one line, and the traceback from the user's frames on."""
    flush()
    if isinstance(error, Fault):
        return {"error": str(error), "trace": ""}
    import traceback  # noqa: PLC0415

    line = traceback.format_exception_only(type(error), error)[-1].strip()
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
    trace = "".join(traceback.format_list(frames))
    return {"error": line, "trace": trace}


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105 - contextlib would be one more import in every launch
            stream.flush()
        except Exception:  # noqa: BLE001, S110 - the user may have closed or replaced it
            pass


def main() -> None:
    incoming, outgoing = int(sys.argv[2]), int(sys.argv[3])
    for descriptor in (incoming, outgoing):
        os.set_inheritable(descriptor, False)  # noqa: FBT003
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    set_cpus(request["cpus"])
    server = Server(request, incoming, outgoing)
    try:
        server.benchmarks = find_benchmarks(load(request))
        described = []
        if request["describe"]:
            described = [b.describe(request["root"]) for b in server.benchmarks.values()]
    except BaseException as error:  # noqa: BLE001 - SystemExit of the user's code too
        server.reply(failure(error))
        return
    server.reply(
        {
            "benchmarks": described,
            "python": f"{sys.implementation.name} {sys.version.split()[0]}",
            "timer_cost_ns": timer_cost_ns(),
            "foreign": foreign_modules(request["forbidden"]),
        }
    )
    server.serve()
    flush()


if __name__ == "__main__":
    main()
    # Threads and exit handlers of the user's code must not keep the process alive.
    os._exit(0)
