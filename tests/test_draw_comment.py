"""The picture of a comment in README."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from scripts.draw_comment import DARK, LIGHT, WIDTH_PX, Run, Theme, draw, read, wrapped

GOLDEN = Path(__file__).parent / "report" / "golden"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["fail", "loosened", "failed"])
def test_what_github_shows_unfolded_is_drawn(name: str, theme: Theme) -> None:
    markdown = (GOLDEN / f"{name}.md").read_text(encoding="utf-8")
    root = ET.fromstring(draw(read(markdown), theme))  # noqa: S314 - drawn here
    lines = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    shown, *folded = markdown.split("<details>")
    titles = re.findall(r"<summary>([^<]+)</summary>", markdown)
    ids = re.findall(r"^\| \*\*[^|]+\| `([^`]+)`", shown, re.MULTILINE)
    assert set(titles) <= set(lines)
    assert [line for line in lines if line in ids] == ids
    assert len(folded) == sum(1 for _ in root.iter(f"{SVG}path")) - 2  # the frame and the sign


def test_no_line_is_wider_than_the_picture() -> None:
    markdown = (GOLDEN / "loosened.md").read_text(encoding="utf-8")
    root = ET.fromstring(draw(read(markdown), LIGHT))  # noqa: S314 - drawn here
    widths = [float(text.attrib["textLength"]) for text in root.iter(f"{SVG}text")]
    assert widths
    assert max(widths) < WIDTH_PX


def test_lines_are_broken_between_words() -> None:
    line = [Run("one two three", bold=True), Run(" four")]
    width_px = Run("three four", bold=True).width_px
    texts = ["".join(run.text for run in part) for part in wrapped(line, width_px)]
    assert texts == ["one two", "three four"]
