"""How Sphinx makes the documentation's site from README.md and docs/; `make docs` runs it.

The pages are written for GitHub and stay as they are. What differs on the site is made here:

- The navigation is the section "Documentation" of README.md. NAME-tables.md is
  below NAME.md.
- A link to a file that is no page leads to GitHub.
- README.md has no badges, because they would ask other hosts for pictures.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = "https://github.com/benchgate/benchgate"

project = "benchgate"
author = "The benchgate contributors"
project_copyright = author
extensions = ["myst_parser"]
root_doc = "README"
source_suffix = {".md": "markdown"}
include_patterns = ["*.md", "docs/*.md"]
myst_heading_anchors = 6
smartquotes = False  # it would make a dash of the -- of an option

html_theme = "furo"
html_title = "benchgate"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {
    "source_repository": REPOSITORY,
    "source_branch": "main",
    "source_directory": "",
}
# A search finds a page by its sections; the index of terms would be empty.
html_use_index = False

_BADGE = re.compile(r"^\[!\[.*\n", re.MULTILINE)
_LINK = re.compile(r"(?<=\]\()(?P<name>[\w./-]+)(?P<anchor>#[\w-]+)?(?=\))")
_SECTION = re.compile(r"^## Documentation\n(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_GROUP = re.compile(r"^### (?P<title>.+)\n(?P<links>[^#]*)", re.MULTILINE)
_ITEM = re.compile(r"^- \[[^\]]+\]\((?P<page>[\w./-]+)\.md\)", re.MULTILINE)
_REDIRECT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>benchgate</title>
<meta http-equiv="refresh" content="0; url=README.html">
<a href="README.html">benchgate</a>
</html>
"""


def navigation(readme: str) -> Iterator[str]:
    """Make Sphinx's table of contents, one part for each group of links in README."""
    section = _SECTION.search(readme)
    for group in _GROUP.finditer(section["text"] if section else ""):
        pages = "\n".join(_ITEM.findall(group["links"]))
        yield f"```{{toctree}}\n:hidden:\n:caption: {group['title']}\n\n{pages}\n```\n"


def address(link: re.Match[str], folder: Path) -> str:
    """Give the target of a link: itself if it is part of the site, or else where GitHub has it."""
    path = (folder / link["name"]).resolve()
    is_page = path.suffix == ".md" and path.parent in {ROOT, ROOT / "docs"}
    if is_page or path.suffix in {".png", ".svg"} or not path.is_relative_to(ROOT):
        return link[0]
    if not path.exists():
        return link[0]
    kind = "tree" if path.is_dir() else "blob"
    return f"{REPOSITORY}/{kind}/main/{path.relative_to(ROOT)}{link['anchor'] or ''}"


def for_the_site(_app: object, name: str, source: list[str]) -> None:
    """Change the text of a page before Sphinx reads it."""
    folder = (ROOT / name).parent
    text = _LINK.sub(lambda link: address(link, folder), source[0])
    tables = Path(f"{name}-tables").name
    if (folder / f"{tables}.md").exists():
        text += f"\n```{{toctree}}\n:hidden:\n\n{tables}\n```\n"
    if name == root_doc:
        text = _BADGE.sub("", text) + "\n" + "\n".join(navigation(text))
    source[0] = text


def complete(app: Any, error: Exception | None) -> None:  # noqa: ANN401 - Sphinx is not in .venv
    """Add what Sphinx does not: an index page, and the pictures that HTML in a page names."""
    if error is not None:
        return
    site = Path(app.outdir)
    (site / "index.html").write_text(_REDIRECT, encoding="utf-8")
    for picture in (ROOT / "docs").glob("*.png"):
        shutil.copy(picture, site / "docs")


def setup(app: Any) -> None:  # noqa: ANN401 - Sphinx is not in .venv
    """Sphinx calls this."""
    app.connect("source-read", for_the_site)
    app.connect("build-finished", complete)
