"""Documents of tables that people write: where each key is, and what is wrong, in plain words."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from benchgate.errors import ConfigError, did_you_mean
from benchgate.tables.fields import keys_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pydantic import ValidationError

    from benchgate.tables.fields import Table


KeyPath: TypeAlias = tuple[str | int, ...]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was read, unchecked.

    Attributes:
        name: what messages call it.
        tables: what it holds.
        lines: the line, from 1, of each table and key in it, by its dotted name.
    """

    name: str
    tables: Mapping[str, Any]
    lines: Mapping[str, int]

    def line(self, path: KeyPath) -> int | None:
        """The line of a key, or of the innermost table around it that the document contains."""
        names = (dotted(path[:length]) for length in range(len(path), 0, -1))
        return next((self.lines[name] for name in names if name in self.lines), None)

    def place(self, path: KeyPath) -> str:
        """`benchgate.toml:3: gate.margin`."""
        line, key = self.line(path), dotted(path)
        file = self.name if line is None else f"{self.name}:{line}"
        return f"{file}: {key}" if key else file


def dotted(path: KeyPath) -> str:
    """A key as people write it: `gate.margin`, `benchmark[2].timeout`, `aliases."old/id"`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = part if _BARE_KEY.fullmatch(part) else json.dumps(part, ensure_ascii=False)
            text += f".{name}" if text else name
    return text


def read_text(path: Path, name: str) -> str:
    """Read a file that a user wrote.

    Args:
        name: what messages call it.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{name}: is not UTF-8 text (byte {error.start})", hint="save it as UTF-8"
        ) from None
    except OSError as error:
        raise ConfigError(
            f"{name}: cannot be read: {(error.strerror or str(error)).lower()}",
            hint="check the path and its permissions",
        ) from None


MOST_LEVELS: Final = 20
"""Most brackets inside each other, and most dots between the keys of a statement."""

# Texts and comments, in which brackets have no meaning; brackets; what ends a key; and dots. A text
# that nothing closes reaches to the end: searched for its end again and again, it takes too long.
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?(?:"{3,5}|\Z)'
    r"|'''.*?(?:'{3,5}|\Z)"
    r'|"(?:\\.|[^"\\\n])*"?'
    r"|'[^'\n]*'?"
    r"|#[^\n]*"
    r"|[\[{\]}\n,.]",
    re.DOTALL,
)


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """Parse a document."""
    _require_shallow(text, name)
    try:
        return tomllib.loads(text)
    except ValueError as error:  # tomllib does not wrap the error for a number of 5,000 digits
        what, _, where = str(error).partition(" (at ")
        line_column = re.match(r"line (\d+), column (\d+)", where)
        place = ":".join([name, *line_column.groups()]) if line_column else name
        if where.startswith("end"):
            what += " at the end of the file"
        raise ConfigError(
            f"{place}: is not valid TOML: {what[:1].lower()}{what[1:]}",
            hint='text needs quotes, as in margin = "2%"; https://toml.io describes the form',
        ) from None


def _require_shallow(text: str, name: str) -> None:
    """Refuse what takes long to parse, and is too deep for everything that walks the tables."""
    line, depth, dots = 1, 0, 0
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "[" | "{":
                depth += 1
            case "]" | "}":
                depth -= 1
            case ".":
                dots += 1
            case "," | "\n":
                dots = 0
        if max(depth, dots) > MOST_LEVELS:
            raise ConfigError(
                f"{name}:{line}: is nested too deeply", hint="no key needs more than three levels"
            )
        line += token[0].count("\n")


def line_numbers(text: str) -> Mapping[KeyPath, int]:
    """The line, from 1, on which each table and key of a valid TOML document starts."""
    found: dict[KeyPath, int] = {}
    last_entry: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for number, statement in statements(text):
        keys = list(paths(tomllib.loads(statement)))
        if statement.lstrip().startswith("["):
            table = _entered(keys[-1], last_entry)
            if isinstance(table[-1], int):
                found.setdefault(table[:-1], number)
            found.setdefault(table, number)
        else:
            for path in keys:
                found.setdefault((*table, *path), number)
    return found


def statements(text: str) -> Iterator[tuple[int, str]]:
    """The statements of a valid document, with the number of their first line, from 1.

    Blank lines and comments are returned as statements that set nothing.
    """
    number, start, depth = 1, 0, 0
    for token in _TOKEN.finditer(f"{text}\n"):
        match token[0]:
            case "[" | "{":
                depth += 1
            case "]" | "}":
                depth -= 1
            case "\n" if depth == 0:
                statement = text[start : token.end()]
                yield number, statement
                number += statement.count("\n")
                start = token.end()


