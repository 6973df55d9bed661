"""Runs git without changing the user's repository and without prompts."""

from __future__ import annotations

import base64
import os
import re
import shlex
import shutil
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.errors import BaselineError, NotARepositoryError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


FULL_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
"""A commit, named in full."""

# Git sets these in hooks; they would lead every git process below into the user's checkout.
_LOCAL_VARIABLES = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_QUARANTINE_PATH",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)
_SETTINGS = {
    # Read commits by their real hash: `git replace` could put the head in the base's place.
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_OPTIONS = (
    "--no-pager",
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "diff.autoRefreshIndex=false"),  # GIT_OPTIONAL_LOCKS does not stop `diff` from it
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    *("-c", "worktree.useRelativePaths=false"),  # `true` writes into the user's configuration
)
_NO_SUCH_THING = 1
_OLDEST = (2, 30)
_VERSION = re.compile(r"git version (\d+)\.(\d+)\S*")
# What reads is done in seconds. What fetches, or writes or removes a tree, may move gigabytes.
_READING_LIMIT_S = 120.0
_MOVING_LIMIT_S = 1800.0
_ENDING_S = 30.0
# Git writes the files of a new worktree one after another, and fails in every other command that
# meets an empty one.
_UNFINISHED_WORKTREE = re.compile(r"failed to read \S*/worktrees/")
_UNFINISHED_ATTEMPTS = 20
_UNFINISHED_WAIT_S = 0.05


