"""Our side of a worker process: start it, ask it for steps and samples, end it.

See `_worker.py` for the protocol.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import select
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from benchgate.measure.layout import fixed_addresses
from benchgate.measure.replies import read_reply, read_sample
from benchgate.stats.timer import Timer, timer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.measure.engine import Arm
    from benchgate.measure.guardian import Guardian
    from benchgate.measure.layout import Layout
    from benchgate.measure.provided import Provided

PROGRAM = Path(__file__).with_name("_worker.py")
TAIL_BYTES = 8192
OUTPUT_LIMIT_BYTES = 256 * 2**20
_SHOWN_BYTES = 80
_MODULES_NAMED = 5
_LOOK_MS = 500
_END_WAIT_S = 2.0
_TRACE_WAIT_S = 1.0


class WorkerFailedError(Exception):
    """The benchmark, or the process that runs it, failed.

    Attributes:
        worker: the one that failed.
        error: one line, then what explains it.
    """

    def __init__(self, worker: Worker, line: str, explanation: str = "") -> None:
        super().__init__(line)
        self.worker = worker
        # What the user's code says may hold surrogates, which no file takes.
        self.error = f"{line}\n{explanation}".rstrip().encode("utf-8", "replace").decode()


class ForeignModuleError(WorkerFailedError):
    """It imported code that is not its arm's own: both arms may have run the same."""


@dataclass(frozen=True, slots=True)
class WorkerSetting:
    """What a worker is started with.

    Attributes:
        interpreter: command that starts Python.
        file: the benchmark file.
        helpers: folder whose modules belong to the benchmarks; None where there is none.
        own: folders whose code is this arm's alone.
        own_interpreter: whether the interpreter's is, too.
        provided: what may come from these folders only; None where that does not matter.
        path: entries for sys.path, before the interpreter's own.
        cpus: CPUs to run on; None leaves the choice to the OS.
        forbidden: trees that no module may come from: the user's checkout, the other arm.
        variables: the whole environment of the process, but for the hash seed.
        layout: where its objects come to lie.
        path_after: entries for sys.path, after the interpreter's own.
    """

    interpreter: Sequence[str]
    file: Path
    path: Sequence[str]
    cpus: Sequence[int] | None
    forbidden: Sequence[Path]
    variables: Mapping[str, str]
    layout: Layout
    path_after: Sequence[str] = ()
    helpers: Path | None = None
    own: Sequence[Path] = ()
    own_interpreter: bool = False
    provided: Provided | None = None


