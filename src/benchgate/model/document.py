"""Reads and writes versioned JSON of any kind; an error names the place of what is wrong."""

from __future__ import annotations

import gc
import json
import re
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from benchgate.errors import FormatError
from benchgate.json_object import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic_core import ErrorDetails

    from benchgate.json_object import Redact


_SHOWN_CHARACTERS: Final = 40
_OF_A_KEY = {"missing", "extra_forbidden", "unexpected_keyword_argument"}


def first_fault(error: ValidationError) -> str:
    """The place and kind of the first fault, in one line."""
    fault = error.errors(include_url=False, include_input=False)[0]
    if fault["type"] not in _OF_A_KEY:  # of these, the input is the whole object, however large
        fault = error.errors(include_url=False)[0]
    return ": ".join(filter(None, (_place(fault), _fault(fault))))


def shown(value: object) -> str:
    """A value as JSON, on one line, shortened to fit into a message."""
    if isinstance(value, list | dict):
        return "an array" if isinstance(value, list) else "an object"
    text = json.dumps(value, default=repr)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


def _place(fault: ErrorDetails) -> str:
    """The path to a fault: `head.benchmarks[3].series[0].launches[7].samples[12]`."""
    steps = (*fault["loc"], *fault.get("ctx", {}).get("place", ()))
    if fault["type"] in _OF_A_KEY:
        steps = steps[:-1]
    return "".join(_step(step) for step in steps).removeprefix(".")


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    is_plain = step.isidentifier() and len(step) <= _SHOWN_CHARACTERS
    return f".{step}" if is_plain else f".{shown(step)}"


def _fault(fault: ErrorDetails) -> str:
    """The kind of a fault, in words for a person who looks into the file."""
    kind, message = fault["type"], fault["msg"]
    if kind == "misplaced":
        return message
    if kind in _MESSAGES:
        key = fault["loc"][-1] if fault["loc"] else ""
        limits = fault.get("ctx", {})
        given = shown(fault.get("input"))
        return _MESSAGES[kind].format(given=given, key=shown(key), **limits)
    return f"{shown(fault['input'])}: must be {message.removeprefix('Input should be ')}"


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
    "string_too_short": "is empty",
    "too_long": "holds more than {max_length} of them, which is the limit",
    "string_too_long": "{given}: is longer than {max_length} characters",
    "less_than_equal": "{given}: must be at most {le:g}",
    "greater_than_equal": "{given}: must be at least {ge:g}",
    "string_pattern_mismatch": "{given} is not a UTC time such as 2025-01-31T09:30:00Z",
}


@dataclass(frozen=True, slots=True)
class JsonLimits:
    """What a file may hold.

    Attributes:
        containers: arrays and objects. An empty one takes three bytes in the file, and twenty times
            as many in memory.
        keys: each takes four bytes with its value, and a hundred times as many in memory.
        values: a number takes two bytes, and sixteen times as many in memory.
    """

    containers: int
    keys: int
    values: int


MOST_MIB: Final = 1024
"""Size limit of any file, after expansion."""

TOOL_FILE_MIB: Final = 128
"""Usual size limit of what another tool wrote: JSON takes five times as much memory."""

OWN_FILE: Final = JsonLimits(2_000_000, 3_000_000, 10_000_000)
"""Two to four times what a result of 10,000 benchmarks x 20 launches of two metrics holds."""

OTHER_FILE: Final = JsonLimits(5_000_000, 12_000_000, 40_000_000)
"""Other tools do not pack their samples. Nobody reads their files with the rights of others."""

MAX_KEYS: Final = 100_000
"""Most keys of a document in objects with more than `KEYS_OF_AN_OBJECT`.

An unknown key takes ten bytes in the file. What tells that it is unknown takes 2,500.
"""

KEYS_OF_AN_OBJECT: Final = 1000

# What makes no structure: everything but quotes, braces, colons, and what may follow a backslash.
_CONTENT: Final = bytes(set(range(256)) - set(b'"{}:\\/bfnrtu'))

# An object of nothing but numbers, as most are; or a text, which is a key before a colon; or where
# an object begins or ends. A text that nothing closes reaches to the end.
_PIECE: Final = re.compile(
    rb'\{(?:[^"{}]*+"[^"\\{}]*+":[^"{}]*+){0,40}+\}'
    rb'|"[^"\\]*+(?:\\.[^"\\]*+)*+"?(\s*+:)?'
    rb"|[{}]",
    re.DOTALL,
)


def require_few(data: bytes, name: str, limits: JsonLimits) -> None:
    """Refuse a JSON file that would need very much memory.

    Raises:
        FormatError: it holds too many values.
    """
    counts = (
        (data.count(b"[") + data.count(b"{"), limits.containers, "arrays and objects", "launches"),
        (data.count(b":"), limits.keys, "keys", "launches"),
        (data.count(b","), limits.values, "values", "samples"),
    )
    for count, limit, what, fewer in counts:
        if count > limit:
            raise FormatError(
                f"{name}: holds more than {limit} {what}, which is the limit",
                hint=f"Measure fewer benchmarks or {fewer} into one file.",
            )


