"""The outcomes of rows, the settings that judged a result, and waivers.

`Options` is the one definition of the command-line options that override the configuration:
the options of click, the keys that they set, and the part kept with a result follow from it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Annotated, Any, Final, TypeAlias

from pydantic import AfterValidator, Field, JsonValue, PlainSerializer, SerializationInfo
from pydantic_core import PydanticCustomError

from benchgate.json_object import MAX_TEXT, Count, Day, JsonObject, Redact, Text
from benchgate.model.redact import redacted


class Outcome(StrEnum):
    """The decision about one row."""

    REGRESSED = "regressed"
    OVER_LIMIT = "over limit"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    WITHIN_LIMIT = "within limit"
    INCONCLUSIVE = "inconclusive"
    NOT_SETTLED = "not settled"
    NOT_TESTED = "not tested"
    NEW = "new"
    MISSING = "missing"
    FAILED = "failed"
    BASE_FAILED = "base failed"
    INCOMPARABLE = "incomparable"
    WAIVED = "waived"
    SAME_CODE = "same code"


MOVED = frozenset({Outcome.REGRESSED, Outcome.IMPROVED})
"""Outcomes of rows that count as slower or faster."""

CHANGED = MOVED | {Outcome.WAIVED}
"""Outcomes of rows that are slower or faster, whether that was accepted or not."""

DECIDED = CHANGED | {Outcome.UNCHANGED}
"""Outcomes that say whether something changed."""

COMPARED = DECIDED | {Outcome.INCONCLUSIVE, Outcome.NOT_SETTLED}
"""Outcomes of rows in which the two arms were compared."""

OPEN = (Outcome.INCONCLUSIVE, Outcome.NOT_SETTLED, Outcome.NOT_TESTED)
"""Outcomes of rows that more rounds may decide."""


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
            "Outcome that fails the build: regressed, improved, failed, missing, new, "
            "inconclusive, incomparable; may be repeated.",
        ),
    ] = ()
    budget: Annotated[
        Text | None,
        Override(
            "measure", "TIME", "Time for measuring, such as 90s or 10m; then ends what hangs."
        ),
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
    lanes: Annotated[
        Text | None,
        Override("measure", "N", "Python benchmarks measured at the same time; default: auto."),
    ] = None
    counter: Annotated[
        Text | None,
        Override(
            "measure", "NAME", "What counts instructions: auto, perf, valgrind (slow) or none."
        ),
    ] = None
    explain: Annotated[
        bool | None,
        Override("measure", "", "Say where to look if something got slower or faster (default)."),
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


class AcceptanceMethod(StrEnum):
    """How somebody accepted the waivers that a change brings along."""

    REVIEW = "review"
    LABEL = "label"
    PUSH = "push"


@dataclass(frozen=True, slots=True)
class Acceptance(JsonObject):
    """Why the waivers of a change count although the base does not have them.

    Attributes:
        by: login of the person who accepted them.
    """

    by: Text
    how: AcceptanceMethod


@dataclass(frozen=True, slots=True)
class Waiver(JsonObject):
    """Permission for a benchmark to regress, to be missing, or to do other work than before.

    Attributes:
        outcome: what it permits: regressed, missing or incomparable.
        ceiling: the largest permitted regression, as a fraction; None for other outcomes.
        until: the last day on which it is valid, UTC, ISO 8601.
        accepted: what makes a waiver count that the change itself brings.
    """

    outcome: Outcome
    ceiling: Annotated[float, Field(gt=0)] | None
    until: Day
    reason: Text
    accepted: Acceptance | None = None


@dataclass(frozen=True, slots=True)
class PolicyChange(JsonObject):
    """One way in which the head's configuration is laxer than the base's.

    Attributes:
        key: the key as written in the head, "gate.margin" or "waive[0]".
        about: the benchmarks that the key applies to, ids or globs; "" for all.
        before, after: what the base and the head say, in words.
        place: its file and line in the head, "benchgate.toml:3".
        in_force: whether the head's value was used, because only the head has it; else the base's.
    """

    key: Text
    about: Text
    before: Text
    after: Text
    place: Text
    in_force: bool = False


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
