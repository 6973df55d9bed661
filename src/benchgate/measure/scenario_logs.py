"""What the services of a launch printed, for the failures of that launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.load.drivers.concealing import Concealer
from benchgate.load.variables import secrets_of
from benchgate.measure.service_process import called
from benchgate.model.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from benchgate.measure.scenario_plan import LaunchPlan
    from benchgate.measure.service import Services
    from benchgate.measure.service_log import KeptLogs
    from benchgate.measure.service_process import ServiceFailedError


@dataclass(frozen=True, slots=True)
class LaunchLogs:
    """The logs of one launch.

    Attributes:
        kept: where they are kept for the user.
        environ: that of benchgate, where the values of variables are secrets.
    """

    plan: LaunchPlan
    services: Services
    kept: KeptLogs
    environ: Mapping[str, str]

    def explained(self, error: ServiceFailedError) -> str:
        """Add the end of the log of a service that failed, and where the whole log is kept."""
        redact = self._redact()
        said = redact(str(error))
        tail = self.services.log_of(error.service).tail(redact)
        if not tail:
            return f"{said}\nit printed nothing"
        kept = self._keep(error.service)
        where = f"its log is kept in {kept}" if kept else "its log could not be kept"
        return f"{said}\n{where}\nits last lines:\n{tail}"

    def keep_all(self) -> list[str]:
        """Keep what all services printed; say where."""
        names = [one.name for one in self.plan.scenario.scenario.services]
        kept = {name: self._keep(name) for name in names}
        return [
            f"the log of {called(name)} is kept in {path}" for name, path in kept.items() if path
        ]

    def _keep(self, name: str) -> Path | None:
        """Keep the log of a service, unless it is empty."""
        log, title = self.services.log_of(name), self.plan.scenario.title.replace("/", "-")
        if not log.tail():
            return None
        return self.kept.keep(log, f"{title}-{self.plan.scenario.arm.name}-{name}", self._redact())

    def _redact(self) -> Callable[[str], str]:
        """Make a function that removes secrets from what services say."""
        one, environ = self.plan.scenario, {**self.environ, **self.plan.command.env}
        conceal = Concealer(secrets_of(one.scenario, one.target, environ))
        redact = Redactor(environ)
        return lambda text: redact(conceal.in_lines(text))
