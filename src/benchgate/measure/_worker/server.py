"""Carries out benchgate's requests, one line at a time; see `__main__` for the protocol."""

from __future__ import annotations

# Modules that only some steps need are imported in those steps. So a launch starts sooner, and
# the user's process holds fewer modules that the user did not import.
import atexit
import faulthandler
import json
import os
import sys
from time import perf_counter_ns

from .failures import Fault, failure, flush
from .functions import find_benchmarks
from .loading import load
from .opened import STEPS, OpenBenchmark
from .origins import Origins
from .process_state import had_children, occupy, reset_peak_rss, set_cpus, surroundings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .describing import Describer
    from .functions import Benchmark

    Receive = Callable[[], bytes | None]
    Send = Callable[[bytes], None]

OLDEST_PYTHON = (3, 8)
SAMPLE = b"s"
GOODBYE = b"bye\n"
TIMER_PAIRS = 1000


def take_channel() -> int:
    """Move benchgate's socket away from standard input, and make standard input empty."""
    channel = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return channel


def connect(channel: int) -> tuple[dict[str, Any], Receive, Send]:
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
    """Carries out benchgate's requests.

    Args:
        describer: describes the benchmarks; None if they are only measured.
        loaded_by_python: names of the modules that Python itself has imported.
    """

    def __init__(
        self,
        receive: Receive,
        send: Send,
        describer: type[Describer] | None,
        loaded_by_python: frozenset[str],
    ) -> None:
        self.receive = receive
        self.send_line = send
        self.describer = describer
        self.loaded_by_python = loaded_by_python
        self.origins: Any = None
        self.dumps, self.loads = json.dumps, json.loads
        self.is_fork = False
        self.taken: list[Any] = []
        self.benchmarks: dict[str, Benchmark] = {}
        self.opened: OpenBenchmark | None = None
        self.clean: dict[str, Any] = {}

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

    def open_file(self, request: dict[str, Any]) -> dict[str, Any]:
        """Import the benchmark file and find its benchmarks."""
        if sys.version_info < OLDEST_PYTHON:
            raise Fault(
                f"{sys.executable} is Python {sys.version.split()[0]}: benchgate needs 3.8 or newer"
            )
        set_cpus(request["cpus"])
        self.origins = Origins(request, self.loaded_by_python)
        self.taken = occupy(*request["occupy"])
        describer = self.describer(request) if self.describer else None
        module = load(request, self.loaded_by_python)
        self.benchmarks, faults = find_benchmarks(module, describer.check if describer else None)
        described = describer.describe(self.benchmarks.values()) if describer else []
        common = describer.common() if describer else []
        self.clean = surroundings()
        return {
            "benchmarks": described,
            "common": common,
            "faults": faults,
            "executable": sys.executable,
            "python": f"{sys.implementation.name} {sys.version.split()[0]}",
            "clock_steps_ns": clock_steps_ns(),
            **self.origins.look(),
        }

    def serve(self, request: dict[str, Any]) -> None:
        """Open the file of the request, then carry out requests until benchgate closes its side."""
        # Before anything that may hang: another program may have started this one.
        self.send(b"%d\n" % os.getpid())
        try:
            self.reply(self.open_file(request))
        except BaseException as error:  # noqa: BLE001 - SystemExit of the user's code too
            self.reply(failure(error))
        line = self.receive()
        while line is not None:
            try:
                if line == SAMPLE and self.opened:
                    self.send(b"%d %d\n" % self.opened.sample(self.opened.loops))
                else:
                    self.reply(self.step(self.loads(line.decode())))
            except BaseException as error:  # noqa: BLE001 - SystemExit of the user's code too
                if self.opened:
                    self.opened.restore_gc()
                self.reply(failure(error))
            line = self.receive()
        if self.opened:
            self.opened.close({})

    def step(self, message: dict[str, Any]) -> dict[str, Any]:
        if message["do"] == "open":
            rss_is_own = reset_peak_rss()
            benchmark = self.benchmarks.get(message["id"])
            if benchmark is None:
                raise Fault(
                    "its file does not define it on every import: define the same functions "
                    "each time"
                )
            self.opened = OpenBenchmark(benchmark)
            return {"rss_is_own": rss_is_own}
        if self.opened is None:
            raise ValueError("no benchmark is open")
        opened = self.opened
        if message["do"] == "close":
            self.opened = None
        reply = STEPS[message["do"]](opened, message)
        if message["do"] == "close":
            found = surroundings()
            reply["changed"] = [key for key, was in self.clean.items() if found[key] != was]
            reply.update(self.origins.look())
            if reply["shared"] and not reply["has_own"]:
                reply["had_children"] = had_children()
        return reply


def clock_steps_ns() -> list[int]:
    """Read the clock twice in a row, many times; return the differences."""
    clock = perf_counter_ns
    return [-clock() + clock() for _ in range(TIMER_PAIRS)]
