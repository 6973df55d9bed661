"""The types of configuration values, and the base class of all tables.

They define what people write, what it becomes, and what is refused: with a ValueError, which
pydantic collects.
"""

import datetime as dt
import math
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
)

from benchgate.units import (
    Quantity,
    parse_duration_s,
    parse_quantity,
    parse_ratio_change,
)

PLACEHOLDERS = ("root", "env", "sha")
SHELL = ("/bin/sh", "-c")

# "${HOME}", "{{word}}" and JSON use braces for other purposes.
_PLACEHOLDER = re.compile(r"(?<![{$])\{([A-Za-z_]\w*)\}(?!\})")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SHELL_OPERATORS = frozenset({"&&", "||", "|", ";", "&", ">", ">>", "<", "2>", "2>&1"})
_MAX_CHANGE_RATIO = 10.0
_LONGEST_TO_SPLIT = 20_000


class Table(BaseModel):
    """Base class of all tables: refuses unknown keys, converts nothing silently, is immutable.

    A field that holds seconds is named `..._s`; people write its key without that.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        alias_generator=lambda name: name.removesuffix("_s"),
    )


def keys_of(table: type[Table]) -> tuple[str, ...]:
    """The keys that people may write in a table, in the order of definition."""
    return tuple(info.alias or name for name, info in table.model_fields.items())


def field_of(table: type[Table], key: str) -> str:
    """Find the field for a key that people write.

    Raises:
        StopIteration: the table has no such key.
    """
    return next(name for name, info in table.model_fields.items() if (info.alias or name) == key)


def shell_of(info: ValidationInfo) -> bool:
    """Whether the table being read asks for a shell; `shell` comes before its commands."""
    return info.data.get("shell") is True


def duration_s(value: object) -> float:
    """Parse a duration such as "10m" or "50ms" to seconds."""
    seconds = parse_duration_s(_text(value, 'a duration is text: write "50ms", "60s" or "10m"'))
    if not 0 < seconds < math.inf:
        raise ValueError("a duration must be longer than zero and finite")
    return seconds


def tolerance_ratio(value: object) -> float:
    """Parse a percentage from "0%" to "1000%" to a fraction."""
    ratio = parse_ratio_change(_text(value, 'a percentage is text: write "2%" or "0.5%"'))
    if not 0 <= ratio <= _MAX_CHANGE_RATIO:
        raise ValueError("must lie between 0% and 1000%")
    return ratio


def margin_ratio(value: object) -> float:
    """Parse a percentage above "0%": no measurement shows that nothing at all has changed."""
    ratio = tolerance_ratio(value)
    if ratio == 0:
        raise ValueError('must be more than 0%: write "2%" or "0.5%"')
    return ratio


def checked_template(text: str, *, placeholders: Sequence[str] = PLACEHOLDERS) -> str:
    """Check a text in which placeholders will be replaced; return it unchanged."""
    if "\0" in text:
        raise ValueError("contains a NUL character, which no program can be given")
    for name in _PLACEHOLDER.findall(text):
        if name not in placeholders:
            allowed = ", ".join(f"{{{known}}}" for known in placeholders)
            raise ValueError(
                f"{{{name}}} is not one of {allowed}; where the braces are meant literally,"
                f" write {{ {name} }}"
            )
    return text


def argv(
    value: object,
    *,
    in_shell: bool,
    placeholders: Sequence[str] = PLACEHOLDERS,
    to_get_a_shell: str = "add shell = true",
) -> tuple[str, ...]:
    """Split a command into words, or pass it to a shell if the table asks for one."""
    written = _text(value, 'a command is one string: write "mytool --version"')
    text = checked_template(written, placeholders=placeholders)
    if in_shell and text.strip():
        return (*SHELL, text)
    words = _split(text)
    bare_words = _split(text, posix=False)  # a quoted '|' keeps its quotes
    if not words or not words[0]:
        raise ValueError("a command needs the name of a program")
    for word in bare_words:
        if word in _SHELL_OPERATORS or word.endswith(";"):
            raise ValueError(f"{word} is for a shell: quote it, or {to_get_a_shell}")
    if _ASSIGNMENT.match(words[0]):
        raise ValueError(f"{words[0]} is for a shell: set variables in the env table")
    if words[0].startswith("-"):
        raise ValueError(f"{words[0]} is an option, not a program: each string is a whole command")
    return tuple(words)


def _argv_in_table(value: object, info: ValidationInfo) -> tuple[str, ...]:
    return argv(value, in_shell=shell_of(info))


def words(value: object) -> tuple[str, ...]:
    """Split the arguments of a tool into words."""
    return tuple(_split(_text(value, 'arguments are one string: write "--size 10"')))


def _split(text: str, *, posix: bool = True) -> list[str]:
    if len(text) > _LONGEST_TO_SPLIT:  # the time for one word grows with the square of its length
        raise ValueError(f"is longer than {_LONGEST_TO_SPLIT} characters: put it into a script")
    try:
        return shlex.split(text, posix=posix)
    except ValueError as problem:
        raise ValueError(f"cannot be split into words: {str(problem).lower()}") from None


def day(value: object) -> object:
    """Check a date in TOML's format; refuse anything else with an explanation."""
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return value
    raise ValueError("must be a date without quotes or a time of day: write 2026-12-31")


