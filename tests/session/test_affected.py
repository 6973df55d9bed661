"""Which benchmarks a change affects: many small changes, each with a benchmark of its own."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from typing import TYPE_CHECKING

import pytest
from tests.session.affecting import IDLE, REACHING, wrong
from tests.session.changes.processes import PROCESSES, SOURCE

if TYPE_CHECKING:
    from benchgate.git.repository import Git


@pytest.mark.parametrize("kind", REACHING)
def test_what_changes_for_a_benchmark_affects_it(repo: Git, kind: str) -> None:
    assert wrong(repo, REACHING[kind]) == {}


@pytest.mark.parametrize("kind", IDLE)
def test_what_reaches_no_benchmark_affects_none(repo: Git, kind: str) -> None:
    assert wrong(repo, IDLE[kind]) == {}


@pytest.fixture
def reading(repo: Git) -> None:
    """Build a module in C that reads what it is told."""
    source, made = repo.root / "reading.c", repo.root / "reading.so"
    source.write_text(SOURCE)
    include = f"-I{sysconfig.get_path('include')}"
    command = ["cc", "-shared", "-fPIC", include, "-o", str(made), str(source)]
    if not shutil.which("cc") or subprocess.run(command, check=False).returncode:
        pytest.skip("there is no C compiler, or no headers of Python")


@pytest.mark.usefixtures("reading")
def test_what_other_processes_and_languages_read_affects_a_benchmark(repo: Git) -> None:
    assert wrong(repo, PROCESSES) == {}
