"""Carries out benchgate's requests, one line at a time; see `__main__` for the protocol."""

from __future__ import annotations

# Modules that only some steps need are imported in those steps. So a launch starts sooner, and
# the user's process holds fewer modules that the user did not import.
import atexit
import faulthandler
import json
import os
import sys

from .clocks import are_genuine, perf_counter_ns
from .failures import Fault, Origins, failure, flush
from .free_blocks import FreeBlocks
from .opened import STEPS
from .process_state import (
    had_children,
    occupy,
    reset_peak_rss,
    set_cpus,
    surroundings,
    use_of_children,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from .opened import OpenBenchmark
    from .reach import ReachWatch
    from .workloads import Describer

    class Host(Protocol):
        """Runs the user's file or suite, and lets the server measure its benchmarks."""

        def __init__(self, server: Server, request: dict[str, Any]) -> None: ...

        def run(self) -> None:
            """Say hello, then serve one benchmark after the other until benchgate closes."""

    Receive = Callable[[], bytes | None]
    Send = Callable[[bytes], None]

OLDEST_PYTHON = (3, 8)
PROTOCOL = 1
SAMPLE = b"s"
GOODBYE = b"bye\n"
TIMER_PAIRS = 1000


def connect(
    from_benchgate: str, to_benchgate: str, request: str = ""
) -> tuple[dict[str, Any], Receive, Send]:
    """Wait for the request; return it, a function that receives a line and one that sends."""
    read, write = os.read, os.write  # the user's code may replace these
    try:
        source, target = os.dup(int(from_benchgate)), os.dup(int(to_benchgate))
    except OSError:
        sys.exit("a program that starts Python closed benchgate's pipe: name Python itself")
    # What the user's code reads and prints, and its children, must not disturb the protocol.
    if from_benchgate == "0":
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
    else:
        os.close(int(from_benchgate))
    pending = b""

    def receive() -> bytes | None:
        """Return the next line from benchgate; None at the end."""
        nonlocal pending
        while b"\n" not in pending:
            chunk = read(source, 65536)
            if not chunk:
                return None
            pending += chunk
        line, _, pending = pending.partition(b"\n")
        return line

    def send(data: bytes) -> None:
        while data:
            data = data[write(target, data) :]

    asked = request or (receive() or b"hello {}").decode().partition(" ")[2]
    return json.loads(asked), receive, send


class Server:
    """Carries out benchgate's requests.

    Args:
        describer: describes the benchmarks; None if they are only measured.
        host: finds and runs the benchmarks.
        loaded_by_python: names of the modules that Python itself has imported.
        reach: watches what is reached; None if nobody asks for it.
    """

    def __init__(
        self,
        receive: Receive,
        send: Send,
        describer: type[Describer] | None,
        host: type[Host],
        loaded_by_python: frozenset[str],
        *,
        reach: type[ReachWatch] | None = None,
    ) -> None:
        self.receive = receive
        self.send_line = send
        self.describer = describer
        self.loaded_by_python = loaded_by_python
        self.host = host
        self.watch = reach
        self.reach: ReachWatch | None = None
        self.origins: Any = None
        self.dumps = json.dumps
        self.is_fork = False
        self.taken: list[Any] = []
        self.free_blocks: FreeBlocks | None = None
        self.listed: dict[str, Any] = {}
        self.opened: OpenBenchmark | None = None
        self.rss_is_own = False
        self.clean: dict[str, Any] = {}
        # Those that tools start themselves, such as git, run no code of the benchmarks.
        self.children: tuple[float, ...] = ()
        self.folders: list[str] = []

    def run(self, request: dict[str, Any]) -> None:
        """Carry out a request and all that follow, and end this process."""
        # Whatever happens, threads of the user's code must not keep the process alive.
        try:
            # Its purpose, to move the stack, is fulfilled; no other process should get it.
            os.environ.pop("BENCHGATE_PADDING", None)
            # After a crash, the output before it and the place where it happened explain it.
            faulthandler.enable(2)
            for stream in (sys.stdout, sys.stderr):
                if hasattr(stream, "reconfigure"):
                    stream.reconfigure(line_buffering=True)
            os.register_at_fork(after_in_child=self.note_fork)
            self.serve(request)
            # Exit handlers remove the temporary files of the user's code.
            atexit._run_exitfuncs()  # noqa: SLF001 - an ordinary end would wait for every thread
            flush()
            if self.reach:
                self.reach.finish()
            self.send(GOODBYE)
        except BaseException:  # noqa: BLE001 - shown, and then it ends
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)

    def note_fork(self) -> None:
        """Runs in a forked child: end its loop, which would otherwise keep forking."""
        self.is_fork = True
        if self.opened:
            for _ in self.opened.turns:
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

    def set_up(self, request: dict[str, Any]) -> None:
        """Prepare this process for the user's code."""
        if sys.version_info < OLDEST_PYTHON:
            raise Fault(
                f"{sys.executable} is Python {sys.version.split()[0]}: benchgate needs 3.8 or newer"
            )
        if not are_genuine:
            raise Fault(f"the clocks of {sys.executable} are replaced: they are not Python's own")
        set_cpus(request["cpus"])
        self.folders = import_folders()
        self.origins = Origins(request, self.loaded_by_python)
        self.taken = occupy(*request["occupy"])
        if self.watch:
            self.reach = self.watch(request["reach"])

    def hello(self, described: list[dict[str, Any]], faults: dict[str, str]) -> None:
        """Reply to the first request, now that the user's code has been imported.

        Args:
            described: the benchmarks, as `Describer` describes them.
            faults: by name, what is wrong with a benchmark or a file.
        """
        self.clean = surroundings()
        self.children = use_of_children()
        self.listed = {"benchmarks": described, "faults": faults}
        self.reply(
            {
                "language": "Python",
                "versions": {sys.implementation.name: sys.version.split()[0]},
                "clock": "time.perf_counter_ns",
                "clock_steps_ns": clock_steps_ns(),
                "steps": [*STEPS, "shared"],
                "executable": sys.executable,
                "folders": self.folders,
                **self.origins.look(),
            }
        )

    def serve(self, request: dict[str, Any]) -> None:
        """Let the host carry out the request, and all that follow."""
        # Before anything that may hang: another program may have started this one.
        self.reply({"protocol": PROTOCOL, "pid": os.getpid()})
        try:
            self.set_up(request)
            self.host(self, request).run()
        except BaseException as error:  # noqa: BLE001 - SystemExit of the user's code too
            self.reply(failure(error))
        self.carry_out()  # benchgate may not know yet that the host has failed

    def next(self) -> str | None:
        """Return the id of the benchmark to open; None if benchgate has closed its side."""
        id_ = self.carry_out(until="open")
        if id_ is not None and self.free_blocks is None:
            self.free_blocks = FreeBlocks()
        self.forget_peak()
        return id_

    def forget_peak(self) -> None:
        """Reset the peak of memory, before a benchmark is set up."""
        self.rss_is_own = reset_peak_rss()

    def serve_each(self, open_: Callable[[str], OpenBenchmark]) -> None:
        """Open and measure what benchgate asks for by its id, until benchgate closes its side."""
        id_ = self.next()
        while id_ is not None:
            try:
                opened = open_(id_)
                if not self.measure(opened):
                    opened.close()
                    return
                self.close(opened)
            except BaseException as error:  # noqa: BLE001 - SystemExit of the user's code too
                self.opened = None
                self.reply(failure(error))
            id_ = self.next()

    def measure(self, opened: OpenBenchmark) -> bool:
        """Carry out the steps of one open benchmark, until benchgate closes it.

        Returns:
            Whether benchgate waits for `close` now; otherwise it has closed its side.
        """
        self.opened = opened
        self.reply(
            {
                "rss_is_own": self.rss_is_own,
                "number": opened.number,
                "is_inside": opened.is_inside,
                "times_each": opened.times_each,
                "inner_loops": opened.inner_loops,
            }
        )
        return self.carry_out(until="close") is not None

    def close(self, opened: OpenBenchmark) -> None:
        """Tear a benchmark down, and reply with what it left changed."""
        self.opened = None
        reply = opened.close()
        found = surroundings()
        reply["changed"] = [key for key, was in self.clean.items() if found[key] != was]
        reply.update(self.origins.look())
        if not reply["has_own"]:
            reply["had_children"] = had_children(self.children)
        self.reply(reply)

    def carry_out(self, *, until: str = "") -> str | None:
        """Carry out requests.

        Args:
            until: a step that is left to the caller.

        Returns:
            The argument of that step; None if benchgate has closed its side.
        """
        line = self.receive()
        while line is not None:
            try:
                if line == SAMPLE and self.opened:
                    if self.free_blocks:
                        self.free_blocks.draw()
                    self.send(b"%d %d %d\n" % self.opened.timed())
                else:
                    step, _, argument = line.decode().partition(" ")
                    if step == until:
                        return argument
                    if step == "reach" and self.reach:
                        reached = self.reach.apart(self, argument)
                        if reached:
                            self.reply(reached)
                        line = self.receive()
                        continue
                    self.reply(self.listed if step == "list" else self.step(step, argument))
            except BaseException as error:  # noqa: BLE001 - SystemExit of the user's code too
                if self.opened:
                    self.opened.restore_gc()
                self.reply(failure(error))
            line = self.receive()
        return None

    def step(self, step: str, argument: str) -> dict[str, Any]:
        if self.opened is None:
            raise ValueError("no benchmark is open")
        reply: dict[str, Any] = getattr(self.opened, STEPS[step])(argument)
        return reply


def import_folders() -> list[str]:
    """Return the folders that this Python imports from, also the user's own if it is to come."""
    site = sys.modules.get("site")
    user = getattr(site, "getusersitepackages", str)() if site else ""
    return [os.path.abspath(folder) for folder in (*sys.path, user) if folder]


def clock_steps_ns() -> list[int]:
    """Read the clock twice in a row, many times; return the differences."""
    clock = perf_counter_ns
    return [-clock() + clock() for _ in range(TIMER_PAIRS)]
