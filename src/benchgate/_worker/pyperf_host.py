"""Runs a script that is written for pyperf's Runner, and samples its benchmarks.

The script runs as a program, with the user's own pyperf. To find the benchmarks, it runs as in
pyperf's main process. To measure one, it runs as in one of pyperf's worker processes: all others
are passed over. The benchmark is sampled inside its call, so everything that the script has made
for it is there. Then the script goes on to its end.
"""

from __future__ import annotations

import ast
import os
import sys
from importlib import import_module
from itertools import repeat

from .clocks import perf_counter_ns
from .failures import Fault, failure, prepare
from .functions import Benchmark
from .opened import OpenBenchmark
from .standard import STANDARD_LIBRARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from types import FrameType
    from typing import Any

    from .opened import Clock
    from .server import Server
    from .workloads import Describer


# The work is in the text of the script, so no function's source is read.
NO_SOURCE = print
METHODS = frozenset(
    ("bench_func", "bench_time_func", "bench_async_func", "bench_command", "timeit")
)
CALLS = (ast.Call, ast.Await, getattr(ast, "NamedExpr", ast.Call))


def run_script(file: str, arguments: Sequence[str]) -> None:
    """Run a file as Python runs a program."""
    with open(file, "rb") as opened:
        text = opened.read()
    module = type(sys)("__main__")
    module.__file__ = file
    sys.modules["__main__"] = module
    sys.argv = [file, *arguments]
    code = compile(text, file, "exec", dont_inherit=True)
    try:
        exec(code, vars(module))  # noqa: S102 - the user's script
    except SystemExit as end:
        if end.code not in {None, 0}:
            raise Fault(f"the script {describe_exit(end, file)}") from None


def describe_exit(end: SystemExit, file: str) -> str:
    """Say where a script ended, and with which code or message."""
    line, innermost, traceback = 0, "", end.__traceback__
    while traceback:
        innermost = traceback.tb_frame.f_code.co_filename
        if innermost == file:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    what = f"code {end.code}" if isinstance(end.code, int) else f"this message: {end.code}"
    refused = os.path.basename(innermost) == "argparse.py"
    hint = ": it refuses its arguments, see `arguments` of [[benchmark]]" if refused else ""
    return f"exits in line {line} of {os.path.basename(file)} with {what}{hint}"


def place_of_call(file: str) -> int:
    """Return the line of the script that is being run; 0 if none is."""
    return next((each.f_lineno for each in frames() if each.f_code.co_filename == file), 0)


def frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - documented
    while frame:
        yield frame
        frame = frame.f_back


class Calls(ast.NodeTransformer):
    """Takes calls such as `runner.bench_func("a", f, DATA)` out of a script, wherever they are.

    Each becomes a function of its own, and the work of one benchmark, unless it calls something
    to make its arguments.

    Args:
        names: of the benchmarks.
    """

    def __init__(self, names: Collection[str]) -> None:
        self.names = names
        self.found: list[ast.stmt] = []

    @staticmethod
    def name_of(name: str) -> str:
        """Return what stands for a benchmark in the text: never the name of anything else."""
        return f"call of {name}"

    def visit_Module(self, node: ast.Module) -> ast.Module:
        self.generic_visit(node)
        node.body += self.found
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        call: Any = node.value
        method = getattr(getattr(call, "func", None), "attr", "")
        if method not in METHODS or sum(isinstance(each, CALLS) for each in ast.walk(call)) > 1:
            return node
        named = [each.value for each in call.keywords if each.arg == "name"] or call.args[:1]
        name = getattr(named[0], "value", None) if named else None
        if not isinstance(name, str) or name not in self.names:
            return node
        function: Any = ast.parse("def f(): ...").body[0]
        function.name, function.body = self.name_of(name), [node]
        self.found.append(function)
        return None


def describe(
    found: Mapping[str, int], describer: type[Describer], request: dict[str, Any]
) -> list[dict[str, Any]]:
    """Describe the benchmarks of a script by its text.

    Args:
        found: the lines of their calls, by name.
    """
    names = {name: Calls.name_of(name) for name in found}
    benchmarks = [Benchmark(name, own, NO_SOURCE) for name, own in names.items()]
    one = describer(request, names=set(names.values()), program=Calls(found))
    described = one.describe(benchmarks)
    path = os.path.relpath(os.path.realpath(request["file"]), os.path.realpath(request["root"]))
    for each in described:
        each["location"] = f"{path}:{found[each['id']]}"
    return described


# As pyperf itself: a time that does not grow with the loops would never be long enough.
MOST_LOOPS = 2**32


class RunnerBenchmark(OpenBenchmark):
    """A benchmark of a Runner.

    Attributes:
        last_ns: the time of one operation in the last sample.
    """

    last_ns = 0.0


