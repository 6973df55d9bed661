from __future__ import annotations

import shlex
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchgate.baselines.base import choose_base
from benchgate.errors import BaselineError, UsageError
from benchgate.git.repository import Git
from benchgate.model.run import Source

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Commit = Callable[..., str]


@pytest.fixture
def clone(repo: Git, commit: Commit, tmp_path: Path) -> Git:
    """A clone of a repository with two commits on main."""
    commit(repo, {"a": "1"})
    commit(repo, {"a": "2"})
    made = Git(tmp_path / "clone")
    repo.run("clone", "--quiet", str(repo.root), str(made.root))
    return made


def shallow_clone(git: Git, folder: Path, *options: str) -> Git:
    git.run("clone", "--quiet", "--depth=1", *options, git.root.as_uri(), str(folder))
    return Git(folder)


def obey(git: Git, error: BaselineError) -> None:
    """Run the command that the error advises."""
    subprocess.run(shlex.split(error.hint), cwd=git.root, check=True, capture_output=True)


def test_branch_is_compared_with_its_merge_base(repo: Git, commit: Commit) -> None:
    fork = commit(repo, {"a": "1"})
    repo.run("checkout", "--quiet", "-b", "feature")
    commit(repo, {"a": "2"})
    expected = Source(sha=fork, ref="main", why="merge base with main")
    assert choose_base(repo) == expected
    (repo.root / "a").write_text("not committed")
    assert choose_base(repo) == expected
    repo.run("stash", "--quiet")
    repo.run("checkout", "--quiet", "--detach")
    assert choose_base(repo) == expected


def test_uncommitted_changes_alone_are_compared_with_head(repo: Git, commit: Commit) -> None:
    head = commit(repo, {"a": "1"})
    (repo.root / "a").write_text("2")
    expected = Source(sha=head, ref="HEAD", why="HEAD: the changes are not committed")
    assert choose_base(repo) == expected
    repo.run("checkout", "--quiet", "-b", "feature")
    assert choose_base(repo) == expected


def test_clean_default_branch_is_compared_with_the_parent(repo: Git, commit: Commit) -> None:
    parent = commit(repo, {"a": "1"})
    commit(repo, {"a": "2"})
    expected = Source(
        sha=parent,
        ref="HEAD^",
        why="parent of HEAD: there are no uncommitted changes, and HEAD is on main",
    )
    assert choose_base(repo) == expected
    (repo.root / "result.json").write_text("of the same command, called before")
    assert choose_base(replace(repo, outputs=(repo.root / "result.json",))) == expected


def test_a_detached_head_is_not_said_to_be_on_a_branch(repo: Git, commit: Commit) -> None:
    parent = commit(repo, {"a": "1"})
    commit(repo, {"a": "2"})
    commit(repo, {"a": "3"})
    repo.run("checkout", "--quiet", "--detach", "HEAD^")
    why = "parent of HEAD: there are no uncommitted changes, and main has all of HEAD"
    assert choose_base(repo) == Source(sha=parent, ref="HEAD^", why=why)


def test_new_files_alone_are_compared_with_head(repo: Git, commit: Commit) -> None:
    commit(repo, {"a": "1"})
    head = commit(repo, {"a": "2"})
    (repo.root / "b").write_text("1")
    why = "HEAD: 1 new file is not committed: b"
    assert choose_base(repo) == Source(sha=head, ref="HEAD", why=why)
    for name in "cde":
        (repo.root / name).write_text("1")
    assert choose_base(repo).why == "HEAD: 4 new files are not committed: b, c, d and 1 more"


def test_new_files_beside_the_first_commit(repo: Git, commit: Commit) -> None:
    head = commit(repo, {"a": "1"})
    (repo.root / "b").write_text("1")
    assert choose_base(repo).sha == head


def test_head_itself_and_a_new_file_are_not_the_same_code(repo: Git, commit: Commit) -> None:
    commit(repo, {"a": "1"})
    assert "both sides are the same code" in choose_base(repo, "HEAD").why
    (repo.root / "b").write_text("1")
    assert choose_base(repo, "HEAD").why == "HEAD"


