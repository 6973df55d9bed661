"""What names a build: everything that is known to decide its result, and nothing else."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchgate.config import Build
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.builds.build_key import build_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from benchgate.git.repository import Git

    Commit = Callable[[Git, Mapping[str, str]], str]

BUILD = Build.model_validate({"command": ["tool {env}", "make"]})
OLD_S = 1_500_000_000


@pytest.fixture
def arm(repo: Git, commit: Commit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Arm:
    """A tree of a session, and a program that its build calls."""
    sha = commit(repo, {"a.py": "1"})
    root = tmp_path / "benchgate-abcdefgh" / "01234567" / "project"
    repo.run("worktree", "add", "--quiet", "--detach", str(root), sha)
    os.utime(root / "a.py", (OLD_S, OLD_S))
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "tool").write_text("#!/bin/sh\n")
    (programs / "tool").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return Arm(ArmName.HEAD, root, root.parent.with_name("01234567-env"), sha)


def test_the_same_build_has_the_same_key_only_at_the_same_place(
    arm: Arm, repo: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = {"BENCHGATE_SESSION": "drawn"}
    key = build_key(arm, BUILD)
    assert len(key) == 64
    monkeypatch.setenv("SHLVL", "9")
    assert build_key(replace(arm, name=ArmName.BASE, variables=variables), BUILD) == key
    root = arm.root.parents[1] / "89abcdef" / "project"
    repo.run("worktree", "add", "--quiet", "--detach", str(root), arm.sha)
    env = root.parent.with_name("89abcdef-env")
    assert build_key(replace(arm, root=root, env=env), BUILD) != key


def same_time(path: Path, text: str) -> None:
    path.write_text(text)
    os.utime(path, (OLD_S, OLD_S))


@pytest.mark.parametrize(
    "change",
    [
        lambda arm, _: same_time(arm.root / "a.py", "2"),
        lambda arm, _: (arm.root / "new").write_text(""),
        lambda arm, _: (arm.root / "empty").mkdir(),
        lambda arm, _: (arm.root / "a.py").unlink(),
        lambda arm, _: (arm.root / "a.py").chmod(0o755),
        lambda arm, _: (arm.root / "link").symlink_to("a.py"),
        lambda _, repo: repo.run("tag", "v1"),
        lambda arm, _: (arm.root.parents[2] / "programs" / "tool").write_text("#!/bin/sh\n:\n"),
    ],
    ids=["content", "new file", "folder", "removed", "mode", "link", "tag", "program"],
)
def test_what_the_build_may_read_changes_the_key(
    arm: Arm, repo: Git, change: Callable[[Arm, Git], object]
) -> None:
    before = build_key(arm, BUILD)
    change(arm, repo)
    assert build_key(arm, BUILD) != before


@pytest.mark.parametrize("text", ["b", "a.py"])
def test_a_link_to_another_place_changes_the_key(arm: Arm, text: str) -> None:
    (arm.root / "link").symlink_to("c")
    before = build_key(arm, BUILD)
    (arm.root / "link").unlink()
    (arm.root / "link").symlink_to(text)
    assert build_key(arm, BUILD) != before


@pytest.mark.parametrize(
    "other",
    [
        {"command": ["make", "tool {env}"]},
        {"command": ["tool {env}"]},
        {"command": ["tool {env}", "make"], "env": {"CFLAGS": "-O3"}},
        {"command": ["tool {env}", "make"], "shell": True},
    ],
)
def test_other_commands_change_the_key(arm: Arm, other: Mapping[str, object]) -> None:
    assert build_key(arm, Build.model_validate(other)) != build_key(arm, BUILD)


def test_the_time_limit_does_not(arm: Arm) -> None:
    longer = BUILD.model_copy(update={"timeout_s": 9.0})
    assert build_key(arm, longer) == build_key(arm, BUILD)


def test_the_environment_and_the_commit_change_the_key(
    arm: Arm, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = build_key(arm, BUILD)
    assert build_key(replace(arm, sha="b" * 40), BUILD) != before
    monkeypatch.setenv("CFLAGS", "-O3")
    assert build_key(arm, BUILD) != before
