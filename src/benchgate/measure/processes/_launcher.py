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

    from benchgate.measure.processes.execution import ExecutionReply, ExecutionRequest

    ExitWatch: TypeAlias = "PidFd | WaitingThread"

TAIL_BYTES = 8192
READ_BYTES = 65536
# A file grows unnoticed no longer than this.
LOOK_AT_FILE_MS = 200
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


class OutputTail:
    """The reading end of a child's output: reads everything and keeps only the tail."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self.tail = b""
        self._buffer = bytearray(READ_BYTES)

    def read(self) -> bool:
        """Read what is available, up to one buffer; False if there was nothing."""
        try:
            count = os.readv(self.fd, [self._buffer])
        except BlockingIOError:
            return False
        fresh = self._buffer[max(0, count - TAIL_BYTES) : count]
        self.tail = (self.tail + fresh)[-TAIL_BYTES:]
        return count > 0

    def finish(self) -> str:
        """Read the rest without waiting, and return the tail of the output as text."""
        for _ in range(LAST_READS):
            if not self.read():
                break
        os.close(self.fd)
        return self.tail.decode(errors="replace")


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
        read_end, write_end = os.pipe()
        output = OutputTail(read_end)
        try:
            started_ns, pid = self._spawn(request, write_end)
        except (OSError, ValueError) as error:
            output.finish()
            return {"refused": reason(error)}
        finally:
            os.close(write_end)
        watch = self._watch(pid)
        timed_out = True
        try:
            ended_ns, timed_out = self._attend(watch, output, started_ns, request)
        finally:
            if timed_out and request["grace_s"]:
                ask_to_end(pid, watch, request["grace_s"])
            kill_group(pid)
            first_ns, waited_ns = scheduled(pid)
            status, usage = watch.reap()
            tail = output.finish()
        cost = {
            "wall_ns": ended_ns - started_ns,
            "user_ns": round(usage.ru_utime * 1e9),
            "system_ns": round(usage.ru_stime * 1e9),
            "peak_rss_bytes": maxrss_bytes(usage),
            "peak_rss_floor_bytes": own_peak_rss_bytes(),
            "returncode": os.waitstatus_to_exitcode(status),
            "timed_out": timed_out,
            "output_tail": tail,
            "overflowed": overflowed(request),
            "first_thread_ns": first_ns,
            "waited_for_cpu_ns": waited_ns,
        }
        return {"usage": cost}

    def _spawn(self, request: ExecutionRequest, output: int) -> tuple[int, int]:
        """Start the command; return the time just before, and its process and group number."""
        cpus, file = request["cpus"], request["stdout"]
        stdout: tuple[object, ...] = (os.POSIX_SPAWN_DUP2, output, 1)
        if file is not None:
            stdout = (os.POSIX_SPAWN_OPEN, 1, file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
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
                    stdout,
                    (os.POSIX_SPAWN_DUP2, output, 2),
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
        self, watch: ExitWatch, output: OutputTail, started_ns: int, request: ExecutionRequest
    ) -> tuple[int, bool]:
        """Read the output until the child ends; return the end time and whether it timed out."""
        poller = select.poll()
        for fd in (watch.fd, output.fd, self._control):
            poller.register(fd, select.POLLIN)
        deadline_ns = started_ns + round(request["timeout_s"] * 1e9)
        longest_ms = float("inf") if request["stdout"] is None else LOOK_AT_FILE_MS
        now_ns = started_ns
        while True:
            wait_ms = min(max(0.0, (deadline_ns - now_ns) / 1e6), longest_ms)
            ready = {fd for fd, _ in poller.poll(wait_ms)}
            now_ns = time.perf_counter_ns()
            if watch.fd in ready or overflowed(request):
                return now_ns, False
            if self._control in ready:
                raise Abandoned
            if now_ns >= deadline_ns:
                return now_ns, True
            if output.fd in ready and not output.read():
                poller.unregister(output.fd)  # the child closed it and continues


def overflowed(request: ExecutionRequest) -> bool:
    """Whether a standard output that is kept is larger than it may be."""
    if request["stdout"] is not None:
        with suppress(OSError):
            return os.stat(request["stdout"]).st_size > request["stdout_limit_bytes"]  # noqa: PTH116 - pathlib is large
    return False


def ask_to_end(pid: int, watch: ExitWatch, grace_s: float) -> None:
    """Send SIGTERM to a child, and wait for its end, but no longer than this."""
    os.kill(pid, signal.SIGTERM)  # it cannot be another process: the child is not reaped yet
    poller = select.poll()
    poller.register(watch.fd, select.POLLIN)
    poller.poll(grace_s * 1e3)


def kill_group(pgid: int) -> None:
    """Kill what is left of a process group."""
    # No process is left, or on macOS only a zombie.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pgid, signal.SIGKILL)


def maxrss_bytes(usage: resource.struct_rusage) -> int:
    """Peak memory in bytes: macOS counts it in bytes, Linux in KiB."""
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def scheduled(pid: int) -> tuple[int, int] | tuple[None, None]:
    """How long the first thread of a child ran, and how long it waited for a CPU, both in ns.

    None if the OS does not tell. It does as long as the child is not reaped.
    """
    try:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:  # noqa: PTH123 - pathlib is large
            ran_ns, waited_ns, _ = map(int, file.read().split())
    except (OSError, ValueError):
        return None, None
    return (ran_ns, waited_ns) if ran_ns else (None, None)


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
            except OSError as error:
                reply = {"refused": reason(error)}
            except Abandoned:
                return
            try:
                os.write(1, json.dumps(reply).encode() + b"\n")
            except OSError:  # nobody reads it any more
                return


if __name__ == "__main__":
    main()
