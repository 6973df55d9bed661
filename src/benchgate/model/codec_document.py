"""Reading a versioned JSON file: migration of older versions, and errors that name the place."""

from __future__ import annotations

import gc
import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails, from_json

from benchgate.errors import FormatError
from benchgate.model.codec_types import Lengths, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

R = TypeVar("R", bound=Record)
Migration: TypeAlias = "Callable[[dict[str, Any]], dict[str, Any]]"

MAX_CONTAINERS: Final = 5_000_000
"""Arrays and objects of one file: eight times those of 10,000 benchmarks x 20 launches.

An empty array takes three bytes of the file and twenty times as many of memory.
"""

MAX_VALUES: Final = 40_000_000
"""Values of one file: four times the samples of 10,000 benchmarks x 20 launches.

A number takes two bytes of the file and sixteen times as many of memory.
"""

REWRITE = "A file that benchgate wrote and nobody edited is never refused: write or fetch it anew."
_FETCH_AGAIN = "The file was damaged after it was written: write or fetch it anew."
_UPGRADE = "Upgrade benchgate to at least the version that wrote the file."
_KINDS = "`--output` writes result files, `--json` writes verdicts."
_SHOWN_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class Format(Generic[R]):
    """A kind of file.

    Attributes:
        kind: for messages, e.g. "result file".
        record: the current version, whole.
        version: the number that `record` has under "schema".
        hallmark: a key that no other kind of file has.
        migrations: version n to the function that makes n + 1 of it; it may change its argument.
    """

    kind: str
    record: type[R]
    version: int
    hallmark: str
    migrations: Mapping[int, Migration] = field(default_factory=dict)

    def read(self, data: bytes, name: str) -> R:
        """The record that the file holds.

        Args:
            data: the file, not compressed.
            name: of the file, for messages.

        Raises:
            FormatError: names the file and the place in it.
        """
        with _collector_paused():
            document = self._migrated(self._having("schema", _parsed(data, name), name), name)
            try:
                document = self._having(self.hallmark, document, name)
                return self.record.model_validate(document, context=Lengths())
            except ValidationError as error:
                raise FormatError(f"{name}: {first_fault(error)}", hint=REWRITE) from None

    def json_schema(self) -> dict[str, Any]:
        """The JSON Schema of the current version."""
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **self.record.model_json_schema(),
            "title": f"benchgate {self.kind}, version {self.version}",
        }

    def _having(self, key: str, document: object, name: str) -> dict[str, Any]:
        if isinstance(document, dict) and key in document:
            return document
        raise FormatError(f"{name}: holds no `{key}`: it is no {self.kind}", hint=_KINDS)

    def _migrated(self, document: dict[str, Any], name: str) -> dict[str, Any]:
        found = document["schema"]
        if type(found) is not int:
            raise FormatError(
                f"{name}: schema: {_shown(found)} is not a version number", hint=REWRITE
            )
        if found > self.version:
            raise FormatError(
                f"{name}: schema: version {found} was written by a newer benchgate;"
                f" this one reads up to {self.version}",
                hint=_UPGRADE,
            )
        for version in range(found, self.version):
            migrate = self.migrations.get(version)
            if migrate is None:
                raise FormatError(
                    f"{name}: schema: there never was a version {version}", hint=REWRITE
                )
            try:
                document = migrate(document) | {"schema": version + 1}
            except (AttributeError, LookupError, TypeError, ValueError) as error:
                # Of another kind of file the reason is what it lacks, not where that was missed.
                self._having(self.hallmark, document, name)
                raise FormatError(
                    f"{name}: not valid in version {version}: {error!r}", hint=REWRITE
                ) from None
        return document


@contextmanager
def _collector_paused() -> Iterator[None]:
    """What is read is a tree: to look for cycles in it, again and again, doubles the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _parsed(data: bytes, name: str) -> object:
    if data.count(b"[") + data.count(b"{") > MAX_CONTAINERS:
        raise FormatError(
            f"{name}: holds more than {MAX_CONTAINERS} arrays and objects, which is the limit",
            hint="Measure fewer benchmarks or launches into one file.",
        )
    if data.count(b",") > MAX_VALUES:
        raise FormatError(
            f"{name}: holds more than {MAX_VALUES} values, which is the limit",
            hint="Measure fewer benchmarks or samples into one file.",
        )
    try:
        document: object = from_json(data, cache_strings="keys")
    except ValueError as error:
        raise FormatError(f"{name}: {_syntax(str(error))}", hint=_FETCH_AGAIN) from None
    return document


def first_fault(error: ValidationError) -> str:
    """The place and the nature of the first thing that is wrong, in one line."""
    fault = error.errors(include_url=False)[0]
    return ": ".join(filter(None, (_place(fault), _fault(fault))))


def _place(fault: ErrorDetails) -> str:
    """The way down to a fault: `benchmarks[3].metrics[0].launches[7].samples[12]`."""
    steps = (*fault["loc"], *fault.get("ctx", {}).get("place", ()))
    if fault["type"] in {"missing", "extra_forbidden", "unexpected_keyword_argument"}:
        steps = steps[:-1]
    return "".join(_step(step) for step in steps).removeprefix(".")


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if step.isidentifier() else f".{_shown(step)}"


def _fault(fault: ErrorDetails) -> str:
    """What is wrong at that place, in the words of somebody who looks into the file."""
    kind, message = fault["type"], fault["msg"]
    if kind == "misplaced":
        return message
    if kind in _MESSAGES:
        key = fault["loc"][-1] if fault["loc"] else ""
        limits = fault.get("ctx", {})
        return _MESSAGES[kind].format(given=_shown(fault["input"]), key=_shown(key), **limits)
    return f"{_shown(fault['input'])}: must be {message.removeprefix('Input should be ')}"


_MESSAGES = {
    "missing": "{key} is missing",
    "extra_forbidden": "unknown key {key}",
    "unexpected_keyword_argument": "unknown key {key}",
    "finite_number": "{given} is not a finite number",
    "float_type": "{given} is not a number",
    "int_type": "{given} is not a whole number",
    "int_from_float": "{given} is not a whole number",
    "string_type": "{given} is not a text",
    "bool_type": "{given} is not true or false",
    "list_type": "{given} is not an array",
    "tuple_type": "{given} is not an array",
    "dict_type": "{given} is not an object",
    "model_type": "{given} is not an object",
    "dataclass_type": "{given} is not an object",
    "too_short": "is empty",
    "too_long": "holds more than {max_length} of them, which is the limit",
    "string_too_long": "{given}: is longer than {max_length} characters",
    "less_than_equal": "{given}: must be at most {le:g}",
    "greater_than_equal": "{given}: must be at least {ge:g}",
    "string_pattern_mismatch": "{given} is not a UTC time such as 2025-01-31T09:30:00Z",
}


def _syntax(complaint: str) -> str:
    what, _, place = complaint.partition(" at line ")
    if place == "1 column 0":
        return "the file is empty"
    if what.startswith("EOF"):
        return f"the file is cut off: it ends at line {place}"
    if what.startswith("invalid unicode code point"):
        return f"not UTF-8 at line {place}"
    if what.startswith("recursion limit"):
        return f"nested too deeply at line {place}"
    return f"not valid JSON: {complaint}"


def _shown(value: object) -> str:
    """A value as JSON, on one line and cut to a length that fits into a message."""
    if isinstance(value, list | dict):
        return "an array" if isinstance(value, list) else "an object"
    text = json.dumps(value, default=repr)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
