"""Ten kinds of real work, each in 100 or more units, so that 1 % more of it can be done."""

import hashlib
import json
import re
import sqlite3

NAMES = (
    "parse_json",
    "sort",
    "match",
    "fill_dict",
    "hash_blocks",
    "query",
    "format_lines",
    "sum_floats",
    "count_words",
    "add_points",
)
# Always equally long: one more object in memory can make another workload 6 % slower.
PERCENTS = "00 00 00 00 00 00 00 00 00 00"
EXTRA = dict(zip(NAMES, map(int, PERCENTS.split()), strict=True))

_DOCUMENT = '{"id": 7, "tags": ["a", "b"], "owner": {"name": "someone", "score": 1.5}}'
_NUMBERS = [(i * 7919) % 1009 for i in range(40)]
_LINE = "2026-01-02 10:11:12 INFO user42@example.org fetched /items/17 in 31 ms"
_ADDRESS = re.compile(r"[\w.]+@[\w.]+\.\w+")
_BLOCK = b"0123456789abcdef" * 64
_WORDS = ("the quick brown fox jumps over the lazy dog and runs away " * 100).split()
_TABLE = sqlite3.connect(":memory:")
_TABLE.execute("create table item (id integer primary key, name text)")
_TABLE.executemany("insert into item values (?, ?)", [(i, f"item {i}") for i in range(500)])


class Point:
    __slots__ = ("x", "y")

    def __init__(self, x: int, y: int) -> None:
        self.x = x
        self.y = y

    def plus(self, other: "Point") -> "Point":
        return Point(self.x + other.x, self.y + other.y)


def units(name: str, count: int) -> int:
    return count + count * EXTRA[name] // 100


def parse_json() -> None:
    for _ in range(units("parse_json", 100)):
        json.loads(_DOCUMENT)


def sort() -> None:
    for _ in range(units("sort", 100)):
        sorted(_NUMBERS)


def match() -> None:
    for _ in range(units("match", 100)):
        _ADDRESS.findall(_LINE)


def fill_dict() -> dict[int, int]:
    table: dict[int, int] = {}
    for i in range(units("fill_dict", 1000)):
        table[i % 97] = table.get(i % 89, 0) + i
    return table


def hash_blocks() -> None:
    for _ in range(units("hash_blocks", 100)):
        hashlib.sha256(_BLOCK).digest()


def query() -> None:
    for i in range(units("query", 100)):
        _TABLE.execute("select name from item where id = ?", (i,)).fetchone()


def format_lines() -> None:
    for i in range(units("format_lines", 300)):
        f"{i:>8} {i * 1.5:.3f} {'name'!r}"


def sum_floats() -> float:
    total = 0.0
    for i in range(units("sum_floats", 1000)):
        total += i * 0.5
    return total


def count_words() -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in _WORDS[: units("count_words", 1000)]:
        counts[word] = counts.get(word, 0) + 1
    return counts


def add_points() -> Point:
    total, step = Point(0, 0), Point(1, 2)
    for _ in range(units("add_points", 300)):
        total = total.plus(step)
    return total
