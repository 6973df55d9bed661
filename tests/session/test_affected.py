"""Which benchmarks a change affects: many small changes, each with a benchmark of its own."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from contextlib import chdir
from typing import TYPE_CHECKING

import pytest
from tests.session.changes.change import PRELUDE, Change, Link, Program
from tests.session.changes.idle import EDITS, FILES
from tests.session.changes.imports import IMPORTS
from tests.session.changes.names import NAMES
from tests.session.changes.processes import PROCESSES, SOURCE
from tests.session.changes.reads import READS
from tests.session.changes.runs import RUNS

from benchgate.cli.world import configuration, real_effects
from benchgate.session.checking import CheckRequest, affected

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.session.changes.change import Files, Text

    from benchgate.git.repository import Git

CONFIG = '[[benchmark]]\npython = "benchmarks"\n'


def write(git: Git, files: Files) -> None:
    for name, text in files.items():
        path = git.root / name
        if path.is_symlink() or text is None:
            path.unlink()
        if text is None:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, Link):
            path.symlink_to(text)
        else:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            path.chmod(0o755 if isinstance(text, Program) else 0o644)


def reasons(git: Git, base: Files, head: Files) -> Mapping[str, str]:
    """What `benchgate affected` would say of a change to a new repository."""
    write(git, {"benchgate.toml": CONFIG, **base})
    git.run("add", "--all")
    git.run("commit", "--quiet", "--message", "work")
    write(git, head)
    with chdir(git.root):
        config = configuration(git.root, git, None)
        return affected(CheckRequest(), config, git, real_effects(quiet=True))


def wrong(git: Git, changes: Sequence[Change]) -> dict[str, tuple[str, str]]:
    """Make all changes at once; for each that is told wrongly, what was expected, and what is."""
    assert len({one.name for one in changes}) == len(changes)
    base: dict[str, Text] = {
        "benchmarks/bench_all.py": PRELUDE + "".join(one.function() for one in changes)
    }
    head: dict[str, Text] = {}
    for one in changes:
        base.update(one.files(is_head=False))
        head.update(one.files(is_head=True))
    found = reasons(git, base, head)
    assert found.keys() == {f"all/{one.name}" for one in changes}
    told = {one: found[f"all/{one.name}"] for one in changes}
    return {
        one.name: (one.expected(), why)
        for one, why in told.items()
        if (one.expected() not in why or not one.expected()) and why != one.expected()
    }


REACHING = {"reads": READS, "imports": IMPORTS, "runs": RUNS, "names": NAMES}
IDLE = {"files": FILES, "edits": EDITS}


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
