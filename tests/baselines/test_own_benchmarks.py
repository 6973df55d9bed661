"""Which commits have no benchmarks, so that the head's are measured there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchgate.baselines.own_benchmarks import has_no_benchmarks, with_benchmarks_of_head
from benchgate.config import loads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.git.repository import Git

    Commit = Callable[[Git, Mapping[str, str]], str]

PYTHON = '[[benchmark]]\npython = "perf"\n'
COMMAND = '[[benchmark]]\nname = "a"\ncommand = "true"\n'
SCENARIO = '[[benchmark]]\nscenario = "load/orders.toml"\n'
BUILD = '[build]\ncommand = "make"\n'


@pytest.mark.parametrize(
    ("base", "head", "file", "expected"),
    [
        # Without a configuration, the head's says where benchmarks may be.
        (None, "", "src/a.py", True),
        (None, "", "tests/bench_a.py", False),
        (None, PYTHON, "tests/bench_a.py", True),
        (None, PYTHON, "perf/deep/bench_a.py", False),
        (None, BUILD + COMMAND, "src/a.py", True),
        # With one, it does.
        ("", PYTHON, "src/a.py", True),
        ("", PYTHON, "tests/bench_a.py", False),
        (PYTHON, "", "tests/bench_a.py", True),
        (PYTHON, "", "perf/bench_a.py", False),
        (PYTHON.replace("perf", "perf/bench_a.py"), "", "perf/bench_a.py", False),
        (COMMAND, "", "src/a.py", False),
        (SCENARIO, "", "load/orders.toml", False),
        (SCENARIO, "", "load/other.toml", True),
        # [build] may make what is named.
        (BUILD + PYTHON, "", "src/a.py", False),
    ],
)
def test_a_commit_without_benchmarks(
    repo: Git, commit: Commit, base: str | None, head: str, file: str, *, expected: bool
) -> None:
    sha = commit(repo, {file: ""})
    config = loads(head, "benchgate.toml")
    if base is not None:
        config = replace(config, base=loads(base, "base.toml"))
    assert has_no_benchmarks(repo, sha, config) is expected


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("libs/core/perf/bench_a.py", False),
        ("perf/bench_a.py", True),
        ("libs/core/src/a.py", True),
    ],
)
def test_paths_start_at_the_folder_of_the_configuration(
    repo: Git, commit: Commit, file: str, *, expected: bool
) -> None:
    sha = commit(repo, {file: "", "libs/core/README": ""})
    config = loads(PYTHON, "benchgate.toml")
    config = replace(config, origin=replace(config.origin, folder="libs/core"))
    assert has_no_benchmarks(repo, sha, config) is expected


def test_a_commit_without_the_folder_is_not_measured(repo: Git, commit: Commit) -> None:
    sha = commit(repo, {"a.py": ""})
    config = loads(PYTHON, "benchgate.toml")
    config = replace(config, origin=replace(config.origin, folder="libs/core"))
    assert not has_no_benchmarks(repo, sha, config)


def test_benchmarks_behind_a_link_count(repo: Git, commit: Commit) -> None:
    commit(repo, {"real/bench_a.py": ""})
    (repo.root / "perf").symlink_to("real")
    (repo.root / "away").symlink_to("/elsewhere")
    sha = commit(repo, {})
    assert not has_no_benchmarks(repo, sha, loads(PYTHON, "benchgate.toml"))
    away = loads(PYTHON.replace("perf", "away"), "benchgate.toml")
    assert not has_no_benchmarks(repo, sha, away)


def test_a_submodule_may_hold_benchmarks(
    repo: Git, make_repo: Callable[[str], Git], commit: Commit
) -> None:
    library = make_repo("library")
    commit(library, {"bench_a.py": ""})
    repo.run(
        *("-c", "protocol.file.allow=always", "submodule", "--quiet", "add"),
        *(str(library.root), "perf"),
    )
    sha = commit(repo, {"a.py": ""})
    for text, expected in ((PYTHON, False), ("", False), (PYTHON.replace("perf", "b"), True)):
        assert has_no_benchmarks(repo, sha, loads(text, "benchgate.toml")) is expected


def test_the_base_keeps_its_own_build() -> None:
    head, base = loads(PYTHON, "head.toml"), loads(BUILD, "base.toml")
    lent = with_benchmarks_of_head(replace(head, base=base)).base
    assert lent
    assert (lent.build, lent.benchmarks) == (base.build, head.benchmarks)
    assert with_benchmarks_of_head(replace(head, base=replace(base, is_empty=True))).base is None
