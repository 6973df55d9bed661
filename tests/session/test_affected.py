"""Which benchmarks a change affects: many small changes, each with a benchmark of its own."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.session.affecting import CONFIG, IDLE, REACHING, reasons_of_last, wrong
from tests.session.changes.change import Change, edited
from tests.session.changes.processes import PROCESSES, SOURCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.session.changes.change import Files

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


def test_opening_more_files_than_are_reported_affects_a_benchmark(repo: Git) -> None:
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if limit > 1 << 17:
        pytest.skip("this takes long where so many events are kept")
    body = (
        f"for _ in range({limit // 2 + 1}):\n"
        "    os.close(os.open(TOP + '/ROW/a.txt', os.O_RDONLY))\n"
        "    os.close(os.open(TOP + '/ROW/b.txt', os.O_RDONLY))"
    )
    base = {"ROW/a.txt": "x", "ROW/b.txt": "x", "ROW/data.txt": "x"}
    why = "opens more files than the OS reports"
    assert wrong(repo, [Change("often", body, base, {"ROW/data.txt": "y"}, why)]) == {}


def test_another_commit_of_a_submodule_affects_what_reads_it(
    repo: Git, make_repo: Callable[[str], Git], commit: Callable[[Git, Files], str]
) -> None:
    library = make_repo("library")
    commit(library, {"data.txt": "1"})
    trusting = ("-c", "protocol.file.allow=always")
    repo.run(*trusting, "submodule", "--quiet", "add", str(library.root), "lib")
    source = """
def bench_reads():
    open("lib/data.txt").read()

def bench_idles():
    pass
"""
    commit(repo, {"benchgate.toml": CONFIG, "benchmarks/bench_all.py": source})
    commit(library, {"data.txt": "2"})
    repo.submodule("lib").run(*trusting, "pull", "--quiet", "origin", "main")
    commit(repo, {})
    assert reasons_of_last(repo) == {"all/reads": "opens lib/data.txt, changed", "all/idles": ""}


def test_a_class_of_attrs(repo: Git) -> None:
    source = "import attrs\n\n@attrs.define\nclass Point:\n    x: int\n    y: int = 1\n"
    head = source.replace("= 1", "= 2")
    change = edited("attrs", "import ROW\nROW.Point(1)", source, head, "imports ROW.py")
    assert wrong(repo, [change]) == {}


def test_a_variable_that_names_the_commit_affects_a_benchmark(repo: Git) -> None:
    change = Change("named", "pass", {"ROW.txt": "a"}, {"ROW.txt": "b"}, "uses {sha}")
    assert wrong(repo, [change], f'{CONFIG}env = {{ COMMIT = "{{sha}}" }}\n') == {}
