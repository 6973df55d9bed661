"""Markdown as GitHub shows it, and what may be seen there."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import cmarkgfm  # type: ignore[import-untyped]
import pytest
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]

STATES = (
    "pass",
    "same-code",
    "all-same-code",
    "fail",
    "several",
    "failed",
    "inconclusive",
    "missing-and-new",
    "edited",
    "incomparable",
    "nothing",
    "undecided",
    "limits",
    "interrupted",
    "first-run",
    "no-baseline",
    "fork",
    "waived",
    "loosened",
    "canary",
    "hostile",
    "detailed",
    "many",
)
OWN_TAGS = {
    *(
        "h3",
        "p",
        "b",
        "br",
        "wbr",
        "strong",
        "code",
        "pre",
        "sub",
        "blockquote",
        "details",
        "summary",
    ),
    *("table", "thead", "tbody", "tr", "th", "td", "ul", "ol", "li"),
}


class Page(HTMLParser):
    """Tags, links, text outside of code, and each table's cells, row by row; no tag stays open."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str | None] = []
        self.prose = ""
        self.tables: list[list[int]] = []
        self._open: list[str] = []
        options = Options.CMARK_OPT_UNSAFE
        self.feed(str(cmarkgfm.github_flavored_markdown_to_html(markdown, options=options)))
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.prose += " "  # what a tag parts is no reference
        if tag == "a":
            self.links.append(dict(attrs)["href"])
            attrs = []
        assert {name for name, _ in attrs} <= {"align", "lang"}, (tag, attrs)
        if tag not in {"br", "wbr"}:
            self._open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append(0)
        if tag in {"td", "th"}:
            self.tables[-1][-1] += 1

    def handle_endtag(self, tag: str) -> None:
        if tag not in {"br", "wbr"}:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "code" not in self._open:
            self.prose += data

    def handle_comment(self, data: str) -> None:
        pytest.fail(f"a comment: {data}")


def assert_harmless(page: Page, *places: str) -> None:
    """Nothing but our own markup, and no link but to these places."""
    assert set(page.tags) <= OWN_TAGS | ({"a"} if places else set())
    assert all(link and link.startswith(places) for link in page.links)
    assert not re.search(r"@\w|#\d|GH-\d|://", page.prose)
