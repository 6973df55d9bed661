"""Our side of a worker process: start it, ask it for steps and samples, end it.

See `_worker.py` for the protocol.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.measure.engine import Arm
    from benchgate.measure.guardian import Guardian

PROGRAM = Path(__file__).with_name("_worker.py")
TAIL_BYTES = 8192
_LIVENESS_CHECK_MS = 500
_END_WAIT_S = 2.0


class WorkerFailedError(Exception):
    """The benchmark, or the process that runs it, failed.

    Attributes:
        worker: the one that failed.
        error: one line, then what explains it.
    """

    def __init__(self, worker: Worker, line: str, explanation: str = "") -> None:
        super().__init__(line)
        self.worker = worker
        self.error = f"{line}\n{explanation}".rstrip()


@dataclass(frozen=True, slots=True)
class WorkerSetting:
    """What a worker is started with.

    Attributes:
        interpreter: command that starts Python.
        file: the benchmark file.
        path: entries for sys.path, before the interpreter's own.
        cpus: CPUs to run on; None leaves the choice to the OS.
        forbidden: trees that no module may come from: the user's checkout, the other arm.
        variables: the whole environment of the process.
    """

    interpreter: Sequence[str]
    file: Path
    path: Sequence[Path]
    cpus: Sequence[int] | None
    forbidden: Sequence[Path]
    variables: Mapping[str, str]


class Worker:
    """One worker process, alive from construction until `close` or `kill`."""

    def __init__(
        self, arm: Arm, setting: WorkerSetting, guardian: Guardian, *, describe: bool = False
    ) -> None:
        self.arm = arm
        self.timer_cost_ns = 0
        self._guardian = guardian
        self._buffer = b""
        self._deadline = float("inf")
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by _release
        request = {
            "file": str(setting.file),
            "root": str(arm.root),
            "path": [str(p) for p in setting.path],
            "cpus": list(setting.cpus) if setting.cpus else None,
            "forbidden": [str(p) for p in setting.forbidden],
            "describe": describe,
        }
        with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
            json.dump(request, file)
        self._request_file = Path(file.name)
        theirs_in, self._to = os.pipe()
        self._from, theirs_out = os.pipe()
        self._poll = select.poll()
        self._poll.register(self._from, select.POLLIN)
        command = [*setting.interpreter, str(PROGRAM), file.name, str(theirs_in), str(theirs_out)]
        try:
            self._process = subprocess.Popen(
                command,
                cwd=arm.root,
                env=dict(setting.variables),
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=subprocess.STDOUT,
                pass_fds=(theirs_in, theirs_out),
                start_new_session=True,
            )
        except OSError as error:
            self._release()
            line = f"cannot start the interpreter {command[0]}: {error.strerror}"
            raise WorkerFailedError(self, line) from error
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        guardian.watch(self._process.pid)

    def ready(self, timeout_s: float) -> dict[str, Any]:
        """Wait until the benchmark file is imported; give what the worker says of itself.

        Raises:
            WorkerFailedError: when the import fails or a module came from a forbidden tree.
        """
        self.allow(timeout_s)
        hello = self._reply()
        self._request_file.unlink(missing_ok=True)
        self._refuse_foreign(hello)
        self.timer_cost_ns = hello["timer_cost_ns"]
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
        self._send(json.dumps({"do": step, **arguments}).encode() + b"\n")
        reply = self._reply()
        self._refuse_foreign(reply)
        return reply

    def sample(self) -> tuple[int, int]:
        """Have one sample taken: (wall_ns, cpu_ns) of all its loops.

        Raises:
            WorkerFailedError: as `ask`, and when a clock ran backwards.
        """
        self._send(b"s\n")
        line = self._line()
        if line[:1] == b"{":
            self._refuse_error(json.loads(line))
        wall_ns, cpu_ns = map(int, line.split())
        if wall_ns < 0 or cpu_ns < 0:
            raise WorkerFailedError(self, f"a clock ran backwards: {wall_ns} ns, CPU {cpu_ns} ns")
        return wall_ns, cpu_ns

    def forget_output(self) -> None:
        """Drop what was printed so far: it belongs to a benchmark that did not fail."""
        if self._output.seek(0, os.SEEK_END):
            self._output.truncate(0)
            self._output.seek(0)

    def close(self) -> None:
        """End it in order: it sees the end of its input; what its group left behind is killed."""
        os.close(self._to)
        self._to = -1
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_WAIT_S)
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
        for descriptor in (self._to, self._from):
            if descriptor >= 0:
                os.close(descriptor)
        self._to = self._from = -1
        self._output.close()
        self._request_file.unlink(missing_ok=True)

    def _send(self, data: bytes) -> None:
        try:
            os.write(self._to, data)
        except BrokenPipeError:
            raise self._dead() from None

    def _reply(self) -> dict[str, Any]:
        reply: dict[str, Any] = json.loads(self._line())
        self._refuse_error(reply)
        return reply

    def _line(self) -> bytes:
        while b"\n" not in self._buffer:
            left_ms = (self._deadline - time.monotonic()) * 1000
            if left_ms <= 0:
                raise WorkerFailedError(
                    self, f"timed out: not done within {self._allowed_s:g} s", self._tail()
                )
            # A forked child may hold the pipe open after the worker has died.
            if self._poll.poll(min(left_ms + 1, _LIVENESS_CHECK_MS)):
                chunk = os.read(self._from, 65536)
                if not chunk:
                    raise self._dead()
                self._buffer += chunk
            elif self._process.poll() is not None:
                raise self._dead()
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _dead(self) -> WorkerFailedError:
        try:
            code = self._process.wait(_END_WAIT_S)
        except subprocess.TimeoutExpired:
            return WorkerFailedError(self, "the worker closed its pipe", self._tail())
        if code < 0:
            how = f"was killed by {signal.Signals(-code).name}"
        else:
            how = f"ended by itself with exit code {code}"
        return WorkerFailedError(self, f"its process {how}", self._tail())

    def _refuse_error(self, reply: dict[str, Any]) -> None:
        if "error" in reply:
            explanation = "\n".join(part for part in (reply["trace"], self._tail()) if part)
            raise WorkerFailedError(self, reply["error"], explanation)

    def _refuse_foreign(self, reply: dict[str, Any]) -> None:
        if reply.get("foreign"):
            module, file = reply["foreign"][0]
            raise WorkerFailedError(
                self,
                f"the {self.arm.name} arm imported {module} from {file}, which is not its own "
                "tree: both arms would measure the same code. An editable install is in the way: "
                "set `pythonpath` in [[benchmark]], or build an environment for each arm in "
                "[build] and name it in `interpreter`",
            )

    def _tail(self) -> str:
        size = self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, size - TAIL_BYTES))
        text = self._output.read().decode("utf-8", "replace").strip()
        return f"... {text}" if size > TAIL_BYTES else text