def require_few_keys(data: bytes, name: str) -> None:
    """Refuse a JSON file with objects that are far larger than those of any document."""
    if data.count(b":") <= MAX_KEYS:
        return
    counts = [0]
    many = 0
    for piece in _PIECE.finditer(data.translate(None, delete=_CONTENT)):
        if piece[1] is not None:
            counts[-1] += 1
            many += counts[-1] > KEYS_OF_AN_OBJECT
            if many > MAX_KEYS:
                raise FormatError(
                    f"{name}: holds objects with more than {MAX_KEYS} keys, which is the limit",
                    hint="benchgate writes no such file: write or fetch it again.",
                )
        elif piece[0] == b"{":
            counts.append(0)
        elif piece[0] == b"}" and len(counts) > 1:
            counts.pop()


D = TypeVar("D", bound=JsonObject)

REWRITE: Final = (
    "A file that benchgate wrote and nobody edited is never refused: write or fetch it again."
)
_START: Final = re.compile(rb'\{\s*"schema"\s*:\s*\d')
_UPGRADE = "Upgrade benchgate to at least the version that wrote the file."
_KINDS = "`--output` writes result files, `--json` writes verdicts."


@dataclass(frozen=True)
class Format(Generic[D]):
    """A kind of versioned JSON file.

    Attributes:
        kind: for messages, e.g. "result file".
        document: the type of the whole document; its field `schema` holds the current version.
        hallmark: a key that no other kind of file has.
        indent: of the lines of the file, for human readers; None writes a single line.
    """

    kind: str
    document: type[D]
    hallmark: str
    indent: int | None = None

    @cached_property
    def version(self) -> int:
        current: int = self.document.__dataclass_fields__["schema"].default
        return current

    def read(self, data: bytes, name: str) -> D:
        """The document in a file.

        Args:
            data: the file, uncompressed.
            name: of the file, for messages.

        Raises:
            FormatError: names the file and the place in it.
        """
        require_few(data, name, OWN_FILE)
        require_few_keys(data, name)
        with _collector_paused():
            try:
                return self._adapter.validate_json(data)
            except ValidationError as error:
                fault = first_fault(error)
            raise self._refusal(_parsed(data, name), name, fault)

    @staticmethod
    def begins(head: bytes) -> bool:
        """Whether the beginning of a file is that of a document; `read` says of which kind."""
        return _START.match(head) is not None

    def recognizes(self, data: bytes) -> bool:
        """Whether a file has the key that no other kind has; damage elsewhere does not matter."""
        key = re.escape(self.hallmark.encode())
        return self.begins(data) and re.search(rb'"%b"\s*:' % key, data) is not None

    def write(self, document: D, redact: Redact) -> bytes:
        """The document as a file: uncompressed UTF-8, every text redacted, ending in a newline."""
        with _collector_paused():
            try:
                checked = self._adapter.validate_python(document)
            except ValidationError as error:
                raise ValueError(first_fault(error)) from None
            written = self._adapter.serializer.to_json(checked, indent=self.indent, context=redact)
            return written + b"\n"

    def json_schema(self) -> dict[str, Any]:
        """The JSON Schema of the current version."""
        schema = self._adapter.json_schema()
        if reference := schema.pop("$ref", None):  # the document holds others of its kind
            schema |= schema["$defs"][reference.rpartition("/")[2]]
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **schema,
            "title": f"benchgate {self.kind}, version {self.version}",
        }

    @cached_property
    def _adapter(self) -> TypeAdapter[D]:
        return TypeAdapter(self.document)

    def _refusal(self, parsed: object, name: str, fault: str) -> FormatError:
        """Why a file is not valid: it is of another version, or of another kind."""
        document = self._having("schema", parsed, name)
        found = document["schema"]
        if type(found) is not int:
            return FormatError(
                f"{name}: schema: {shown(found)} is not a version number", hint=REWRITE
            )
        if found > self.version:
            return FormatError(
                f"{name}: schema: version {found} was written by a newer benchgate;"
                f" this one reads up to {self.version}",
                hint=_UPGRADE,
            )
        if found < self.version:
            return FormatError(
                f"{name}: schema: this benchgate does not read version {found}", hint=REWRITE
            )
        self._having(self.hallmark, document, name)
        return FormatError(f"{name}: {fault}", hint=REWRITE)

    def _having(self, key: str, document: object, name: str) -> dict[str, Any]:
        if isinstance(document, dict) and key in document:
            return document
        raise FormatError(f"{name}: holds no `{key}`, so it is not a {self.kind}", hint=_KINDS)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Parsed JSON is a tree: looking for cycles in it again and again would double the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _parsed(data: bytes, name: str) -> object:
    try:
        document: object = from_json(data, cache_strings="keys")
    except ValueError as error:
        raise FormatError(
            f"{name}: {_syntax(str(error))}",
            hint="The file was damaged after it was written: write or fetch it again.",
        ) from None
    return document


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
