"""The settings that judged a result, kept so that it can be judged by them again.

`Options` is the one definition of the command-line options that override the configuration:
the options of click, the keys that they set, and the part kept with a result follow from it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, Final, TypeAlias

from pydantic import AfterValidator, JsonValue, PlainSerializer, SerializationInfo
from pydantic_core import PydanticCustomError

from benchgate.json_object import MAX_TEXT, Count, JsonObject, Redact, Text
from benchgate.model.waiver import Acceptance

MOST_CHARACTERS: Final = MAX_TEXT
"""Size limit of the tables of a configuration, as JSON, in a result file."""


@dataclass(frozen=True, slots=True)
class Override:
    """What an option sets in the configuration, and its text in `--help`.

    Attributes:
        table: the table of its keys.
        metavar: placeholder for its value in `--help`; empty for a switch.
        keys: what it sets, or leaves at the default; if empty, the key with the option's own name.
        gives_way: keys of the table that contradict the option: it removes their values from the
            file.
        name: of the field of `Options`.
    """

    table: str
    metavar: str
    help: str
    keys: tuple[str, ...] = ()
    gives_way: tuple[str, ...] = ()
    name: str = ""

    @property
    def flag(self) -> str:
        """The option as it is typed: `--fail-on`."""
        return f"--{self.name.replace('_', '-')}"


_BASELINE: Final = ("source", "against", "path")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(JsonObject):
    """Settings on the command line, or inputs of the action, that override a configuration.

    By default, an option overrides nothing.
    """

    rule: Annotated[
        Text | None,
        Override("gate", "RULE", "launch (default), or classical: the textbook rule."),
    ] = None
    alpha: Annotated[
        float | None, Override("gate", "P", "False-alarm rate of the whole suite.")
    ] = None
    margin: Annotated[
        Text | None, Override("gate", "PERCENT", "Smallest change that matters, such as 3%.")
    ] = None
    fail_on: Annotated[
        tuple[Text, ...],
        Override(
            "gate",
            "OUTCOME",
            "Outcome that fails the build: regressed, failed, missing, inconclusive, incomparable; "
            "may be repeated.",
        ),
    ] = ()
    budget: Annotated[
        Text | None, Override("measure", "TIME", "Time for measuring, such as 90s or 10m.")
    ] = None
    rounds: Annotated[
        int | None,
        Override(
            "measure",
            "N",
            "Measure exactly N rounds of everything.",
            gives_way=("until_decided",),
        ),
    ] = None
    until_decided: Annotated[
        bool,
        Override(
            "measure",
            "",
            "Keep measuring until every row is decided or cannot be; --budget still applies.",
            gives_way=("rounds", "budget"),
        ),
    ] = False
    seed: Annotated[
        int | None, Override("measure", "N", "Repeat the random choices of the run with this seed.")
    ] = None
    against: Annotated[
        Text | None,
        Override("baseline", "REF", "Commit to compare with; default: merge base.", _BASELINE),
    ] = None
    baseline: Annotated[
        Text | None,
        Override(
            "baseline",
            "SPEC",
            "auto, git:REF, or results of earlier runs (dir:PATH, file:PATH).",
            _BASELINE,
        ),
    ] = None

    def given(self) -> Mapping[str, Any]:
        """The options that were given, by name."""
        values = {one.name: (getattr(self, one.name), one.default) for one in fields(self)}
        return {name: value for name, (value, default) in values.items() if value != default}

    def over(self, earlier: "Options") -> "Options":
        """These options, completed by those of another one that are not given here."""
        return replace(earlier, **self.given())


def _named(name: str, annotation: Any) -> Override:  # noqa: ANN401 - of a field
    (one,) = (meta for meta in annotation.__metadata__ if isinstance(meta, Override))
    return replace(one, name=name, keys=one.keys or (name,))


OVERRIDES: Final[Mapping[str, Override]] = {
    one.name: _named(one.name, one.type) for one in fields(Options)
}
"""Every option by its name."""


def _no_longer_than_a_text(tables: dict[str, JsonValue]) -> dict[str, JsonValue]:
    if len(json.dumps(tables, ensure_ascii=False)) > MOST_CHARACTERS:
        raise PydanticCustomError("string_too_long", "too long", {"max_length": MOST_CHARACTERS})
    return tables


def redacted(value: Any, redact: Redact) -> Any:  # noqa: ANN401 - JSON, and what it was before
    """A JSON value in which every text is redacted, including the names of keys."""
    match value:
        case str():
            return redact(value)
        case list():
            return [redacted(one, redact) for one in value]
        case dict():
            return {redact(key): redacted(one, redact) for key, one in value.items()}
        case _:
            return value


def _written(tables: dict[str, JsonValue], info: SerializationInfo[Redact]) -> dict[str, JsonValue]:
    every: dict[str, JsonValue] = redacted(tables, info.context)
    return every


Tables: TypeAlias = Annotated[
    dict[str, JsonValue],
    AfterValidator(_no_longer_than_a_text),
    PlainSerializer(_written, return_type=dict[str, JsonValue], when_used="json"),
]


@dataclass(frozen=True, slots=True)
class ConfigTables(JsonObject):
    """The part of a configuration that judging uses, and where it was written.

    Attributes:
        name: of the file, as messages call it; if it ends in pyproject.toml, the tables are in
            [tool.benchgate].
        tables: benchgate's tables, as they were written.
        lines: the line, from 1, of each table and key of the file, by its dotted name.
    """

    name: Text
    tables: Tables
    lines: Mapping[Text, Count]


@dataclass(frozen=True, slots=True)
class Policy(JsonObject):
    """The settings that judged a result.

    Attributes:
        head: the configuration of the head, without options; None if the head has none.
        base: the configuration of the base, if it decides.
        accepted: what made the head's own waivers count, if they did.
    """

    head: ConfigTables | None
    base: ConfigTables | None
    options: Options = field(default_factory=Options)
    accepted: Acceptance | None = None
