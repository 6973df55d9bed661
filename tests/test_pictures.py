"""The pictures of what people read, and what they show."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from scripts import pictures
from scripts.verdicts import verdicts

from benchgate.report.markdown import render_comment
from benchgate.report.view import view_verdict

if TYPE_CHECKING:
    from pathlib import Path

ALERT = "> [!WARNING]\n> It was measured by the `fork` itself.\n"


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GitHub's stylesheets, empty: npm is not needed to make a page."""
    folder = tmp_path / "github-markdown-css"
    folder.mkdir()
    for theme in pictures.THEMES:
        (folder / f"github-markdown-{theme.name}.css").write_text("")
    monkeypatch.setattr(pictures, "PACKAGES", tmp_path)


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize("theme", pictures.THEMES)
def test_a_page_has_the_comment_in_the_colors_of_its_theme(theme: pictures.Theme) -> None:
    for verdict in verdicts().values():
        page = pictures.comment_page(render_comment(view_verdict(verdict)), theme)
        assert page.count("<article>") == 1
        assert theme.canvas in page


@pytest.mark.usefixtures("packages")
def test_an_alert_is_a_box() -> None:
    page = pictures.comment_page(ALERT, pictures.THEMES[0])
    assert "[!WARNING]" not in page
    assert "<p class='markdown-alert-title'>Warning</p><p>It was measured" in page


def test_each_kind_of_verdict_has_a_short_heading() -> None:
    views = {name: view_verdict(one) for name, one in verdicts().items()}
    assert all(len(view.headline) < 170 for view in views.values())
    assert views["clean"].shown == ()
    assert len({row.benchmark for row in views["sixty"].rows}) == 60


def test_without_chromium_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(SystemExit, match="apt-get install chromium"), pictures.browser():
        pass
