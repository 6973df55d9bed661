"""Finds the notes that several benchmarks share, so that a report says each of them once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# A shorter note is read faster than a number that stands for it.
_SHORT: Final = 40


@dataclass(frozen=True, slots=True)
class Footnote:
    """A note of several benchmarks, or rows.

    Attributes:
        mark: stands beside the benchmarks: "[1]".
        about: how many benchmarks have it: "10 benchmarks".
    """

    mark: str
    text: str
    about: str


def shared_notes(notes: Iterable[Iterable[str]], noun: str = "benchmark") -> Mapping[str, Footnote]:
    """Number the long notes that more than one benchmark has, in the order of their appearance.

    Args:
        notes: of each benchmark.
        noun: what has them, if it is not a benchmark.
    """
    counts = Counter(text for each in notes for text in dict.fromkeys(each))
    several = [text for text, count in counts.items() if count > 1 and len(text) > _SHORT]
    return {
        text: Footnote(f"[{number}]", text, counted(counts[text], noun))
        for number, text in enumerate(several, start=1)
    }
