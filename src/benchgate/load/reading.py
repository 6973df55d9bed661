"""Reads a scenario file: its driver says which keys its targets and steps have."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

from pydantic import BeforeValidator, Field, ValidationError

from benchgate.config import fields
from benchgate.config.fields import Table
from benchgate.config.problems import Layout, Problem, config_error, from_validation
from benchgate.load.contradictions import contradictions
from benchgate.load.document import TOML, read_document
from benchgate.load.drivers import registry
from benchgate.load.drivers.driver import Driver, TargetError
from benchgate.load.scenario import Scenario
from benchgate.load.tables import Experiment, Load, Ready, Service, Stage
from benchgate.model.redact import Redactor, redacted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import TypeAlias

    from benchgate.config.origin import KeyPath

    AnyDriver: TypeAlias = type[Driver[Any, Any, Any]]

T = TypeVar("T", bound=Table)

DEFAULT_DRIVER: Final = "sqlite"
PAGE: Final = "docs/scenarios.md"
_LISTS: Final = frozenset({"target", "step", "service", "load.stages"})

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
    origin = read_document(path, name)
    reading = _Reading(origin.tables, is_toml=path.suffix.lower() == TOML)
    scenario = reading.scenario(name, origin.lines)
    problems = reading.problems
    if scenario is not None:
        problems = list(contradictions(scenario, reading.drivers, origin.tables))
    if problems or scenario is None:
        in_order = sorted(problems, key=lambda problem: origin.line(problem.path) or 0)
        raise config_error(redacted(in_order, Redactor({})), origin.place, name)
    return scenario


class _Reading:
    """Checks the tables of a document.

    Attributes:
        drivers: that of each target.
        problems: all that is wrong.
    """

    def __init__(self, tables: Mapping[str, Any], *, is_toml: bool) -> None:
        self._tables = tables
        self.problems: list[Problem] = []
        self.drivers = tuple(self._drivers())
        self._layout = _layout_of(self.drivers[0], is_toml=is_toml)

    def scenario(self, file: str, lines: Mapping[str, int]) -> Scenario | None:
        """Read all tables; None if something is wrong."""
        first = self.drivers[0]
        whole = self._table(ScenarioFile, self._tables, ())
        targets = self._several("target", [one.TARGET for one in self.drivers])
        load = self._one("load", Load) or Load()
        experiment = self._one("experiment", Experiment) or Experiment()
        setup, teardown = self._one("setup", first.SCRIPT), self._one("teardown", first.SCRIPT)
        steps = self._several("step", repeat(first.STEP))
        services = self._several("service", repeat(Service))
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

    def _drivers(self) -> Iterator[AnyDriver]:
        """Find the driver of each target; a problem is found only once, here."""
        raw = self._tables.get("target")
        entries = raw if isinstance(raw, list) else [raw]
        for index, entry in enumerate(entries or [None]):
            name = entry.get("driver", DEFAULT_DRIVER) if isinstance(entry, dict) else None
            yield self._driver(index, name if isinstance(name, str) else DEFAULT_DRIVER)

    def _driver(self, index: int, name: str) -> AnyDriver:
        try:
            return registry.find(name)
        except TargetError as error:
            hint = f"drivers: {', '.join(registry.names())}"
            self.problems.append(Problem(("target", index, "driver"), str(error), hint))
            return registry.find(DEFAULT_DRIVER)

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


def _layout_of(driver: AnyDriver, *, is_toml: bool) -> Layout:
    """The tables of a scenario file for one driver."""
    tables: Mapping[tuple[str, ...], type[Table]] = {
        (): ScenarioFile,
        ("target",): driver.TARGET,
        ("load",): Load,
        ("load", "stages"): Stage,
        ("experiment",): Experiment,
        ("setup",): driver.SCRIPT,
        ("teardown",): driver.SCRIPT,
        ("step",): driver.STEP,
        ("service",): Service,
        ("service", "ready"): Ready,
    }
    return Layout(tables, _LISTS, PAGE, is_toml)
