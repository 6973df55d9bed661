"""Which branch is the default branch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.git.repository import Git

_USUAL_NAMES = ("main", "master", "trunk")


@dataclass(frozen=True, slots=True)
class DefaultBranch:
    """The branch that changes are made for.

    Attributes:
        name: without the remote, e.g. "main".
        refs: where it exists, in full and the local one first, e.g. "refs/remotes/origin/main".
    """

    name: str
    refs: tuple[str, ...]


def default_branch(git: Git) -> DefaultBranch | None:
    """What the remote calls its default, else a usual name, else the only branch there is."""
    for name in _names(git):
        refs = _existing(git, (f"refs/heads/{name}", *_tracking(git, name)))
        if refs:
            return DefaultBranch(name, refs)
    return None


def remotes(git: Git) -> tuple[str, ...]:
    """The remotes by name, origin first."""
    names = git.run("remote").splitlines()
    return tuple(sorted(names, key=lambda name: (name != "origin", name)))


def current_branch(git: Git) -> str | None:
    """The branch that is checked out; None when HEAD is detached."""
    ref = git.ask("symbolic-ref", "--quiet", "HEAD")
    return None if ref is None else ref.removeprefix("refs/heads/")


def upstream(git: Git, branch: str) -> str | None:
    """The full ref that a local branch follows: as configured, else of the same name."""
    configured = git.run("for-each-ref", "--format=%(upstream)", f"refs/heads/{branch}").strip()
    candidates = (configured, *_tracking(git, branch)) if configured else _tracking(git, branch)
    return next(iter(_existing(git, candidates)), None)


def short_name(ref: str) -> str:
    """A full ref as people write it: "refs/remotes/origin/main" is "origin/main"."""
    for prefix in ("refs/heads/", "refs/remotes/", "refs/tags/"):
        if ref.startswith(prefix):
            return ref.removeprefix(prefix)
    return ref


def known_names(git: Git) -> tuple[str, ...]:
    """Branches, tags and remote branches, as people write them."""
    listed = git.run(
        "for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags", "refs/remotes"
    )
    return tuple(short_name(ref) for ref in listed.splitlines())


def _names(git: Git) -> Iterable[str]:
    known_remotes = remotes(git)
    for remote in known_remotes:
        ref = git.ask("symbolic-ref", "--quiet", f"refs/remotes/{remote}/HEAD")
        if ref is not None:
            yield ref.removeprefix(f"refs/remotes/{remote}/")
    configured = git.ask("config", "--get", "init.defaultBranch")
    if configured:
        yield configured
    yield from _USUAL_NAMES
    branches = git.run("for-each-ref", "--format=%(refname)", "refs/heads").splitlines()
    # The only branch of a clone may be any branch; the only one of all is the default.
    if len(branches) == 1 and not known_remotes:
        yield branches[0].removeprefix("refs/heads/")


def _tracking(git: Git, name: str) -> tuple[str, ...]:
    return tuple(f"refs/remotes/{remote}/{name}" for remote in remotes(git))


def _existing(git: Git, refs: Iterable[str]) -> tuple[str, ...]:
    return tuple(ref for ref in refs if git.rev_parse(ref) is not None)
