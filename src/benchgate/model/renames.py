"""Finds out which benchmarks of the two arms are the same under different ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


def renamed(
    base: Collection[str], head: Collection[str], aliases: Mapping[str, str]
) -> Mapping[str, str]:
    """Map the head's id to the base's id, for each benchmark that an alias joins.

    An alias joins two ids only if the old id is in the base alone and the new id in the head
    alone.

    Args:
        base, head: the ids of each arm.
        aliases: old id to new id.
    """
    return {
        new: old
        for old, new in aliases.items()
        if old in base and old not in head and new in head and new not in base
    }
