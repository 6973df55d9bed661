"""One launch of a scenario in one arm: its services, and the load generator."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pydantic import TypeAdapter, ValidationError

import benchgate
from benchgate.load.launch import LoadOrder, LoadReply
from benchgate.load.scenario_file import redactor_of
from benchgate.load.schedule import STRETCH
from benchgate.measure.contract import Observation
from benchgate.measure.processes import trouble_with
from benchgate.measure.programs import CommandFailedError, RunFailedError
from benchgate.measure.scenarios.service_log import keep_log
from benchgate.measure.scenarios.services import (
    ServiceFailedError,
    ServicePlace,
    Services,
    called,
    watched,
)
from benchgate.model.metrics import ERROR_RATIO, THROUGHPUT, TIME_P50, TIME_P95, TIME_P99, TIME_P999
from benchgate.model.run import Series
from benchgate.stats.histogram import decode
from benchgate.units import counted, format_duration, format_percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from benchgate.load.schedule import TurnOrder
    from benchgate.measure.arm import ArmName
    from benchgate.measure.processes import Execution, Guardian
    from benchgate.measure.programs import ArmRunner
    from benchgate.measure.scenarios.launch_plans import LaunchPlan
    from benchgate.measure.trees import Scratch
    from benchgate.model.load import LoadLaunch


_PERCENTILES = ((TIME_P50, 0.5), (TIME_P95, 0.95), (TIME_P99, 0.99), (TIME_P999, 0.999))
_NS_PER_S = 1e9


def observed(
    arm: ArmName, id_: str, order: int, launch: LoadLaunch, max_error_rate: float
) -> Observation:
    """Turn what a step did into an observation.

    Args:
        max_error_rate: with a larger share of errors, the step has failed.
    """
    if error := trouble_of(launch, max_error_rate):
        return Observation(arm, id_, order, error=error)
    return Observation(arm, id_, order, metrics=metrics_of(launch), load=launch)


def trouble_of(launch: LoadLaunch, max_error_rate: float) -> str:
    """Why the numbers of a step are worth nothing; "" if they are not."""
    total = launch.ops + launch.errors
    if not total:
        return (
            f"none of its operations ended within the {format_duration(launch.duration_s)} of load"
            "\nGive it more time by `duration`, or a larger share by `weight`."
        )
    rate = launch.errors / total
    if not launch.ops or rate > max_error_rate:
        return "\n".join([_too_many(launch, total, max_error_rate), *_most_frequent(launch)])
    return ""


def metrics_of(launch: LoadLaunch) -> tuple[Series, ...]:
    """The metrics of a step that has at least one operation: one value each."""
    histogram = decode(launch.histogram)
    latencies = (
        Series.single(metric, (histogram.percentile(rank) or 0) / _NS_PER_S)
        for metric, rank in _PERCENTILES
    )
    return (
        Series.single(THROUGHPUT, launch.ops / launch.duration_s),
        *latencies,
        Series.single(ERROR_RATIO, launch.errors / (launch.ops + launch.errors)),
    )


def _too_many(launch: LoadLaunch, total: int, max_error_rate: float) -> str:
    if not launch.ops:
        return f"all of its {counted(total, 'operation')} failed"
    share = format_percent(launch.errors / total)
    limit = f"`max_error_rate` allows {format_percent(max_error_rate)}"
    return f"{launch.errors} of {counted(total, 'operation')} failed ({share}; {limit})"


def _most_frequent(launch: LoadLaunch) -> list[str]:
    texts = Counter(one.text for one in launch.kept_errors)
    if not texts:
        return []
    text, times = texts.most_common(1)[0]
    kept = len(launch.kept_errors)
    if times == kept == launch.errors:
        return [f"each time: {text}" if times > 1 else text]
    of = f"of the first {kept}" if kept < launch.errors else f"of {kept}"
    return [f"{times} {of} errors: {text}"]


_ORDERS = TypeAdapter(LoadOrder)
_REPLIES = TypeAdapter(LoadReply)


Outcome: TypeAlias = LoadReply | RunFailedError
"""How a launch ended. A failure is a value here, because launches of two arms end together."""

Loaded: TypeAlias = LoadReply | RunFailedError | ServiceFailedError
"""How the load generator of a launch ended, before the services are stopped."""


@dataclass(frozen=True, slots=True, eq=False)
class LaunchTools:
    """What every launch in an arm needs.

    Attributes:
        runner: runs the load generator.
        guardian: ends the services if benchgate ends.
        scratch: for the files of the launches.
        environ: that of benchgate, where the values of variables are secrets.
        introspect: ask every target for its version and settings.
        explained: scenarios of which logs were kept because operations failed. Their other steps
            go on, so every launch would keep its logs.
    """

    runner: ArmRunner
    guardian: Guardian
    scratch: Scratch
    environ: Mapping[str, str]
    introspect: bool = False
    explained: set[LaunchPlan] = field(default_factory=set)


@dataclass(frozen=True, slots=True, eq=False)
class OpenLaunch:
    """A launch that has its folder.

    Attributes:
        folder: of its files.
    """

    plan: LaunchPlan
    tools: LaunchTools
    folder: Path
    place: ServicePlace
    services: Services

    def start(self) -> None:
        """Start the services.

        Raises:
            RunFailedError: they could not be started.
        """
        try:
            self.services.start()
        except ServiceFailedError as error:
            raise self.failed(error) from error

    def load(
        self, round_index: int, *, brief: bool = False, turns: TurnOrder | None = None
    ) -> Loaded:
        """Run the load generator; return why it failed if it did.

        Args:
            brief: only try whether it works, in as little time as possible.
            turns: how it takes turns with the launch of the other arm.
        """
        try:
            return self._loaded(self._order(round_index, brief=brief, turns=turns))
        except (RunFailedError, ServiceFailedError) as error:
            return error

    def give_up(self) -> None:
        """End the load generator that runs in another thread."""
        self.tools.runner.give_up()

    def end(self, loaded: Loaded, *, brief: bool = False) -> Outcome:
        """Stop the services.

        Args:
            loaded: how the load went.
            brief: as for `load`.
        """
        stopped: ServiceFailedError | None = None
        try:
            self.services.stop()
        except ServiceFailedError as error:
            stopped = error
        if isinstance(loaded, RunFailedError):
            lines = (str(loaded), *self._keep_all())
            return RunFailedError("\n".join(lines), of_all=loaded.of_all)
        if isinstance(loaded, ServiceFailedError):
            return self.failed(loaded)
        if stopped is not None:
            return self.failed(stopped)
        limit = self.plan.scenario.scenario.load.max_error_rate
        failed = any(trouble_of(step, limit) for step in loaded.steps.values())
        if brief or not failed or self.plan in self.tools.explained:
            return loaded
        self.tools.explained.add(self.plan)
        return replace(loaded, notes=(*loaded.notes, *self._keep_all()))

    def failed(self, error: ServiceFailedError) -> RunFailedError:
        """Add the end of the log of a service that failed, and where the whole log is kept."""
        redact = self._redact()
        said = redact(str(error))
        tail = self.services.log_of(error.service).tail(redact)
        if not tail:
            return RunFailedError(f"{said}\nit printed nothing")
        kept = self._keep(error.service)
        where = f"its log is kept in {kept}" if kept else "its log could not be kept"
        return RunFailedError(f"{said}\n{where}\nits last lines:\n{tail}")

    def _keep_all(self) -> list[str]:
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
        kept_as = f"{title}-{self.plan.scenario.arm.name}-{name}"
        return keep_log(log, kept_as, self.tools.environ, self._redact())

    def _redact(self) -> Callable[[str], str]:
        """Make a function that removes secrets from what services say."""
        one, environ = self.plan.scenario, {**self.tools.environ, **self.plan.command.env}
        return redactor_of(one.scenario, one.target, environ)

    def _order(self, round_index: int, *, brief: bool, turns: TurnOrder | None) -> LoadOrder:
        one = self.plan.scenario
        return LoadOrder(
            scenario=str(one.arm.folder / one.benchmark.scenario),
            shown=one.scenario.file,
            target=one.target.title,
            folder=str(one.arm.folder),
            scratch=self.place.values["scratch"],
            placeholders={**self.place.values, **self.services.values},
            round=round_index,
            introspect=self.tools.introspect or one.scenario.experiment.introspect,
            brief=brief,
            turns=turns,
        )

    def _loaded(self, order: LoadOrder) -> LoadReply:
        """Run the load generator.

        Raises:
            RunFailedError: the launch failed as a whole.
            ServiceFailedError: a service has ended meanwhile.
        """
        settings, runner = self.plan.settings, self.tools.runner
        if order.turns is not None:
            scenario = self.plan.scenario.scenario
            more_s = scenario.planned_s * (STRETCH - 1)
            settings = replace(
                settings,
                timeout_s=settings.timeout_s + more_s,
                planned_s=settings.planned_s + more_s,
            )
        asked, answer = self.folder / "order.json", self.folder / "reply.json"
        try:
            asked.write_bytes(_ORDERS.dump_json(order, context=str))
            command = self.plan.command
            words = (*command.command, str(asked), str(answer))
            with watched(self.services, runner.give_up):
                execution = runner.prepare_and_time(settings, replace(command, command=words))
        except CommandFailedError as failure:
            self.services.require_alive()
            raise RunFailedError(f"the load generator: {failure.error}") from failure
        except OSError as error:
            raise RunFailedError(f"no room for its files: {error.strerror}") from error
        self.services.require_alive()
        reply = _read(answer, execution)
        if reply.error is not None:
            raise RunFailedError(reply.error)
        return reply


@contextmanager
def opened(plan: LaunchPlan, tools: LaunchTools) -> Iterator[OpenLaunch]:
    """Prepare a launch whose services can be started; at the end, nothing of it is left.

    Raises:
        RunFailedError: there is no room for its files.
    """
    try:
        folder = tools.scratch.fresh()
    except OSError as error:
        raise RunFailedError(f"no room for its files: {error.strerror}") from error
    try:
        place = _service_place(plan, folder, tools.runner.all_cpus)
        services = Services(plan.scenario.scenario.services, place, tools.guardian)
        try:
            yield OpenLaunch(plan, tools, folder, place, services)
        finally:
            services.stop_quickly()
    finally:
        tools.scratch.discard(folder)


def run_alone(
    plan: LaunchPlan, tools: LaunchTools, round_index: int, *, brief: bool = False
) -> Outcome:
    """Start the services, load the target, and stop the services.

    Args:
        brief: only try whether it works, in as little time as possible.
    """
    try:
        with opened(plan, tools) as launch:
            launch.start()
            return launch.end(launch.load(round_index, brief=brief), brief=brief)
    except RunFailedError as error:
        return error


def check(
    plan: LaunchPlan, tools: LaunchTools, round_index: int, *, compares: bool
) -> tuple[LoadReply | None, tuple[str, ...]]:
    """Launch it briefly, to check that everything runs the code of its own arm.

    Args:
        compares: whether another arm has it, too, so that it must depend on its arm.

    Returns:
        The reply, or None if there is nothing to check, and notes on all numbers.
    """
    one = plan.scenario
    command = plan.command if compares else replace(plan.command, names_its_arm=True)
    replies: list[LoadReply] = []

    def launch() -> None:
        outcome = run_alone(plan, tools, round_index, brief=True)
        if isinstance(outcome, RunFailedError):
            raise outcome
        replies.append(outcome)

    notes = tools.runner.check_while(
        plan.settings,
        command,
        launch,
        what=f"that of the target and the services of {one.scenario.file}",
        besides=(one.arm.folder / one.benchmark.scenario, Path(benchgate.__file__).parent),
    )
    return (replies[0] if replies else None), notes


def _service_place(plan: LaunchPlan, folder: Path, cpus: frozenset[int] | None) -> ServicePlace:
    arm = plan.scenario.arm
    scratch, logs = folder / "scratch", folder / "logs"
    try:
        scratch.mkdir()
        logs.mkdir()
    except OSError as error:
        raise RunFailedError(f"no room for its files: {error.strerror}") from error
    values = {
        "root": str(arm.root),
        "env": str(arm.env),
        "sha": arm.sha,
        "scratch": str(scratch),
    }
    return ServicePlace(arm, plan.command.env, values, logs, cpus)


def _read(answer: Path, execution: Execution) -> LoadReply:
    """Read what the load generator answered."""
    try:
        return _REPLIES.validate_json(answer.read_bytes())
    except (OSError, ValidationError) as error:
        trouble = trouble_with(execution, frozenset({0}))
        why = f"it answered nothing that can be read\n{execution.output_tail}".rstrip()
        raise RunFailedError(f"the load generator: {trouble or why}") from error
