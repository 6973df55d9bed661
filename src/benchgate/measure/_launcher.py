"""Runs commands for benchgate one at a time, from a process as small as Python allows.

The OS starts counting a child's peak memory at the peak of the process that spawned it. So if
benchgate itself, with its numeric libraries, ran a command, the command would seem to need at
least 100 MB. A small parent that does nothing else also disturbs the measurement least.

Started as `python -I -S _launcher.py`. Each line of standard input is a request, answered by
one line on standard output, both JSON. When standard input ends, the command that is
running is killed with its process group, and the launcher ends. Standard library only.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from contextlib import suppress

TYPE_CHECKING = False  # importing it from typing costs more than a megabyte

if TYPE_CHECKING:
    import resource
    from collections.abc import Callable
    from typing import TypeAlias

    from benchgate.measure.execution import ExecutionReply, ExecutionRequest

    ExitWatch: TypeAlias = "PidFd | WaitingThread"

TAIL_BYTES = 8192
READ_BYTES = 65536
# A process that left the group may keep writing without end; read no more than a full pipe.
LAST_READS = 32
# A child must not ignore the signals that Python or this program ignores.
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ)


class Abandoned(Exception):  # noqa: N818 - an event, and nobody's fault
    """benchgate has ended, or no longer wants an answer."""


class PidFd:
    """Watches a child by its pidfd, on Linux: `fd` becomes readable when the child ends."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.fd = os.pidfd_open(pid)

    def reap(self) -> tuple[int, resource.struct_rusage]:
        """Wait for the child's end; return its status and resource usage."""
        os.close(self.fd)
        _, status, usage = os.wait4(self._pid, 0)
        return status, usage


class WaitingThread:
    """Watches a child by a thread that waits for it, on any POSIX system."""

    def __init__(self, pid: int) -> None:
        import threading  # noqa: PLC0415 - costs memory, which is the floor of every measurement

        self._result: tuple[int, resource.struct_rusage] | None = None
        self.fd, ended = os.pipe()

        def wait() -> None:
            _, status, usage = os.wait4(pid, 0)
            self._result = status, usage
            os.close(ended)

        self._thread = threading.Thread(target=wait)
        self._thread.start()

    def reap(self) -> tuple[int, resource.struct_rusage]:
        self._thread.join()
        os.close(self.fd)
        if self._result is None:
            raise RuntimeError("the waiting thread failed")
        return self._result


def watch_exit(pid: int) -> ExitWatch:
    """Choose the best way to watch a child on this system."""
    if sys.platform == "linux":
        try:
            return PidFd(pid)
        except OSError:  # an old kernel, or a sandbox that forbids the call
            pass
    return WaitingThread(pid)


class Tail:
    """The last bytes of what a child prints."""

    def __init__(self) -> None:
        self._bytes = b""

    def add(self, fresh: bytes | bytearray) -> None:
        self._bytes = (self._bytes + fresh[-TAIL_BYTES:])[-TAIL_BYTES:]

    def text(self) -> str:
        return self._bytes.decode(errors="replace")


class Output:
    """The reading end of a child's output: reads everything, and keeps the tail.

    Args:
        tail: for outputs that are shown together.
        copy: a file that gets everything, up to `limit_bytes`; None for no file.
    """

    def __init__(self, fd: int, tail: Tail, copy: int | None = None, limit_bytes: int = 0) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self.trouble = ""
        self._tail = tail
        self._copy = copy
        self._limit_bytes = self._left_bytes = limit_bytes
        self._buffer = bytearray(READ_BYTES)

    def read(self) -> bool:
        """Read what is available, up to one buffer; False if there was nothing."""
        try:
            count = os.readv(self.fd, [self._buffer])
        except BlockingIOError:
            return False
        fresh = self._buffer[:count]
        self._tail.add(fresh)
        if self._copy is not None:
            self._left_bytes -= count
            self.trouble = self.trouble or self._keep(fresh)
        return count > 0

    def _keep(self, fresh: bytearray) -> str:
        """Write to the copy; return why that is not possible, or ""."""
        if self._copy is None or self._left_bytes < 0:
            return f"it has more than {self._limit_bytes} bytes"
        view = memoryview(fresh)
        try:
            while view:
                view = view[os.write(self._copy, view) :]
        except OSError as error:
            return reason(error)
        return ""

    def finish(self) -> None:
        """Read the rest without waiting."""
        for _ in range(LAST_READS):
            if self.trouble or not self.read():
                break
        os.close(self.fd)
        if self._copy is not None:
            os.close(self._copy)


