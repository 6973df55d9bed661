"""One picture of each kind that `make pictures` draws."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from scripts import pictures
from scripts.verdicts import verdicts

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

FOLDED = "Two words.\n<details><summary>Here</summary>\n\nfive more that are folded\n\n</details>\n"
WIDE = f"| {'x' * 200} |\n| --- |\n"


@pytest.fixture
def camera(browser: Browser, tmp_path: Path) -> pictures.Camera:
    if not pictures.PACKAGES.exists():
        pytest.skip("the packages of `make pictures` are not installed")
    return pictures.Camera(browser, tmp_path)


@pytest.mark.parametrize("name", ["fail", "scenario"])
def test_a_verdict_is_drawn_as_comment_terminal_and_page(
    camera: pictures.Camera, name: str
) -> None:
    line = pictures.draw_verdict(camera, name, verdicts()[name])
    assert line.startswith(f"| {name} | ")
    drawn = {one.name for one in camera.folder.glob("*.png")}
    assert {f"{name}-comment-390-dark.png", f"{name}-terminal-80-light.png"} <= drawn
    assert len(drawn) == 12


def test_a_history_is_drawn(camera: pictures.Camera) -> None:
    pictures.draw_history(camera)
    assert len(list(camera.folder.glob("history-*.png"))) == 8


def test_only_what_is_seen_is_counted(camera: pictures.Camera) -> None:
    page = partial(pictures.comment_page, FOLDED)
    measured = camera.take(page, "folded", 414, of=".markdown-body")
    assert measured.words == 3
    assert not measured.sideways
    page = partial(pictures.comment_page, WIDE)
    assert camera.take(page, "wide", 414, of=".markdown-body").sideways == ["table"]