def paths(value: object, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Every key below a parsed statement, outermost first; 0 stands for an entry of an array."""
    children: Iterator[tuple[str | int, object]] = iter(())
    if isinstance(value, dict):
        children = iter(value.items())
    elif isinstance(value, list):
        children = iter(enumerate(value))
    for key, child in children:
        yield (*path, key)
        yield from paths(child, (*path, key))


def _entered(header: KeyPath, last_entry: dict[KeyPath, int]) -> KeyPath:
    """The table that a header opens, in the current entry of each array on the way.

    Args:
        header: its keys, followed by 0 if it opens a new entry of an array.
        last_entry: index of the current entry of every array so far; updated for a new entry.
    """
    *parents, last = header if header[-1] != 0 else header[:-1]
    table: KeyPath = ()
    for part in parents:
        table = (*table, part)
        if table in last_entry:
            table = (*table, last_entry[table])
    table = (*table, last)
    if header[-1] != 0:
        return table
    last_entry[table] = last_entry.get(table, -1) + 1
    return (*table, last_entry[table])


NO_VALUE: Final = object()
_MANY = 20
_LONGEST_VALUE = 60
_SHAPES = frozenset({"tuple_type", "model_type", "dict_type"})

_EXPECTED = {
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be text in quotes",
    "string_too_short": "must not be empty",
    "string_too_long": "must not be longer than {max_length} characters",
    "tuple_type": "must be a list, in [ ]",
    "too_short": "must name at least one",
    "too_long": "must have at most {max_length} entries",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "value_error": "{error}",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a document.

    Attributes:
        path: path of the key, from the document's root.
        message: what is wrong, and what is allowed.
        hint: what to do, used if it is the only problem.
        value: as written; NO_VALUE if showing it does not help.
    """

    path: KeyPath
    message: str
    hint: str
    value: object = NO_VALUE


@dataclass(frozen=True, slots=True)
class Kinds:
    """The kinds of a table that there can be several of; each entry has the key of its kind.

    Attributes:
        table: its name.
        keys: of all kinds.
        hint: what to do about an entry without any of them.
    """

    table: str
    keys: tuple[str, ...]
    hint: str


@dataclass(frozen=True, slots=True)
class DocumentLayout:
    """The tables of one kind of document.

    Attributes:
        tables: every table by its path; after the name of a table that has kinds comes the kind.
        lists: tables of which there can be several.
        page: the page of the documentation that describes every key.
        is_toml: whether tables are written in brackets.
        kinds: of the one table that has them; None if there is none.
    """

    tables: Mapping[tuple[str, ...], type[Table]]
    lists: frozenset[str]
    page: str
    is_toml: bool = True
    kinds: Kinds | None = None

    def is_of_a_kind(self, path: KeyPath) -> bool:
        """Whether a path begins with the table that has kinds."""
        return self.kinds is not None and path[:1] == (self.kinds.table,)

    def heading(self, place: tuple[str, ...]) -> str:
        """Format a table as people write it."""
        tagged = self.is_of_a_kind(place) and len(place) > 1
        name, kind = (place[0], f" with `{place[1]}`") if tagged else (".".join(place), "")
        return (f"[[{name}]]" if name in self.lists else f"[{name}]") + kind


def from_validation(
    error: ValidationError, layout: DocumentLayout, inside: KeyPath = ()
) -> tuple[Problem, ...]:
    """Describe every finding of pydantic in words for the author of the document.

    Args:
        inside: path of the table that was checked.
    """
    found = [{**one, "loc": (*inside, *one["loc"])} for one in error.errors(include_url=False)]
    problems = [_problem(one, layout) for one in found]
    around = {one.path[:length] for one in problems for length in range(len(one.path))}
    return tuple(one for one in problems if not _echoes(one, around))


def config_error(
    problems: Sequence[Problem], place_of: Callable[[KeyPath], str], what: str = "the configuration"
) -> ConfigError:
    """Make one error that lists them all.

    Args:
        place_of: gets file, line and key of a path, or the option that it came from.
        what: names the document.
    """
    shown = [_line(problem, place_of(problem.path)) for problem in problems[:_MANY]]
    if len(problems) == 1:
        return ConfigError(shown[0], hint=problems[0].hint)
    if len(problems) > _MANY:
        shown.append(f"and {len(problems) - _MANY} more")
    return ConfigError(
        "\n  ".join([f"{len(problems)} problems in {what}:", *shown]),
        hint="correct them, then check the file with `benchgate validate`",
    )


def _line(problem: Problem, place: str) -> str:
    if problem.value is NO_VALUE:
        return f"{place}: {problem.message}"
    # An option is shown as it is typed, a key as it is written.
    equals = " " if place.startswith("--") else " = "
    return f"{place}{equals}{_shown(problem.value)}: {problem.message}"


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


def _echoes(problem: Problem, around: Collection[KeyPath]) -> bool:
    """Whether a list is called too short only because its items were refused.

    Args:
        around: the paths of all tables and lists with a problem inside.
    """
    return problem.message == _EXPECTED["too_short"] and problem.path in around


def _problem(found: Mapping[str, Any], layout: DocumentLayout) -> Problem:
    kind, value, path = found["type"], found["input"], found["loc"]
    # pydantic's mark of a name that is refused; an unknown key may have this name itself.
    if kind != "extra_forbidden":
        path = tuple(part for part in path if part != "[key]")
    tagged = len(path) > 2 and layout.is_of_a_kind(path)
    written = (*path[:2], *path[3:]) if tagged else path
    table = tuple(part for part in path[:-1] if isinstance(part, str))
    if kind == "extra_forbidden":
        return _unknown_key(written, table, layout)
    if kind == "missing":
        return Problem(written[:-1], f"`{written[-1]}` is missing", _hint(path, layout))
    if kind == "union_tag_not_found" and layout.kinds is not None:
        return _no_kind(written, value, layout.kinds)
    if kind in _SHAPES and len(path) == 1 and _is_shaped(value):
        return _wrong_shape(str(path[0]), layout)
    if kind == "literal_error":
        message = _one_of(found["ctx"]["expected"], value)
    elif kind in _EXPECTED:
        message = _EXPECTED[kind].format(**found.get("ctx", {}))
    else:
        message = str(found["msg"])
    shown = NO_VALUE if isinstance(value, dict) else value
    if message.startswith(f"{value!r} is "):  # said once is enough
        message = message.removeprefix(f"{value!r} ")
    return Problem(written, message, _hint(path, layout), shown)


_LINK: Final = re.compile(r"\[([^\]]*)\]\([^)]*\)")
"""A link in Markdown, which only the pages show as one."""


def _hint(path: KeyPath, layout: DocumentLayout) -> str:
    """The meaning of the key, from the description in its table."""
    names = tuple(part for part in path if isinstance(part, str))
    for length in range(len(names) - 1, -1, -1):
        model = layout.tables.get(names[:length])
        if model is None:
            continue
        for name, info in model.model_fields.items():
            if (info.alias or name) == names[length]:
                meaning = _LINK.sub(r"\1", info.description or "")
                return f"`{names[length]}`: {meaning}"
    return f"{layout.page} describes every key"


def _one_of(expected: str, value: object) -> str:
    """Parse pydantic's list of literals, "'launch' or 'classical'"."""
    allowed = re.findall(r"'([^']*)'", expected)
    suggestion = did_you_mean(value, allowed) if isinstance(value, str) else ""
    names = [f'"{name}"' for name in allowed]
    return f"must be {', '.join(names[:-1])} or {names[-1]}{suggestion}"


def _unknown_key(path: KeyPath, table: tuple[str, ...], layout: DocumentLayout) -> Problem:
    key = str(path[-1])
    keys = keys_of(layout.tables[table])
    elsewhere = [
        layout.heading(place)
        for place, other in layout.tables.items()
        if place and key in keys_of(other)
    ]
    remark = did_you_mean(key, keys)
    if elsewhere and not remark:
        remark = f"; it belongs in {' or '.join(elsewhere)}"
    kind, known = (
        ("key", f"keys of {layout.heading(table)}") if table else ("table or key", "tables")
    )
    return Problem(path, f"unknown {kind}{remark}", f"{known}: {', '.join(keys)}")


def _no_kind(path: KeyPath, value: object, kinds: Kinds) -> Problem:
    if not isinstance(value, dict):
        return Problem(path, f"must be a table: write [[{kinds.table}]]", kinds.hint, value)
    if both := [f"`{kind}`" for kind in kinds.keys if kind in value]:
        return Problem(path, f"has {' and '.join(both)}: one entry is one of them", kinds.hint)
    near = next(_suggestions(value, kinds.keys), "")
    known = ", ".join(f"`{kind}`" for kind in kinds.keys)
    return Problem(path, f"has none of {known}{near}", kinds.hint)


def _suggestions(words: Iterable[object], candidates: Sequence[str]) -> Iterator[str]:
    for word in words:
        if suggestion := did_you_mean(str(word), candidates):
            yield f"{suggestion[:-1]} instead of {word!r}?"


def _is_shaped(value: object) -> bool:
    """Whether a value is a table, or a list of them."""
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(one, dict) for one in value)
    )


def _wrong_shape(key: str, layout: DocumentLayout) -> Problem:
    several = key in layout.lists
    if not layout.is_toml:
        return Problem((key,), f"must be a {'list of tables' if several else 'table'}", "")
    right, rest = layout.heading((key,)), "with one bracket, since there is only one"
    if several:
        rest = "with two brackets, since there can be several"
    return Problem((key,), f"must be written {right}", f"write {right} {rest}")
