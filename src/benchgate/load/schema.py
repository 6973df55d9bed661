"""The JSON schema of a scenario file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchgate.config.reference import DIALECT, table_schema
from benchgate.load.drivers import registry
from benchgate.load.drivers.driver import TargetError
from benchgate.load.reading import DEFAULT_DRIVER, ScenarioFile
from benchgate.load.tables import Experiment, Load, Service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.load.reading import AnyDriver
    from benchgate.tables.fields import Table

_Schema = dict[str, Any]


def scenario_schema() -> _Schema:
    """JSON Schema (draft 2020-12) of a whole scenario file, with all drivers that are installed."""
    drivers = list(_drivers())
    defined: _Schema = {}
    whole = table_schema(ScenarioFile)
    properties = whole["properties"]
    for key, table in (("load", Load), ("experiment", Experiment)):
        described = properties[key]["description"]
        properties[key] = {"description": described, **_defined(table, key, defined)}
    names = [driver.NAME for driver in drivers]
    by_target = [
        _if(_is(name), _defined(one.TARGET, f"{name}.target", defined))
        for name, one in zip(names, drivers, strict=True)
    ]
    properties["target"] |= {
        "items": {"properties": {"driver": {"enum": names}}, "allOf": by_target}
    }
    properties["service"] |= {"items": _defined(Service, "service", defined)}
    properties["step"] |= {"items": {"type": "object"}, "minItems": 1}
    for key in ("setup", "teardown"):
        properties[key] = {"type": "object", "description": properties[key]["description"]}
    return {
        "$schema": DIALECT,
        **whole,
        "required": ["name", "step"],
        "allOf": [_if(_has(driver.NAME), _of_driver(driver, defined)) for driver in drivers],
        "$defs": defined,
        "title": "benchgate scenario",
    }


def _drivers() -> Iterator[AnyDriver]:
    for name in registry.names():
        try:
            yield registry.find(name)
        except TargetError:  # of another package, and broken: a scenario that names it is told
            continue


def _of_driver(driver: AnyDriver, defined: _Schema) -> _Schema:
    """What steps and scripts look like with a driver."""
    script = _defined(driver.SCRIPT, f"{driver.NAME}.script", defined)
    step = _defined(driver.STEP, f"{driver.NAME}.step", defined)
    return {"properties": {"step": {"items": step}, "setup": script, "teardown": script}}


def _defined(table: type[Table], name: str, defined: _Schema) -> _Schema:
    """Add the schema of a table to the definitions; return a reference to it."""
    schema = table_schema(table)
    defined |= schema.pop("$defs", {})
    defined[name] = schema
    return {"$ref": f"#/$defs/{name}"}


def _is(name: str) -> _Schema:
    """Matches a target with this driver."""
    named = {"properties": {"driver": {"const": name}}}
    return named if name == DEFAULT_DRIVER else {**named, "required": ["driver"]}


def _has(name: str) -> _Schema:
    """Matches a document in which a target has this driver."""
    found: _Schema = {"properties": {"target": {"contains": _is(name)}}}
    return found if name == DEFAULT_DRIVER else {**found, "required": ["target"]}


def _if(condition: _Schema, then: _Schema) -> _Schema:
    return {"if": condition, "then": then}