class Worker:
    """One worker process, alive from construction until `close` or `kill`.

    Attributes:
        timer: its clock, once it is ready.
        pid: of the process that runs the benchmarks, once it is ready: where the interpreter's
            command only starts Python, not of that command.
        packages: files of the installed modules that it has imported, as far as they are known.
    """

    timer: Timer
    pid: int

    def __init__(
        self, arm: Arm, setting: WorkerSetting, guardian: Guardian, *, describe: bool = False
    ) -> None:
        self.arm = arm
        self._guardian = guardian
        self.packages: dict[str, Path] = {}
        self._buffer = b""
        self._is_lost = False
        self._provided = setting.provided
        self._output = _open_output()
        # Not a pipe: by way of /proc a process can read its own end of one, and learn the key.
        self._channel, theirs = socket.socketpair()
        self._poll = select.poll()
        self._poll.register(self._channel, select.POLLIN)
        try:
            self._process = self._start(setting, theirs)
        finally:
            theirs.close()
        guardian.watch(self._process.pid)
        self.allow(0)
        key = secrets.token_hex(8)
        self._key = key.encode()
        self._send_step(
            "file",
            key=key,
            file=str(setting.file),
            root=str(arm.root),
            helpers=str(setting.helpers) if setting.helpers else None,
            path=list(setting.path),
            path_after=list(setting.path_after),
            cpus=list(setting.cpus) if setting.cpus else None,
            own=[str(p) for p in setting.own],
            own_interpreter=setting.own_interpreter,
            provided=sorted(setting.provided.modules) if setting.provided else [],
            forbidden=[str(p) for p in setting.forbidden],
            occupy=[setting.layout.blocks, setting.layout.chunks, setting.layout.gap_bytes],
            describe=describe,
        )

    def _start(self, setting: WorkerSetting, channel: socket.socket) -> subprocess.Popen[bytes]:
        try:
            with fixed_addresses():
                return subprocess.Popen(
                    [*setting.interpreter, str(PROGRAM)],
                    cwd=self.arm.root,
                    env={**setting.variables, **setting.layout.variables},
                    stdin=channel.fileno(),
                    stdout=self._output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            self._release()
            line = f"cannot start the interpreter {setting.interpreter[0]}: {error.strerror}"
            raise WorkerFailedError(self, line) from error

    def ready(self, timeout_s: float) -> dict[str, Any]:
        """Wait until the benchmark file is imported; give what the worker says of itself.

        Raises:
            WorkerFailedError: when the import fails, a module came from a forbidden tree, or the
                clock runs backwards.
        """
        self.allow(timeout_s)
        hello = self._reply("file")
        self.pid = hello["pid"]
        try:
            self.timer = timer(np.array(hello["clock_steps_ns"], dtype=np.float64))
        except ValueError as error:
            raise WorkerFailedError(self, str(error)) from None
        return hello

    def allow(self, seconds: float) -> None:
        """Give the steps that follow this long in all."""
        self._deadline = time.monotonic() + seconds
        self._allowed_s = seconds

    def ask(self, step: str, **arguments: object) -> dict[str, Any]:
        """Have one step carried out.

        Raises:
            WorkerFailedError: when it fails, and when the process dies or hangs.
        """
        self._send_step(step, **arguments)
        return self._reply(step)

    def sample(self) -> tuple[int, int]:
        """Have one sample taken: (wall_ns, cpu_ns) of all its loops.

        Raises:
            WorkerFailedError: as `ask`, and when a clock ran backwards.
        """
        self._send(b"s\n")
        line = self._line()
        sample = read_sample(line)
        if sample is None:
            raise self._refused(self._read_reply("sample", line))
        wall_ns, cpu_ns = sample
        if wall_ns < 0 or cpu_ns < 0:
            raise WorkerFailedError(self, f"a clock ran backwards: {wall_ns} ns, CPU {cpu_ns} ns")
        return wall_ns, cpu_ns

    def forget_output(self) -> None:
        """Drop what was printed so far: it belongs to a benchmark that did not fail."""
        os.ftruncate(self._output.fileno(), 0)

    def close(self) -> None:
        """End it in order: what is open is torn down, exit handlers run, its group is killed."""
        if not self._is_lost and self._channel.fileno() >= 0:
            with contextlib.suppress(WorkerFailedError, OSError):
                self._channel.shutdown(socket.SHUT_WR)
                self.allow(_END_WAIT_S)
                self._line()
        self.kill()

    def kill(self) -> None:
        """End it now, with every process of its group. Harmless when it has ended."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self._process.kill()
        self._process.wait()
        self._guardian.release(self._process.pid)
        self._release()

    def _release(self) -> None:
        self._channel.close()
        self._output.close()

    def _send_step(self, step: str, **arguments: object) -> None:
        self._send(json.dumps({"do": step, **arguments}).encode() + b"\n")

    def _send(self, data: bytes) -> None:
        try:
            os.write(self._channel.fileno(), data)
        except (BrokenPipeError, ConnectionResetError):
            raise self._dead() from None

    def _reply(self, step: str) -> dict[str, Any]:
        reply = self._read_reply(step, self._line())
        if "error" in reply:
            raise self._refused(reply)
        if reply.get("foreign"):
            raise self._foreign(*reply["foreign"][0])
        self._require_own(reply)
        self.packages.update((module, Path(file)) for module, file in reply.get("packages", ()))
        return reply

    def _read_reply(self, step: str, line: bytes) -> dict[str, Any]:
        reply = read_reply(step, line)
        if reply is None:
            raise self._intruded(line)
        return reply

    def _require_own(self, reply: Mapping[str, Any]) -> None:
        """Refuse what both arms would share, where it is this arm's code that is to be measured."""
        if self._provided is None:
            return
        for module, file in reply.get("elsewhere", ()):
            if self._provided.is_installed_copy(module, Path(file)):
                raise ForeignModuleError(
                    self,
                    f"the {self.arm.name} imported {module} from {file}, not from its own tree: "
                    "base and head would run the same code",
                    f"{_remedy(self._provided.modules[module])}, or build an environment for each "
                    "side in [build].",
                )
        if reply.get("had_children") is False:
            names = ", ".join(reply["shared"][:_MODULES_NAMED])
            raise ForeignModuleError(
                self,
                f"it imported nothing from the tree or environment of the {self.arm.name}: "
                f"base and head would run the same code ({names})",
                f"{_remedy('')}. If a dependency is what it measures, set `allow_foreign = true`.",
            )

    def _line(self) -> bytes:
        """Give the next line without the key that it begins with."""
        while b"\n" not in self._buffer:
            self._read()
            # Before the end of the line, which may never come.
            if not self._buffer.startswith(self._key[: len(self._buffer)]):
                raise self._intruded(self._buffer)
        line, _, self._buffer = self._buffer.partition(b"\n")
        if not line.startswith(self._key):
            raise self._intruded(line)
        return line[len(self._key) :]

    def _read(self) -> None:
        """Wait a moment for more of a line."""
        left_ms = (self._deadline - time.monotonic()) * 1000
        if left_ms <= 0:
            raise self._hung()
        if self._poll.poll(min(left_ms + 1, _LOOK_MS)):
            try:
                chunk = os.read(self._channel.fileno(), 65536)
            except ConnectionResetError:  # it has ended without reading what it was asked
                chunk = b""
            if not chunk:
                raise self._dead()
            self._buffer += chunk
        # A forked child may hold the socket open after the worker has died.
        elif self._process.poll() is not None:
            raise self._dead()
        elif os.fstat(self._output.fileno()).st_size > OUTPUT_LIMIT_BYTES:
            self._is_lost = True
            problem = f"it printed more than {OUTPUT_LIMIT_BYTES >> 20} MB"
            raise WorkerFailedError(self, problem, self._tail())

    def _hung(self) -> WorkerFailedError:
        self._is_lost = True
        # On this signal Python prints where it is.
        self._process.send_signal(signal.SIGABRT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_TRACE_WAIT_S)
        line = f"timed out: not done within {self._allowed_s:g} s"
        return WorkerFailedError(self, line, self._tail())

    def _dead(self) -> WorkerFailedError:
        self._is_lost = True
        try:
            code = self._process.wait(_END_WAIT_S)
        except subprocess.TimeoutExpired:
            return WorkerFailedError(self, "it closed benchgate's pipe", self._tail())
        return WorkerFailedError(self, f"its process {_describe_end(code)}", self._tail())

    def _intruded(self, line: bytes) -> WorkerFailedError:
        """Make an error of what another than the worker wrote; the key is none of its text."""
        self._is_lost = True
        text = line.partition(self._key)[0].partition(b"\n")[0][:_SHOWN_BYTES]
        problem = f"it wrote to benchgate's pipe, which is not its own: {text!r}"
        return WorkerFailedError(self, problem, self._tail())

    def _refused(self, reply: Mapping[str, Any]) -> WorkerFailedError:
        """Make an error of what the worker says of one."""
        parts = reply["trace"], self._tail()
        return WorkerFailedError(self, reply["error"], "\n".join(part for part in parts if part))

    def _foreign(self, module: str, file: str) -> ForeignModuleError:
        return ForeignModuleError(
            self,
            f"the {self.arm.name} imported {module} from {file}, not from its own tree: base "
            "and head would run the same code. An editable install is in the way: set "
            "`pythonpath` in [[benchmark]], or build an environment for each side in "
            "[build] and name it in `interpreter`",
        )

    def _tail(self) -> str:
        descriptor = self._output.fileno()
        size = os.fstat(descriptor).st_size
        tail = os.pread(descriptor, TAIL_BYTES, max(0, size - TAIL_BYTES))
        text = tail.decode("utf-8", "replace").strip()
        return f"... {text}" if size > TAIL_BYTES else text


def _open_output() -> IO[bytes]:
    """Make a file without a name that whoever holds it appends to, so that it can be cut."""
    file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed by Worker._release
    flags = fcntl.fcntl(file, fcntl.F_GETFL)
    fcntl.fcntl(file, fcntl.F_SETFL, flags | os.O_APPEND)
    return file


def _remedy(folder: str) -> str:
    path = f"`pythonpath = [{json.dumps(folder)}]`" if folder else "`pythonpath`"
    which = "" if folder else ", the folder of the tree that holds your code,"
    return f"Set {path}{which} in [[benchmark]]"


def _describe_end(code: int) -> str:
    if code >= 0:
        return f"ended by itself with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = ", possibly because it ran out of memory" if -code == signal.SIGKILL else ""
    return f"was killed by {name}{hint}"
