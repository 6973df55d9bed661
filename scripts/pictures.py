"""Draw what people read: comments as GitHub shows them, the terminal, the report and a history.

    make pictures

This writes build/pictures/NAME-WHAT-THEME.png for each verdict of scripts/verdicts.py, with how
long, how high and how wide each is in build/pictures/figures.md, and the pictures in the docs:
docs/comment-THEME.png and docs/report-THEME.png. It needs Chromium, and the packages of
requirements/pictures.
"""

from __future__ import annotations

import io
import re
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import cmarkgfm  # type: ignore[import-untyped]
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]
from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, MONOKAI
from rich.text import Text
from scripts.browser import browser_flags, find_browser
from scripts.verdicts import history, judged, results, verdicts

from benchgate.describe.figures import figures_of
from benchgate.page.history_page import render_history_page
from benchgate.page.report import render_report
from benchgate.report.history_table import render_history, view_history
from benchgate.report.links import Links
from benchgate.report.markdown import render_comment
from benchgate.report.terminal import render_verdict
from benchgate.report.view import view_verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from playwright.sync_api import Browser
    from rich.terminal_theme import TerminalTheme

    from benchgate.model.verdict import Verdict

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "build" / "pictures"
PACKAGES = ROOT / "requirements" / "pictures" / "node_modules"
COMMENTS_PX = (880, 390)
PAGES_PX = (1280, 390)
COLUMNS = (80, 120)
LINES = 40
MARGIN_PX = 12
# More of a page tells nothing new.
MOST_PX = 2400
FIRST_VIEW_PX = 800
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
# GitHub makes a box of a quotation that begins so; the library leaves it as it is.
_ALERT = re.compile(
    r"<blockquote>\s*<p>\[!(?P<kind>[A-Z]+)\](?:<br />)?\s*(?P<text>.*?)</blockquote>", re.DOTALL
)


@dataclass(frozen=True)
class Theme:
    """GitHub's colors around a comment, and those of a terminal."""

    name: str
    canvas: str
    text: str
    border: str
    shaded: str
    terminal: TerminalTheme


THEMES = (
    Theme("light", "#ffffff", "#1f2328", "#d1d9e0", "#f6f8fa", DEFAULT_TERMINAL_THEME),
    Theme("dark", "#0d1117", "#f0f6fc", "#3d444d", "#151b23", MONOKAI),
)


def comment_page(markdown: str, theme: Theme) -> str:
    """A page that is as wide as the comment in it."""
    css = (PACKAGES / f"github-markdown-css/github-markdown-{theme.name}.css").read_text("utf-8")
    own = (
        f"body{{margin:{MARGIN_PX}px}}"
        f"article{{box-sizing:border-box;border:1px solid {theme.border};border-radius:6px;"
        "overflow:hidden}"
        f"header{{background:{theme.shaded};border-bottom:1px solid {theme.border};"
        "padding:8px 16px;font:600 14px 'Noto Sans'}"
        ".markdown-body{padding:16px;font-size:14px}"
    )
    body = cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE)
    body = _ALERT.sub(_alert, body)
    inner = f"<header>github-actions</header><div class='markdown-body'>{body}</div>"
    return _page(f"<article>{inner}</article>", css + own, theme)


def _alert(found: re.Match[str]) -> str:
    kind = found["kind"]
    return (
        f"<div class='markdown-alert markdown-alert-{kind.lower()}'>"
        f"<p class='markdown-alert-title'>{kind.capitalize()}</p><p>{found['text']}</div>"
    )


def terminal_page(ansi: str, theme: Theme) -> str:
    """A page that shows what a terminal with these colors shows."""
    console = Console(record=True, file=io.StringIO(), width=1000)
    console.print(Text.from_ansi(ansi), soft_wrap=True)
    code = console.export_html(theme=theme.terminal, code_format="{code}", inline_styles=True)
    own = (
        f"body{{margin:0}}pre{{display:inline-block;margin:0;padding:{MARGIN_PX}px;"
        "font:14px/1.35 'Liberation Mono',monospace,'Segoe UI Emoji';"
        f"background:{theme.terminal.background_color.hex};"
        f"color:{theme.terminal.foreground_color.hex}}}"
    )
    return _page(f"<pre>{code}</pre>", own, theme)


