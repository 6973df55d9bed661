"""Runs a script that is written for pyperf's Runner, and stops it where a benchmark begins.

The script runs as a program, with the user's own pyperf. To find the benchmarks, it runs as in
pyperf's main process. To measure one, it runs as in one of pyperf's worker processes: all others
are passed over. The benchmark is sampled inside its call, so everything that the script has made
for it is there. Then the script goes on to its end.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

from .failures import Fault, failure
from .loading import prepare
from .process_state import reset_peak_rss
from .pyperf_script import describe, place_of_call, run_script
from .pyperf_tasks import CommandBenchmark, TaskBenchmark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .pyperf_tasks import RunnerBenchmark
    from .server import Server

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


class Host:
    """Runs a script once for each benchmark, and before that to find them."""

    def __init__(self, server: Server, request: dict[str, Any]) -> None:
        self.server = server
        self.request = request
        self.pyperf: Any = None
        # Names of benchmarks of this run of the script, and the lines of their calls.
        self.found: dict[str, int] = {}
        self.is_searching = server.describer is not None
        self.has_greeted = False
        # The request to open a benchmark; None before the first, and if benchgate has closed its
        # side.
        self.message: dict[str, Any] | None = None
        self.rss_is_own = False
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
        while not self.has_greeted or self.await_message():
            try:
                self.measure_once()
            except BaseException as error:
                if not self.has_greeted:
                    raise
                if self.message is None:
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
        """Let every Runner hand its benchmarks over, whatever class it is of.

        Raises:
            Fault: this version of pyperf has other methods.
        """
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
            return self.call(name.strip(), lambda: CommandBenchmark(command))

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
        if self.message is None:
            return
        if self.measured is None:
            raise Fault("the script does not reach it each time: let it run the same benchmarks")
        self.server.close(self.measured)

    def greet(self, described: list[dict[str, Any]]) -> None:
        self.has_greeted = True
        self.server.hello(described, {})

    def await_message(self) -> bool:
        """Wait for the request to open a benchmark; return False if none follows."""
        self.message = self.server.next()
        self.rss_is_own = reset_peak_rss()
        return self.message is not None

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
            self.await_message()
        if self.message and self.message["id"] == name:
            self.measured = opened = open_()
            self.measure(opened)
            return self.outcome(name, opened.last_ns)
        if self.message is None:
            raise SystemExit
        return None

    def measure(self, opened: RunnerBenchmark) -> None:
        """Let benchgate measure a benchmark, until it closes it or its own side."""
        try:
            if not self.server.measure(opened, rss_is_own=self.rss_is_own):
                self.message = None
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