def _text(value: object, otherwise: str) -> str:
    if not isinstance(value, str):
        raise ValueError(otherwise)  # noqa: TRY004 - pydantic collects value errors only
    return value


def _quantity(value: object) -> Quantity:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError('must be a number, or text such as "20ms"')  # noqa: TRY004 - as above
    return parse_quantity(value)


def as_tuple(value: object) -> object:
    """Make a list from TOML immutable; leave anything else for pydantic to check."""
    return tuple(value) if isinstance(value, list) else value


def _one_or_more(value: object) -> tuple[object, ...]:
    if isinstance(value, list):
        return tuple(value)
    return (_text(value, "must be a path in quotes, or a list of them"),)


def _without_repeats(values: tuple[str, ...]) -> tuple[str, ...]:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise ValueError(f"{value!r} is listed twice")
        seen.add(value)
    return values


# Of Linux and macOS, in bytes; the folder of the configuration comes before the path.
_LONGEST_NAME = 255
_LONGEST_PATH = 1000


def relative(path: str) -> str:
    """Check a path inside the folder of the configuration; return it unchanged."""
    parts = PurePosixPath(path)
    if not path.strip() or parts.is_absolute() or ".." in parts.parts:
        raise ValueError("must be a path relative to the configuration file, inside its folder")
    if len(path) > _LONGEST_PATH or any(
        len(os.fsencode(one)) > _LONGEST_NAME for one in parts.parts
    ):
        raise ValueError("is longer than the path of any file")
    return path


def _python_path(path: str) -> str:
    name = PurePosixPath(relative(path)).name
    if name.endswith(".py") and not name.startswith("bench_"):
        raise ValueError(f"{name} is not a benchmark file: their names are bench_*.py")
    return path


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


def _identifier(name: str) -> str:
    if not name.isprintable() or name != name.strip():
        raise ValueError("must be printable text without spaces at its ends")
    return name


def variable_name(name: str) -> str:
    """Check the name of an environment variable; return it unchanged."""
    if "=" in name or "\0" in name:
        raise ValueError(f"{name!r} cannot be the name of a variable")
    return name


def _word_or_count(word: str, least: int = 0) -> Callable[[object], object]:
    said = "that is not negative" if least == 0 else f"from {least}"

    def check(value: object) -> object:
        is_count = isinstance(value, int) and not isinstance(value, bool) and value >= least
        if value == word or is_count:
            return value
        raise ValueError(f'must be "{word}" or a whole number {said}')

    return check