def test_merge_commit_is_compared_with_its_first_parent(repo: Git, commit: Commit) -> None:
    commit(repo, {"a": "1"})
    repo.run("checkout", "--quiet", "-b", "feature")
    commit(repo, {"b": "1"})
    repo.run("checkout", "--quiet", "main")
    first_parent = commit(repo, {"a": "2"})
    repo.run("merge", "--quiet", "--no-edit", "feature")
    assert choose_base(repo).sha == first_parent


def test_unpushed_commits_are_compared_with_what_was_pushed(clone: Git, commit: Commit) -> None:
    pushed = clone.head_sha()
    commit(clone, {"a": "3"})
    commit(clone, {"a": "4"})
    assert choose_base(clone) == Source(
        sha=pushed, ref="origin/main", why="merge base with origin/main"
    )


def test_nearer_of_local_and_remote_branch_counts(clone: Git, commit: Commit) -> None:
    unpushed = commit(clone, {"a": "3"})
    clone.run("checkout", "--quiet", "-b", "feature")
    commit(clone, {"a": "4"})
    assert choose_base(clone) == Source(sha=unpushed, ref="main", why="merge base with main")
    clone.run("update-ref", "refs/remotes/origin/main", unpushed)
    clone.run("update-ref", "refs/heads/main", f"{unpushed}~2")
    assert choose_base(clone).sha == unpushed
    assert choose_base(clone).ref == "origin/main"


def test_first_commit_has_nothing_to_be_compared_with(repo: Git, commit: Commit) -> None:
    commit(repo, {"a": "1"})
    with pytest.raises(BaselineError, match="HEAD is the first commit"):
        choose_base(repo)


def test_no_commit_at_all(repo: Git) -> None:
    with pytest.raises(UsageError, match="no commit yet"):
        choose_base(repo)


def test_no_default_branch_known(repo: Git, commit: Commit) -> None:
    commit(repo, {"a": "1"})
    repo.run("branch", "one")
    repo.run("branch", "--move", "main", "two")
    with pytest.raises(BaselineError, match="the default branch is unknown") as raised:
        choose_base(repo)
    assert "--against" in raised.value.hint


def test_unrelated_histories(repo: Git, commit: Commit) -> None:
    commit(repo, {"a": "1"})
    repo.run("checkout", "--quiet", "--orphan", "island")
    commit(repo, {"a": "2"})
    with pytest.raises(BaselineError, match="HEAD and main have no common history"):
        choose_base(repo)


@pytest.mark.parametrize("against", ["v1", "main~1", "HEAD^", "origin/old", "old"])
def test_base_named_by_the_user(clone: Git, against: str) -> None:
    first = clone.rev_parse("main~1")
    clone.run("tag", "v1", "main~1")
    clone.run("update-ref", "refs/remotes/origin/old", "main~1")
    found = choose_base(clone, against)
    name = "origin/old" if against == "old" else against
    assert found == Source(sha=first, ref=name, why=name)


def test_naming_head_of_a_clean_tree_says_that_it_is_vacuous(repo: Git, commit: Commit) -> None:
    commit(repo, {"a": "1"})
    assert "both sides are the same code" in choose_base(repo, "main").why
    (repo.root / "a").write_text("2")
    assert "same code" not in choose_base(repo, "main").why


@pytest.mark.parametrize(
    ("against", "meant"),
    [
        ("mian", "main"),
        ("v1.0", "v1.0.0"),
        ("relaese", "release"),
        ("feature/parse", "feature/parser"),
    ],
)
def test_mistyped_name(clone: Git, against: str, meant: str) -> None:
    clone.run("tag", "v1.0.0")
    clone.run("branch", "feature/parser")
    clone.run("update-ref", "refs/remotes/origin/release", "HEAD")
    with pytest.raises(BaselineError, match="no such commit") as raised:
        choose_base(clone, against)
    assert f"did you mean {meant!r}?" in raised.value.message
    assert raised.value.hint == "git fetch --tags origin"


