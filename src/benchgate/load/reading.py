"""Reads a scenario file: its driver says which keys its targets and steps have."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, get_args, get_origin

from pydantic import BeforeValidator, Field, ValidationError

from benchgate.load.contradictions import contradictions
from benchgate.load.document import TOML, read_document
from benchgate.load.drivers import registry
from benchgate.load.drivers.driver import Driver, TargetError
from benchgate.load.scenario import Scenario
from benchgate.load.tables import Experiment, Load, Script, Service, Step, Target
from benchgate.model.redact import Redactor, redacted
from benchgate.tables import fields
from benchgate.tables.document import Layout, Problem, config_error, from_validation
from benchgate.tables.fields import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from typing import TypeAlias

    from benchgate.tables.document import KeyPath

    AnyDriver: TypeAlias = type[Driver[Any, Any, Any]]

T = TypeVar("T", bound=Table)

DEFAULT_DRIVER: Final = "sqlite"
PAGE: Final = "docs/scenario-files.md"

# What is in them depends on the driver, so they are checked one by one.
_Unchecked = dict[str, Any]
_Several = Annotated[tuple[dict[str, Any], ...], BeforeValidator(fields.as_tuple)]


class ScenarioFile(Table):
    """A whole scenario file."""

    name: fields.Identifier = Field(description="The first part of the ids of its benchmarks.")
    target: _Several = Field(default=(), description="What is loaded; by default SQLite in memory.")
    load: _Unchecked = Field(default_factory=dict, description="How much load there is.")
    experiment: _Unchecked = Field(default_factory=dict, description="How a launch is repeated.")
    setup: _Unchecked | None = Field(default=None, description="What runs before each launch.")
    teardown: _Unchecked | None = Field(
        default=None, description="What runs after each launch, even if it failed."
    )
    step: _Several = Field(
        default=(), description="The kinds of operations; each of them is a benchmark."
    )
    service: _Several = Field(
        default=(), description="Programs that benchgate starts before each launch."
    )


def read_scenario(path: Path, name: str) -> Scenario:
    """Read and check a scenario file: TOML, JSON, or YAML with the extra.

    Args:
        name: what messages call the file.

    Raises:
        ConfigError: it is not valid; the message lists everything, with file, line and key.
    """
    document = read_document(path, name)
    reading = _Reading(document.tables, is_toml=path.suffix.lower() == TOML)
    scenario = reading.scenario(name, document.lines)
    problems = reading.problems
    if scenario is not None:
        problems = list(contradictions(scenario, reading.drivers, document.tables))
    if problems or scenario is None:
        in_order = sorted(problems, key=lambda problem: document.line(problem.path) or 0)
        raise config_error(redacted(in_order, Redactor({})), document.place, name)
    return scenario


class _Reading:
    """Checks the tables of a document.

    Attributes:
        drivers: that of each target; empty if one of them is unknown.
        problems: all that is wrong.
    """

    def __init__(self, tables: Mapping[str, Any], *, is_toml: bool) -> None:
        self._tables = tables
        self._is_toml = is_toml
        self.problems: list[Problem] = []
        self.drivers = self._drivers()
        self._layout = self._layout_of(self.drivers[0] if self.drivers else None)

    def scenario(self, file: str, lines: Mapping[str, int]) -> Scenario | None:
        """Read all tables; None if something is wrong."""
        whole = self._table(ScenarioFile, self._tables, ())
        load = self._one("load", Load) or Load()
        experiment = self._one("experiment", Experiment) or Experiment()
        services = self._several("service", repeat(Service))
        if not self.drivers:
            return None
        first = self.drivers[0]
        targets = self._several("target", [one.TARGET for one in self.drivers])
        steps = self._several("step", repeat(first.STEP))
        setup, teardown = self._one("setup", first.SCRIPT), self._one("teardown", first.SCRIPT)
        if whole is None or self.problems:
            return None
        return Scenario(
            name=whole.name,
            file=file,
            targets=targets or (first.TARGET(),),
            load=load,
            experiment=experiment,
            steps=steps,
            services=services,
            setup=setup,
            teardown=teardown,
            lines=lines,
        )

    def _drivers(self) -> tuple[AnyDriver, ...]:
        raw = self._tables.get("target")
        entries = raw if isinstance(raw, list) else [raw]
        found = []
        for index, entry in enumerate(entries or [None]):
            name = entry.get("driver", DEFAULT_DRIVER) if isinstance(entry, dict) else None
            try:
                found.append(registry.find(name if isinstance(name, str) else DEFAULT_DRIVER))
            except TargetError as error:
                hint = f"drivers: {', '.join(registry.names())}"
                self.problems.append(Problem(("target", index, "driver"), str(error), hint))
        return () if self.problems else tuple(found)

    def _layout_of(self, driver: AnyDriver | None) -> Layout:
        """The tables of a file for one driver; for None what all drivers have in common."""
        of_driver: dict[str, type[Table]] = {}
        if driver is not None:
            script = driver.SCRIPT
            of_driver = {"target": driver.TARGET, "step": driver.STEP}
            of_driver |= {"setup": script, "teardown": script}
        found: dict[tuple[str, ...], type[Table]] = {(): ScenarioFile}
        lists = {"target", "step", "service"}
        for key, table in {**_TABLES, **of_driver}.items():
            _add(table, (key,), found, lists)
        return Layout(found, frozenset(lists), PAGE, self._is_toml)

    def _one(self, key: str, table: type[T]) -> T | None:
        raw = self._tables.get(key)
        return self._table(table, raw, (key,)) if isinstance(raw, dict) else None

    def _several(self, key: str, tables: Iterable[type[T]]) -> tuple[T, ...]:
        raw = self._tables.get(key)
        entries = enumerate(raw) if isinstance(raw, list) else ()
        checked = [
            self._table(table, entry, (key, index))
            for (index, entry), table in zip(entries, tables, strict=False)
            if isinstance(entry, dict)
        ]
        return tuple(one for one in checked if one is not None)

    def _table(self, table: type[T], raw: Mapping[str, Any], path: KeyPath) -> T | None:
        try:
            return table.model_validate(raw)
        except ValidationError as error:
            self.problems += from_validation(error, self._layout, path)
            return None


def _add(
    table: type[Table],
    path: tuple[str, ...],
    found: dict[tuple[str, ...], type[Table]],
    lists: set[str],
) -> None:
    """Add a table to those found, and the tables in it."""
    found[path] = table
    for name, info in table.model_fields.items():
        inner = _table_in(info.annotation)
        if inner is not None:
            inside = (*path, info.alias or name)
            if get_origin(info.annotation) is tuple:
                lists.add(".".join(inside))
            _add(inner, inside, found, lists)


def _table_in(annotation: object) -> type[Table] | None:
    """The class of table that a field holds, alone or in a list."""
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return annotation
    return next((one for one in map(_table_in, get_args(annotation)) if one is not None), None)


_TABLES: Final[Mapping[str, type[Table]]] = {
    "target": Target,
    "load": Load,
    "experiment": Experiment,
    "setup": Script,
    "teardown": Script,
    "step": Step,
    "service": Service,
}
