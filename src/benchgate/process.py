"""Starts programs, and ends each of them with all that it has started.

`_guardian.py` and `_launcher.py` in `measure/processes`, and what runs in the user's interpreter,
do without this module: nothing but the standard library is there.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final, Protocol

import psutil

from benchgate.errors import MeasureError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

_PATIENCE_S: Final = 1.5
_PAUSE_S: Final = 0.05
_INTERRUPTIONS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class GroupWatch(Protocol):
    """Kills process groups if benchgate is killed."""

    def watch(self, pgid: int) -> None:
        """Begin to watch a group."""

    def release(self, pgid: int) -> None:
        """Forget a group that has ended: its number may soon belong to another."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a program is ended with all that it has started.

    Attributes:
        guardian: kills the group if benchgate is killed; None if it ends by itself then.
        mark: a variable to recognize the processes that leave the group; "" to leave them alone.
        own_group: False to stay in the group of this process, which somebody else ends.
    """

    guardian: GroupWatch | None = None
    mark: str = ""
    own_group: bool = True


@dataclass(frozen=True, slots=True)
class Streams:
    """What a program reads and writes, each as for `subprocess.Popen`."""

    stdin: int | IO[bytes] = subprocess.DEVNULL
    stdout: int | IO[bytes] = subprocess.DEVNULL
    stderr: int | IO[bytes] | None = None
    pass_fds: Sequence[int] = ()


BY_GROUP: Final = Ending()
SILENT: Final = Streams()


class ProcessTree:
    """A program that has been started, with all that it starts.

    It has a session and a process group of its own, which is ended as a whole.

    Args:
        argv: program and arguments; the program is searched in the PATH of `env`.
        env: the whole environment.

    Raises:
        OSError, ValueError: it cannot be started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path | str,
        env: Mapping[str, str],
        ending: Ending = BY_GROUP,
        streams: Streams = SILENT,
    ) -> None:
        guardian = self._guardian = ending.guardian
        self._own_group = ending.own_group
        self.marks = {ending.mark: secrets.token_hex(16)} if ending.mark else {}
        self._ending = threading.Lock()
        self._is_over = False
        process = None
        try:
            with _uninterrupted():
                self._process = process = subprocess.Popen(
                    argv,
                    cwd=cwd,
                    env={**env, **self.marks},
                    stdin=streams.stdin,
                    stdout=streams.stdout,
                    stderr=streams.stderr,
                    pass_fds=streams.pass_fds,
                    start_new_session=ending.own_group,
                )
                self.pid: Final = process.pid
                if guardian:
                    guardian.watch(self.pid)
        except BaseException:
            if process:
                self.kill()
            raise

    @property
    def stdin(self) -> IO[bytes]:
        """The writing end of its standard input, which must be a pipe."""
        return _pipe(self._process.stdin)

    @property
    def stdout(self) -> IO[bytes]:
        """The reading end of its standard output, which must be a pipe."""
        return _pipe(self._process.stdout)

    def poll(self) -> int | None:
        """Return the exit code of the program, or minus the signal's number; None if it runs."""
        return self._process.poll()

    def wait(self, timeout_s: float) -> int | None:
        """Wait for the end of the program; return what `poll` does."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout_s)
        return self._process.returncode

    def finish(self, timeout_s: float) -> int | None:
        """Wait for the end of the program, then kill what is left; None if it took too long."""
        try:
            return self.wait(timeout_s)
        finally:
            self.kill()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to all in its group, unless it has ended; any thread may do that."""
        with self._ending:
            if not self._is_over:
                self._send(number)

    def end(self, grace_s: float = 0.0, terminating_s: float = 0.0) -> None:
        """Close its pipes, and end it.

        Args:
            grace_s: how long it may run on without standard input.
            terminating_s: how long it may run on after a SIGTERM that follows; 0 for no SIGTERM.
        """
        if self._process.stdin:
            with suppress(OSError):
                self._process.stdin.close()
        if self.wait(grace_s) is None and terminating_s:
            self.send(signal.SIGTERM)
            self.wait(terminating_s)
        self.kill()
        if self._process.stdout:
            self._process.stdout.close()

    def kill(self) -> None:
        """Kill whatever is left of it, and wait for the end of the program."""
        with self._ending:
            if self._is_over:
                return
            # What is left in the group of a program that was waited for must be looked for.
            must_look = self._own_group and self._process.returncode is not None
            self._send(signal.SIGKILL)
            self._process.wait()
            if self.marks or must_look:
                self._kill_left()
            self._is_over = True
        if self._guardian:
            self._guardian.release(self.pid)

    def left(self) -> list[psutil.Process]:
        """List the living processes of its group, and those with its mark."""
        found = []
        for pid in psutil.pids():
            with suppress(psutil.Error, OSError):  # it ended meanwhile, or belongs to another user
                process = psutil.Process(pid)
                if self._has(process) and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def _has(self, process: psutil.Process) -> bool:
        if self._own_group and os.getpgid(process.pid) == self.pid:
            return True
        return bool(self.marks) and self.marks.items() <= process.environ().items()

    def _kill_left(self) -> None:
        """Kill what is left, until nothing is; what cannot die is given up after a while."""
        deadline_s = time.monotonic() + _PATIENCE_S
        while (left := self.left()) and time.monotonic() < deadline_s:
            for process in left:
                with suppress(psutil.Error):
                    process.kill()
            psutil.wait_procs(left, _PAUSE_S)

    def _send(self, number: signal.Signals) -> None:
        # The number of a program that was waited for may belong to another one.
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):  # on macOS, of one that has ended
                (os.killpg if self._own_group else os.kill)(self.pid, number)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold interruptions back until it is known what must be ended after them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    handlers = {number: signal.getsignal(number) for number in _INTERRUPTIONS}
    ours = [number for number, handler in handlers.items() if callable(handler)]
    for number in ours:
        signal.signal(number, lambda number, _: held.append(number))
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, handlers[number])
        for one in held:
            signal.raise_signal(one)


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise RuntimeError("the process has no such pipe")
    return stream


def how_ended(code: int) -> str:
    """Say how a process ended, after "it": code is its exit code, or minus the signal's number."""
    return f"was killed by {signal_name(-code)}" if code < 0 else f"exited with code {code}"


def signal_name(number: int) -> str:
    """The name of a signal, e.g. SIGSEGV for 11; "signal N" for real-time signals."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def find_program(name: str, cwd: Path, path: str) -> str:
    """Find the file that a command's first word refers to.

    Args:
        name: a path, absolute or relative to `cwd` (then so is the result), or a bare name.
        cwd: folder that the command runs in.
        path: folders to search for a bare name, in the format of PATH.
    """
    if not name:
        raise MeasureError("the command is empty")
    if "/" not in name:
        folders = os.pathsep.join(str(cwd / folder) for folder in path.split(os.pathsep))
        found = shutil.which(name, path=folders)
        if found is None:
            raise MeasureError(
                f"command not found: {name!r}",
                hint="Install it, or check the PATH that benchgate was started with.",
            )
        return found
    file = cwd / name
    if not file.exists():
        raise MeasureError(f"command not found: there is no file {file}")
    if not file.is_file() or not os.access(file, os.X_OK):
        raise MeasureError(f"not executable: {file}", hint="Run chmod +x, or name its interpreter.")
    return name