@pytest.mark.parametrize("against", ["", "--all", "HEAD:a", "quite-different"])
def test_a_name_without_likeness(repo: Git, commit: Commit, against: str) -> None:
    commit(repo, {"a": "1"})
    with pytest.raises(BaselineError) as raised:
        choose_base(repo, against)
    assert raised.value.message == (
        f"--against {against!r}: there is no such commit, branch or tag in this repository"
    )
    assert "did you mean" not in raised.value.message
    assert raised.value.hint == ""


def test_unknown_hash_in_a_complete_clone(clone: Git) -> None:
    with pytest.raises(BaselineError) as raised:
        choose_base(clone, "1" * 40)
    assert raised.value.hint == f"git fetch origin {'1' * 40}"


def test_shallow_clone_without_the_parent(repo: Git, commit: Commit, tmp_path: Path) -> None:
    repo.run("config", "uploadpack.allowAnySHA1InWant", "true")
    parent = commit(repo, {"a": "1"})
    commit(repo, {"a": "2"})
    shallow = shallow_clone(repo, tmp_path / "shallow")
    with pytest.raises(BaselineError, match=f"{parent[:12]}.*shallow clone") as raised:
        choose_base(shallow)
    assert raised.value.hint == f"git fetch --depth=1 origin {parent}"
    obey(shallow, raised.value)
    assert choose_base(shallow).sha == parent


def test_shallow_clone_without_the_merge_base(repo: Git, commit: Commit, tmp_path: Path) -> None:
    fork = commit(repo, {"a": "1"})
    repo.run("checkout", "--quiet", "-b", "feature")
    commit(repo, {"a": "2"})
    repo.run("checkout", "--quiet", "main")
    commit(repo, {"b": "1"})
    shallow = shallow_clone(repo, tmp_path / "shallow", "--no-single-branch", "--branch=feature")
    with pytest.raises(BaselineError, match="does not reach back") as raised:
        choose_base(shallow)
    assert raised.value.hint == "git fetch --unshallow origin"
    obey(shallow, raised.value)
    assert choose_base(shallow).sha == fork


def test_shallow_clone_without_the_default_branch(
    repo: Git, commit: Commit, tmp_path: Path
) -> None:
    fork = commit(repo, {"a": "1"})
    repo.run("checkout", "--quiet", "-b", "feature")
    commit(repo, {"a": "2"})
    repo.run("checkout", "--quiet", "main")
    shallow = shallow_clone(repo, tmp_path / "shallow", "--branch=feature")
    with pytest.raises(BaselineError, match="does not have the default branch") as raised:
        choose_base(shallow)
    obey(shallow, raised.value)
    assert choose_base(shallow).sha == fork


@pytest.mark.parametrize("against", ["HEAD^", "v1"])
def test_shallow_clone_without_what_was_named(
    repo: Git, commit: Commit, tmp_path: Path, against: str
) -> None:
    first = commit(repo, {"a": "1"})
    repo.run("tag", "v1")
    commit(repo, {"a": "2"})
    shallow = shallow_clone(repo, tmp_path / "shallow", "--no-tags")
    with pytest.raises(BaselineError, match="no such commit") as raised:
        choose_base(shallow, against)
    obey(shallow, raised.value)
    assert choose_base(shallow, against).sha == first


def test_shallow_clone_without_the_hash_that_was_named(
    repo: Git, commit: Commit, tmp_path: Path
) -> None:
    repo.run("config", "uploadpack.allowAnySHA1InWant", "true")
    first = commit(repo, {"a": "1"})
    commit(repo, {"a": "2"})
    commit(repo, {"a": "3"})
    shallow = shallow_clone(repo, tmp_path / "shallow")
    with pytest.raises(BaselineError) as raised:
        choose_base(shallow, first)
    obey(shallow, raised.value)
    assert choose_base(shallow, first).sha == first
