"""Decides whether a page that was just made says the same as the one in docs.

Everything except measured values must be equal. Processors may round the last bit of a logarithm
differently, so that some replicates have another result. So percentages may differ by 0.1, and the
largest differences, which are such last bits, by a factor of ten (all below 1e-13 are equal). The
verdicts may not differ.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

MEASURED = frozenset({"observed", "95 % bounds", "largest difference"})
_PERCENT_SLACK = 0.1
_FACTOR = 10.0
_ROUNDING = 1e-13
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the page: what must stay as it is, and the cells that were measured."""

    text: str
    fixed: tuple[str, ...]
    measured: tuple[str, ...]


def differences(kept: str, made: str) -> list[str]:
    """Give the lines that differ by more than they may, as a diff; nothing for pages that agree."""
    old, new = _lines(kept), _lines(made)
    found = []
    alike = SequenceMatcher(
        None, [line.fixed for line in old], [line.fixed for line in new], autojunk=False
    )
    for tag, old_from, old_to, new_from, new_to in alike.get_opcodes():
        before, after = old[old_from:old_to], new[new_from:new_to]
        if tag == "equal":
            pairs = [
                (a, b)
                for a, b in zip(before, after, strict=True)
                if not all(map(_close, a.measured, b.measured))
            ]
            before, after = [a for a, _ in pairs], [b for _, b in pairs]
        found += [f"- {line.text}" for line in before] + [f"+ {line.text}" for line in after]
    return found


def _lines(text: str) -> list[_Line]:
    lines = []
    columns: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if not line.startswith("|"):
            columns = []
        elif not columns:
            columns = cells
        is_measured = [column in MEASURED and cells != columns for column in columns]
        if len(is_measured) != len(cells):
            is_measured = [False] * len(cells)
        both = list(zip(cells, is_measured, strict=True))
        fixed = tuple("" if measured else cell for cell, measured in both)
        lines.append(_Line(line, fixed, tuple(cell for cell, measured in both if measured)))
    return lines


def _close(old: str, new: str) -> bool:
    if _NUMBER.sub("#", old) != _NUMBER.sub("#", new):
        return False
    pairs = zip(_NUMBER.findall(old), _NUMBER.findall(new), strict=True)
    return all(_close_numbers(a, b) for a, b in pairs)


def _close_numbers(old: str, new: str) -> bool:
    a, b = float(old), float(new)
    if "e" in old + new:
        return max(a, b) <= max(_ROUNDING, _FACTOR * min(a, b))
    return abs(a - b) <= _PERCENT_SLACK * (1 + 1e-9)
