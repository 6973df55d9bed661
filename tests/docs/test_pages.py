"""What holds for every page: its links lead somewhere, and its examples are what they say."""

from __future__ import annotations

import json
import re
import string
from typing import TYPE_CHECKING

from benchgate.config import loads
from benchgate.load.scenario_file import read_scenario

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docs.conftest import Fence, Page

_LINK = re.compile(r"(?<!!)\[[^\]]+\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#+ (?P<title>.+)$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_IMAGE = re.compile(r"(?:src|srcset)=\"(?P<source>[^\"]+)\"|!\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_TARGET = re.compile(r"\]\([^)]+\)")
_WIDTH = 100
_LANGUAGES = {
    *(
        "sql",
        "console",
        "sh",
        "text",
        "toml",
        "python",
        "json",
        "yaml",
        "js",
        "ruby",
        "groovy",
        "cpp",
    )
}


def anchors(path: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    kept = string.ascii_lowercase + string.digits + "-_ "
    headings = _HEADING.findall(_FENCED.sub("", path.read_text(encoding="utf-8")))
    return {"".join(c for c in h.lower() if c in kept).replace(" ", "-") for h in headings}


def test_links_within_the_project_lead_somewhere(page: Page) -> None:
    broken = []
    for target in _LINK.findall(_FENCED.sub("", page.text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.path.parent / name).resolve() if name else page.path
        if not path.exists() or (anchor and anchor not in anchors(path)):
            broken.append(target)
    assert broken == []


def test_pictures_exist(page: Page) -> None:
    names = [match["source"] or match["target"] for match in _IMAGE.finditer(page.text)]
    local = [name for name in names if not re.match(r"[a-z]+:", name)]
    assert [name for name in local if not (page.path.parent / name).exists()] == []


def test_prose_is_wrapped(page: Page) -> None:
    lines = _FENCED.sub("", page.text).splitlines()
    # Tables, badges, HTML and addresses of links cannot be broken.
    prose = [line for line in lines if not line.lstrip().startswith(("|", "[![", "<", "!["))]
    generated = page.text.startswith("<!-- Made by")
    long = [line for line in prose if len(_TARGET.sub("]", line)) > _WIDTH]
    assert generated or long == []


def test_fences_are_closed(page: Page) -> None:
    assert len(re.findall(r"^ *```", page.text, re.MULTILINE)) == 2 * len(page.fences)


def test_commands_stand_where_a_test_runs_them(fence: Fence) -> None:
    assert fence.language in _LANGUAGES
    if fence.language not in {"console", "sh"}:
        assert not re.search(r"^\$ ", fence.text, re.MULTILINE)
    if fence.language == "console":
        assert fence.text.startswith("$ ")


def test_examples_are_valid(fence: Fence, tmp_path: Path) -> None:
    if fence.language == "toml" and fence.text.startswith("# load/"):
        (tmp_path / "scenario.toml").write_text(fence.text, encoding="utf-8")
        read_scenario(tmp_path / "scenario.toml", fence.place)
    elif fence.language == "toml":
        is_shared = fence.text.startswith(("[tool.", "# pyproject.toml"))
        loads(fence.text, "pyproject.toml" if is_shared else "benchgate.toml")
    elif fence.language == "python":
        compile(fence.text, fence.place, "exec")
    elif fence.language == "json":
        json.loads(fence.text)
