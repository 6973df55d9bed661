"""Finds the base commit of an event, and fetches it if it is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from benchgate.github.plan import Head
from benchgate.model.run import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.git.repository import Git
    from benchgate.github.plan import Base


class Comparing(Protocol):
    """GitHub's compare API: the merge base of a commit or branch with a commit."""

    def __call__(self, base: str, head: str) -> str:
        """Give the commit, in full."""
        ...


@dataclass(frozen=True, slots=True)
class NoBase:
    """There is nothing to compare with, for a reason."""

    why: str


def checked_out(git: Git) -> Head:
    """What the workflow checked out."""
    sha = git.head_sha()
    return Head(sha, git.parents(sha))


def find_base(
    base: Base,
    git: Git,
    *,
    merge_base: Comparing,
    fetch: Callable[[str], None],
) -> Source | NoBase:
    """Give the base commit of an event, fetched if the checkout lacks it.

    Args:
        merge_base: asked if the checkout does not hold enough of the history.

    Raises:
        BaselineError: what is found is no commit that can be had here.
        GitHubError: it has to be asked for, and GitHub does not answer.
    """
    head = git.head_sha()
    sha = base.sha
    if sha is None:
        if base.merge_base_with is None:
            return NoBase(base.why)
        sha = _local_merge_base(git, base.merge_base_with, head)
        sha = sha or merge_base(base.merge_base_with, head)
    if sha == head:
        return NoBase(f"{base.why}: that is the head itself, so nothing changed")
    fetch(sha)
    return Source(sha=sha, ref=base.merge_base_with, why=base.why)


def _local_merge_base(git: Git, other: str, head: str) -> str | None:
    """What a complete clone knows itself; a shallow one may find an ancestor that is too far."""
    if git.is_shallow():
        return None
    for name in (f"refs/remotes/origin/{other}", other):
        if git.rev_parse(name) is not None:
            return git.merge_base(head, name)
    return None
