"""Stored results that were not used, counted, because forks can leave any number of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.json_object import JsonObject, Text

if TYPE_CHECKING:
    from collections.abc import Iterable

EXAMPLES: Final = 3
MOST_REASONS: Final = 20


@dataclass(frozen=True, slots=True)
class SkippedResult(JsonObject):
    """A stored result that was not used.

    Attributes:
        what: its file, or its artifact and the run that left it.
        reason: in plain words, to follow "because".
    """

    what: Text
    reason: Text


def by_reason(skipped: Iterable[SkippedResult]) -> tuple[SkippedResult, ...]:
    """One entry per result, or one per reason if more than `EXAMPLES` results share it.

    If there are many reasons, the last ones are only counted.
    """
    found: dict[str, list[str]] = {}
    for one in skipped:
        found.setdefault(one.reason, []).append(one.what)
    shown: list[SkippedResult] = []
    for reason, names in found.items():
        if len(names) > EXAMPLES:
            examples = ", ".join(names[:EXAMPLES])
            shown.append(
                SkippedResult(f"{len(names)} results", f"{reason}; for example {examples}")
            )
        else:
            shown += [SkippedResult(name, reason) for name in names]
    rest = len(shown) - MOST_REASONS
    if rest <= 0:
        return tuple(shown)
    return (
        *shown[:MOST_REASONS],
        SkippedResult(f"{rest} more", "the JSON verdict has all of them"),
    )
