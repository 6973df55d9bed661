"""The services of a launch: started on free ports, in order, watched and stopped."""

from __future__ import annotations

import errno
import signal
import socket
import threading
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import psutil

from benchgate.errors import MeasureError
from benchgate.load.placeholders import UnsetVariableError, expanded, port_of
from benchgate.load.scenario import UNNAMED_SERVICE
from benchgate.measure.machine import bound_to
from benchgate.measure.scenarios.readiness import HOST, Surroundings, unmet
from benchgate.measure.scenarios.service_log import ServiceLog
from benchgate.process import ProcessTree, how_ended
from benchgate.units import counted, format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
    from pathlib import Path

    from benchgate.load.scenario import Service
    from benchgate.measure.arm import Arm
    from benchgate.measure.processes import Guardian


SERVICE_VARIABLE: Final = "BENCHGATE_SERVICE"
"""Marks the processes of a service, so that those that leave its process group are found."""

POLL_S: Final = 0.02
"""How long to wait between two looks at a service."""

_CHILDREN_END_S = 1.0
_INTERRUPTED_STOP_S = 2.0
# A shell reports a signal that ended its program as 128 + its number.
_ENDED_BY_SIGTERM = frozenset({0, -signal.SIGTERM, 128 + signal.SIGTERM})
_NAMED = 3
_COMMAND_CHARACTERS = 100


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
    """

    def __init__(
        self,
        service: Service,
        around: Surroundings,
        log: ServiceLog,
        cpus: frozenset[int] | None,
    ) -> None:
        self.service = service
        self.log = log
        self._around = around
        self._process = self._started(cpus)
        self._stopping: ProcessTree | None = None

    def getting_ready(self) -> Iterator[None]:
        """Look again and again whether it can be loaded; the caller waits between the looks."""
        ready = self.service.ready
        deadline_s = time.monotonic() + ready.timeout_s
        while True:
            try:
                why = unmet(ready, self._around, self.log)
            except MeasureError as error:
                raise self._failed(f"has a `ready` that fails: {error.message}") from error
            self.require_alive("before it was ready")
            if not why:
                return
            if time.monotonic() > deadline_s:
                after = format_duration(ready.timeout_s)
                raise self._failed(f"was not ready after {after}: {why}")
            yield

    def require_alive(self, when: str) -> None:
        """Make sure that it still runs.

        Args:
            when: when that matters, for the error.

        Raises:
            ServiceFailedError: it has ended.
        """
        code = self._process.poll()
        if code is not None:
            raise self._failed(f"ended {when}: it {how_ended(code)}")

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
            self._process.send(signal.SIGTERM)
            self._process.wait(min(self.service.stop_timeout_s, _INTERRUPTED_STOP_S))
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill whatever is left of it."""
        if self._stopping:
            self._stopping.kill()
        self._process.kill()

    def _started(self, cpus: frozenset[int] | None) -> ProcessTree:
        try:
            with self.log.open() as log, bound_to(cpus):
                return self._around.start(self.service.start, log, SERVICE_VARIABLE)
        except MeasureError as error:
            hint = f"\n{error.hint}" if error.hint else ""
            raise self._failed(f"cannot be started: {error.message}{hint}") from error
        except OSError as error:
            where = f": {error.filename}" if error.filename else ""
            raise self._failed(f"cannot be started: {error.strerror}{where}") from error

    def _ask_to_stop(self) -> None:
        if self.service.stop is None:
            self._process.send(signal.SIGTERM)
            return
        # It is marked like the service, which may end together with what it has started.
        around = replace(self._around, environ={**self._around.environ, **self._process.marks})
        try:
            with self.log.open() as log:
                self._stopping = around.start(self.service.stop, log)
        except MeasureError as error:
            raise self._failed(f"has a `stop` that cannot be run: {error.message}") from error
        except OSError as error:
            raise self._failed(f"has a `stop` that cannot be run: {error.strerror}") from error
        code = self._stopping.wait(self.service.stop_timeout_s)
        if code is None:
            limit = format_duration(self.service.stop_timeout_s)
            raise self._failed(f"has a `stop` that took longer than {limit}")
        if code:
            raise self._failed(f"has a `stop` that failed: it {how_ended(code)}")

    def _require_stopped(self) -> None:
        timeout_s = self.service.stop_timeout_s
        code = self._process.wait(timeout_s)
        if code is None:
            how = "SIGTERM" if self.service.stop is None else "`stop`"
            limit = format_duration(timeout_s)
            raise self._failed(f"did not end within {limit} of {how}, so benchgate killed it")
        if code not in _ENDED_BY_SIGTERM:
            raise self._failed(f"failed when it was stopped: it {how_ended(code)}")
        deadline_s = time.monotonic() + _CHILDREN_END_S
        while left := self._process.left():
            if time.monotonic() > deadline_s:
                named = ", ".join(map(_named, left[:_NAMED]))
                more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
                what = counted(len(left), "process")
                raise self._failed(f"left {what} behind, which benchgate killed: {named}{more}")
            time.sleep(POLL_S)

    def _failed(self, what: str) -> ServiceFailedError:
        return ServiceFailedError(self.service.name, what)


