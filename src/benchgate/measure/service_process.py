"""One service under test: its process, from its start until nothing of it is left."""

from __future__ import annotations

import secrets
import shlex
import signal
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from benchgate.errors import MeasureError
from benchgate.load.tables import UNNAMED_SERVICE
from benchgate.measure.affinity import bound_to
from benchgate.measure.execution import signal_name
from benchgate.measure.leftovers import kill_all, kill_group, left_behind
from benchgate.measure.process import find_program
from benchgate.measure.service_ready import awaited, is_ready
from benchgate.units import counted, format_duration

if TYPE_CHECKING:
    from benchgate.load.tables import Service
    from benchgate.measure.guardian import Guardian
    from benchgate.measure.leftovers import Leftover
    from benchgate.measure.service_log import ServiceLog
    from benchgate.measure.service_ready import Surroundings

SERVICE_VARIABLE: Final = "BENCHGATE_SERVICE"
"""Marks the processes of a service, so that those that leave its process group are found."""

_LOOK_S = 0.02
_CHILDREN_END_S = 1.0
_INTERRUPTED_STOP_S = 2.0
# A shell reports a signal that ended its program as 128 + its number.
_ENDED_BY_SIGTERM = frozenset({0, -signal.SIGTERM, 128 + signal.SIGTERM})
_NAMED = 3


def called(service: str) -> str:
    """Call a service by its name, unless the user gave it none."""
    return "the service" if service == UNNAMED_SERVICE else f"the service {service}"


class ServiceFailedError(Exception):
    """A service did not do what it must; the message is one line, without its log.

    Args:
        service: its name.
    """

    def __init__(self, service: str, what: str) -> None:
        super().__init__(f"{called(service)} {what}")
        self.service = service


class ServiceProcess:
    """A service that has been started.

    Args:
        around: its environment is that of its process.
        cpus: the only CPUs that it may use; None for those of benchgate.

    Raises:
        ServiceFailedError: it cannot be started.
    """

    def __init__(
        self,
        service: Service,
        around: Surroundings,
        log: ServiceLog,
        guardian: Guardian,
        cpus: frozenset[int] | None,
    ) -> None:
        self.service = service
        self.log = log
        self._around = around
        self._guardian = guardian
        self._token = secrets.token_hex(16)
        self._process = self._started(cpus)
        guardian.watch(self._process.pid)

    def wait_until_ready(self) -> None:
        """Wait until it can be loaded.

        Raises:
            ServiceFailedError: it ended, or did not get ready in time.
        """
        ready = self.service.ready
        deadline_s = time.monotonic() + ready.timeout_s
        while True:
            try:
                done = is_ready(ready, self._around, self.log)
            except MeasureError as error:
                raise self._failed(f"has a `ready` that fails: {error.message}") from error
            self.require_alive("before it was ready")
            if done:
                return
            if time.monotonic() > deadline_s:
                after = format_duration(ready.timeout_s)
                why = awaited(ready, self._around)
                raise self._failed(f"was not ready after {after}: {why}")
            time.sleep(_LOOK_S)

    def require_alive(self, when: str) -> None:
        """Make sure that it still runs.

        Args:
            when: when that matters, for the error.

        Raises:
            ServiceFailedError: it has ended.
        """
        code = self._process.poll()
        if code is not None:
            raise self._failed(f"ended {when}: {_ended(code)}")

    def stop(self) -> None:
        """Stop it, and make sure that nothing of it is left, whatever happens.

        Raises:
            ServiceFailedError: it did not stop, ended with a failure, or left processes behind.
        """
        try:
            self.require_alive("before benchgate stopped it")
            self._ask_to_stop()
            self._require_stopped()
        finally:
            self.kill()

    def stop_quickly(self) -> None:
        """Stop it after an interruption: it gets little time, and nothing counts as a failure."""
        try:
            kill_group(self._process.pid, signal.SIGTERM)
            self._wait(min(self.service.stop_timeout_s, _INTERRUPTED_STOP_S))
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill whatever is left of it."""
        if self._process.poll() is None:
            kill_group(self._process.pid, signal.SIGKILL)
            self._process.wait()
        # Nothing may be sent to a group without processes: its number may belong to another one.
        if left := self._left():
            kill_all(self._process.pid, left)
        self._guardian.release(self._process.pid)

    def _started(self, cpus: frozenset[int] | None) -> subprocess.Popen[bytes]:
        around, start = self._around, self.service.start
        words = [around.fill(word) for word in shlex.split(start)]
        try:
            program = find_program(words[0], around.cwd, around.environ.get("PATH", ""))
            with self.log.open() as log, bound_to(cpus):
                return subprocess.Popen(
                    words,
                    executable=program,
                    cwd=around.cwd,
                    env={**around.environ, SERVICE_VARIABLE: self._token},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
        except MeasureError as error:
            hint = f"\n{error.hint}" if error.hint else ""
            raise self._failed(f"cannot be started: {error.message}{hint}") from error
        except OSError as error:
            where = f": {error.filename}" if error.filename else ""
            raise self._failed(f"cannot be started: {error.strerror}{where}") from error

    def _ask_to_stop(self) -> None:
        if self.service.stop is None:
            kill_group(self._process.pid, signal.SIGTERM)
            return
        around, timeout_s = self._around, self.service.stop_timeout_s
        words = [around.fill(word) for word in shlex.split(self.service.stop)]
        try:
            with self.log.open() as log:
                code = subprocess.run(
                    words,
                    executable=find_program(words[0], around.cwd, around.environ.get("PATH", "")),
                    cwd=around.cwd,
                    env={**around.environ, SERVICE_VARIABLE: self._token},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    timeout=timeout_s,
                    check=False,
                ).returncode
        except MeasureError as error:
            raise self._failed(f"has a `stop` that cannot be run: {error.message}") from error
        except OSError as error:
            raise self._failed(f"has a `stop` that cannot be run: {error.strerror}") from error
        except subprocess.TimeoutExpired as error:
            limit = format_duration(timeout_s)
            raise self._failed(f"has a `stop` that took longer than {limit}") from error
        if code:
            raise self._failed(f"has a `stop` that failed: {_ended(code)}")

    def _require_stopped(self) -> None:
        timeout_s = self.service.stop_timeout_s
        if not self._wait(timeout_s):
            how = "SIGTERM" if self.service.stop is None else "`stop`"
            limit = format_duration(timeout_s)
            raise self._failed(f"did not end within {limit} of {how}, so benchgate killed it")
        code = self._process.returncode
        if code not in _ENDED_BY_SIGTERM:
            raise self._failed(f"failed when it was stopped: {_ended(code)}")
        deadline_s = time.monotonic() + _CHILDREN_END_S
        while left := self._left():
            if time.monotonic() > deadline_s:
                named = ", ".join(map(str, left[:_NAMED]))
                more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
                what = counted(len(left), "process")
                raise self._failed(f"left {what} behind, which benchgate killed: {named}{more}")
            time.sleep(_LOOK_S)

    def _wait(self, timeout_s: float) -> bool:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout_s)
            return True
        return False

    def _left(self) -> tuple[Leftover, ...]:
        return left_behind(self._process.pid, f"{SERVICE_VARIABLE}={self._token}")

    def _failed(self, what: str) -> ServiceFailedError:
        return ServiceFailedError(self.service.name, what)


def _ended(code: int) -> str:
    return f"killed by {signal_name(-code)}" if code < 0 else f"it exited with {code}"
