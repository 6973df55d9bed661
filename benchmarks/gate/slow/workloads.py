"""Three kinds of real work of about 10, 50 and 300 ms, each in 100 or more units."""

import json
import re

NAMES = (
    "copy_json",
    "make_classes",
    "count_words",
)
PERCENTS = "00 00 00"
EXTRA = dict(zip(NAMES, map(int, PERCENTS.split()), strict=True))

_DOCUMENT = {"id": 7, "tags": list(range(50)), "rows": {f"k{i}": [i, i / 3] for i in range(40)}}
_CLASS = """\
class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __eq__(self, other):
        return (self.x, self.y) == (other.x, other.y)
"""
_TEXT = "the quick brown fox jumps over the lazy dog and runs away " * 40
_WORD = re.compile(r"\w+")


def units(name: str, count: int) -> int:
    return count + count * EXTRA[name] // 100


def copy_json() -> None:
    for _ in range(units("copy_json", 300)):
        json.loads(json.dumps(_DOCUMENT))


def make_classes() -> None:
    for _ in range(units("make_classes", 1000)):
        names: dict[str, type] = {}
        exec(_CLASS, names)  # noqa: S102 - the text is above
        points = [names["Point"](i, str(i)) for i in range(60)]
        points.index(points[-1])


def count_words() -> None:
    for _ in range(units("count_words", 4200)):
        counts: dict[str, int] = {}
        for word in _WORD.findall(_TEXT):
            counts[word] = counts.get(word, 0) + 1
