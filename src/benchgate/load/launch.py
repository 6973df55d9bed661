"""What a process needs for its part of a launch: the scenario, and a driver for its target."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchgate.load.drivers import registry
from benchgate.load.drivers.driver import Driver, Place, TargetError
from benchgate.load.reading import read_scenario
from benchgate.load.substitution import UnsetVariableError, expanded
from benchgate.load.variables import check_variables, concealer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.load.order import LoadOrder
    from benchgate.load.scenario import Scenario

AnyDriver = Driver[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class Launch:
    """One process's part of a launch.

    Attributes:
        conceal: makes the text of an error one line without secrets.
    """

    order: LoadOrder
    scenario: Scenario
    driver: AnyDriver
    conceal: Callable[[str], str]


def open_launch(order: LoadOrder) -> Launch:
    """Read the scenario, and make the driver of its target. Nothing is sent to the target yet.

    Raises:
        ConfigError: the scenario file is not valid, or a variable is not set that it names.
        TargetError: the target's texts or files do not fit.
    """
    scenario = read_scenario(Path(order.scenario), order.shown)
    check_variables(scenario, scenario.target(order.target), os.environ)
    return make_launch(order, scenario, os.environ)


def make_launch(order: LoadOrder, scenario: Scenario, environ: Mapping[str, str]) -> Launch:
    """Make the driver of a target of a scenario that was read before; see `open_launch`.

    Raises:
        TargetError: the target's texts or files do not fit.
    """
    if order.brief:
        scenario = scenario.shortened()
    target = scenario.target(order.target)
    expand = _expander(order.placeholders, environ)
    try:
        place = Place(
            folder=Path(order.folder),
            scratch=Path(order.scratch),
            workers=scenario.most_workers,
            expand=expand,
            environ=dict(environ),
            shares_process=scenario.load.workers == "thread" and scenario.load.cluster is None,
        )
        driver = registry.find(target.driver)(target, scenario.steps, place)
    except UnsetVariableError as error:
        raise TargetError(f"{error}; {order.shown} names it") from None
    return Launch(order, scenario, driver, concealer(scenario, target, environ))


def _expander(placeholders: Mapping[str, str], environ: Mapping[str, str]) -> Callable[[str], str]:
    return lambda text: expanded(text, placeholders, environ)