def clean_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Leave out the variables that a calling git sets for its own repository and index."""
    return {name: value for name, value in environ.items() if name not in _LOCAL_VARIABLES}


def find_root(start: Path) -> Path:
    """Find the root of the checkout that a folder lies in."""
    _require_version(start)
    done = _git(start, "rev-parse", "--show-toplevel")
    if done.exit_code == 0:
        return Path(done.output.removesuffix("\n"))
    if "safe.directory" in done.error:
        remedy = [line.strip() for line in done.error.splitlines() if "--add" in line]
        raise UsageError(
            f"git does not trust {start}: the folder belongs to another user",
            hint="\n".join(remedy) or "git config --global --add safe.directory '*'",
        )
    if "not a git repository" in done.error:
        raise NotARepositoryError(
            f"{start} is not in a git repository",
            hint="Run this inside of a repository, because it compares commits. "
            "Without one, measure with `benchgate run` and use `benchgate compare`.",
        )
    if "must be run in a work tree" in done.error:
        raise UsageError(
            f"{start} is part of a git repository's own folder: it has no files to measure",
            hint="Run this in a checkout of the repository.",
        )
    raise UsageError(f"git cannot work in {start}", details=done.error)


@dataclass(frozen=True, slots=True)
class Git:
    """One checkout: the user's, or that of a submodule in it.

    Attributes:
        root: its topmost folder, as `find_root` returns it.
        outputs: files that benchgate writes; in the checkout they are not part of the code.
        credentials: environment variables that let git fetch from the repository's server.
    """

    root: Path
    outputs: tuple[Path, ...] = ()
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    def run(
        self,
        *arguments: str,
        variables: Mapping[str, str] | None = None,
        may_fetch: bool = False,
        stdin: str = "",
        timeout_s: float | None = None,
    ) -> str:
        """Run git and return its output; bytes that are not UTF-8 become surrogates.

        Args:
            variables: environment variables in addition to those of this process.
            may_fetch: whether the command may need what this clone lacks; no other command gets
                the credentials. A partial clone fetches files, and git-lfs large ones, when they
                are read.
            stdin: what git reads from its standard input.

        Raises:
            UsageError: git fails; its output is in the details.
            TimeoutExpired: git was ended after `timeout_s`. Without it, that is a UsageError after
                a time that no git needs which works.
        """
        added = {**(self.credentials if may_fetch else {}), **(variables or {})}
        moves = may_fetch or arguments[0] == "worktree"
        for _ in range(_UNFINISHED_ATTEMPTS):
            done = _git(
                self.root,
                *arguments,
                variables=added,
                stdin=stdin,
                timeout_s=timeout_s,
                limit_s=_MOVING_LIMIT_S if moves else _READING_LIMIT_S,
            )
            if done.exit_code == 0:
                return done.output
            if not _UNFINISHED_WORKTREE.search(done.error):
                break
            time.sleep(_UNFINISHED_WAIT_S)
        raise self._failure(arguments, done)

    def ask(self, *arguments: str) -> str | None:
        """Return git's output without the line end; None if git says that there is nothing.

        Raises:
            UsageError: git fails for another reason.
        """
        done = _git(self.root, *arguments)
        if done.exit_code == _NO_SUCH_THING:
            return None
        if done.exit_code != 0:
            raise self._failure(arguments, done)
        return done.output.removesuffix("\n")

    def rev_parse(self, revision: str) -> str | None:
        """Return the commit that a name, hash or expression refers to; None if there is none."""
        if revision.startswith("-"):
            return None
        done = _git(self.root, "rev-parse", "--quiet", "--verify", f"{revision}^{{commit}}")
        return done.output.strip() if done.exit_code == 0 else None

    def head_sha(self) -> str:
        """Return the commit that is checked out."""
        sha = self.rev_parse("HEAD")
        if sha is None:
            raise UsageError(
                f"the git repository {self.root} has no commit yet",
                hint="Commit your files; then benchgate can compare the next change with them.",
            )
        return sha

    def merge_base(self, commit: str, *others: str) -> str | None:
        """Return the nearest common ancestor of a commit and any of the others, or None."""
        return self.ask("merge-base", commit, *others)

    def submodule(self, path: str) -> Git:
        """The checkout of a submodule, which may not be there.

        Args:
            path: from the root, as `gitlinks` returns it.
        """
        return Git(self.root / path, credentials=self.credentials)

    def parents(self, sha: str) -> tuple[str, ...]:
        """Return the parents that a commit names, in order, even if a shallow clone lacks them."""
        header = self.run("cat-file", "commit", sha).partition("\n\n")[0]
        return tuple(
            line.removeprefix("parent ")
            for line in header.splitlines()
            if line.startswith("parent ")
        )

    def is_shallow(self) -> bool:
        """Whether the clone is shallow: its history is cut off."""
        return self.run("rev-parse", "--is-shallow-repository").strip() == "true"

    def worktrees(self) -> tuple[Path, ...]:
        """Return every checkout of this repository, even if its folder no longer exists."""
        lines = self.run("worktree", "list", "--porcelain").split("\n")
        return tuple(
            Path(line.removeprefix("worktree ")) for line in lines if line.startswith("worktree ")
        )

    def _failure(self, arguments: tuple[str, ...], done: _Done) -> UsageError:
        return UsageError(
            f"git {arguments[0]} failed in {self.root} (exit code {done.exit_code})",
            details=done.error,
        )


@dataclass(frozen=True, slots=True)
class _Done:
    exit_code: int
    output: str
    error: str


def _require_version(folder: Path) -> None:
    """Make sure that git has the options that benchgate gives it."""
    found = _VERSION.match(_git(folder, "version").output)
    if found and (int(found[1]), int(found[2])) < _OLDEST:
        raise UsageError(
            f"{found[0]} is too old: benchgate needs {_OLDEST[0]}.{_OLDEST[1]} or newer",
            hint=f"Install a newer git. The PATH leads to {shutil.which('git')}.",
        )


def _git(
    folder: Path,
    *arguments: str,
    variables: Mapping[str, str] | None = None,
    stdin: str = "",
    timeout_s: float | None = None,
    limit_s: float | None = None,
) -> _Done:
    try:
        process = subprocess.Popen(
            ["git", "-C", str(folder), *_OPTIONS, *arguments],  # noqa: S607 - the user's own git
            env=clean_environ(os.environ) | _SETTINGS | dict(variables or {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except FileNotFoundError:
        oldest = ".".join(map(str, _OLDEST))
        raise UsageError("git was not found", hint=f"Install git {oldest} or newer.") from None
    limit_s = limit_s or _READING_LIMIT_S
    try:
        output, error = process.communicate(os.fsencode(stdin), timeout=timeout_s or limit_s)
    except subprocess.TimeoutExpired:
        _end(process)
        if timeout_s:
            raise
        raise UsageError(
            f"git {arguments[0]} did not end within {limit_s:g} s in {folder}",
            hint=f"Run `git -C {shlex.quote(str(folder))} {arguments[0]}` yourself: it may wait "
            "for a password, for a lock, or for a file system or server that does not answer.",
        ) from None
    except BaseException:
        _end(process)
        raise
    return _Done(process.returncode, os.fsdecode(output), os.fsdecode(error).strip())


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git. It may hang, even forever if a file system does."""
    process.terminate()  # on SIGTERM, git removes unfinished files
    try:
        process.wait(_ENDING_S)
    except subprocess.TimeoutExpired:
        process.kill()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_ENDING_S)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):  # what was not sent
                pipe.close()


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
