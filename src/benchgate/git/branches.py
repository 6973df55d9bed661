"""Finds the branches of a repository, and fetches missing commits."""

from __future__ import annotations

import base64
import re
import subprocess
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.errors import BaselineError, UsageError
from benchgate.git.repository import FULL_SHA

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.git.repository import Git

_ON_GITHUB = re.compile(
    r"(?:https://(?:[^@/]*@)?|ssh://git@|git@)github\.com[:/]([\w-]+/[\w.-]+?)(?:\.git)?/?",
    re.ASCII,
)
_USUAL_NAMES = ("main", "master", "trunk")


@dataclass(frozen=True, slots=True)
class DefaultBranch:
    """The default branch, which changes are merged into.

    Attributes:
        name: without the remote, e.g. "main".
        refs: its full refs, the local one first, e.g. "refs/remotes/origin/main".
    """

    name: str
    refs: tuple[str, ...]


def default_branch(git: Git) -> DefaultBranch | None:
    """Return the remote's default, else a branch with a usual name, else the only branch."""
    for name in _names(git):
        refs = _existing(git, (f"refs/heads/{name}", *_tracking(git, name)))
        if refs:
            return DefaultBranch(name, refs)
    return None


def remotes(git: Git) -> tuple[str, ...]:
    """Return the names of the remotes, origin first."""
    names = git.run("remote").splitlines()
    return tuple(sorted(names, key=lambda name: (name != "origin", name)))


def github_repository(git: Git) -> str | None:
    """Return the "owner/name" of the first remote that is on github.com; None if none is."""
    for remote in remotes(git):
        url = git.ask("config", "--get", f"remote.{remote}.url") or ""
        if match := _ON_GITHUB.fullmatch(url):
            return match[1]
    return None


def current_branch(git: Git) -> str | None:
    """Return the branch that is checked out; None if HEAD is detached."""
    ref = git.ask("symbolic-ref", "--quiet", "HEAD")
    return None if ref is None else ref.removeprefix("refs/heads/")


def upstream(git: Git, branch: str) -> str | None:
    """Return the full ref that a local branch tracks: as configured, else with the same name."""
    configured = git.run("for-each-ref", "--format=%(upstream)", f"refs/heads/{branch}").strip()
    candidates = (configured, *_tracking(git, branch)) if configured else _tracking(git, branch)
    return next(iter(_existing(git, candidates)), None)


def short_name(ref: str) -> str:
    """Return a full ref as people write it: "refs/remotes/origin/main" becomes "origin/main"."""
    for prefix in ("refs/heads/", "refs/remotes/", "refs/tags/"):
        if ref.startswith(prefix):
            return ref.removeprefix(prefix)
    return ref


def known_names(git: Git) -> tuple[str, ...]:
    """Return branches, tags and remote branches, as people write them."""
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
    # A clone may hold only one branch, whichever it is; if no other exists at all, it is the
    # default.
    if len(branches) == 1 and not known_remotes:
        yield branches[0].removeprefix("refs/heads/")


def _tracking(git: Git, name: str) -> tuple[str, ...]:
    return tuple(f"refs/remotes/{remote}/{name}" for remote in remotes(git))


def _existing(git: Git, refs: Iterable[str]) -> tuple[str, ...]:
    return tuple(ref for ref in refs if git.rev_parse(ref) is not None)


FETCH_TIMEOUT_S = 300.0


def ensure_commit(git: Git, sha: str) -> None:
    """Make sure that a commit and its files are in this clone; fetch only them if they are not.

    Raises:
        BaselineError: the commit cannot be fetched; git's output is in the details.
    """
    if not FULL_SHA.fullmatch(sha):  # untrusted: git could take it for an option
        raise BaselineError(f"the base is {sha!r}, which is not a full commit hash")
    if git.rev_parse(sha) is not None:
        return
    remote = next(iter(remotes(git)), None)
    if remote is None:
        raise BaselineError(
            f"the base commit {sha[:12]} is not in this checkout, which has no remote",
            hint="Check out the repository with actions/checkout, or name another base.",
        )
    # In a complete clone, a depth would cut off its history.
    depth = ("--depth=1",) if git.is_shallow() else ()
    alone = ("--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
    command = ("fetch", "--quiet", *alone, *depth, remote, sha)
    try:
        git.run(*command, may_fetch=True, timeout_s=FETCH_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise BaselineError(
            f"the base commit {sha[:12]} was not fetched within {FETCH_TIMEOUT_S:.0f} s",
            hint="Run the job again, or check out with `fetch-depth: 0`.",
        ) from None
    except UsageError as error:
        raise BaselineError(
            f"the base commit {sha[:12]} cannot be fetched from {remote}",
            hint="Give the token the permission `contents: read`, or check out with "
            "`fetch-depth: 0`.",
            details=error.details,
        ) from None


def with_token(git: Git, server_url: str, token: str, environ: Mapping[str, str]) -> Git:
    """Let git send a token to one server, and to no other.

    Environment variables keep the token out of the configuration, where later steps would find it,
    and out of the arguments, which every process can read. If the checkout has credentials of its
    own for that server, as actions/checkout leaves them, git uses these alone: git-lfs would send
    both, and GitHub refuses that.

    Args:
        server_url: e.g. "https://github.com".
        environ: the environment of this process, which may hold settings of git, too.
    """
    own = git.ask("config", "--get-urlmatch", "http.extraheader", f"{server_url}/") or ""
    if own.lower().startswith("authorization:"):
        return git
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    count = environ.get("GIT_CONFIG_COUNT", "")
    index = int(count) if count.isdecimal() else 0
    variables = {
        "GIT_CONFIG_COUNT": str(index + 1),
        f"GIT_CONFIG_KEY_{index}": f"http.{server_url}/.extraheader",
        f"GIT_CONFIG_VALUE_{index}": f"AUTHORIZATION: basic {basic}",
    }
    return replace(git, credentials=variables)
