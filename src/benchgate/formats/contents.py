"""The content of a file: reads JSON, CSV, lines and quantities.

An error names the place of what is wrong.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from benchgate.errors import FormatError
from benchgate.model.document import OTHER_FILE, require_few
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence


T = TypeVar("T")

_HEAD_BYTES = 64 << 10
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_TEXT_LIMIT = 200
_ONLY_JSON = "Let the command print nothing else, for example with npm run --silent."
_MOST_DOCUMENTS = 1000
_DOCUMENT = re.compile(r"\{\s*+[\"}]|\[\s*+[\[{]")
# A key, or what stands before or after a part of a list or an object.
_PIECE = re.compile(r"\"\s*+:|[,\[{]\s*+\Z|\A\s*+[,\]}]")


class RowError(Exception):
    """One benchmark in a file cannot be read; the others can.

    Args:
        message: the place in the file, and what is wrong there.
    """


@dataclass(frozen=True, slots=True, eq=False)
class ForeignFile:
    """The content of a file, or of a folder if a tool writes several files.

    Attributes:
        name: its path, for messages.
        data: the file, expanded; empty for a folder.
        files: the files of a folder by their paths in it, with "/".
        ok_exit_codes: of programs that the tool ran; another one is a failure.
    """

    name: str
    data: bytes = b""
    files: Mapping[str, bytes] = field(default_factory=dict)
    ok_exit_codes: Collection[int] = (0,)

    @property
    def head(self) -> bytes:
        """The beginning of the file without a byte order mark and white space, for `sniff`."""
        start = self.data[:_HEAD_BYTES]
        for mark, encoding in _MARKS:
            if start.startswith(mark):
                return start.decode(encoding, "ignore").lstrip().encode()
        return start.lstrip()

    def text(self, errors: str = "strict") -> str:
        """The file as text: UTF-8, or what its byte order mark says.

        Args:
            errors: what becomes of a byte that is no UTF-8, as `bytes.decode` takes it.

        Raises:
            FormatError: it is not.
        """
        encoding = next((e for mark, e in _MARKS if self.data.startswith(mark)), "utf-8")
        is_utf_8 = encoding.startswith("utf-8")
        try:
            return self.data.decode(encoding, errors if is_utf_8 else "strict")
        except UnicodeDecodeError as error:
            raise self.error(f"byte {error.start}", f"is not {encoding.upper()} text") from None

    def file(self, path: str) -> ForeignFile:
        """One file of the folder."""
        return ForeignFile(f"{self.name}: {path}", self.files[path])

    def error(self, place: str, what: str, hint: str = "") -> FormatError:
        """An error that names the file and the place in it."""
        return FormatError(
            f"{self.name}: {place}: {what}" if place else f"{self.name}: {what}", hint=hint
        )


def shown(value: object) -> str:
    """A value of the file, short enough for a message."""
    text = repr(value)
    return text if len(text) <= _TEXT_LIMIT else f"{text[:_TEXT_LIMIT]}..."


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A value in a JSON document. What it is not, it refuses to be, with a RowError.

    Attributes:
        value: as `json` reads it.
        place: where it is, such as "benchmarks[3].stats"; "" for the whole document.
    """

    value: Any
    place: str = ""

    def __getitem__(self, key: str) -> Node:
        """The value of a key of an object."""
        found = self.get(key)
        if found is None:
            raise RowError(f"{self.place or 'the document'}: the key {key!r} is missing")
        return found

    def get(self, key: str) -> Node | None:
        """The value of a key; None if the key is missing or its value is null."""
        value = self._of(dict, "an object").get(key)
        return None if value is None else Node(value, f"{self.place}.{key}".lstrip("."))

    def items(self) -> Iterator[tuple[str, Node]]:
        """The keys of an object, and their values."""
        for key, value in self._of(dict, "an object").items():
            yield key, Node(value, f"{self.place}.{key}".lstrip("."))

    def each(self) -> Iterator[Node]:
        """The elements of a list."""
        for index, value in enumerate(self.list):
            yield Node(value, f"{self.place}[{index}]")

    @property
    def text(self) -> str:
        """The text that this is."""
        return self._of(str, "text")

    @property
    def number(self) -> float:
        """The number that this is; it may be NaN or infinite."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise RowError(f"{self.place}: {shown(self.value)} is not a number")
        try:
            return float(self.value)
        except OverflowError:
            raise RowError(f"{self.place}: the number is too large") from None

    @property
    def list(self) -> list[Any]:
        """The list that this is, without a look at its elements."""
        return self._of(list, "a list")

    def _of(self, kind: type[T], what: str) -> T:
        if not isinstance(self.value, kind):
            raise RowError(f"{self.place or 'the document'}: {shown(self.value)} is not {what}")
        return self.value


def read_json(source: ForeignFile, *, named: bool = False) -> Node:
    """Read a JSON document. It may hold NaN and Infinity, as Python writes them.

    Args:
        named: the keys of its objects are names of benchmarks, so none may be there twice.
    """
    require_few(source.data, source.name, OTHER_FILE)
    text = source.text()
    try:
        return Node(json.loads(text, object_pairs_hook=_distinct if named else None))
    except RowError as error:
        raise source.error("", str(error)) from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        what = "is cut off" if error.pos >= len(text.rstrip()) else f"is not JSON: {error.msg}"
        hint = "" if text.lstrip().startswith(("{", "[")) else _ONLY_JSON
        raise source.error(place, what, hint) from None
    except ValueError as error:  # an integer of more digits than Python reads
        raise source.error("", f"is not JSON: {error}") from None
    except RecursionError:
        raise source.error("", "is nested too deeply") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; RowError if it has a key twice, of which `json` would keep the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise RowError(f"the key {shown(twice)} is there twice in one object")
    return found


def json_within(
    source: ForeignFile, is_wanted: Callable[[ForeignFile], bool]
) -> ForeignFile | None:
    """Find the JSON between what other programs printed, such as the header of `npm run`.

    Args:
        is_wanted: whether a document is of the tool. If not exactly one is, all of them are kept.

    Returns:
        The documents at their lines; None if there is none, or if what is left out looks like JSON.
    """
    try:
        require_few(source.data, source.name, OTHER_FILE)
        text = source.text("surrogateescape")
    except FormatError:
        return None
    found = _documents(text)
    if not 0 < len(found) <= _MOST_DOCUMENTS:
        return None
    documents = [text[start:end].encode(errors="surrogateescape") for start, end in found]
    wanted = [is_wanted(ForeignFile(source.name, each)) for each in documents]
    kept, last = [], 0
    for (start, end), document, keep in zip(found, documents, wanted, strict=True):
        if keep or sum(wanted) != 1:
            kept += [b"\n" * text.count("\n", last, start), document]
            last = end
    return replace(source, data=b"".join(kept))


def _documents(text: str) -> list[tuple[int, int]]:
    """Where objects, and lists of objects, begin and end; nothing if one is damaged."""
    found: list[tuple[int, int]] = []
    decoder = json.JSONDecoder()
    end = 0
    while match := _DOCUMENT.search(text, end):
        before = text[end : match.start()]
        try:
            _, after = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            return []
        if _PIECE.search(before):
            return []
        found.append((match.start(), after))
        end = after
    return [] if _PIECE.search(text[end:]) else found


def read_json_lines(source: ForeignFile) -> Iterator[tuple[int, Node | None]]:
    """The number of each line that is not empty, and its value; None if it is no JSON."""
    # Other marks than a line feed may be a part of a name.
    for number, line in enumerate(source.text("backslashreplace").split("\n"), 1):
        if line.strip():
            try:
                yield number, Node(json.loads(line), f"line {number}")
            except (ValueError, RecursionError):
                yield number, None


_MOST_SAID = 5
_COLOR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def read_lines(source: ForeignFile) -> Iterator[tuple[str, str]]:
    """The lines of a file, each after its place.

    A byte that is no UTF-8 is shown by its number: names stay different.
    """
    for number, line in enumerate(plain_lines(source.text("backslashreplace")), 1):
        yield f"line {number}", line


def plain_lines(text: str) -> list[str]:
    """Split a text at line feeds alone; other marks may be a part of a name."""
    return [line.removesuffix("\r") for line in _COLOR.sub("", text).split("\n")]


def number_in(text: str, place: str) -> float:
    """The number that a text without separators of thousands is; RowError if it is none."""
    try:
        return float(text)
    except ValueError:
        raise RowError(f"{place}: {shown(text)} is not a number") from None


def left_out(lines: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Say which lines, each with its place, are not results."""
    said = [f"{place} is not a result: {shown(text)}" for place, text in lines[:_MOST_SAID]]
    if rest := len(lines) - len(said):
        said.append(f"{counted(rest, 'more line')} after {lines[_MOST_SAID - 1][0]}")
    return tuple(said)


