"""The pictures of comments in README, and what they show."""

from __future__ import annotations

import shutil
from html import unescape
from typing import TYPE_CHECKING

import pytest
from scripts import pictures
from scripts.verdicts import verdicts

from benchgate.report.view import view_verdict

if TYPE_CHECKING:
    from pathlib import Path

THEMES = pictures.THEMES


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GitHub's stylesheets, empty: npm is not needed to make a page."""
    folder = tmp_path / "github-markdown-css"
    folder.mkdir()
    for theme in THEMES:
        (folder / f"github-markdown-{theme.name}.css").write_text("")
    monkeypatch.setattr(pictures, "PACKAGES", tmp_path)


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize("theme", THEMES)
def test_a_page_has_every_comment_at_its_width(theme: pictures.Theme) -> None:
    for markdown in pictures.comments().values():
        page = unescape(pictures.page_of([(markdown, 880), (markdown, 375)], theme))
        assert page.count("<article") == 2
        assert "width:880px" in page
        assert "width:375px" in page
        assert theme.canvas in page


def test_six_verdicts_are_drawn_and_their_headings_are_short() -> None:
    views = {name: view_verdict(one) for name, one in verdicts().items()}

    assert list(views) == ["fail", "pass", "no-verdict", "first-run", "sixty", "fork"]
    assert all(len(view.headline) < 170 for view in views.values())
    assert views["sixty"].shown == ()
    assert len({row.benchmark for row in views["sixty"].rows}) == 60


def test_without_chromium_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(SystemExit, match="apt-get install chromium"):
        pictures.browser()
