"""Damages a file: byte by byte, token by token, line by line, or in its structure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    Mutation: TypeAlias = Callable[[bytes, random.Random, Sequence[bytes]], bytes]

_TOKEN = re.compile(rb"[+-]?\d[\d.,eE+-]*|[A-Za-z_][\w.]*|\s+|.", re.DOTALL)
_NEAR_BYTES = 2000
_CELL = re.compile(rb'(?:"\w+"\s*:)?[^,{}\[\]]{1,60},')
_NUMBER = re.compile(rb"[+-]?\d[\d.,]*(?:[eE][+-]?\d+)?")
_NUMBERS = (
    *(b"0", b"-0.0", b"-1", b"1e308", b"1e999", b"-1e999", b"1e-320", b"4.9e-324", b"1e150"),
    *(b"NaN", b"-NaN", b"nan", b"Infinity", b"-Infinity", b"inf", b"+INF", b"9" * 400, b"9" * 5000),
    *(
        b"1,234,567",
        b"1.234,5",
        b"1_000",
        b"0x1f",
        b"1e",
        b"--1",
        b"+1",
        b"\xd9\xa1\xd9\xa2",
        b"1.",
    ),
    *(b"18446744073709551616", b"9007199254740993", b"null", b"true", b'"1"', b"[1]", b"{}", b""),
)
_TEXTS = (
    *(b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc3", b"\xe2\x80\xa8", b"\x1b[31m"),
    *(b"\r", b"\r\n", b"\n\n\n", b"\t", b"\x85", b"\x0c", b"\x1c", b'"', b"\\", b"'", b",", b":"),
    *(b"[" * 3000, b'{"a":' * 3000, b"<a>" * 3000, b"]", b"}", b"<", b">", b"&x;", b"%", b"#"),
    *(
        b"x" * 12_000,
        b"\\ud800",
        b"\\u0000",
        b"a\\nb",
        b"Benchmark",
        b"test x ... bench: 1",
        b"...",
    ),
    *(b"goos: linux\n", b"FAIL\t", b"--- FAIL: Benchmark", b"\x00" * 50, b"../../x", b"-1"),
)
_LINES = (
    *(b"warning: something else was printed", b"\x1b[2K\r 50%|#####     |", b"{", b"}", b"null"),
    *(b'{"type":"Metric","metric":"x","data":{}}', b"0 1 2 3 4 5", b"a,b,c,d", b"FAIL", b"PASS"),
    *(b"Benchmark", b"BenchmarkX-8 1 1 ns/op", b"Unit x better=higher", b" " * 5000, b"," * 5000),
)
_BOMB = (
    b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(9))
    + b"]><x>&j;</x>"
)


def cut(data: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def drop(data: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    start = rng.randrange(len(data) + 1)
    return data[:start] + data[start + rng.choice((1, 1, 2, 5, 20, 100, 1000)) :]


def flip(data: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 4, 16))):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def insert(data: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    start = rng.randrange(len(data) + 1)
    return data[:start] + rng.choice(_TEXTS) + data[start:]


def repeat(data: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    start = rng.randrange(len(data) + 1)
    part = data[start : start + rng.choice((1, 10, 100, 1000))]
    return data[:start] + part * rng.choice((2, 2, 3, 10)) + data[start:]


def splice(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    other = rng.choice(others)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def number(data: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    start = rng.randrange(len(data) + 1)
    found = _NUMBER.search(data, start) or _NUMBER.search(data)
    if found is None:
        return data
    return data[: found.start()] + rng.choice(_NUMBERS) + data[found.end() :]


def token(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Replace, remove or exchange a token for another one, perhaps of another file."""
    one = _TOKEN.search(data, rng.randrange(len(data) + 1))
    if one is None:
        return data
    other = rng.choice((data, rng.choice(others)))
    found = _TOKEN.search(other, rng.randrange(len(other) + 1))
    new = rng.choice((b"", found[0] if found else b"", found[0] if found else b"", one[0] * 2))
    return data[: one.start()] + new + data[one.end() :]