class Launcher:
    """Runs one request after another.

    Args:
        control: a descriptor that becomes readable if the execution must be abandoned.
        watch: detects the end of a child.
    """

    def __init__(self, control: int, watch: Callable[[int], ExitWatch]) -> None:
        self._control = control
        self._watch = watch
        self._home = frozenset[int]()
        if sys.platform == "linux":
            self._home = frozenset(os.sched_getaffinity(0))

    def execute(self, request: ExecutionRequest) -> ExecutionReply:
        """Run a command until it ends or reaches its timeout.

        Raises:
            Abandoned: after the command was killed.
        """
        tail = Tail()
        outputs: list[Output] = []
        ends: list[int] = []
        try:
            outputs, ends = open_outputs(request, tail)
            started_ns, pid = self._spawn(request, ends)
        except (OSError, ValueError) as error:
            for output in outputs:
                output.finish()
            return {"refused": reason(error)}
        finally:
            for end in ends:
                os.close(end)
        watch = self._watch(pid)
        try:
            ended_ns, timed_out = self._attend(watch, outputs, started_ns, request["timeout_s"])
        finally:
            kill_group(pid)
            status, usage = watch.reap()
            for output in outputs:
                output.finish()
        cost = {
            "wall_ns": ended_ns - started_ns,
            "user_ns": round(usage.ru_utime * 1e9),
            "system_ns": round(usage.ru_stime * 1e9),
            "peak_rss_bytes": maxrss_bytes(usage),
            "peak_rss_floor_bytes": own_peak_rss_bytes(),
            "returncode": os.waitstatus_to_exitcode(status),
            "timed_out": timed_out,
            "output_tail": tail.text(),
            "unkept": "".join(output.trouble for output in outputs),
        }
        return {"usage": cost}

    def _spawn(self, request: ExecutionRequest, ends: list[int]) -> tuple[int, int]:
        """Start the command; return the time just before, and its process and group number.

        Args:
            ends: the writing ends for its standard error and for its standard output.
        """
        cpus = request["cpus"]
        os.chdir(request["cwd"])
        try:
            # A child starts on the CPUs of the thread that spawns it, so it is pinned from its
            # start.
            self._move_to(frozenset(cpus) if cpus else self._home)
            started_ns = time.perf_counter_ns()
            pid = os.posix_spawn(
                request["program"],
                request["argv"],
                request["env"],
                file_actions=(
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_DUP2, ends[-1], 1),
                    (os.POSIX_SPAWN_DUP2, ends[0], 2),
                ),
                setsid=True,
                setsigmask=(),
                setsigdef=IGNORED,
            )
        finally:
            # Leave the child's CPU, if there is another one.
            self._move_to(self._home - frozenset(cpus or ()) or self._home)
            os.chdir("/")
        return started_ns, pid

    def _move_to(self, cpus: frozenset[int]) -> None:
        if sys.platform != "linux":
            if cpus:
                raise OSError(f"{sys.platform} does not bind processes to CPUs")
            return
        try:
            os.sched_setaffinity(0, cpus)
        except OSError as error:
            message = f"the OS does not bind it to the CPUs {sorted(cpus)}"
            raise OSError(error.errno, message) from error

    def _attend(
        self, watch: ExitWatch, outputs: list[Output], started_ns: int, timeout_s: float
    ) -> tuple[int, bool]:
        """Read the outputs until the child ends, or prints too much.

        Returns:
            The end time, and whether it timed out.
        """
        poller = select.poll()
        for fd in (watch.fd, self._control, *(output.fd for output in outputs)):
            poller.register(fd, select.POLLIN)
        deadline_ns = started_ns + round(timeout_s * 1e9)
        now_ns = started_ns
        while True:
            ready = {fd for fd, _ in poller.poll(max(0.0, (deadline_ns - now_ns) / 1e6))}
            now_ns = time.perf_counter_ns()
            if watch.fd in ready:
                return now_ns, False
            if self._control in ready:
                raise Abandoned
            if now_ns >= deadline_ns:
                return now_ns, True
            for output in outputs:
                if output.fd in ready and not output.read():
                    poller.unregister(output.fd)  # the child closed it and continues
                if output.trouble:
                    return now_ns, False


def open_outputs(request: ExecutionRequest, tail: Tail) -> tuple[list[Output], list[int]]:
    """Make a pipe for all that a child prints, and one more for a standard output that is kept.

    Returns:
        The reading ends, and the writing ends: of the errors first, of the standard output last.
    """
    copy = None
    if request["stdout"] is not None:
        copy = os.open(request["stdout"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    read_end, write_end = os.pipe()
    if copy is None:
        return [Output(read_end, tail)], [write_end]
    second_read_end, second_write_end = os.pipe()
    kept = Output(second_read_end, tail, copy, request["stdout_limit_bytes"])
    return [Output(read_end, tail), kept], [write_end, second_write_end]


def kill_group(pgid: int) -> None:
    """Kill what is left of a process group."""
    # No process is left, or on macOS only a zombie.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pgid, signal.SIGKILL)


def maxrss_bytes(usage: resource.struct_rusage) -> int:
    """Peak memory in bytes: macOS counts it in bytes, Linux in KiB."""
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def own_peak_rss_bytes() -> int:
    """Peak memory of this process; a child's smaller peak cannot be seen. 0 if unknown.

    Not from rusage, which starts this process at the peak of the process that spawned it.
    """
    try:
        with open("/proc/self/status", encoding="ascii") as file:  # noqa: PTH123 - pathlib is large
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def reason(error: OSError | ValueError) -> str:
    """The reason, from the OS or Python, why a command cannot be started."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return str(error)


def main() -> None:
    for name in IGNORED:
        signal.signal(name, signal.SIG_IGN)
    launcher = Launcher(control=0, watch=watch_exit)
    pending = b""
    while chunk := os.read(0, READ_BYTES):
        pending += chunk
        while b"\n" in pending:
            line, _, pending = pending.partition(b"\n")
            try:
                reply = launcher.execute(json.loads(line))
                os.write(1, json.dumps(reply).encode() + b"\n")
            except (Abandoned, BrokenPipeError):
                return


if __name__ == "__main__":
    main()
