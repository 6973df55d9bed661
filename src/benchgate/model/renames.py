"""Which benchmarks of two arms are the same under different ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


def renamed(
    base: Collection[str], head: Collection[str], aliases: Mapping[str, str]
) -> Mapping[str, str]:
    """Give the base's id by the head's, of what an alias joins.

    It joins only what the base alone has under the old id, and the head alone under the new one.

    Args:
        base, head: the ids of each arm.
        aliases: old id to new id.
    """
    return {
        new: old
        for old, new in aliases.items()
        if old in base and old not in head and new in head and new not in base
    }
