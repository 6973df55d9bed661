"""Draw comments of benchgate as GitHub shows them, and its report, in light and dark.

    make pictures

This writes build/pictures/NAME-THEME.png for each verdict of scripts/verdicts.py, wide and on a
phone, and the pictures in the docs: docs/comment-THEME.png and docs/report-THEME.png. It needs
Chromium, and the packages of requirements/pictures.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import cmarkgfm  # type: ignore[import-untyped]
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]
from playwright.sync_api import sync_playwright
from scripts.browser import browser_flags, find_browser
from scripts.verdicts import verdicts

from benchgate.page.report import render_report
from benchgate.report.markdown import render_comment
from benchgate.report.view import Links, view_verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ROOT / "requirements" / "pictures" / "node_modules"
WIDE_PX, PHONE_PX = 880, 375
REPORT_PX = (1280, 800)
MARGIN_PX = 12
IN_README = "fail"
_REPOSITORY = "https://github.com/octo-org/textkit"
LINKS = Links(
    f"{_REPOSITORY}/actions/runs/42/attempts/1",
    f"{_REPOSITORY}/compare/main...faster",
    f"{_REPOSITORY}/blob/e4f5a6b7",
)
# GitHub's stylesheet asks for these fonts; Cousine has the shapes and widths of Liberation Mono.
_FONTS = (
    ("Noto Sans", 400, "noto-sans/files/noto-sans-latin-400-normal.woff2"),
    ("Noto Sans", 600, "noto-sans/files/noto-sans-latin-600-normal.woff2"),
    ("Noto Sans", 400, "noto-sans/files/noto-sans-greek-400-normal.woff2"),
    ("Liberation Mono", 400, "cousine/files/cousine-latin-400-normal.woff2"),
    ("Segoe UI Emoji", 400, "noto-color-emoji/files/noto-color-emoji-emoji-400-normal.woff2"),
)


@dataclass(frozen=True)
class Theme:
    """GitHub's colors around a comment."""

    name: str
    canvas: str
    text: str
    border: str
    shaded: str


THEMES = (
    Theme("light", "#ffffff", "#1f2328", "#d1d9e0", "#f6f8fa"),
    Theme("dark", "#0d1117", "#f0f6fc", "#3d444d", "#151b23"),
)


def page_of(comments: Iterable[tuple[str, int]], theme: Theme) -> str:
    """A page of comments side by side, which says in `data-height` how high it is.

    Args:
        comments: markdown, and the width in pixels.
    """
    css = (PACKAGES / f"github-markdown-css/github-markdown-{theme.name}.css").read_text("utf-8")
    fonts = "".join(
        f"@font-face{{font-family:'{name}';font-weight:{weight};"
        f"src:url('{(PACKAGES / '@fontsource' / file).as_uri()}')}}"
        for name, weight, file in _FONTS
    )
    own = (
        f"body{{margin:0;padding:{MARGIN_PX}px;background:{theme.canvas};color:{theme.text};"
        f"display:flex;gap:{2 * MARGIN_PX}px;align-items:flex-start}}"
        f"article{{box-sizing:border-box;border:1px solid {theme.border};border-radius:6px;"
        "overflow:hidden;flex:none}"
        f"header{{background:{theme.shaded};border-bottom:1px solid {theme.border};"
        "padding:8px 16px;font:600 14px 'Noto Sans'}"
        ".markdown-body{padding:16px;font-size:14px}"
    )
    articles = "".join(_article(markdown, width_px) for markdown, width_px in comments)
    height = (
        "document.documentElement.dataset.height = document.body.getBoundingClientRect().height"
    )
    return (
        f"<!doctype html><html><meta charset='utf-8'><style>{fonts}{css}{own}</style>"
        f"<body>{articles}<script>document.fonts.ready.then(() => {{ {height} }})</script></html>"
    )


def _article(markdown: str, width_px: int) -> str:
    body = cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE)
    return (
        f"<article style='width:{width_px}px'><header>{escape('github-actions')}</header>"
        f"<div class='markdown-body'>{body}</div></article>"
    )


def browser() -> str:
    """The Chromium of this machine.

    Raises:
        SystemExit: there is none.
    """
    found = find_browser()
    if found is None:
        sys.exit("no Chromium was found: install it (Debian: apt-get install chromium)")
    return found


def photograph(page: str, width_px: int, path: Path) -> None:
    """Write a picture of a page.

    Raises:
        SystemExit: Chromium does not draw the page.
    """
    command = [browser(), "--headless", "--disable-gpu", "--hide-scrollbars"]
    command += ["--allow-file-access-from-files", "--virtual-time-budget=5000"]
    command += browser_flags()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "page.html")
        source.write_text(page, encoding="utf-8")
        size = f"--window-size={width_px}"
        dumped = _run([*command, f"{size},800", "--dump-dom", source.as_uri()])
        height = re.search(r'data-height="(\d+)', dumped)
        if height is None:
            sys.exit(f"Chromium did not draw {path.name}: {dumped[-500:]}")
        taken = Path(folder, "page.png")
        sharp = "--force-device-scale-factor=1.5"
        _run([*command, f"{size},{height[1]}", sharp, f"--screenshot={taken}", source.as_uri()])
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(taken, path)


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        sys.exit(f"{command[0]} ended with exit code {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def comments() -> Mapping[str, str]:
    """The comment on each verdict, by its name."""
    return {name: render_comment(view_verdict(one, LINKS)) for name, one in verdicts().items()}


def photograph_report(theme: str, path: Path) -> None:
    """Write a picture of the first view of a report."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        source = Path(folder, "report.html")
        source.write_text(render_report(verdicts()[IN_README], None, str), encoding="utf-8")
        chromium = playwright.chromium.launch(executable_path=browser(), args=browser_flags())
        page = chromium.new_page(
            viewport={"width": REPORT_PX[0], "height": REPORT_PX[1]},
            color_scheme="dark" if theme == "dark" else "light",
            device_scale_factor=1.5,
        )
        page.goto(source.as_uri())
        page.screenshot(path=path)
        chromium.close()


def main() -> None:
    """Write all pictures."""
    for theme in THEMES:
        photograph_report(theme.name, ROOT / "docs" / f"report-{theme.name}.png")
    both_px = WIDE_PX + PHONE_PX + 4 * MARGIN_PX
    for name, markdown in comments().items():
        for theme in THEMES:
            page = page_of([(markdown, WIDE_PX), (markdown, PHONE_PX)], theme)
            photograph(page, both_px, ROOT / "build" / "pictures" / f"{name}-{theme.name}.png")
            if name == IN_README:
                page = page_of([(markdown, WIDE_PX)], theme)
                path = ROOT / "docs" / f"comment-{theme.name}.png"
                photograph(page, WIDE_PX + 2 * MARGIN_PX, path)


if __name__ == "__main__":
    main()
