"""By what a result was judged, so that it can be judged so again.

`Options` is the one definition of what the command line says instead of the configuration: the
options of click, what they set in the configuration, and what is kept with a result follow from it.
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
"""As many as the tables of a configuration may have, as JSON, in a result file that is read."""


@dataclass(frozen=True, slots=True)
class Override:
    """What an option sets in the configuration, and what `--help` says of it.

    Attributes:
        table: that its keys lie in.
        metavar: what stands for its value; empty for a switch.
        keys: what it sets there, or leaves at the default; if empty, what it is named after.
        gives_way: keys of the table that contradict the option: what the file says there is gone.
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
        """As it is typed: `--fail-on`."""
        return f"--{self.name.replace('_', '-')}"


_BASELINE: Final = ("source", "against", "path")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(JsonObject):
    """What the command line, or an input of the action, says instead of a configuration.

    The default of each is that nothing was said.
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
        """What was said, by the name of the option."""
        values = {one.name: (getattr(self, one.name), one.default) for one in fields(self)}
        return {name: value for name, (value, default) in values.items() if value != default}

    def over(self, earlier: "Options") -> "Options":
        """The same with what another one says where this says nothing."""
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
    """A JSON value in which every text was redacted, the names of keys too."""
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
    """What judging asks of a configuration, and where it was written.

    Attributes:
        name: what messages call the file; one that ends in pyproject.toml has the tables in
            [tool.benchgate].
        tables: our own, as they were written.
        lines: the line, from 1, of each table and key of the file, by its dotted name.
    """

    name: Text
    tables: Tables
    lines: Mapping[Text, Count]


@dataclass(frozen=True, slots=True)
class Policy(JsonObject):
    """By what a result was judged.

    Attributes:
        head: the configuration of the head, without options; None where it has none.
        base: that of the base, where it decides.
        accepted: what made the head's own waivers count, where they did.
    """

    head: ConfigTables | None
    base: ConfigTables | None
    options: Options = field(default_factory=Options)
    accepted: Acceptance | None = None
