"""Says what differs beside a benchmark, and may change what it measures."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchgate.measure.engine import Bystander, Definition

_PLACES_NAMED = 3


def note_on_bystanders(base: Definition, head: Definition) -> str:
    """Say what differs in a benchmark's files outside of its work; "" if nothing does."""
    found = differing_places((*base.common, *base.bystanders), (*head.common, *head.bystanders))
    if not found:
        return ""
    own_line = f"line {(head.location or '').rpartition(':')[2]}"
    found = tuple(place for place in found if place != own_line) or found
    named = ", ".join(found[:_PLACES_NAMED])
    more = ", ..." if len(found) > _PLACES_NAMED else ""
    return (
        f"other code of its file differs between base and head ({named}{more}) and may change what "
        "it measures"
    )


def differing_places(base: Iterable[Bystander], head: Iterable[Bystander]) -> tuple[str, ...]:
    """The places of what is not in both or not in the same order; those of the head if it has any.

    Args:
        base, head: in any order.
    """
    before, after = sorted(base), sorted(head)
    old, new = ([digest for _, digest, _ in side] for side in (before, after))
    if old == new:
        return ()
    # Most of it is the same, and comparing takes time.
    start = _equal_at_start(old, new)
    end = _equal_at_start(old[start:][::-1], new[start:][::-1])
    matches = SequenceMatcher(
        None, old[start : len(old) - end], new[start : len(new) - end], autojunk=False
    ).get_opcodes()
    places = [
        place
        for kind, i, j, k, m in matches
        if kind != "equal"
        for _, _, place in (after[start + k : start + m] or before[start + i : start + j])
    ]
    return tuple(dict.fromkeys(places))


def _equal_at_start(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