def _fonts() -> str:
    return "".join(
        f"@font-face{{font-family:'{name}';font-weight:{weight};"
        f"src:url('{(PACKAGES / '@fontsource' / file).as_uri()}')}}"
        for name, weight, file in _FONTS
    )


def _page(body: str, css: str, theme: Theme) -> str:
    return (
        f"<!doctype html><html><meta charset='utf-8'><style>{css}"
        f"body{{background:{theme.canvas};color:{theme.text}}}</style><body>{body}</html>"
    )


def on_terminal(render: Callable[[Console], None], columns: int) -> str:
    """What a terminal of this width gets."""
    stream = io.StringIO()
    render(
        Console(
            file=stream,
            width=columns,
            height=LINES,
            force_terminal=True,
            color_system="standard",
            _environ={},
        )
    )
    return stream.getvalue()


@dataclass(frozen=True)
class Measured:
    """What a reader gets before anything is unfolded.

    Attributes:
        sideways: the elements that scroll sideways, such as "div.scroll".
    """

    words: int
    height_px: int
    sideways: Sequence[str]


# A machine may have no font with emoji.
_AFTER_ALL = """(font) => {
  document.body.style.fontFamily = `${getComputedStyle(document.body).fontFamily}, "${font}"`;
  scrollTo({ top: 0, behavior: "instant" });
  return document.fonts.ready;
}"""
# It takes away what is folded: whatever a reader sees of it is its summary.
_MEASURE = """(selector) => {
  const whole = document.querySelector(selector);
  const root = document.documentElement;
  const height_px = Math.round(whole.getBoundingClientRect().height);
  const folded = whole.querySelectorAll("details:not([open]) > :not(summary)");
  folded.forEach((one) => one.remove());
  const wide = [whole, ...whole.querySelectorAll("*")].filter((one) => one.clientWidth > 1
    && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== "visible");
  const named = (one) => [one.localName, ...one.classList].join(".");
  const sideways = new Set(wide.map(named));
  if (root.scrollWidth > root.clientWidth) sideways.add("page");
  const said = whole.innerText.split(/\\s+/).filter((word) => /[\\p{L}\\p{N}]/u.test(word));
  return { words: said.length, height_px, sideways: [...sideways].sort() };
}"""


@dataclass(frozen=True)
class Camera:
    """Opens pages in the browser, takes pictures of them, and measures them."""

    browser: Browser
    folder: Path

    def take(
        self,
        page_in: Callable[[Theme], str],
        name: str,
        width_px: int,
        *,
        of: str = "body",
        most_px: int = MOST_PX,
        at: str = "",
    ) -> Measured:
        """Write the pictures of a page, one in each theme; these change no size.

        Args:
            of: the element that is measured, and which the picture shows.
            most_px: how high a picture is at most.
            at: the part of the page that is opened.
        """
        for theme in THEMES:
            source = self.folder / "page.html"
            source.write_text(page_in(theme), "utf-8")
            page = self.browser.new_page(
                viewport={"width": width_px, "height": FIRST_VIEW_PX},
                color_scheme="dark" if theme.name == "dark" else "light",
                device_scale_factor=1.5,
                bypass_csp=True,
            )
            page.goto(f"{source.as_uri()}#{at}")
            page.add_style_tag(content=_fonts())
            page.evaluate(_AFTER_ALL, _FONTS[-1][0])
            box = page.locator(of).bounding_box() or {"x": 0, "y": 0, "width": 1, "height": 1}
            width = max(width_px, 2 * box["x"] + box["width"])
            height = min(most_px, 2 * box["y"] + box["height"])
            page.screenshot(
                path=self.folder / f"{name}-{theme.name}.png",
                full_page=True,
                clip={"x": 0, "y": 0, "width": width, "height": height},
            )
            measured = Measured(**page.evaluate(_MEASURE, of))
            page.close()
            source.unlink()
        return measured

    def comment(self, name: str, verdict: Verdict) -> list[Measured]:
        """Draw a comment, wide and on a phone."""
        page_in = partial(comment_page, render_comment(view_verdict(verdict, LINKS)))
        return [
            self.take(page_in, f"{name}-comment-{px}", px + 2 * MARGIN_PX, of="article")
            for px in COMMENTS_PX
        ]

    def terminal(self, name: str, render: Callable[[Console], None]) -> list[str]:
        """Draw what terminals get, and give it as text."""
        found = []
        for columns in COLUMNS:
            shown = on_terminal(render, columns)
            page_in = partial(terminal_page, shown)
            self.take(page_in, f"{name}-terminal-{columns}", 1, of="pre")
            found.append(Text.from_ansi(shown).plain)
        return found

    def page(self, name: str, html: str, at: str = "") -> list[Measured]:
        """Draw a page of HTML, wide and on a phone."""
        return [self.take(lambda _: html, f"{name}-{px}", px, at=at) for px in PAGES_PX]


