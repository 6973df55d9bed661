"""Which functions differ between base and head, by the lines of them that ran."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, TypeAlias

from benchgate.model.calls import Edit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet
    from pathlib import Path

FunctionKey: TypeAlias = tuple[str, str]
"""The file of a function, relative to its tree, and its name: the same on both sides."""

Ran: TypeAlias = "Mapping[FunctionKey, AbstractSet[tuple[str, int]]]"
"""The lines of each function that ran: the file, relative to the tree, and a number from 1."""


def edits(base: tuple[Path, Ran], head: tuple[Path, Ran]) -> Mapping[FunctionKey, Edit]:
    """Say how the text of each function that ran differs, without comments at the ends of lines.

    Args:
        base, head: the root of the tree, and what ran.
    """
    sides = ((*base, Edit.GONE), (*head, Edit.NEW))
    paths = {path for _, ran, _ in sides for lines in ran.values() for path, _ in lines}
    texts = {path: [_lines(root / path) for root, _, _ in sides] for path in paths}
    changed: list[set[tuple[str, int]]] = [set(), set()]
    for path, (before, after) in texts.items():
        for side, numbers in enumerate(_changed(before, after)):
            changed[side] |= {(path, one) for one in numbers}
    found: dict[FunctionKey, Edit] = {}
    for side, (_, ran, edit) in enumerate(sides):
        for key, lines in ran.items():
            if lines & changed[side]:
                has = [_has(text, key[1]) for text in texts.get(key[0], [[], []])]
                is_only_there = has[side] and not has[1 - side]
                found.setdefault(key, edit if is_only_there else Edit.EDITED)
    edited = {path for path, (before, after) in texts.items() if before != after}
    beside = [key for _, ran, _ in sides for key in ran if key[0] in edited]
    return {**dict.fromkeys(beside, Edit.BESIDE), **found}


def _changed(before: list[str], after: list[str]) -> tuple[set[int], set[int]]:
    """The numbers of the lines of each text that the other one does not have in their place."""
    # Comparing takes the square of their number.
    shorter = min(len(before), len(after))
    same = (one != other for one, other in zip(before, after, strict=False))
    first = next((at for at, differs in enumerate(same) if differs), shorter)
    ends = zip(reversed(before[first:]), reversed(after[first:]), strict=False)
    last = next((at for at, (one, other) in enumerate(ends) if one != other), shorter - first)
    middle = before[first : len(before) - last], after[first : len(after) - last]
    found: tuple[set[int], set[int]] = set(), set()
    for kind, *at in SequenceMatcher(None, *middle, autojunk=False).get_opcodes():
        if kind != "equal":
            found[0].update(range(first + at[0] + 1, first + at[1] + 1))
            found[1].update(range(first + at[2] + 1, first + at[3] + 1))
    return found


def last_word(name: str) -> str:
    """The name of a function without what it belongs to, and without type arguments."""
    return re.split(r"::|\.", re.sub(r"\[.*\]|<.*>(?=::)", "", name))[-1]


def _has(text: list[str], name: str) -> bool:
    """Whether a file has a function of a name, which a macro may have made."""
    word = re.escape(last_word(name))
    return bool(re.search(rf"\b{word}\b", "\n".join(text)))


def _lines(file: Path) -> list[str]:
    """The lines of a file, without comments at their ends and without indentation."""
    if not file.is_file():
        return []
    text = file.read_text(encoding="utf-8", errors="replace")
    return [" ".join(line.partition("//")[0].split()) for line in text.splitlines()]
