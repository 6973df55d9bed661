"""The JSON schema of a scenario file, and the tables of docs/scenario-files.md.

python -m benchgate.load.driver_reference docs/scenario-files.md

updates a document, as `benchgate.config.key_reference` does.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchgate.config.key_reference import DIALECT, Likeness, table_schema, updated
from benchgate.load import drivers
from benchgate.load.drivers.driver import TargetError
from benchgate.load.drivers.http import HttpRequest
from benchgate.load.scenario import Experiment, Load, Ready, Service, Stage
from benchgate.load.scenario_file import DEFAULT_DRIVER, ScenarioFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.load.scenario_file import AnyDriver
    from benchgate.tables.fields import Table


def tables() -> Mapping[tuple[str, ...], type[Table]]:
    """Every table of a scenario file; those of a driver by its name, too."""
    found: dict[tuple[str, ...], type[Table]] = {
        ("scenario",): ScenarioFile,
        ("load",): Load,
        ("stage",): Stage,
        ("experiment",): Experiment,
        ("service",): Service,
        ("ready",): Ready,
        ("request",): HttpRequest,
    }
    for name in drivers.BUILT_IN:
        driver = drivers.find(name)
        found |= {
            ("target", name): driver.TARGET,
            ("step", name): driver.STEP,
            ("script", name): driver.SCRIPT,
        }
    return found


def updated_page(document: str) -> str:
    """Rewrite all tables of a document; those of a driver do not repeat what SQLite's have."""
    alike: dict[tuple[str, ...], Likeness] = {
        (kind, name): ((kind, DEFAULT_DRIVER), "[SQLite](#sqlite)")
        for kind in ("target", "step")
        for name in drivers.BUILT_IN
        if name != DEFAULT_DRIVER
    }
    return updated(document, tables(), alike)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(updated_page(path.read_text(encoding="utf-8")), encoding="utf-8")


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
    for name in drivers.names():
        try:
            yield drivers.find(name)
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
