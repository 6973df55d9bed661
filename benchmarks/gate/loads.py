"""How busy the machine was when recordings began: the load average that the OS reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


def load_range(abouts: Iterable[Mapping[str, Any]]) -> str:
    """Give the lowest and the highest load average; "unknown" if no OS reported it.

    Args:
        abouts: what each recording says about itself.
    """
    known = [load for about in abouts if (load := about.get("load")) is not None]
    return f"{min(known):.1f} to {max(known):.1f}" if known else "unknown"
