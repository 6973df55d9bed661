"""What a process needs for its part of a launch: the order, the scenario, and a driver."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.json_object import Count, JsonObject, Name, Text
from benchgate.load import drivers
from benchgate.load.drivers.driver import Driver, LaunchPlace, TargetError, one_line
from benchgate.load.placeholders import SCRATCH, UnsetVariableError, expanded, variables_in
from benchgate.load.scenario_file import check_variables, read_scenario, redactor_of
from benchgate.load.schedule import TurnOrder
from benchgate.model.load import LoadLaunch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from benchgate.load.scenario import Scenario


AnyDriver = Driver[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class ProcessLaunch:
    """One process's part of a launch.

    Attributes:
        conceal: makes the text of an error one line without secrets.
    """

    order: LoadOrder
    scenario: Scenario
    driver: AnyDriver
    conceal: Callable[[str], str]


def open_launch(order: LoadOrder) -> ProcessLaunch:
    """Read the scenario, and make the driver of its target. Nothing is sent to the target yet.

    Raises:
        TargetError: the target's texts or files do not fit.
    """
    scenario = read_scenario(Path(order.scenario), order.shown)
    check_variables(scenario, scenario.target(order.target), os.environ)
    return make_launch(order, scenario, os.environ)


def make_launch(order: LoadOrder, scenario: Scenario, environ: Mapping[str, str]) -> ProcessLaunch:
    """Make the driver of a target of a scenario that was read before; see `open_launch`."""
    if order.brief:
        scenario = scenario.shortened()
    target = scenario.target(order.target)
    redact = redactor_of(scenario, target, environ)

    def conceal(text: str) -> str:
        return one_line(redact(text))

    try:
        place = LaunchPlace(
            folder=Path(order.folder),
            scratch=Path(order.scratch),
            expand=lambda text: expanded(text, order.placeholders, environ),
            environ=dict(environ),
            conceal=conceal,
        )
        driver = drivers.find(target.driver)(target, scenario.steps, place)
    except UnsetVariableError as error:
        raise TargetError(f"{error}; {order.shown} names it") from None
    return ProcessLaunch(order, scenario, driver, conceal)


INTERRUPTED: Final = "interrupted before the load had ended"
"""The error of a launch that was told to stop, or whose counterpart in the other arm has ended."""


@dataclass(frozen=True, slots=True)
class LoadOrder(JsonObject):
    """One launch. It has no secret: the generator reads the scenario file itself.

    Attributes:
        scenario: absolute path of the scenario file.
        shown: what messages call that file.
        target: name of the target to load.
        folder: absolute path of the arm's folder of the configuration.
        scratch: absolute path of an empty folder.
        placeholders: what {root}, {env}, {sha}, {port}, {NAME_port} and {scratch} stand for.
        round: from 0; parameters are drawn from seed + round, the same in both arms.
        introspect: whether to ask the target for its version and settings.
        brief: only try whether everything works: no warm-up, and at most a second of load.
        turns: how the launch takes turns with that of the other arm; None if it runs alone.
    """

    scenario: Text
    shown: Text
    target: Name
    folder: Text
    scratch: Text
    placeholders: dict[Text, Text]
    round: Count
    introspect: bool = False
    brief: bool = False
    turns: TurnOrder | None = None


@dataclass(frozen=True, slots=True)
class LoadReply(JsonObject):
    """How the launch went.

    Attributes:
        error: why it failed as a whole, one line and then details; None if it did not.
        steps: what each step did, by its name.
        notes: what a reader of the numbers must know, such as a teardown that failed.
        server: version and settings of the target.
    """

    error: Text | None
    steps: dict[Name, LoadLaunch] = field(default_factory=dict)
    notes: tuple[Text, ...] = ()
    server: dict[Text, Text] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, repr=False)
class Parcel:
    """What a group on another machine needs; it has secrets, so it shows nothing of itself."""

    order: LoadOrder
    scenario: Scenario
    variables: Mapping[str, str]
    files: Mapping[str, bytes]
    workers: tuple[int, ...]


def parcel_of(
    launch: ProcessLaunch, environ: Mapping[str, str], workers: tuple[int, ...]
) -> Parcel:
    """Put together what a group needs: also variables and files that its scenario names."""
    scenario, folder = launch.scenario, Path(launch.order.folder)
    tables = (scenario.target(launch.order.target), *scenario.steps)
    names = {name for one in tables for text in one.texts() for name in variables_in(text)}
    files = {file for step in scenario.steps for file in step.own_files()}
    return Parcel(
        launch.order,
        scenario,
        {name: environ[name] for name in names if name in environ},
        {file: (folder / file).read_bytes() for file in files},
        workers,
    )


@contextmanager
def unpacked(parcel: Parcel) -> Iterator[ProcessLaunch]:
    """Make the launch of such a group, in a temporary folder with the files of the steps."""
    with tempfile.TemporaryDirectory(prefix="benchgate-", ignore_cleanup_errors=True) as root:
        folder, scratch = Path(root, "folder"), Path(root, "scratch")
        scratch.mkdir()
        for file, content in parcel.files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(content)
        placeholders = {**parcel.order.placeholders, SCRATCH: str(scratch)}
        order = replace(
            parcel.order, folder=str(folder), scratch=str(scratch), placeholders=placeholders
        )
        launch = make_launch(order, parcel.scenario, parcel.variables)
        try:
            yield launch
        finally:
            launch.driver.close()
