from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.git.repository import (
    DefaultBranch,
    Git,
    current_branch,
    default_branch,
    known_names,
    remotes,
    short_name,
    upstream,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def clone(repo: Git, commit: Callable[..., str], tmp_path: Path) -> Git:
    """A clone of a repository whose default branch is named devel."""
    commit(repo, {"a": "1"})
    repo.run("branch", "--move", "main", "devel")
    made = Git(tmp_path / "clone")
    repo.run("clone", "--quiet", str(repo.root), str(made.root))
    return made


def test_the_remote_says_which_branch_is_the_default(clone: Git) -> None:
    clone.run("checkout", "--quiet", "-b", "main")
    assert default_branch(clone) == DefaultBranch(
        "devel", ("refs/heads/devel", "refs/remotes/origin/devel")
    )


def test_default_that_exists_only_at_the_remote(clone: Git) -> None:
    clone.run("checkout", "--quiet", "--detach")
    clone.run("branch", "--delete", "--force", "devel")
    assert default_branch(clone) == DefaultBranch("devel", ("refs/remotes/origin/devel",))


@pytest.mark.parametrize(
    ("branches", "expected"),
    [
        (("main", "master", "trunk"), "main"),
        (("feature", "master"), "master"),
        (("feature", "trunk"), "trunk"),
        (("only",), "only"),
        (("one", "two"), None),
    ],
)
def test_without_a_remote_usual_names_count(
    repo: Git, commit: Callable[..., str], branches: tuple[str, ...], expected: str | None
) -> None:
    commit(repo, {"a": "1"})
    repo.run("checkout", "--quiet", "--detach")
    repo.run("branch", "--delete", "main")
    for branch in branches:
        repo.run("branch", branch)
    found = default_branch(repo)
    assert (found.name if found else None) == expected


def test_configured_name_comes_before_usual_ones(repo: Git, commit: Callable[..., str]) -> None:
    commit(repo, {"a": "1"})
    repo.run("branch", "stable")
    repo.run("config", "init.defaultBranch", "stable")
    assert default_branch(repo) == DefaultBranch("stable", ("refs/heads/stable",))


def test_a_tag_of_the_same_name_is_no_branch(repo: Git, commit: Callable[..., str]) -> None:
    commit(repo, {"a": "1"})
    repo.run("tag", "trunk")
    repo.run("branch", "--move", "main", "trunk")
    assert default_branch(repo) == DefaultBranch("trunk", ("refs/heads/trunk",))


def test_the_only_branch_of_a_narrow_clone_may_be_any(clone: Git, tmp_path: Path) -> None:
    clone.run("branch", "feature")
    narrow = Git(tmp_path / "narrow")
    clone.run(
        "clone", "--quiet", "--depth=1", "--branch=feature", clone.root.as_uri(), str(narrow.root)
    )
    assert default_branch(narrow) is None


def test_current_branch(repo: Git, commit: Callable[..., str]) -> None:
    commit(repo, {"a": "1"})
    repo.run("checkout", "--quiet", "-b", "feature/one")
    assert current_branch(repo) == "feature/one"
    repo.run("checkout", "--quiet", "--detach")
    assert current_branch(repo) is None


def test_upstream_as_configured_else_of_the_same_name(clone: Git) -> None:
    assert upstream(clone, "devel") == "refs/remotes/origin/devel"
    clone.run("branch", "--unset-upstream", "devel")
    assert upstream(clone, "devel") == "refs/remotes/origin/devel"
    clone.run("checkout", "--quiet", "-b", "alone")
    assert upstream(clone, "alone") is None
    clone.run("config", "branch.alone.remote", "origin")
    clone.run("config", "branch.alone.merge", "refs/heads/gone")
    assert upstream(clone, "alone") is None


def test_origin_is_the_first_remote(clone: Git) -> None:
    clone.run("remote", "add", "another", "/nowhere")
    assert remotes(clone) == ("origin", "another")


def test_names_that_people_know(clone: Git) -> None:
    clone.run("tag", "v1")
    assert set(known_names(clone)) >= {"devel", "v1", "origin/devel"}
    assert short_name("HEAD") == "HEAD"
