"""Projects with the suites of other tools, as docs/suites.md shows them."""

from __future__ import annotations

import fcntl
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.suites.page import read_sections
from tests.suites.scratch import make_scratch
from tests.suites.tools import TOOLS, TOOLS_PYTHON

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.suites.tools import Tool

    from benchgate.git.repository import Git

collect_ignore = ["projects"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that asks for `section` the section of every tool."""
    if "section" in metafunc.fixturenames:
        sections = [section for section in read_sections() if section.name in TOOLS]
        metafunc.parametrize("section", sections, ids=lambda section: section.name)


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
    make_repo: Callable[[str], Git],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[Tool], Path]]:
    """Make the project of a tool, or skip the test and say what is missing.

    Servers take turns: they all use the same port.
    """
    with ExitStack() as stack:

        def make(tool: Tool) -> Path:
            if why := tool.missing():
                pytest.skip(why)
            if tool.format == "asv":  # it keeps what it knows about the machine there
                monkeypatch.setenv("HOME", str(tmp_path))
            if tool.folder == "server":
                place = tmp_path_factory.getbasetemp().parent / "server.lock"
                fcntl.flock(stack.enter_context(place.open("w")), fcntl.LOCK_EX)
            return make_scratch(make_repo(tool.project), tool.project)

        yield make
