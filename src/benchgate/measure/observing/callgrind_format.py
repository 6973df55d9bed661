"""Reads the profiles that callgrind writes."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path


FILE: Final = "calls"
TOTALS: Final = b"totals: "


@dataclass(slots=True)
class Profile:
    """What callgrind has written.

    Attributes:
        lines: for each function, with the place that it is called from, by file and line the
            instructions that ran there.
        files: the file of each of these functions; "" if it has no debug information.
        calls: which of them calls which other one, and how often.
    """

    lines: defaultdict[str, Counter[tuple[str, int]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    files: dict[str, str] = field(default_factory=dict)
    calls: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


def read_profile(path: Path) -> Profile:
    """Read a file of callgrind; https://valgrind.org/docs/manual/cl-format.html has the format."""
    profile = Profile()
    known: dict[tuple[str, str], str] = {}  # "(3) main" defines what "(3)" then stands for
    now = {"fn": "", "cfn": "", "fl": "", "file": ""}
    line, calls = 0, 0
    for row in path.read_text(errors="replace").splitlines() if path.exists() else ():
        key, _, value = row.partition("=")
        if key == "calls":
            calls = int(value.split()[0])
        elif key in _KINDS:
            number, _, name = value.partition(" ")
            name = known.setdefault((_KINDS[key], number), name)
            now[key] = name
            if key in _SOURCES:
                now["file"] = name
            if key == "fn":
                now["file"] = now["fl"]
                profile.files.setdefault(name, "" if now["fl"] == "???" else now["fl"])
        elif _COST.match(row):
            place, *costs = row.split()
            line = line if place == "*" else int(place) + (line if place[0] in "+-" else 0)
            if calls:  # it is what the callee took
                profile.calls[now["fn"]][now["cfn"]] += calls
                calls = 0
            else:
                profile.lines[now["fn"]][now["file"], line] += int(costs[0])
    return profile


_SOURCES: Final = frozenset({"fl", "fi", "fe"})
_KINDS: Final = {
    **dict.fromkeys(("fn", "cfn"), "function"),
    **dict.fromkeys((*_SOURCES, "cfi", "cfl"), "file"),
    **dict.fromkeys(("ob", "cob"), "object"),
}
_COST: Final = re.compile(r"[-+*\d]\S* *\d")


_HASH = re.compile(r"::h[0-9a-f]{16}$")
_MARKS = re.compile(r"\[abi:\w+\]| \[clone [^\]]*\]|@@?[\w.]+$")


def short_name(name: str) -> str:
    """The name of a function without its parameters, type arguments and marks of compilers.

    Rust has the type before it, "<text::Parser<u8>>::parse", and maybe a trait: that becomes
    "text::Parser::parse", or "<Parser as Iterator>::next".
    """
    name = _MARKS.sub("", _HASH.sub("", name)).replace("(anonymous namespace)::", "")
    name = name.replace("std::__cxx11::basic_string<", "std::string<").replace(" -> ", " ")
    if not name.startswith("<"):
        return _without_types(name)
    depths = list(accumulate((one == "<") - (one == ">") for one in name))
    end = depths.index(0) if 0 in depths else len(name) - 1
    parts = [at for at in range(end) if depths[at] == 1 and name.startswith(" as ", at)]
    inside = _without_types(name[end + 1 :])
    if not parts:
        return f"{_without_types(name[1:end])}{inside}"
    both = name[1 : parts[0]], name[parts[0] + len(" as ") : end]
    type_, trait = (_without_types(one).rpartition("::")[2] for one in both)
    return f"<{type_} as {trait}>{inside}"


def _without_types(name: str) -> str:
    kept, depth = [], 0
    for place, character in enumerate(name):
        if character in "<(" and not (character == "<" and name[:place].endswith("operator")):
            if not depth and character == "(":
                break
            depth += 1
        elif character in ">)" and depth:
            depth -= 1
        elif not depth:
            kept.append(character)
    short, operator, which = "".join(kept).strip().rpartition("operator")
    words = short.split(" ")
    # The type of what a template returns stands before it.
    short = f"{words[-1]}{operator}{which}" if operator else which.split(" ")[-1] or name
    return short.replace("::::", "::").removesuffix("::")


WORD = re.compile(r"[\w~]+")


def symbol_of(function: str) -> str:
    """The name of a function without the place that it is called from."""
    return function.partition("'")[0]
