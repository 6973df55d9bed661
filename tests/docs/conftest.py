"""The pages that users read, taken apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]

_FENCE = re.compile(
    r"^(?:<!-- scratch: (?P<scratch>[\w.-]+) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Fence:
    """A fenced block; `scratch` names the repository that it is meant for."""

    place: str
    language: str
    text: str
    scratch: str


@dataclass(frozen=True)
class Page:
    """A page and its fenced blocks."""

    path: Path
    text: str
    fences: tuple[Fence, ...]


def read_page(path: Path) -> Page:
    text = path.read_text(encoding="utf-8")
    fences = []
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start("language")) + 1
        place = f"{path.relative_to(ROOT)}:{line}"
        scratch = match["scratch"] or "quickstart"
        fences.append(Fence(place, match["language"], match["text"], scratch))
    return Page(path, text, tuple(fences))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that asks for `page` every page, and one that asks for `fence` every block."""
    pages = [read_page(path) for path in PAGES]
    if "page" in metafunc.fixturenames:
        metafunc.parametrize("page", pages, ids=lambda page: page.path.name)
    if "fence" in metafunc.fixturenames:
        fences = [fence for page in pages for fence in page.fences]
        metafunc.parametrize("fence", fences, ids=lambda fence: fence.place)
