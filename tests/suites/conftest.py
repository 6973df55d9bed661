"""Projects with the suites of other tools, as docs/suites.md shows them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.suites.page import read_sections
from tests.suites.scratch import make_scratch
from tests.suites.tools import TOOLS, TOOLS_PYTHON

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.suites.tools import Tool

    from benchgate.git.repository import Git

collect_ignore = ["projects"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that asks for `section` the section of every tool."""
    if "section" in metafunc.fixturenames:
        sections = [section for section in read_sections() if section.name in TOOLS]
        server = pytest.mark.xdist_group("server")  # they all use the same port
        marks = [server if TOOLS[each.name].folder == "server" else () for each in sections]
        params = [
            pytest.param(each, marks=mark) for each, mark in zip(sections, marks, strict=True)
        ]
        metafunc.parametrize("section", params, ids=lambda section: section.name)


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have benchgate and the tools on the path, as in a shell of a user."""
    monkeypatch.setenv("VIRTUAL_ENV", str(TOOLS_PYTHON.parent))
    path = [str(TOOLS_PYTHON), str(Path(sys.executable).parent), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        monkeypatch.delenv(name)  # under xdist, pytest-benchmark measures nothing


@pytest.fixture
def make_project(
    make_repo: Callable[[str], Git], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Tool], Path]:
    """Make the project of a tool, or skip the test and say what is missing."""

    def make(tool: Tool) -> Path:
        if why := tool.missing():
            pytest.skip(why)
        if tool.format == "asv":  # it keeps what it knows about the machine there
            monkeypatch.setenv("HOME", str(tmp_path))
        return make_scratch(make_repo(tool.project), tool.project)

    return make
