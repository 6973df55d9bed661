"""Reads a TOML, JSON or YAML file, and finds the line of each key."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import ConfigError, did_you_mean
from benchgate.tables.document import Document, dotted, line_numbers, parse_toml, read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from benchgate.tables.document import KeyPath


def read_document(path: Path, name: str) -> Document:
    """Read a file of any of the formats, by its suffix.

    Args:
        name: what messages call it.

    Raises:
        ConfigError: it cannot be read or parsed; the message has the line.
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
    """The line of each key and each entry of a list.

    Raises:
        ConfigError: a key is no text, or is there twice.
    """
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
