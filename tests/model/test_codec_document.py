from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from benchgate.errors import FormatError
from benchgate.model import codec_document
from benchgate.model.codec_document import Format
from benchgate.model.codec_types import Lengths, Name, Record, Text


class Third(Record):
    version: Annotated[int, Field(ge=3, le=3)] = Field(alias="schema")
    names: Annotated[list[str], Field(max_length=9)]
    name: Name | None = None
    text: Text | None = None


def split(document: dict[str, Any]) -> dict[str, Any]:
    """1 -> 2: one name became a list."""
    document["names"] = [document.pop("name")]
    return document


def shout(document: dict[str, Any]) -> dict[str, Any]:
    """2 -> 3: names became upper case."""
    return document | {"names": [name.upper() for name in document["names"]]}


FORMAT = Format("list of names", Third, 3, hallmark="names", migrations={1: split, 2: shout})


@pytest.mark.parametrize(
    "data",
    [
        b'{"schema": 1, "name": "ann"}',
        b'{"schema": 2, "names": ["ann"]}',
        b'{"schema": 3, "names": ["ANN"]}',
    ],
)
def test_older_versions_are_migrated_step_by_step(data: bytes) -> None:
    assert FORMAT.read(data, "a.json") == Third(schema=3, names=["ANN"])


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
        (b"[]", "holds no `schema`: it is no list of names"),
        (b"3", "holds no `schema`: it is no list of names"),
        (b'{"schema": 3}', "holds no `names`: it is no list of names"),
        (
            b'{"schema": 4}',
            "schema: version 4 was written by a newer benchgate; this one reads up to 3",
        ),
        (b'{"schema": 0}', "schema: there never was a version 0"),
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


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"schema": 2, "names": [7]}', "not valid in version 2: AttributeError"),
        (b'{"schema": 1, "names": []}', "not valid in version 1: KeyError('name')"),
        (b'{"schema": 2, "names": ["a"], "more": 1}', 'unknown key "more"'),
    ],
)
def test_a_broken_file_of_an_older_version_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        FORMAT.read(data, "a.json")
    assert caught.value.message.startswith(f"a.json: {message}")


def test_too_many_arrays_are_refused_before_they_take_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(codec_document, "MAX_CONTAINERS", 10)
    with pytest.raises(FormatError, match="more than 10 arrays and objects"):
        FORMAT.read(b'{"schema": 3, "names": [' + b"[]," * 10, "a.json")


def test_too_many_values_are_refused_before_they_take_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(codec_document, "MAX_VALUES", 10)
    with pytest.raises(FormatError, match="more than 10 values"):
        FORMAT.read(b'{"schema": 3, "names": [' + b"0," * 11 + b"0]}", "a.json")


@pytest.mark.parametrize(("key", "longest"), [("name", Lengths().name), ("text", Lengths().text)])
def test_longer_texts_are_refused_in_a_file_and_written_all_the_same(
    key: str, longest: int
) -> None:
    def read(length: int) -> Third:
        document = f'{{"schema": 3, "names": [], "{key}": "{"x" * length}"}}'
        return FORMAT.read(document.encode(), "a.json")

    assert len(getattr(read(longest), key)) == longest
    with pytest.raises(FormatError) as caught:
        read(longest + 1)
    shown = f'"{"x" * 39}...'
    assert caught.value.message == f"a.json: {key}: {shown}: is longer than {longest} characters"
    Third(schema=3, names=[], **{key: "x" * (longest + 1)}).to_json(str)
