"""The commit that the head is compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.errors import BaselineError, did_you_mean
from benchgate.git.changes import read_changes
from benchgate.git.repository import (
    FULL_SHA,
    current_branch,
    default_branch,
    known_names,
    remotes,
    short_name,
    upstream,
)
from benchgate.model.run import Source
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.git.repository import DefaultBranch, Git


_NAMED = 3


def choose_base(git: Git, against: str | None = None) -> Source:
    """Find the base commit, with the reason in words.

    It is the merge base with the default branch; if the default branch itself is checked out, with
    its upstream branch. If HEAD is not ahead of that, the base is HEAD if there are uncommitted
    changes or new files, or else HEAD's first parent.

    Args:
        git: the user's checkout.
        against: a name, hash or expression that names the base instead.
    """
    head = git.head_sha()
    if against is not None:
        return _named(git, against, head)
    default = default_branch(git)
    if default is None:
        raise _no_default(git)
    return _fork_point(git, head, default) or _nothing_ahead(git, head, default)


def _fork_point(git: Git, head: str, default: DefaultBranch) -> Source | None:
    """The merge base with the default branch; None when that is HEAD itself."""
    refs: tuple[str, ...] = default.refs
    if current_branch(git) == default.name:
        followed = upstream(git, default.name)
        refs = (followed,) if followed else ()
    if not refs:
        return None
    # The local or the remote branch may be out of date: the nearer ancestor is right.
    base = git.merge_base(head, *refs)
    if base is None:
        raise _unrelated(git, short_name(refs[0]))
    if base == head:
        return None
    ref = next(short_name(ref) for ref in refs if git.merge_base(base, ref) == base)
    return Source(sha=base, ref=ref, why=f"merge base with {ref}")


def _nothing_ahead(git: Git, head: str, default: DefaultBranch) -> Source:
    changes = read_changes(git)
    if changes.dirty:
        return Source(sha=head, ref="HEAD", why="HEAD: the changes are not committed")
    if changes.untracked:
        return Source(sha=head, ref="HEAD", why=f"HEAD: {_not_committed(changes.untracked)}")
    parents = git.parents(head)
    if not parents:
        raise BaselineError(
            "HEAD is the first commit and nothing is changed, so there is nothing to compare with",
            hint="Change something, or add a commit, and run the check again. To compare the code "
            "with itself, use --against HEAD.",
        )
    if git.rev_parse(parents[0]) is None:
        raise BaselineError(
            f"the base is {parents[0][:12]}, the parent of HEAD, "
            "which this shallow clone does not have",
            hint=_fetch_commit(git, parents[0]),
        )
    name = default.name
    where = f"HEAD is on {name}" if current_branch(git) == name else f"{name} has all of HEAD"
    why = f"parent of HEAD: there are no uncommitted changes, and {where}"
    return Source(sha=parents[0], ref="HEAD^", why=why)


def _not_committed(untracked: Sequence[str]) -> str:
    named = ", ".join(untracked[:_NAMED])
    more = f" and {len(untracked) - _NAMED} more" if len(untracked) > _NAMED else ""
    verb = "is" if len(untracked) == 1 else "are"
    return f"{counted(len(untracked), 'new file')} {verb} not committed: {named}{more}"


def _named(git: Git, against: str, head: str) -> Source:
    for name in (against, *(f"{remote}/{against}" for remote in remotes(git))):
        sha = git.rev_parse(name)
        if sha is None:
            continue
        why = name
        if sha == head and not read_changes(git).differs:
            why += ": HEAD itself, so both sides are the same code"
        return Source(sha=sha, ref=name, why=why)
    names = known_names(git)
    unprefixed = (name.removeprefix(f"{remote}/") for remote in remotes(git) for name in names)
    raise BaselineError(
        f"--against {against!r}: there is no such commit, branch or tag in this repository"
        + did_you_mean(against, [*names, *unprefixed]),
        hint=_fetch_named(git, against),
    )


def _no_default(git: Git) -> BaselineError:
    if git.is_shallow():
        remote = _remote(git)
        return BaselineError(
            "this shallow clone does not have the default branch, so there is nothing to compare "
            "with",
            hint=f"git fetch --unshallow {remote} '+refs/heads/*:refs/remotes/{remote}/*'",
        )
    return BaselineError(
        "the default branch is unknown: there is no branch named main, master or trunk",
        hint="Name the base: benchgate check --against REF",
    )


def _unrelated(git: Git, ref: str) -> BaselineError:
    if git.is_shallow():
        return BaselineError(
            f"this shallow clone does not reach back to the commit where HEAD left {ref}",
            hint=f"git fetch --unshallow {_remote(git)}",
        )
    return BaselineError(
        f"HEAD and {ref} have no common history",
        hint="Name the base: benchgate check --against REF",
    )


def _fetch_named(git: Git, against: str) -> str:
    """The command that may fetch a missing name; "" if none can."""
    if not remotes(git):
        return ""
    if FULL_SHA.fullmatch(against):
        return _fetch_commit(git, against)
    return f"git fetch {'--unshallow ' if git.is_shallow() else ''}--tags {_remote(git)}"


def _fetch_commit(git: Git, sha: str) -> str:
    # In a complete clone, fetching with a depth would cut its history off.
    return f"git fetch {'--depth=1 ' if git.is_shallow() else ''}{_remote(git)} {sha}"


def _remote(git: Git) -> str:
    return next(iter(remotes(git)), "origin")