def again(data: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    """Give an object of JSON a key twice, or a row of a table a cell."""
    start = rng.randrange(len(data) + 1)
    found = _CELL.search(data, start, start + _NEAR_BYTES)
    return data if found is None else data[: found.end()] + found[0] + data[found.end() :]


def lines(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Remove, repeat, move, split or join lines, or add one that does not belong there."""
    found = data.split(b"\n")
    index, other = rng.randrange(len(found)), rng.randrange(len(found))
    match rng.randrange(7):
        case 0:
            del found[index]
        case 1:
            found[index:index] = [found[other]] * rng.choice((1, 1, 2, 50))
        case 2:
            found[index], found[other] = found[other], found[index]
        case 3:
            middle = rng.randrange(len(found[index]) + 1)
            noise = rng.choice(_LINES)
            found[index : index + 1] = [found[index][:middle] + noise, found[index][middle:]]
        case 4:
            found[index : index + 2] = [b"".join(found[index : index + 2])]
        case 5:
            found.insert(index, rng.choice(_LINES))
        case _:
            found.insert(index, rng.choice(rng.choice(others).split(b"\n")))
    return b"\n".join(found)


def encode(data: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    text = data.decode("latin-1" if rng.random() < 0.1 else "utf-8", "replace")
    encodings = ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp037")
    return text.encode(rng.choice(encodings), "replace")


def newlines(data: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"", b"\n\n", b"\x1e", b" ")))


def bomb(data: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    """Put entities before XML, or nest the whole content."""
    match rng.randrange(3):
        case 0:
            return _BOMB.replace(
                b"<x>&j;</x>", data if rng.random() < 0.5 else b"<Catch>&j;</Catch>"
            )
        case 1:
            depth = rng.choice((10, 500, 5000))
            return b"[" * depth + data + b"]" * depth
        case _:
            depth = rng.choice((10, 150, 3000))
            return b"<Section name='x'>" * depth + data + b"</Section>" * depth


_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 0.5, 1e308, -1e308, 1e-320, 10**20, 10**400, 2**53 + 1),
    *(
        float("nan"),
        float("inf"),
        float("-inf"),
        "",
        "x",
        " ",
        "\0",
        "\ud800",
        "NaN",
        "1",
        "x" * 11_000,
    ),
    *(
        [],
        {},
        [[]],
        [{}],
        [None],
        [1, 2],
        [1, "a"],
        ["a"],
        [True],
        {"a": 1},
        {"": None},
        [[1], [2, 3]],
    ),
)


def structure(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Change a value somewhere in a JSON document, or a key of it; perhaps in a line of JSON."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        found = data.split(b"\n")
        index = rng.randrange(len(found))
        try:
            value = json.loads(found[index])
        except (ValueError, RecursionError):
            return token(data, rng, others)
        found[index] = _dumped(_changed(value, rng))
        return b"\n".join(found)
    for _ in range(rng.choice((1, 1, 2, 4))):
        document = _changed(document, rng)
    return _dumped(document)


def _dumped(value: object) -> bytes:
    return json.dumps(value).encode()


def _changed(value: Any, rng: random.Random) -> Any:  # noqa: ANN401 - JSON of any shape
    """Copy a value with one change in it; most changes are deep inside."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        copy = dict(value)
        match rng.randrange(12):
            case 0:
                del copy[key]
            case 1:
                copy[rng.choice(list(value))] = value[key]
            case 2:
                copy[rng.choice(("x", "", key * 2, key.upper(), key[:3] * 4000))] = copy.pop(key)
            case _:
                copy[key] = _changed(value[key], rng)
        return copy
    if isinstance(value, list) and value and rng.random() < 0.9:
        index = rng.randrange(len(value))
        copied = list(value)
        match rng.randrange(12):
            case 0:
                del copied[index]
            case 1:
                copied[index:index] = [value[index]] * rng.choice((1, 1, 2, 30))
            case 2:
                copied = copied[:index]
            case 3:
                copied.reverse()
            case _:
                copied[index] = _changed(value[index], rng)
        return copied
    return _other(value, rng)


def _other(value: Any, rng: random.Random) -> Any:  # noqa: ANN401 - JSON of any shape
    match rng.randrange(6):
        case 0:
            return [value]
        case 1:
            return {"x": value}
        case 2:
            return str(value)[:1000]
        case 3 if isinstance(value, float):
            return value * rng.choice((0, -1, 1e3, 1e-9, 1e200))
        case _:
            return rng.choice(_VALUES)


_WITHIN: tuple[Mutation, ...] = (structure, structure, structure, number, token, lines)
"""These leave most of a file as it is, so that readers get far into it."""
_EVERY: tuple[Mutation, ...] = (
    *_WITHIN,
    *(cut, drop, flip, insert, repeat, splice, encode, newlines, bomb, again),
)
_LONGEST_BYTES = 200_000


def damaged(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Damage a file in one to eight ways.

    Args:
        others: files to take parts from.
    """
    mutations = rng.choice(((structure,), _WITHIN, _EVERY))
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5, 8))):
        data = rng.choice(mutations)(data, rng, others)[:_LONGEST_BYTES]
    return data