def report_of(name: str) -> str:
    """The report of a verdict, with figures if its samples are known."""
    result = results().get(name)
    if result is None:
        return render_report(verdicts()[name], None, str)
    return render_report(judged(result), figures_of(result), str)


@contextmanager
def browser() -> Iterator[Browser]:
    """The Chromium of this machine.

    Raises:
        SystemExit: there is none.
    """
    path = find_browser()
    if path is None:
        sys.exit("no Chromium was found: install it (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=browser_flags())
        yield launched
        launched.close()


def draw_verdict(camera: Camera, name: str, verdict: Verdict) -> str:
    """Draw all that people read of a verdict, and give the figures as a line of a table."""
    comment = camera.comment(name, verdict)
    view = view_verdict(verdict)
    terminal = camera.terminal(name, lambda to: _write(to, render_verdict(view, to)))
    return _figures(name, comment, terminal, camera.page(f"{name}-report", report_of(name)))


def _write(console: Console, text: str) -> None:
    console.file.write(text)


def draw_history(camera: Camera) -> str:
    """Draw a history on terminals and as a page, and give the figures as a line of a table."""
    found = history()
    terminal = camera.terminal("history", partial(render_history, view_history(found)))
    html = render_history_page(found, repository=_REPOSITORY)
    return _figures("history", (), terminal, camera.page("history-page", html, at="t1"))


_TITLES = (
    *("", "comment: words", "px wide", "px on a phone", "sideways on a phone"),
    *(f"terminal, {columns}: lines, words" for columns in COLUMNS),
    "page: sideways on a phone",
)


def _figures(
    name: str, comment: Sequence[Measured], terminal: Sequence[str], page: Sequence[Measured]
) -> str:
    of_comment = (
        (str(comment[0].words), *(str(one.height_px) for one in comment), _sideways(comment))
        if comment
        else ("", "", "", "")
    )
    cells = (
        name,
        *of_comment,
        *(f"{len(text.splitlines())}, {len(text.split())}" for text in terminal),
        _sideways(page),
    )
    return _row(cells)


def _sideways(measured: Sequence[Measured]) -> str:
    return ", ".join(measured[-1].sideways) or "no"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Draw everything, and write the pictures of the docs and the figures."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    lines = [_row(_TITLES), _row(["---"] * len(_TITLES))]
    with browser() as launched:
        camera = Camera(launched, PICTURES)
        lines += [draw_verdict(camera, name, one) for name, one in verdicts().items()]
        lines.append(draw_history(camera))
        first_view = Camera(launched, ROOT / "docs")
        report = report_of(IN_README)
        first_view.take(lambda _: report, "report", PAGES_PX[0], most_px=FIRST_VIEW_PX)
        for theme in THEMES:
            comment = PICTURES / f"{IN_README}-comment-{COMMENTS_PX[0]}-{theme.name}.png"
            shutil.copyfile(comment, ROOT / "docs" / f"comment-{theme.name}.png")
    (PICTURES / "figures.md").write_text("\n".join([*lines, ""]), "utf-8")


if __name__ == "__main__":
    main()
