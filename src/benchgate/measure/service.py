"""The services of one launch: benchgate starts them on free ports, in order, and stops them."""

from __future__ import annotations

import errno
import socket
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.load.substitution import UnsetVariableError, expanded, port_of
from benchgate.measure.service_log import ServiceLog
from benchgate.measure.service_process import ServiceFailedError, ServiceProcess
from benchgate.measure.service_ready import HOST, Surroundings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from benchgate.load.tables import Service
    from benchgate.measure.engine import Arm
    from benchgate.measure.guardian import Guardian

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
        for attempt in range(1, _ATTEMPTS + 1):
            ports = [self._pick_port() for _ in self._services]
            try:
                self._start(ports)
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
        """The log of one of them."""
        return ServiceLog(self._place.logs / f"{name}.log")

    def _start(self, ports: Sequence[int]) -> None:
        named = [(one.name, str(port)) for one, port in zip(self._services, ports, strict=True)]
        self.values = {port_of(name): port for name, port in named}
        if len(named) == 1:
            self.values["port"] = named[0][1]
        place = self._place
        for service, port in zip(self._services, ports, strict=True):
            values = {**place.values, **self.values, "port": str(port)}
            around = self._surroundings(service, port, values)
            log = self.log_of(service.name)
            one = ServiceProcess(service, around, log, self._guardian, place.cpus)
            self._running.append(one)
            one.wait_until_ready()

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
        return Surroundings(port, cwd, environ, fill)


def _is_taken(port: int) -> bool:
    """Whether a program listens on a port; connections that have ended do not count."""
    with closing(socket.socket()) as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind((HOST, port))
        except OSError as error:
            return error.errno == errno.EADDRINUSE
    return False
