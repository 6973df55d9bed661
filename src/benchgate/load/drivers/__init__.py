"""Finds a driver by its name: benchgate's own, and those of installed packages."""

from __future__ import annotations

import inspect
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from benchgate.errors import did_you_mean
from benchgate.load.drivers.driver import Driver, TargetError, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.metadata import EntryPoint

GROUP = "benchgate.drivers"

# By text, because a driver is imported only if a scenario uses it.
BUILT_IN: Mapping[str, str] = {
    "command": "benchgate.load.drivers.programs:CommandDriver",
    "http": "benchgate.load.drivers.http:HttpDriver",
    "mysql": "benchgate.load.drivers.mysql:MysqlDriver",
    "postgresql": "benchgate.load.drivers.postgresql:PostgresqlDriver",
    "python": "benchgate.load.drivers.programs:PythonDriver",
    "sqlite": "benchgate.load.drivers.sqlite:SqliteDriver",
}


def names() -> tuple[str, ...]:
    return tuple(sorted({*BUILT_IN, *entry_points(group=GROUP).names}))


def find(name: str) -> type[Driver[Any, Any, Any]]:
    """Return a driver. An entry point cannot replace a driver of benchgate.

    Raises:
        TargetError: there is none with this name, or its entry point is broken.
    """
    where = BUILT_IN.get(name)
    if where is not None:
        module, _, attribute = where.partition(":")
        built_in: type[Driver[Any, Any, Any]] = getattr(import_module(module), attribute)
        return built_in
    installed = tuple(entry_points(group=GROUP, name=name))
    if not installed:
        raise TargetError(
            f"there is no driver {name!r} among {', '.join(names())}{did_you_mean(name, names())}"
        )
    return _loaded(installed[0])


def _loaded(entry: EntryPoint) -> type[Driver[Any, Any, Any]]:
    package = f" of the package {entry.dist.name}" if entry.dist else ""
    broken = f"the driver {entry.name!r}{package} cannot be used: {entry.value}"
    try:
        found = entry.load()
    except Exception as error:  # noqa: BLE001 - the code of others may raise anything
        raise TargetError(
            one_line(f"{broken} cannot be imported: {type(error).__name__}: {error}")
        ) from None
    if not (inspect.isclass(found) and issubclass(found, Driver)):
        raise TargetError(f"{broken} is not a subclass of Driver")
    if inspect.isabstract(found):
        missing = ", ".join(sorted(found.__abstractmethods__))
        raise TargetError(f"{broken} does not define {missing}")
    for attribute in ("NAME", "TARGET", "STEP", "SCRIPT"):
        if not hasattr(found, attribute):
            raise TargetError(f"{broken} does not define {attribute}")
    if entry.name != found.NAME:
        raise TargetError(f"{broken} calls itself {found.NAME!r}")
    return found