class TaskBenchmark(RunnerBenchmark):
    """A task of pyperf's: a function that times loops itself, and returns the seconds.

    Each of its loops stands for `inner_loops` operations, so these are the loops here.
    """

    def __init__(self, task: Any) -> None:
        super().__init__(Benchmark("", task.name, self.call_once))
        self.task = task
        self.inner_loops = task.inner_loops or 1

    def call_once(self) -> None:
        self.task.task_func(self.task, 1)

    def sample(self, loops: int, wall: Clock, cpu: Clock) -> tuple[int, int]:
        """Let the task time itself; return its time, and a share of the CPU time as large."""
        turns = -(-loops // self.inner_loops)
        if not turns:  # the overhead of a sample is counted
            return 0, 0
        if turns > MOST_LOOPS:
            raise Fault(f"the time that it returns does not grow: {turns} loops are too few")
        cpu_start, start, began_ns = cpu(), wall(), perf_counter_ns()
        seconds = self.task.task_func(self.task, turns)
        ended_ns, passed_ns, cpu_ns = perf_counter_ns(), wall() - start, cpu() - cpu_start
        timed_ns = 1e9 * self.checked(seconds)
        if wall is not perf_counter_ns:  # the task's own clock runs while it waits for a CPU
            timed_ns *= min(1.0, passed_ns / (ended_ns - began_ns))
        share = min(1.0, timed_ns / passed_ns)
        scale = loops / (turns * self.inner_loops)
        self.last_ns = timed_ns / (turns * self.inner_loops)
        return round(timed_ns * scale), round(cpu_ns * share * scale)

    @staticmethod
    def checked(seconds: Any) -> float:
        try:
            found = float(seconds)
        except (TypeError, ValueError):
            found = -1.0
        if not 0 <= found < float("inf"):
            raise Fault(f"its function returned {seconds!r}: it must return a time in seconds")
        return found


class CommandTask(RunnerBenchmark):
    """A command: each call is a new process, without input, whose output is not kept."""

    is_inside = False

    def __init__(self, command: Any) -> None:
        with STANDARD_LIBRARY:
            import resource  # noqa: PLC0415 - seldom needed
            import subprocess  # noqa: PLC0415
        self.subprocess, self.resource = subprocess, resource
        self.command = list(command)
        super().__init__(Benchmark("", "", self.run_once))

    def run_once(self) -> None:
        nothing = self.subprocess.DEVNULL
        with self.subprocess.Popen(
            self.command, stdin=nothing, stdout=nothing, stderr=self.subprocess.STDOUT
        ) as process:
            code = process.wait()
        if code:
            raise Fault(f"its command ended with exit code {code}: {' '.join(self.command)}")

    def sample(self, loops: int, wall: Clock, cpu: Clock) -> tuple[int, int]:
        """Time this many processes; return also the CPU time that they used."""
        self.turns = repeat(None, loops)
        cpu_start = self.children_ns()
        start = wall()
        for _ in self.turns:
            self.run_once()
        passed_ns = wall() - start
        self.last_ns = passed_ns / max(1, loops)
        return passed_ns, self.children_ns() - cpu_start

    def children_ns(self) -> int:
        used = self.resource.getrusage(self.resource.RUSAGE_CHILDREN)
        return round((used.ru_utime + used.ru_stime) * 1e9)

    def close(self) -> dict[str, Any]:
        """Tear it down; its own processes do not work beside it."""
        found = super().close()
        return {**found, "beside": [each for each in found["beside"] if each != "processes"]}


# Options of pyperf that would run the benchmarks elsewhere, trace them, or write files.
NEUTRAL = {
    "append": None,
    "calibrate_loops": False,
    "calibrate_warmups": False,
    "compare_to": None,
    "hook": None,
    "output": None,
    "pipe": None,
    "profile": None,
    "recalibrate_loops": False,
    "recalibrate_warmups": False,
    "track_memory": False,
    "tracemalloc": False,
    "worker_task": None,
}
REPLACED = ("_created", "_main", "_set_args", "bench_command")
SECOND = "second"
# Stands for a time that nobody has measured.
MADE_UP_NS = 1e9


class PyperfHost:
    """Runs a script once for each benchmark, and before that to find them."""

    def __init__(self, server: Server, request: dict[str, Any]) -> None:
        self.server = server
        self.request = request
        self.pyperf: Any = None
        # Names of benchmarks of this run of the script, and the lines of their calls.
        self.found: dict[str, int] = {}
        self.is_searching = server.describer is not None
        self.has_greeted = False
        # The id of the benchmark to open; None before the first, and if benchgate has closed its
        # side.
        self.asked: str | None = None
        self.measured: RunnerBenchmark | None = None

    def run(self) -> None:
        """See `server.Host`."""
        file = self.request["file"]
        prepare(self.request, self.server.loaded_by_python, [os.path.dirname(file)])
        self.pyperf = self.import_pyperf()
        self.replace_methods(self.pyperf.Runner)
        if self.server.describer:
            self.run_once()
            self.is_searching = False
            self.greet(describe(self.found, self.server.describer, self.request))
        # Without a greeting, the first call of a benchmark greets.
        while not self.has_greeted or self.await_request():
            try:
                self.measure_once()
            except BaseException as error:
                if not self.has_greeted:
                    raise
                if self.asked is None:
                    return
                self.server.opened = None
                self.server.reply(failure(error))

    def import_pyperf(self) -> Any:
        try:
            pyperf = import_module("pyperf")
        except ImportError as error:
            if error.name != "pyperf":
                raise
            raise Fault(
                f"pyperf is not installed for {sys.executable}: let [build] install what the "
                "script needs"
            ) from None
        # pyperf and what it imports are not what is measured.
        self.server.origins.leave_out(set(sys.modules))
        return pyperf

    def replace_methods(self, runner: Any) -> None:
        """Let every Runner hand its benchmarks over, whatever class it is of."""
        if not all(hasattr(runner, name) for name in REPLACED):
            raise Fault(
                f"benchgate does not know pyperf {self.pyperf.__version__}: let [build] install a "
                "version that it knows, such as 2.10.0"
            )
        set_args = runner._set_args  # noqa: SLF001 - no public way

        def set_neutral_args(runner: Any, args: Any) -> None:
            for name, value in NEUTRAL.items():
                if hasattr(args, name):
                    setattr(args, name, value)
            args.worker = not self.is_searching
            if args.worker:  # it always gets these numbers
                args.loops = args.loops or 1
                args.warmups = 1 if args.warmups is None else args.warmups
            set_args(runner, args)

        def run_task(runner: Any, task: Any) -> Any:
            runner.parse_args()
            return self.call(task.name, lambda: self.open_task(task))

        def bench_command(runner: Any, name: str, command: Any) -> Any:
            runner.parse_args()
            return self.call(name.strip(), lambda: CommandTask(command))

        runner._set_args = set_neutral_args  # noqa: SLF001
        runner._main = run_task  # noqa: SLF001
        runner.bench_command = bench_command

    def run_once(self) -> None:
        """Run the script from its start to its end."""
        self.found = {}
        self.measured = None
        self.pyperf.Runner._created.clear()  # noqa: SLF001 - one for each run
        as_worker = [] if self.is_searching else ["--worker"]
        run_script(self.request["file"], [*as_worker, *self.request["arguments"]])
        if not self.found:
            raise Fault(
                "it has run to its end without a benchmark: call a method of pyperf.Runner, such "
                "as `runner.bench_func`"
            )

    def measure_once(self) -> None:
        """Run the script, in which benchgate is answered; and answer it at its end."""
        self.run_once()
        if self.asked is None:
            return
        if self.measured is None:
            raise Fault("the script does not reach it each time: let it run the same benchmarks")
        self.server.close(self.measured)

    def greet(self, described: list[dict[str, Any]]) -> None:
        self.has_greeted = True
        self.server.hello(described, {})

    def await_request(self) -> bool:
        """Wait for the request to open a benchmark; return False if none follows."""
        self.asked = self.server.next()
        return self.asked is not None

    def call(self, name: str, open_: Callable[[], RunnerBenchmark]) -> Any:
        """Stand in for a call that runs a benchmark.

        Returns:
            What pyperf returns: its own Benchmark, or None for one that is passed over.
        """
        if name in self.found:
            raise ValueError(f"duplicated benchmark name: {name!r}")
        self.found[name] = place_of_call(self.request["file"])
        if self.is_searching:
            return self.outcome(name, MADE_UP_NS)
        if not self.has_greeted:
            # All that it imports to begin with is imported now.
            self.greet([])
            self.await_request()
        if self.asked == name:
            self.measured = opened = open_()
            self.measure(opened)
            return self.outcome(name, opened.last_ns)
        if self.asked is None:
            raise SystemExit
        return None

    def measure(self, opened: RunnerBenchmark) -> None:
        """Let benchgate measure a benchmark, until it closes it or its own side."""
        try:
            if not self.server.measure(opened):
                self.asked = None
                raise SystemExit
        finally:
            opened.restore_gc()

    def outcome(self, name: str, value_ns: float) -> Any:
        metadata = {"name": name, "unit": SECOND}
        run = self.pyperf.Run([value_ns / 1e9], metadata=metadata, collect_metadata=False)
        return self.pyperf.Benchmark([run])

    @staticmethod
    def open_task(task: Any) -> RunnerBenchmark:
        unit = task.metadata["unit"]
        if unit != SECOND:
            raise Fault(f"its unit is {unit}: benchgate measures only times of pyperf's scripts")
        return TaskBenchmark(task)
