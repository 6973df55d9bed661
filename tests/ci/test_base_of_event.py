from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.ci.base import NoBase, checked_out, find_base
from benchgate.errors import BaselineError
from benchgate.git.repository import Git
from benchgate.github.plan import Base, Head
from benchgate.model.run import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Commit = Callable[[Git, Mapping[str, str]], str]


class Compare:
    """Stands for GitHub's compare API."""

    def __init__(self, answer: str = "") -> None:
        self.answer = answer
        self.asked: list[tuple[str, str]] = []

    def __call__(self, base: str, head: str) -> str:
        self.asked.append((base, head))
        return self.answer


@pytest.fixture
def history(repo: Git, commit: Commit) -> tuple[Git, str, str]:
    """Two commits on main; the older one first."""
    repo.run("config", "uploadpack.allowAnySHA1InWant", "true")
    return repo, commit(repo, {"a": "1"}), commit(repo, {"a": "2"})


def merge_base_with(other: str) -> Base:
    return Base("merge base with it", merge_base_with=other)


def test_what_is_checked_out_is_named_with_its_parents(history: tuple[Git, str, str]) -> None:
    git, first, second = history
    assert checked_out(git) == Head(second, (first,))


@pytest.fixture
def clone(history: tuple[Git, str, str], tmp_path: Path) -> Git:
    """A shallow one."""
    origin = history[0]
    origin.run("clone", "--quiet", "--depth=1", f"file://{origin.root}", str(tmp_path / "clone"))
    return Git(tmp_path / "clone")


def test_a_base_that_the_event_names_is_fetched(history: tuple[Git, str, str], clone: Git) -> None:
    first, compare = history[1], Compare()
    found = find_base(Base("the commit before", sha=first), clone, compare)
    assert found == Source(sha=first, why="the commit before")
    assert clone.rev_parse(first) == first
    assert compare.asked == []


def test_a_shallow_clone_asks_for_the_merge_base(history: tuple[Git, str, str], clone: Git) -> None:
    _, first, second = history
    compare = Compare(first)
    found = find_base(merge_base_with("main"), clone, compare)
    assert found == Source(sha=first, ref="main", why="merge base with it")
    assert compare.asked == [("main", second)]


def test_a_complete_clone_knows_the_merge_base_itself(
    history: tuple[Git, str, str], commit: Commit
) -> None:
    git, _, second = history
    git.run("checkout", "--quiet", "-b", "topic")
    commit(git, {"b": "1"})
    compare = Compare()
    assert find_base(merge_base_with("main"), git, compare) == Source(
        sha=second, ref="main", why="merge base with it"
    )
    assert compare.asked == []


def test_the_remote_branch_counts_before_a_local_one(
    history: tuple[Git, str, str], commit: Commit
) -> None:
    git, first, second = history
    git.run("update-ref", "refs/remotes/origin/main", second)
    git.run("checkout", "--quiet", "-b", "topic")
    commit(git, {"b": "1"})
    git.run("branch", "--force", "main", first)
    found = find_base(merge_base_with("main"), git, Compare())
    assert isinstance(found, Source)
    assert found.sha == second


@pytest.mark.parametrize(
    ("base", "why"),
    [
        (
            Base("merge base with it", merge_base_with="main"),
            "the base is the head itself, so nothing changed (merge base with it)",
        ),
        (Base("a tag"), "a tag"),
    ],
)
def test_where_there_is_no_base_it_says_why(
    history: tuple[Git, str, str], base: Base, why: str
) -> None:
    assert find_base(base, history[0], Compare()) == NoBase(why)


def test_an_answer_that_is_no_commit_is_not_believed(
    history: tuple[Git, str, str],
) -> None:
    git, _, _ = history
    with pytest.raises(BaselineError, match="not a full commit hash"):
        find_base(merge_base_with("gone"), git, Compare("--upload-pack=evil"))
