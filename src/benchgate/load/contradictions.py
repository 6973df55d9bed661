"""Finds keys of a scenario that contradict each other although each of them is valid alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchgate.load.placeholders import known_placeholders, wrong_in
from benchgate.tables import fields
from benchgate.tables.document import Problem
from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchgate.load.drivers.driver import Driver
    from benchgate.load.scenario import Load, Ready, Scenario, Service
    from benchgate.tables.document import KeyPath


def contradictions(
    scenario: Scenario, drivers: Sequence[type[Driver[Any, Any, Any]]], raw: Mapping[str, Any]
) -> Iterator[Problem]:
    """Find all contradictions, each with the key that must change.

    Args:
        drivers: that of each target.
        raw: the tables as they were written.
    """
    yield from _names(scenario)
    yield from _objections(scenario, drivers)
    yield from _load(scenario.load, scenario.duration_s)
    for index, one in enumerate(scenario.services):
        yield from _ready(index, one.ready)
        yield from _service(index, one, scenario)
    yield from _texts(scenario, raw)


def _names(scenario: Scenario) -> Iterator[Problem]:
    if not scenario.steps:
        hint = 'write [[step]] with a name, and what it does, such as query = "SELECT 1"'
        yield Problem((), "has no [[step]], so there is nothing to measure", hint)
    for table, names in (
        ("target", [one.title for one in scenario.targets]),
        ("step", [one.name for one in scenario.steps]),
        ("service", [one.name for one in scenario.services]),
    ):
        for index, name in enumerate(names):
            first = names.index(name)
            if first != index:
                yield Problem(
                    (table, index, "name"),
                    f"{table}[{first}] has the same name",
                    f"give each {table} a name of its own",
                    name,
                )


def _objections(
    scenario: Scenario, drivers: Sequence[type[Driver[Any, Any, Any]]]
) -> Iterator[Problem]:
    first, hint = drivers[0], "docs/scenario-files.md describes the drivers"
    for index, (driver, target) in enumerate(zip(drivers, scenario.targets, strict=True)):
        if (driver.STEP, driver.SCRIPT) != (first.STEP, first.SCRIPT):
            yield Problem(
                ("target", index, "driver"),
                f'has other keys in its steps than "{first.NAME}" of target[0]',
                "all targets of a scenario carry out the same steps: write a file for each of them",
                target.driver,
            )
            return
        if scenario.load.cluster is not None and not driver.WORKS_AFAR:
            yield Problem(
                ("load", "cluster"),
                f'contradicts the driver "{driver.NAME}", which needs files or programs of this'
                " machine",
                "leave `cluster` out, or load a server, such as with the driver http",
                scenario.load.cluster,
            )
        elif objection := driver.objection(target, scenario.load):
            yield Problem(("target", index), objection, hint)
    for index, step in enumerate(scenario.steps):
        objections = [one.objection_to_step(step) for one in drivers]
        for objection in dict.fromkeys(filter(None, objections)):
            yield Problem(("step", index), objection, hint)


def _load(load: Load, duration_s: float) -> Iterator[Problem]:
    if load.workers == "process" and load.cluster is not None:
        yield Problem(
            ("load", "workers"),
            "contradicts `cluster`, whose workers are processes already",
            "leave one of the two out",
            load.workers,
        )
    if not load.stages:
        return
    kinds = [(one.rate is not None, one.concurrency is not None) for one in load.stages]
    for index, kind in enumerate(kinds):
        if all(kind) or not any(kind):
            found = (
                "has both `rate` and `concurrency`"
                if all(kind)
                else "has neither `rate` nor `concurrency`"
            )
            hint = "a stage sets `rate` for an open loop, or `concurrency` for a closed loop"
            yield Problem(("load", "stages", index), found, hint)
    if len(set(kinds)) > 1:
        yield Problem(
            ("load", "stages"),
            "some stages set `rate`, others `concurrency`",
            "a load is one or the other: write two scenarios",
        )
    elif kinds[0] == (False, True) and load.rate:
        yield Problem(
            ("load", "rate"),
            "contradicts stages with `concurrency`: with a rate, operations begin on a schedule",
            "delete `rate`, or set `rate` in each stage",
            load.rate,
        )
    if load.rate == 0 and kinds[0] == (True, False) and not any(one.rate for one in load.stages):
        yield Problem(("load", "stages"), "never have a rate above 0", "set `rate` in one of them")
    total_s = sum(one.duration_s for one in load.stages)
    if abs(total_s - duration_s) > 1e-9 * total_s:
        yield Problem(
            ("load", "duration"),
            f"contradicts the stages, which take {format_duration(total_s)}",
            "delete `duration`: it is the sum of the stages",
        )


def _ready(index: int, ready: Ready) -> Iterator[Problem]:
    path = ("service", index, "ready")
    given = [key for key in ("tcp", "http", "log", "command") if getattr(ready, key)]
    if len(given) != 1:
        found = f"has {' and '.join(f'`{key}`' for key in given)}" if given else "is empty"
        yield Problem(
            path,
            f"{found}: it has one of `tcp`, `http`, `log` and `command`",
            'write for example ready = { tcp = true } or ready = { http = "/health" }',
        )
    elif "status" in ready.model_fields_set and ready.http is None:
        yield Problem((*path, "status"), "is only for `http`", "delete it", ready.status)


def _texts(scenario: Scenario, raw: Mapping[str, Any]) -> Iterator[Problem]:
    """Check the placeholders and variables of targets, steps and scripts."""
    known = known_placeholders([one.name for one in scenario.services])
    for path, table in scenario.tables():
        for text in dict.fromkeys(table.texts()):
            for wrong in wrong_in(text, known):
                yield Problem((*path, *place_of(_written(raw, path), text)), *wrong)


def _written(raw: Mapping[str, Any], path: KeyPath) -> object:
    """What stands at a place of the file; None if that is left to a default."""
    value: Any = raw
    try:
        for key in path:
            value = value[key]
    except (LookupError, TypeError):
        return None
    return value


def _service(index: int, service: Service, scenario: Scenario) -> Iterator[Problem]:
    known = known_placeholders([one.name for one in scenario.services], own=True)
    path: KeyPath = ("service", index)
    commands = {
        ("start",): service.start,
        ("stop",): service.stop,
        ("ready", "command"): service.ready.command,
    }
    for key, command in commands.items():
        if command is not None:
            wrong = list(wrong_in(command, known, variables=False)) or list(
                _unsplit(command, known)
            )
            yield from (Problem((*path, *key), *one) for one in wrong)
    for name, text in service.env.items():
        yield from (Problem((*path, "env", name), *one) for one in wrong_in(text, known))
    if service.ready.http is not None:
        for one in wrong_in(service.ready.http, known, variables=False):
            yield Problem((*path, "ready", "http"), *one)


def _unsplit(command: str, known: Sequence[str]) -> Iterator[tuple[str, str]]:
    try:
        fields.argv(command, in_shell=False, placeholders=known, to_get_a_shell="write sh -c '...'")
    except ValueError as error:
        yield str(error), "a command is a program and its arguments"


def place_of(value: object, text: str) -> KeyPath:
    """Find where a text is in a table; the path of the table itself if it is a default."""
    children: Iterable[tuple[str | int, object]] = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    for key, child in children:
        if child == text:
            return (key,)
        if inside := place_of(child, text):
            return (key, *inside)
    return ()
