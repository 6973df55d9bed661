from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

import pytest
from pydantic import Field

from benchgate.errors import FormatError
from benchgate.json_object import MAX_NAME, MAX_TEXT, JsonObject, Name, Text
from benchgate.model import document
from benchgate.model.document import Format


@dataclass(frozen=True, slots=True)
class Names(JsonObject):
    """Names, shouted.

    Attributes:
        names: in upper case.
    """

    names: Annotated[tuple[str, ...], Field(max_length=9)]
    schema: Literal[3] = 3


FORMAT = Format("list of names", Names, hallmark="names")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"   ", "the file is cut off: it ends at line 1 column 3"),
        (b'{"schema": 3,\n "names": [', "the file is cut off: it ends at line 2 column 11"),
        (b'{"schema": 3,\n "names": [,]}', "not valid JSON: expected value at line 2 column 12"),
        (b"<html>", "not valid JSON: expected value at line 1 column 1"),
        (b"{} {}", "not valid JSON: trailing characters at line 1 column 4"),
        (b'{"schema": 3, "names": ["\xff"]}', "not UTF-8 at line 1 column 26"),
        (b"[]", "holds no `schema`, so it is not a list of names"),
        (b"3", "holds no `schema`, so it is not a list of names"),
        (b'{"schema": 3}', "holds no `names`, so it is not a list of names"),
        (
            b'{"schema": 4}',
            "schema: version 4 was written by a newer benchgate; this one reads up to 3",
        ),
        (b'{"schema": 0}', "schema: this benchgate does not read version 0"),
        (b'{"schema": "3"}', 'schema: "3" is not a version number'),
        (b'{"schema": 3, "names": ["a", 1]}', "names[1]: 1 is not a text"),
        (
            b'{"schema": 3, "names": [' + b'"",' * 9 + b'""]}',
            "names: holds more than 9 of them, which is the limit",
        ),
        (b'{"schema": 3, "names": [], "\\u001b[0m": 1}', r'unknown key "\u001b[0m"'),
    ],
)
def test_refusals_name_file_and_place(data: bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        FORMAT.read(data, "a.json")
    assert caught.value.message == f"a.json: {message}"
    assert caught.value.hint


@pytest.mark.parametrize("piece", [b"[", b'{"a":', b"[[],"])
def test_absurd_depth_is_refused(piece: bytes) -> None:
    with pytest.raises(FormatError, match=r"^a\.json: nested too deeply at line 1 column \d+$"):
        FORMAT.read(piece * 100_000, "a.json")


def test_too_many_arrays_are_refused_before_they_take_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(f"{document.__name__}.OWN_FILE", replace(document.OWN_FILE, containers=10))
    with pytest.raises(FormatError, match="more than 10 arrays and objects"):
        FORMAT.read(b'{"schema": 3, "names": [' + b"[]," * 10, "a.json")


def test_too_many_values_are_refused_before_they_take_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(f"{document.__name__}.OWN_FILE", replace(document.OWN_FILE, values=10))
    with pytest.raises(FormatError, match="more than 10 values"):
        FORMAT.read(b'{"schema": 3, "names": [' + b"0," * 11 + b"0]}", "a.json")


def test_too_many_keys_are_refused_before_they_take_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(f"{document.__name__}.OWN_FILE", replace(document.OWN_FILE, keys=10))
    with pytest.raises(FormatError, match="more than 10 keys"):
        FORMAT.read(b'{"schema": 3, "names": [' + b'{"a":1},' * 10 + b"{}]}", "a.json")


@pytest.mark.parametrize(
    ("many", "few"),
    [
        (b'{"%x": 1, "%x": {}}', b'{"a": {"b": [1], "c": "d: \\": e:"}}'),
        (b'{"%x" : "}", "%x": {}}', b'{"a": "b", "c": {"d": {}}, "e": 2}'),
    ],
)
def test_objects_with_too_many_keys_are_refused_before_they_take_memory(
    monkeypatch: pytest.MonkeyPatch, many: bytes, few: bytes
) -> None:
    monkeypatch.setattr(document, "KEYS_OF_AN_OBJECT", 3)
    monkeypatch.setattr(document, "MAX_KEYS", 10)
    inside = b"[" + b", ".join([few] * 30) + b"]"
    fewer = b", ".join(many[1:-1] % (n, n + 100) for n in range(6))
    document.require_few_keys(b'{%b, "a": %b}' % (fewer, inside), "a.json")
    with pytest.raises(FormatError, match="objects with more than 10 keys"):
        FORMAT.read(b'{"a": %b, "b": 1, %b}' % (inside, fewer), "a.json")


@dataclass(frozen=True, slots=True)
class Bounded(JsonObject):
    name: Name
    text: Text
    schema: Literal[1] = 1


BOUNDED = Format("pair", Bounded, hallmark="text")


@pytest.mark.parametrize(("key", "longest"), [("name", MAX_NAME), ("text", MAX_TEXT)])
def test_longer_texts_are_refused_in_a_file_and_written_all_the_same(
    key: str, longest: int
) -> None:
    def written(length: int) -> bytes:
        texts = {"name": "a", "text": "b", key: "x" * length}
        return BOUNDED.write(Bounded(texts["name"], texts["text"]), str)

    assert len(getattr(BOUNDED.read(written(longest), "a.json"), key)) == longest
    with pytest.raises(FormatError) as caught:
        BOUNDED.read(written(longest + 1), "a.json")
    shown = f'"{"x" * 39}...'
    assert caught.value.message == f"a.json: {key}: {shown}: is longer than {longest} characters"


def test_no_key_may_be_left_out_though_the_program_may_leave_out_a_field() -> None:
    assert Bounded("a", "b").schema == 1
    with pytest.raises(FormatError, match='"name" is missing'):
        BOUNDED.read(b'{"schema": 1, "text": "b"}', "a.json")
    assert set(BOUNDED.json_schema()["required"]) == {"schema", "name", "text"}


def test_the_schema_describes_a_class_by_its_docstring() -> None:
    assert FORMAT.json_schema()["description"] == "Names, shouted."


def test_what_would_be_refused_is_not_written() -> None:
    with pytest.raises(ValueError, match=r"^names\[1\]: 5 is not a text$"):
        FORMAT.write(Names(("A", 5)), str)  # type: ignore[arg-type]