TIMES_S: Final = {
    "ps": 1e-12,
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    **dict.fromkeys(("\N{MICRO SIGN}s", "\N{GREEK SMALL LETTER MU}s"), 1e-6),
}
_POWERS = {prefix: power for power, prefix in enumerate("KMGTP", 1)} | {"k": 1}
_PREFIXED = re.compile(r"([kKMGTP])(?:(i)(?=B)|(?!i?\Z))(\S+)")
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)(?: (\S+))?")


def time_in(text: str, place: str) -> float:
    """The time in seconds that a text is, such as "1.25 ms"; RowError if it is none."""
    number, unit = _split(text, place)
    if unit not in TIMES_S:
        raise RowError(f"{place}: {shown(text)} is not a time such as 1.25 ms")
    return number * TIMES_S[unit]


def amount_in(text: str, place: str) -> tuple[float, str]:
    """The number that a text is, and its unit without the prefix: "1.5 Kitem/s" is 1500 item/s."""
    number, unit = _split(text, place)
    if match := _PREFIXED.fullmatch(unit):
        number *= (1024.0 if match[2] else 1000.0) ** _POWERS[match[1]]
        unit = match[3]
    return number, unit


def _split(text: str, place: str) -> tuple[float, str]:
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise RowError(f"{place}: {shown(text.strip())} is not a number with a unit")
    return float(match[1]), match[2] or ""


def unread(place: str, line: str) -> str:
    """Say that a line looks like a result, and is none."""
    return f"{place}: the result cannot be read: {shown(line.strip())}"


def read_table(
    source: ForeignFile, text: str, first: int = 0
) -> Iterator[tuple[str, dict[str, str]]]:
    """The place of each row of CSV, and the cells that are there, by their columns.

    Args:
        text: a part of the file; its first line names the columns.
        first: number of lines before the part.
    """
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            cells = {key: cell for key, cell in row.items() if isinstance(cell, str)}
            yield f"line {first + reader.line_num}", cells
    except csv.Error as error:
        place = f"line {first + reader.reader.line_num}"
        raise source.error(place, f"is not CSV: {error}") from None
