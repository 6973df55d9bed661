from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.git.changes import hidden_changes, read_changes

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.git.repository import Git

    Commit = Callable[..., str]

SKIP, ASSUME = "skip-worktree", "assume-unchanged"


def hidden(git: Git) -> dict[str, tuple[str, ...]]:
    scratch = git.root.parent
    before = set(scratch.iterdir())
    found = hidden_changes(git, read_changes(git), scratch)
    assert set(scratch.iterdir()) == before
    return found


@pytest.mark.parametrize("split", [False, True])
def test_each_flag_hides_its_files(repo: Git, commit: Commit, *, split: bool) -> None:
    names = ("skipped", "assumed", "both", "same", "seen", "of\nlines")
    commit(repo, dict.fromkeys(names, "1"))
    if split:
        repo.run("update-index", "--split-index")
    repo.run("update-index", "--skip-worktree", "skipped", "both", "same", "of\nlines")
    repo.run("update-index", "--assume-unchanged", "assumed", "both")
    assert hidden(repo) == {}
    for name in ("skipped", "assumed", "both", "seen", "of\nlines"):
        (repo.root / name).write_text("2")
    before = {path.name: path.read_bytes() for path in (repo.root / ".git").glob("*index*")}
    assert read_changes(repo).modified == ("seen",)
    assert hidden(repo) == {SKIP: ("both", "of\nlines", "skipped"), ASSUME: ("assumed", "both")}
    after = {path.name: path.read_bytes() for path in (repo.root / ".git").glob("*index*")}
    assert after == before


def test_other_changes_than_of_the_text(repo: Git, commit: Commit) -> None:
    commit(repo, {"run": "1", "link": "1", "gone": "1", "old": "1"})
    repo.run("update-index", "--assume-unchanged", "run", "link", "gone", "old")
    (repo.root / "run").chmod(0o755)
    (repo.root / "link").unlink()
    (repo.root / "link").symlink_to("1")
    (repo.root / "gone").unlink()
    (repo.root / "old").touch()
    assert hidden(repo) == {ASSUME: ("gone", "link", "run")}


def test_what_a_sparse_checkout_leaves_out_is_no_change(repo: Git, commit: Commit) -> None:
    commit(repo, {"in/a": "1", "out/b": "1"})
    repo.run("sparse-checkout", "set", "in")
    assert not (repo.root / "out/b").exists()
    assert hidden(repo) == {}