def _named(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return f"process {process.pid} ({' '.join(process.cmdline())[:_COMMAND_CHARACTERS]})"
    return f"process {process.pid}"


_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class ServicePlace:
    """Where the services of a launch run.

    Attributes:
        environ: the environment of the arm's programs.
        values: what placeholders stand for, except for ports.
        logs: an empty folder for what they print.
        cpus: the only CPUs that they may use; None for those of benchgate.
    """

    arm: Arm
    environ: Mapping[str, str]
    values: Mapping[str, str]
    logs: Path
    cpus: frozenset[int] | None


def free_port() -> int:
    """A TCP port that no program uses now; another one may take it before the service does."""
    with closing(socket.socket()) as taken:
        taken.bind((HOST, 0))
        port: int = taken.getsockname()[1]
        return port


class Services:
    """The services of one launch.

    Args:
        services: in the order to start.
        pick_port: chooses the port of a service.

    Attributes:
        values: what {port} and {NAME_port} stand for, once they are started.
    """

    def __init__(
        self,
        services: Sequence[Service],
        place: ServicePlace,
        guardian: Guardian,
        *,
        pick_port: Callable[[], int] = free_port,
    ) -> None:
        self._services = services
        self._place = place
        self._guardian = guardian
        self._pick_port = pick_port
        self._running: list[ServiceProcess] = []
        self.values: dict[str, str] = {}

    def start(self) -> None:
        """Start them one after the other, each when the one before is ready.

        Raises:
            ServiceFailedError: one of them cannot be started, or does not get ready. The others are
                stopped.
        """
        for _ in self.starting():
            time.sleep(POLL_S)

    def starting(self) -> Generator[None, None, None]:
        """As `start`, but the caller waits, and may meanwhile start others."""
        for attempt in range(1, _ATTEMPTS + 1):
            ports = [self._pick_port() for _ in self._services]
            try:
                yield from self._start(ports)
            except ServiceFailedError:
                self.kill()
                if attempt == _ATTEMPTS or not any(map(_is_taken, ports)):
                    raise
            except BaseException:
                self.stop_quickly()
                raise
            else:
                return

    @property
    def are_running(self) -> bool:
        """Whether there are any that were started, and not stopped yet."""
        return bool(self._running)

    def require_alive(self) -> None:
        """Make sure that all of them still run.

        Raises:
            ServiceFailedError: one of them has ended.
        """
        for one in self._running:
            one.require_alive("while it was under load")

    def trim_logs(self) -> None:
        """Bound the size of their logs."""
        for one in self._running:
            one.log.trim()

    def stop(self) -> None:
        """Stop them, the last first; every one is stopped, or killed, even if another one fails.

        Raises:
            ServiceFailedError: the first failure.
        """
        failures: list[ServiceFailedError] = []
        try:
            while self._running:
                try:
                    self._running[-1].stop()
                except ServiceFailedError as error:
                    failures.append(error)
                self._running.pop()
        except BaseException:
            self.kill()
            raise
        if failures:
            raise failures[0]

    def stop_quickly(self) -> None:
        """Stop them after an interruption; nothing counts as a failure."""
        while self._running:
            self._running.pop().stop_quickly()

    def kill(self) -> None:
        """Kill whatever is left of them."""
        while self._running:
            self._running.pop().kill()

    def log_of(self, name: str) -> ServiceLog:
        return ServiceLog(self._place.logs / f"{name}.log")

    def _start(self, ports: Sequence[int]) -> Iterator[None]:
        named = [(one.name, str(port)) for one, port in zip(self._services, ports, strict=True)]
        self.values = {port_of(name): port for name, port in named}
        if len(named) == 1:
            self.values["port"] = named[0][1]
        place = self._place
        for service, port in zip(self._services, ports, strict=True):
            values = {**place.values, **self.values, "port": str(port)}
            around = self._surroundings(service, port, values)
            log = self.log_of(service.name)
            log.path.unlink(missing_ok=True)  # of an attempt that failed, which may look ready
            one = ServiceProcess(service, around, log, place.cpus)
            self._running.append(one)
            yield from one.getting_ready()

    def _surroundings(self, service: Service, port: int, values: Mapping[str, str]) -> Surroundings:
        def fill(text: str) -> str:
            return expanded(text, values)

        inherited = self._place.environ
        try:
            own = {name: expanded(text, values, inherited) for name, text in service.env.items()}
        except UnsetVariableError as error:
            raise ServiceFailedError(service.name, f"cannot be started: {error}") from error
        cwd = self._place.arm.folder / service.cwd
        environ = {**inherited, **own, "PWD": str(cwd)}
        return Surroundings(port, cwd, environ, fill, self._guardian)


def _is_taken(port: int) -> bool:
    """Whether a program listens on a port; connections that have ended do not count."""
    with closing(socket.socket()) as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind((HOST, port))
        except OSError as error:
            return error.errno == errno.EADDRINUSE
    return False


LOOK_S: Final = 0.5
"""Time between two looks; a look takes less than a millisecond."""


@contextmanager
def watched(
    services: Services, give_up: Callable[[], None], look_s: float = LOOK_S
) -> Iterator[None]:
    """Bound the logs of services, and end the load soon after one of them has ended.

    Args:
        give_up: ends the load; called in another thread, at most once.
    """
    if not services.are_running:
        yield
        return
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(look_s):
            services.trim_logs()
            try:
                services.require_alive()
            except ServiceFailedError:
                give_up()
                return

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
