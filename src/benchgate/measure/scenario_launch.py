"""One launch of a scenario in one arm: its services, and the load generator."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

import benchgate
from benchgate.load.drivers.concealing import Concealer
from benchgate.load.order import LoadOrder, LoadReply
from benchgate.load.variables import secrets_of
from benchgate.measure.arm_runner import CommandFailedError
from benchgate.measure.execution import trouble_with
from benchgate.measure.scenario_values import trouble_of
from benchgate.measure.service import ServicePlace, Services
from benchgate.measure.service_process import ServiceFailedError, called
from benchgate.measure.service_watch import watched
from benchgate.model.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.measure.arm_runner import ArmRunner
    from benchgate.measure.execution import Execution
    from benchgate.measure.guardian import Guardian
    from benchgate.measure.scenario_discovery import ArmScenario
    from benchgate.measure.scenario_plan import LaunchPlan
    from benchgate.measure.service_log import KeptLogs
    from benchgate.measure.suite_output import Scratch

_ORDERS = TypeAdapter(LoadOrder)
_REPLIES = TypeAdapter(LoadReply)


class LaunchFailedError(Exception):
    """A launch failed as a whole; the message is one line, then details.

    Args:
        of_all: the failure counts for every arm, because no arm's numbers would be meaningful.
    """

    def __init__(self, error: str, *, of_all: bool = False) -> None:
        super().__init__(error)
        self.of_all = of_all


class ScenarioLauncher:
    """Launches scenarios, one at a time.

    Args:
        runner: runs the load generator.
        guardian: ends the services if benchgate ends.
        scratch: for the files of the launches.
        logs: keeps the logs of services that failed.
        environ: that of benchgate, where the values of variables are secrets.
        introspect: ask every target for its version and settings.
    """

    def __init__(
        self,
        runner: ArmRunner,
        guardian: Guardian,
        scratch: Scratch,
        logs: KeptLogs,
        environ: Mapping[str, str],
        *,
        introspect: bool = False,
    ) -> None:
        self._runner = runner
        self._guardian = guardian
        self._scratch = scratch
        self._logs = logs
        self._environ = environ
        self._explained: set[LaunchPlan] = set()
        self._introspect = introspect

    def run(self, plan: LaunchPlan, round_index: int, *, brief: bool = False) -> LoadReply:
        """Start the services, load the target, and stop the services.

        Args:
            brief: only try whether it works, in as little time as possible.

        Raises:
            LaunchFailedError: it failed as a whole.
        """
        try:
            folder = self._scratch.fresh()
        except OSError as error:
            raise LaunchFailedError(f"no room for its files: {error.strerror}") from error
        try:
            return self._run(plan, folder, round_index, brief=brief)
        finally:
            self._scratch.discard(folder)

    def check(self, plan: LaunchPlan, round_index: int, *, compares: bool) -> tuple[str, ...]:
        """Launch it briefly, to check that everything runs the code of its own arm.

        Args:
            compares: whether another arm has it, too, so that it must depend on its arm.

        Returns:
            Notes on its numbers.

        Raises:
            LaunchFailedError: it failed, or it runs other code.
        """
        one = plan.scenario
        own = one.arm.folder / one.benchmark.scenario
        command = plan.command
        if not compares:
            command = replace(command, names_its_arm=True)
        try:
            return self._runner.check_while(
                plan.settings,
                command,
                lambda: self.run(plan, round_index, brief=True),
                what=f"that of the target and the services of {one.scenario.file}",
                besides=(own, Path(benchgate.__file__).parent),
            )
        except CommandFailedError as failure:
            raise LaunchFailedError(failure.error, of_all=failure.of_all) from failure

    def _run(self, plan: LaunchPlan, folder: Path, round_index: int, *, brief: bool) -> LoadReply:
        one = plan.scenario
        place = _service_place(plan, folder, self._runner.all_cpus)
        services = Services(one.scenario.services, place, self._guardian)
        try:
            services.start()
            try:
                values = {**place.values, **services.values}
                order = self._order(one, values, round_index, brief=brief)
                reply = self._loaded(plan, folder, order, services)
            except LaunchFailedError as error:
                with suppress(ServiceFailedError):
                    services.stop()
                lines = (str(error), *self._kept_logs(plan, services))
                raise LaunchFailedError("\n".join(lines), of_all=error.of_all) from error
            except BaseException:
                services.stop_quickly()
                raise
            services.stop()
        except ServiceFailedError as error:
            raise LaunchFailedError(self._with_log(plan, error, services)) from error
        limit = one.scenario.load.max_error_rate
        failed = any(trouble_of(launch, limit) for launch in reply.steps.values())
        if brief or not failed or plan in self._explained:
            return reply
        self._explained.add(plan)  # the other steps go on, and would keep a log of every launch
        return replace(reply, notes=(*reply.notes, *self._kept_logs(plan, services)))

    def _order(
        self, one: ArmScenario, values: Mapping[str, str], round_index: int, *, brief: bool
    ) -> LoadOrder:
        return LoadOrder(
            scenario=str(one.arm.folder / one.benchmark.scenario),
            shown=one.scenario.file,
            target=one.target.title,
            folder=str(one.arm.folder),
            scratch=values["scratch"],
            placeholders=dict(values),
            round=round_index,
            introspect=self._introspect or one.scenario.experiment.introspect,
            brief=brief,
        )

    def _loaded(
        self, plan: LaunchPlan, folder: Path, order: LoadOrder, services: Services
    ) -> LoadReply:
        """Run the load generator.

        Raises:
            LaunchFailedError: the launch failed as a whole.
            ServiceFailedError: a service has ended meanwhile.
        """
        asked, answer = folder / "order.json", folder / "reply.json"
        try:
            asked.write_bytes(_ORDERS.dump_json(order, context=str))
            words = (*plan.command.command, str(asked), str(answer))
            with watched(services, self._runner.give_up):
                execution = self._runner.prepare_and_time(
                    plan.settings, replace(plan.command, command=words)
                )
        except CommandFailedError as failure:
            services.require_alive()
            raise LaunchFailedError(f"the load generator: {failure.error}") from failure
        except OSError as error:
            raise LaunchFailedError(f"no room for its files: {error.strerror}") from error
        services.require_alive()
        reply = _read(answer, execution, plan.settings.timeout_s)
        if reply.error is not None:
            raise LaunchFailedError(reply.error)
        return reply

    def _with_log(self, plan: LaunchPlan, error: ServiceFailedError, services: Services) -> str:
        """Add the end of the log of a service, and where the whole log is kept."""
        redact = self._redact(plan)
        said = redact(str(error))
        tail = services.log_of(error.service).tail(redact)
        if not tail:
            return f"{said}\nit printed nothing"
        kept = self._keep(plan, services, error.service)
        where = f"its log is kept in {kept}" if kept else "its log could not be kept"
        return f"{said}\n{where}\nits last lines:\n{tail}"

    def _kept_logs(self, plan: LaunchPlan, services: Services) -> list[str]:
        """Keep what all services printed; say where."""
        names = [one.name for one in plan.scenario.scenario.services]
        kept = {name: self._keep(plan, services, name) for name in names}
        return [
            f"the log of {called(name)} is kept in {path}" for name, path in kept.items() if path
        ]

    def _keep(self, plan: LaunchPlan, services: Services, name: str) -> Path | None:
        """Keep the log of a service, unless it is empty."""
        log, title = services.log_of(name), plan.scenario.title.replace("/", "-")
        if not log.tail():
            return None
        named = f"{title}-{plan.scenario.arm.name}-{name}"
        return self._logs.keep(log, named, self._redact(plan))

    def _redact(self, plan: LaunchPlan) -> Callable[[str], str]:
        """Make a function that removes secrets from what services say."""
        one, environ = plan.scenario, {**self._environ, **plan.command.env}
        conceal = Concealer(secrets_of(one.scenario, one.target, environ))
        redact = Redactor(environ)
        return lambda text: redact(conceal.in_lines(text))


def _service_place(plan: LaunchPlan, folder: Path, cpus: frozenset[int] | None) -> ServicePlace:
    arm = plan.scenario.arm
    scratch, logs = folder / "scratch", folder / "logs"
    try:
        scratch.mkdir()
        logs.mkdir()
    except OSError as error:
        raise LaunchFailedError(f"no room for its files: {error.strerror}") from error
    values = {
        "root": str(arm.root),
        "env": str(arm.env),
        "sha": arm.sha,
        "scratch": str(scratch),
    }
    return ServicePlace(arm, plan.command.env, values, logs, cpus)


def _read(answer: Path, execution: Execution, timeout_s: float) -> LoadReply:
    """Read what the load generator answered.

    Raises:
        LaunchFailedError: it answered nothing that can be read.
    """
    try:
        return _REPLIES.validate_json(answer.read_bytes())
    except (OSError, ValidationError) as error:
        trouble = trouble_with(execution, frozenset({0}), timeout_s)
        why = f"it answered nothing that can be read\n{execution.output_tail}".rstrip()
        raise LaunchFailedError(f"the load generator: {trouble or why}") from error
