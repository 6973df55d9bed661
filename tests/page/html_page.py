"""A page of HTML as a browser takes it apart."""

from __future__ import annotations

import base64
import hashlib
import json
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "link", "br", "input", "img", "wbr"}


class HtmlPage(HTMLParser):
    """Tags with their attributes, text, inline scripts and styles; no tag stays open.

    Attributes:
        tables: the cells of the table of all numbers of each benchmark, line by line.
        names: of the benchmarks.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.data: dict[str, Any] = {}
        self.tables: list[list[list[str]]] = []
        self.names: list[str] = []
        self.title = ""
        self.headline = ""
        self._open: list[tuple[str, dict[str, str]]] = []
        self._in_table = False
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attrs}
        self.tags.append((tag, known))
        if tag not in VOID:
            self._open.append((tag, known))
        if tag == "table":
            self._in_table = "every" in known.get("class", "").split()
            self.tables += [[]] if self._in_table else []
        if tag == "details" and known.get("class") == "bench":
            self.names.append("")
        if self._in_table and tag == "tr":
            self.tables[-1].append([])
        if self._in_table and tag in {"td", "th"}:
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag
        if tag == "table":
            self._in_table = False

    def handle_data(self, data: str) -> None:
        tag, attributes = self._open[-1] if self._open else ("", {})
        if tag == "script" and attributes.get("type") == "application/json":
            self.data = json.loads(data)
        elif tag == "script":
            self.scripts.append(data)
        elif tag == "style":
            self.styles.append(data)
        else:
            self.text += data
            self.title += data if tag == "title" else ""
            is_code = tag == "code" and self._open[-2][0] == "h1"
            self.headline += data if tag == "h1" or is_code else ""
            if attributes.get("class") == "name" and tag == "span":
                self.names[-1] += data
            if self._in_table and self.tables[-1] and self.tables[-1][-1]:
                self.tables[-1][-1][-1] += data

    def lines(self) -> list[tuple[str, list[str]]]:
        """Each row of each benchmark: the benchmark, and the cells without needless white space."""
        return [
            (" ".join(name.split()), [" ".join(cell.split()) for cell in row])
            for name, table in zip(self.names, self.tables, strict=True)
            for row in list(zip(*table, strict=True))[1:]
        ]

    def policy(self) -> str:
        (found,) = (
            attributes["content"]
            for tag, attributes in self.tags
            if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
        )
        return found


def source(text: str) -> str:
    """How a policy names an inline script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
