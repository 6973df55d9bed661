from __future__ import annotations

import shutil
import tempfile
from typing import TYPE_CHECKING

import pytest

from benchgate.measure.trees.git_failures import explain

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.git.repository import Git

OF_GIT = "{root}: git lists the trees that benchgate measures in its .git folder"


# What git 2.39 prints.
@pytest.mark.parametrize(
    ("said", "message", "hint"),
    [
        (
            "fatal: could not create leading directories of '.git/worktrees/x': {why}",
            f"cannot write to {OF_GIT}",
            "git clone",
        ),
        (
            "fatal: could not write to '.git/worktrees/x/locked': No space left on device",
            f"no space left in {OF_GIT}",
            "Free some space there.",
        ),
        (
            "fatal: cannot create directory at 'pkg': No space left on device",
            "cannot create the trees to measure in {place}: no space left on device",
            "TMPDIR",
        ),
        (
            "error: cannot fork() for update-ref: Resource temporarily unavailable",
            "git cannot start a process",
            "ulimit -u",
        ),
    ],
)
@pytest.mark.parametrize("why", ["Read-only file system", "Permission denied"])
def test_a_disk_that_git_cannot_write_to_is_named_with_a_remedy(
    said: str, why: str, message: str, hint: str, *, repo: Git
) -> None:
    found = explain(repo, "HEAD", said.format(why=why))
    assert found
    assert found.message == message.format(root=repo.root, place=tempfile.gettempdir())
    assert hint in found.hint


def test_a_file_that_git_cannot_write_means_a_full_disk_if_there_is_too_little_room(
    repo: Git,
    commit: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sha = commit(repo, {"a file": "x" * 3000, "b\nc": "y" * 1096})
    said = "error: unable to write file a file\nfatal: Could not reset index file"
    unknown = explain(repo, sha, f"{said}\nerror: unable to write file b")
    assert unknown
    assert unknown.message == f"git cannot write the files of a side in {tempfile.gettempdir()}"
    assert unknown.details == "error: unable to write file a file\n(and 1 more of these)"
    usage = type("usage", (), {"free": 2048})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    found = explain(repo, sha, said)
    assert found
    assert found.message.endswith("it has 2.000 KiB left, and the files of a side take 4.000 KiB")


def test_other_failures_are_gits_own(repo: Git) -> None:
    assert explain(repo, "HEAD", "fatal: invalid reference: x") is None
