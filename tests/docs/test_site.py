"""The pages as a site: `make docs` builds it without a warning, and it needs no other host."""

from __future__ import annotations

import re
import subprocess
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from tests.docs.conftest import PAGES, ROOT

if TYPE_CHECKING:
    from pathlib import Path

_SECTION = re.compile(r"^## Documentation\n(.*)\Z", re.MULTILINE | re.DOTALL)
_LISTED = re.compile(r"^- \[[^\]]+\]\(([\w./-]+\.md)\)$", re.MULTILINE)
_ELSEWHERE = re.compile(r"(?:https?:)?//")
_IN_CSS = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')]+)")
_LOADS = {
    "script": ("src",),
    "link": ("href",),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "iframe": ("src",),
    "video": ("src", "poster"),
    "audio": ("src",),
    "object": ("data",),
    "embed": ("src",),
}
"""What a browser asks for by itself; it follows a link only when somebody clicks on it."""


class Loaded(HTMLParser):
    """Collects what a page loads, and where its links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in _LOADS.get(tag, ()):
                self.loaded.append(value or "")
            elif (tag, name) == ("a", "href"):
                self.links.append(value or "")


def read(path: Path) -> Loaded:
    parser = Loaded()
    parser.feed(path.read_text(encoding="utf-8"))
    return parser


def test_every_page_has_one_place_in_the_navigation() -> None:
    section = _SECTION.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert section
    # The tables of a page have their place below it.
    placed = [path for path in PAGES if not path.stem.endswith("-tables")]
    pages = {str(path.relative_to(ROOT)) for path in placed} - {"README.md"}
    listed = _LISTED.findall(section[1])
    hint = 'list each page once in the section "Documentation" of README.md'
    assert sorted(listed) == sorted(pages), hint


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    command = ["make", "docs", f"SITE={folder}"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_the_site_has_every_page_and_leads_to_it(site: Path) -> None:
    first = read(site / "README.html")
    for path in PAGES:
        page = path.relative_to(ROOT).with_suffix(".html")
        assert (site / page).exists()
        assert path.name == "README.md" or str(page) in first.links
    assert "README.html" in read(site / "index.html").links


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_the_site_asks_no_other_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > len(PAGES)
    asked = [
        f"{page.name}: {target}"
        for page in pages
        for target in read(page).loaded
        if _ELSEWHERE.match(target)
    ]
    for sheet in site.rglob("*.css"):
        asked += _IN_CSS.findall(sheet.read_text(encoding="utf-8"))
    assert asked == []


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_the_pictures_are_there(site: Path) -> None:
    for path in PAGES:
        page = site / path.relative_to(ROOT).with_suffix(".html")
        missing = [name for name in read(page).loaded if not (page.parent / _file(name)).exists()]
        assert missing == []


def _file(target: str) -> str:
    return target.partition("?")[0].partition("#")[0]


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_the_search_knows_every_page(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    names = [path.relative_to(ROOT).with_suffix("").as_posix() for path in PAGES]
    assert [name for name in names if f'"{name}"' not in index] == []


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_options_in_prose_keep_their_hyphens(site: Path) -> None:
    assert "With --run: the result" in (site / "docs/options.html").read_text(encoding="utf-8")
