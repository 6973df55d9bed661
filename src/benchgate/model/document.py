"""Reads and writes versioned JSON: migration of older versions, errors that name the place."""

from __future__ import annotations

import gc
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from benchgate.errors import FormatError
from benchgate.json_object import JsonObject
from benchgate.model.fault import first_fault, shown
from benchgate.model.json_bounds import OWN_FILE, require_few, require_few_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from benchgate.json_object import Redact

D = TypeVar("D", bound=JsonObject)
Migration: TypeAlias = "Callable[[dict[str, Any]], dict[str, Any]]"

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
        migrations: for version n, a function that makes version n + 1; it may change its argument.
    """

    kind: str
    document: type[D]
    hallmark: str
    indent: int | None = None
    migrations: Mapping[int, Migration] = field(default_factory=dict)

    @cached_property
    def version(self) -> int:
        """The current version."""
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
            return self._read_older(_parsed(data, name), name, fault)

    @staticmethod
    def begins(head: bytes) -> bool:
        """Whether the beginning of a file is that of a document; `read` says of which kind."""
        return _START.match(head) is not None

    def recognizes(self, data: bytes) -> bool:
        """Whether a file has the key that no other kind has; damage elsewhere does not matter."""
        key = re.escape(self.hallmark.encode())
        return self.begins(data) and re.search(rb'"%b"\s*:' % key, data) is not None

    def write(self, document: D, redact: Redact) -> bytes:
        """The document as a file: uncompressed UTF-8, every text redacted, ending in a newline.

        Raises:
            ValueError: the document holds what `read` would refuse; the message names the place.
        """
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

    def _read_older(self, parsed: object, name: str, fault: str) -> D:
        """Migrate or refuse a file that is not valid: it is older or of another kind."""
        document = self._having("schema", parsed, name)
        if self._version_of(document, name) == self.version:
            self._having(self.hallmark, document, name)
        else:
            document = self._having(self.hallmark, self._migrated(document, name), name)
            try:
                return self._adapter.validate_json(to_json(document))
            except ValidationError as error:
                fault = first_fault(error)
        raise FormatError(f"{name}: {fault}", hint=REWRITE)

    def _having(self, key: str, document: object, name: str) -> dict[str, Any]:
        if isinstance(document, dict) and key in document:
            return document
        raise FormatError(f"{name}: holds no `{key}`, so it is not a {self.kind}", hint=_KINDS)

    def _version_of(self, document: dict[str, Any], name: str) -> int:
        found = document["schema"]
        if type(found) is not int:
            raise FormatError(
                f"{name}: schema: {shown(found)} is not a version number", hint=REWRITE
            )
        if found > self.version:
            raise FormatError(
                f"{name}: schema: version {found} was written by a newer benchgate;"
                f" this one reads up to {self.version}",
                hint=_UPGRADE,
            )
        return found

    def _migrated(self, document: dict[str, Any], name: str) -> dict[str, Any]:
        for version in range(document["schema"], self.version):
            migrate = self.migrations.get(version)
            if migrate is None:
                raise FormatError(
                    f"{name}: schema: there never was a version {version}", hint=REWRITE
                )
            try:
                document = migrate(document) | {"schema": version + 1}
            except (AttributeError, LookupError, TypeError, ValueError) as error:
                # For a file of another kind, name the key it lacks, not where that was noticed.
                self._having(self.hallmark, document, name)
                raise FormatError(
                    f"{name}: not valid in version {version}: {error!r}", hint=REWRITE
                ) from None
        return document


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