def _number_of_option(value: object) -> object:
    """Options of the command line are texts."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < _MANY_DIGITS:
        return int(value)
    return value


_MANY_DIGITS = 7
_PERCENTAGE = {"type": "string", "format": "percentage", "pattern": r"^\s*\+?\d+(\.\d+)?\s*%\s*$"}
COMMAND = {"type": "string", "format": "command", "minLength": 1}
_TEXTS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
_COUNT = {"type": "integer", "minimum": 0}

Duration = Annotated[
    float, BeforeValidator(duration_s), WithJsonSchema({"type": "string", "format": "duration"})
]
Bound = Annotated[
    Quantity,
    BeforeValidator(_quantity),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]}),
]
Margin = Annotated[float, BeforeValidator(margin_ratio), WithJsonSchema(_PERCENTAGE)]
Tolerance = Annotated[float, BeforeValidator(tolerance_ratio), WithJsonSchema(_PERCENTAGE)]

Day = Annotated[dt.date, BeforeValidator(day)]

Text = Annotated[str, Field(min_length=1)]
Reason = Annotated[str, Field(max_length=500), AfterValidator(_not_blank)]
Identifier = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_identifier)]
Template = Annotated[Text, AfterValidator(checked_template)]
RelativePath = Annotated[str, AfterValidator(relative)]

Statistic = Literal["p25", "median", "p95", "p99", "p99.9", "max", "mean", "min"]
FailOn = Literal[
    "regressed", "improved", "failed", "missing", "new", "inconclusive", "incomparable"
]
Waivable = Literal["regressed", "missing", "incomparable"]
ExitCode = Annotated[int, Field(ge=0, le=255)]

_Of = TypeVar("_Of")
Several = Annotated[tuple[_Of, ...], BeforeValidator(as_tuple)]
_Different = Annotated[Several[_Of], AfterValidator(_without_repeats)]
Names = _Different[Text]
FailOns = _Different[FailOn]
DataGlobs = _Different[RelativePath]
_Some = Annotated[
    tuple[_Of, ...],
    Field(min_length=1),
    BeforeValidator(as_tuple),
    AfterValidator(_without_repeats),
]
Statistics = _Some[Statistic]
Metrics = _Some[Text]
ExitCodes = Annotated[tuple[ExitCode, ...], Field(min_length=1), BeforeValidator(as_tuple)]
Templates = Several[Template]
_Located = Annotated[
    tuple[_Of, ...],
    Field(min_length=1),
    BeforeValidator(_one_or_more),
    AfterValidator(_without_repeats),
    WithJsonSchema(_TEXTS),
]
Paths = _Located[RelativePath]
PythonPaths = _Located[Annotated[str, AfterValidator(_python_path)]]
Environment = Mapping[
    Annotated[Text, AfterValidator(variable_name)],
    Annotated[str, AfterValidator(checked_template)],
]

Command = Annotated[tuple[str, ...], BeforeValidator(_argv_in_table), WithJsonSchema(COMMAND)]
Arguments = Annotated[tuple[str, ...], BeforeValidator(words), WithJsonSchema({"type": "string"})]
Commands = Annotated[
    tuple[tuple[str, ...], ...],
    WithJsonSchema({"anyOf": [COMMAND, {"type": "array", "items": COMMAND}]}),
]

CountOrAuto = Annotated[
    int | Literal["auto"],
    BeforeValidator(_word_or_count("auto")),
    WithJsonSchema({"anyOf": [{"const": "auto"}, _COUNT]}),
]
LanesOrAuto = Annotated[
    int | Literal["auto"],
    BeforeValidator(_word_or_count("auto", least=1)),
    BeforeValidator(_number_of_option),  # runs first
    WithJsonSchema({"anyOf": [{"const": "auto"}, {"type": "integer", "minimum": 1}]}),
]
CountOrAll = Annotated[
    int | Literal["all"],
    BeforeValidator(_word_or_count("all")),
    AfterValidator(lambda value: None if value == "all" else value),
    WithJsonSchema({"anyOf": [{"const": "all"}, _COUNT]}),
]
