"""Whether a page that was just made says the same as the one that is kept.

Every character must be the same but for what was measured. There, processors that round the last
bit of a logarithm differently may turn a replicate or two: percentages may differ by 0.1, and the
largest differences, which are such last bits, by a factor of ten (below 1e-13 they are all alike).
The verdicts may not differ.
"""

from __future__ import annotations

import re
from itertools import zip_longest

MEASURED = frozenset({"observed", "95 % bounds", "largest difference"})
_PERCENT_SLACK = 0.1
_FACTOR = 10.0
_ROUNDING = 1e-13
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")


def differences(kept: str, made: str) -> list[str]:
    """Describe each line that differs by more than it may; nothing for pages that agree."""
    found = []
    columns: list[str] = []
    before = ""
    for number, (old, new) in enumerate(
        zip_longest(kept.splitlines(), made.splitlines(), fillvalue=""), start=1
    ):
        if not before.startswith("|"):
            columns = _cells(new)
        if old != new and not _same_row(columns, _cells(old), _cells(new)):
            found.append(f"line {number}:\n  kept: {old}\n  made: {new}")
        before = new
    return found


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")] if line.startswith("|") else []


def _same_row(columns: list[str], old: list[str], new: list[str]) -> bool:
    if not columns or not len(columns) == len(old) == len(new):
        return False
    return all(
        a == b or (column in MEASURED and _close(a, b))
        for column, a, b in zip(columns, old, new, strict=True)
    )


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
