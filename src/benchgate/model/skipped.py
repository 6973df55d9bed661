"""Stored results that were not used, counted: strangers can leave any number of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.model.verdict import Skipped

if TYPE_CHECKING:
    from collections.abc import Iterable

EXAMPLES: Final = 3
MOST_REASONS: Final = 20


def by_reason(skipped: Iterable[Skipped]) -> tuple[Skipped, ...]:
    """One entry for each result, or for each reason that more than `EXAMPLES` share.

    Of many reasons the last ones are counted alone.
    """
    found: dict[str, list[str]] = {}
    for one in skipped:
        found.setdefault(one.reason, []).append(one.what)
    shown: list[Skipped] = []
    for reason, names in found.items():
        if len(names) > EXAMPLES:
            examples = ", ".join(names[:EXAMPLES])
            shown.append(Skipped(f"{len(names)} results", f"{reason}; for example {examples}"))
        else:
            shown += [Skipped(name, reason) for name in names]
    rest = len(shown) - MOST_REASONS
    if rest <= 0:
        return tuple(shown)
    return (*shown[:MOST_REASONS], Skipped(f"{rest} more", "the JSON verdict has all of them"))
