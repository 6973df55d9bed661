"""Reads a scenario file: TOML, JSON or YAML; its driver says which keys targets and steps have."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import suppress
from itertools import repeat
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, get_args, get_origin

from pydantic import BeforeValidator, Field, ValidationError

from benchgate.errors import ConfigError, did_you_mean
from benchgate.load import drivers
from benchgate.load.contradictions import contradictions, place_of
from benchgate.load.drivers.driver import Driver, TargetError
from benchgate.load.placeholders import UnsetVariableError, expanded, variables_in
from benchgate.load.scenario import Experiment, Load, Scenario, Script, Service, Step, Target
from benchgate.model.redact import Redactor, passwords_in, redacted
from benchgate.tables import fields
from benchgate.tables.document import (
    Document,
    DocumentLayout,
    Problem,
    config_error,
    dotted,
    from_validation,
    line_numbers,
    parse_toml,
    read_text,
)
from benchgate.tables.fields import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import TypeAlias

    from benchgate.tables.document import KeyPath


def read_document(path: Path, name: str) -> Document:
    """Read a file of any of the formats, by its suffix.

    Args:
        name: what messages call it.
    """
    suffix = path.suffix.lower()
    parse = _PARSERS.get(suffix)
    if parse is None:
        meant = did_you_mean(suffix, _PARSERS) if suffix else ""
        raise ConfigError(
            f"{name}: a scenario file is named .toml, .json, .yaml or .yml{meant}",
            hint="rename the file: its suffix says which format it has",
        )
    text = read_text(path, name)
    try:
        tables, lines = parse(text, name)
    except RecursionError:
        raise ConfigError(f"{name}: is nested too deeply") from None
    if not isinstance(tables, dict):
        raise ConfigError(
            f"{name}: must be a table of keys and values",
            hint="it begins with the keys `name`, `target`, `load` and `step`",
        )
    return Document(name, tables, {dotted(key): line for key, line in lines.items()})


def _toml(text: str, name: str) -> tuple[Any, Mapping[KeyPath, int]]:
    return parse_toml(text, name), line_numbers(text)


def _json(text: str, name: str) -> tuple[Any, Mapping[KeyPath, int]]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            twice = next(key for key, count in counts.items() if count > 1)
            raise ConfigError(
                f"{name}: the key {twice!r} is there twice", hint="delete one of them"
            )
        return table

    try:
        return json.loads(text, object_pairs_hook=unique), dict(_json_lines(text))
    except json.JSONDecodeError as error:
        place = f"{name}:{error.lineno}:{error.colno}"
        raise ConfigError(
            f"{place}: is not valid JSON: {error.msg[:1].lower()}{error.msg[1:]}",
            hint="JSON knows no comments, and no comma after the last entry",
        ) from None
    except ValueError as error:  # a number of 5,000 digits
        what = str(error)
        raise ConfigError(f"{name}: is not valid JSON: {what[:1].lower()}{what[1:]}") from None


def _json_lines(text: str) -> Iterator[tuple[KeyPath, int]]:
    """The line of each key and each entry of a list in a valid document."""
    path: list[str | int | None] = []  # ends with None where a key is expected
    line = 1
    for token in _JSON_TOKEN.finditer(text):
        match token[0]:
            case "\n":
                line += 1
                continue
            case "}" | "]":
                path.pop()
                continue
            case ",":
                path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
                continue
        if path and path[-1] is None:
            path[-1] = json.loads(token[0]) if token[0][0] == '"' else None
            yield tuple(part for part in path if part is not None), line
            continue
        if path and isinstance(path[-1], int):
            yield tuple(part for part in path if part is not None), line
        if token[0] in "{[":
            path.append(None if token[0] == "{" else 0)


def _yaml(text: str, name: str) -> tuple[Any, Mapping[KeyPath, int]]:
    try:
        import yaml  # noqa: PLC0415 - an extra
    except ImportError:
        raise ConfigError(
            f"{name}: reading YAML needs PyYAML",
            hint='install it with `pip install "benchgate[yaml]"`, or write the file in TOML',
        ) from None
    root = None
    try:
        lines: dict[KeyPath, int] = {}
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        for key, line in _yaml_lines(name, root):
            lines[key] = line
            if len(lines) > _MOST_LINES:  # a few aliases can stand for endlessly many
                raise ConfigError(f"{name}: has more than {_MOST_LINES} entries")
        return yaml.safe_load(text), lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        what = error.problem or error.context or ""
        opened = error.context_mark.line + 1 if error.context_mark else where[0]
        hint = next((hint for part, hint in _YAML_HINTS if part in what), _YAML_QUOTES)
        hint = hint.format(opened=opened)
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        where = (before.count("\n") + 1, error.position - before.rfind("\n"))
        what, hint = f"it has the character U+{ord(text[error.position]):04X}", "delete it"
    except ValueError as error:
        where, what, hint = _unreadable(root), str(error), "put it in quotes if it is text"
    raise ConfigError(
        f"{name}:{where[0]}:{where[1]}: is not valid YAML: {what}", hint=hint
    ) from None


def _unreadable(node: Any) -> tuple[int, int]:  # noqa: ANN401 - a node of PyYAML
    """The line and the column of the first value that looks like a date or number and is none."""
    import yaml  # noqa: PLC0415 - an extra

    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, tuple | list):
            waiting += reversed(one)
        elif isinstance(one.value, list):
            waiting.append(one.value)
        else:
            try:
                yaml.SafeLoader("").construct_object(one)
            except ValueError:
                return one.start_mark.line + 1, one.start_mark.column + 1
    return 1, 1


def _yaml_lines(name: str, node: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, int]]:  # noqa: ANN401 - a node of PyYAML
    """The line of each key and each entry of a list."""
    value = node.value if node is not None else None
    if not isinstance(value, list):
        return
    keys: set[str] = set()
    for index, entry in enumerate(value):
        is_pair = isinstance(entry, tuple)
        first, child = entry if is_pair else (entry, entry)
        line = first.start_mark.line + 1
        if is_pair:
            if first.tag != _YAML_MERGE and (first.tag != _YAML_TEXT or first.value in keys):
                why = (
                    "is there twice"
                    if first.tag == _YAML_TEXT
                    else "must be text: put it in quotes"
                )
                hint = "delete one of them" if first.tag == _YAML_TEXT else ""
                raise ConfigError(f"{name}:{line}: the key {first.value!r} {why}", hint=hint)
            keys.add(first.value)
        inside = (*path, first.value if is_pair else index)
        yield inside, line
        yield from _yaml_lines(name, child, inside)


TOML: Final = ".toml"

_MOST_LINES: Final = 100_000
_YAML_QUOTES: Final = "text with a colon, a brace or a bracket needs quotes"
_YAML_HINTS: Final = (
    # What PyYAML says, and what to do. The first that fits counts.
    (r"'\t'", "indent with spaces: YAML permits no tabs there"),
    (
        "mapping values are not allowed",
        "put a space after each colon, and indent the keys of one table alike; " + _YAML_QUOTES,
    ),
    ("could not find expected ':'", "write `key: value` with a space after the colon"),
    ("block end", "indent the keys of one table alike, and the entries of one list"),
    ("expected ','", "close what opens in line {opened}, or put a comma between its entries"),
    ("unexpected end of stream", "close the quotes that open in line {opened}"),
    ("expected the node content", "close what opens in line {opened}"),
    ("another document", "delete the line --- that begins it"),
    ("alias", "put text that begins with * in quotes"),
    ("cannot start any token", "put text that begins with this character in quotes"),
    ("escape character", "put text with a backslash in single quotes, or write two backslashes"),
    ("<document start>", "put text that begins with % in quotes"),
    ("tag", "delete it: a scenario needs no tags; put text that begins with ! in quotes"),
)
_YAML_TEXT: Final = "tag:yaml.org,2002:str"
_YAML_MERGE: Final = "tag:yaml.org,2002:merge"
_JSON_TOKEN: Final = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\],\n]|[^\s{}\[\],:"]+')
_PARSERS: Final[Mapping[str, Callable[[str, str], tuple[Any, Mapping[KeyPath, int]]]]] = {
    TOML: _toml,
    ".json": _json,
    ".yaml": _yaml,
    ".yml": _yaml,
}


if TYPE_CHECKING:
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
                found.append(drivers.find(name if isinstance(name, str) else DEFAULT_DRIVER))
            except TargetError as error:
                hint = f"drivers: {', '.join(drivers.names())}"
                self.problems.append(Problem(("target", index, "driver"), str(error), hint))
        return () if self.problems else tuple(found)

    def _layout_of(self, driver: AnyDriver | None) -> DocumentLayout:
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
        return DocumentLayout(found, frozenset(lists), PAGE, self._is_toml)

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


def check_variables(scenario: Scenario, target: Target, environ: Mapping[str, str]) -> None:
    """Make sure that all variables are set that a scenario uses for one of its targets.

    Those of its services are looked up when they are started.
    """
    problems = [
        Problem(
            path,
            f"the variable {name} is not set",
            f"set it in the environment of benchgate: {name}=... benchgate check",
        )
        for path, text in _texts(scenario, target)
        for name in dict.fromkeys(variables_in(text))
        if name not in environ
    ]
    if problems:
        document = Document(scenario.file, {}, scenario.lines)
        raise config_error(problems, document.place, scenario.file)


def redactor_of(scenario: Scenario, target: Target, environ: Mapping[str, str]) -> Redactor:
    """Make what removes secrets: variables that the scenario uses, and passwords in its texts."""
    texts = [text for _, text in _texts(scenario, target)]
    of_services = [text for one in scenario.services for text in one.env.values()]
    return Redactor(environ, secrets_in([*texts, *of_services], environ))


def secrets_in(texts: Iterable[str], environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of variables in texts, and the passwords of addresses."""
    for text in texts:
        yield from (environ[name] for name in variables_in(text) if name in environ)
        with suppress(UnsetVariableError):
            yield from passwords_in(expanded(text, {}, environ))


def _texts(scenario: Scenario, target: Target) -> Iterator[tuple[KeyPath, str]]:
    """The texts in which variables are replaced, with their places."""
    for path, table in scenario.tables(target):
        dumped = table.model_dump(mode="json", by_alias=True)
        for text in dict.fromkeys(table.texts()):
            yield (*path, *place_of(dumped, text)), text
