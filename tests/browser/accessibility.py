"""What axe-core finds wrong on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from playwright.sync_api import Page

_RULES: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


def violations(page: Page, axe: str) -> list[str]:
    """Each rule of axe-core that the page breaks, and the first places where it does."""
    page.evaluate(axe)
    found: list[dict[str, Any]] = page.evaluate(
        "async (tags) => (await axe.run({runOnly: tags, resultTypes: ['violations']})).violations",
        list(_RULES),
    )
    return [f"{one['id']}: {one['help']}: {_places(one['nodes'])}" for one in found]


def _places(nodes: list[dict[str, Any]]) -> str:
    shown = "; ".join(f"{one['html'][:200]} ({one['failureSummary'][:300]})" for one in nodes[:3])
    return f"{len(nodes)} places: {shown}"
