"""Pages of a list, and the Link header that leads to the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlencode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PER_PAGE = 30
MOST_PER_PAGE = 100

T = TypeVar("T")


def page_of(
    items: Sequence[T], url: str, query: Mapping[str, str]
) -> tuple[Sequence[T], dict[str, str]]:
    """Cut out the page that the query asks for.

    Args:
        url: absolute, of the list, without a query.

    Returns:
        its items, and the Link header where there is more than this page.
    """
    per_page = int(query.get("per_page", PER_PAGE))
    page = int(query.get("page", 1))
    last = max(1, -(-len(items) // per_page))
    targets = {
        "prev": page - 1 if page > 1 else None,
        "next": page + 1 if page < last else None,
        "last": last if page < last else None,
        "first": 1 if page > 1 else None,
    }
    links = [
        f'<{url}?{urlencode({**query, "page": target})}>; rel="{rel}"'
        for rel, target in targets.items()
        if target
    ]
    shown = items[(page - 1) * per_page : page * per_page]
    return shown, {"Link": ", ".join(links)} if links else {}
