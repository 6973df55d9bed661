"""The base: its commit, its configuration, and whether it has benchmarks of its own."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from benchgate.config import loads, loads_folder, policy_from
from benchgate.config.benchmarks import (
    FunctionBenchmarks,
    LiveBenchmarks,
    ProgramBenchmark,
    ScenarioBenchmark,
    is_benchmark_file,
)
from benchgate.config.load import OWN_FILE, SHARED_FILE
from benchgate.errors import BaselineError, ConfigError, did_you_mean
from benchgate.git.changes import gitlinks, read_changes
from benchgate.git.committed import (
    committed_bytes,
    list_committed,
    read_committed,
    resolve_committed,
)
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
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import PurePath

    from benchgate.config import Config
    from benchgate.git.repository import DefaultBranch, Git


BASE_HAS_NONE: Final = "the base has no configuration, so the change was judged by its own"
"""The warning if the change introduces the first configuration."""

MOST_BYTES: Final = 100_000
"""Size limit of a benchgate.toml."""

MOST_SHARED_BYTES: Final = 1_000_000
"""Size limit of a pyproject.toml, most of which belongs to other tools."""

MOST_ENTRIES: Final = 300
"""Most rules, waivers, benchmarks or aliases in a fork's configuration: comparing takes time."""

_DEFAULTS: Final = loads("", "the defaults")
_NAMES = (OWN_FILE, SHARED_FILE)
_SHORT_SHA = 7


def judged_by_base(git: Git, sha: str, head: Config, start: Path) -> tuple[Config, tuple[str, ...]]:
    """Use the base's configuration to judge, if the base uses benchgate already.

    If the base has no configuration file, but has benchmarks that are found without one, the
    defaults apply. Otherwise the change introduces benchgate, and the base has nothing to measure.

    Args:
        sha: the base commit.
        head: the change's own configuration, with the options of the command line.
        start: the folder where the search for the head's configuration started.

    Returns:
        The configuration to use, and a warning if it had to be the head's own.
    """
    base, problem = _base_or_problem(git, sha, head, start)
    if problem:
        warning = "judged by the change's own configuration, because the base's is not valid:"
        return head, (f"{warning} {problem}",)
    if base is not None:
        return policy_from(base, head), ()
    if head.source is None or _inside(git, start / head.source) is None:
        return head, ()
    if _is_measured_by_default(git, sha):
        return policy_from(_DEFAULTS, head), ()
    return replace(head, base=replace(_DEFAULTS, is_empty=True)), (BASE_HAS_NONE,)


def measured_by_base(
    git: Git, sha: str, head: Config, start: Path
) -> tuple[Config, tuple[str, ...]]:
    """Use the working tree's configuration to judge, and the base's own to measure the base.

    A base without a configuration, such as an old release, is built and measured with that of the
    working tree. Arguments and the value are those of `judged_by_base`.
    """
    base, problem = _base_or_problem(git, sha, head, start)
    if problem:
        warning = "the base is measured with this configuration, because its own is not valid:"
        return head, (f"{warning} {problem}",)
    return (replace(head, base=base) if base else head), ()


def _base_or_problem(git: Git, sha: str, head: Config, start: Path) -> tuple[Config | None, str]:
    try:
        return base_config(git, sha, head, start), ""
    except ConfigError as error:
        return None, error.message.replace("\n ", "")


def base_config(git: Git, sha: str, head: Config, start: Path) -> Config | None:
    """Read the configuration of a commit.

    The search is that of `load`: upwards from the folder where the command was called, whatever
    the head's configuration file is, because a change must not choose the rules by moving files. If
    the command line names a file, only that file is looked for.

    Args:
        sha: the commit.
        head: the configuration of another commit; it tells whether its file was named.
        start: the folder, under the name used to call the command: the head may have made it a
            link.

    Returns:
        None if the commit has no configuration, or if the file named is outside of the repository.

    Raises:
        ConfigError: it is not valid, or too large.
    """
    named = head.source if head.origin.named else None
    inside = _inside(git, start / named if named else start)
    if inside is None:
        return None
    if named:
        return config_at(git, sha, inside.as_posix())
    folder = resolve_committed(git, sha, inside.as_posix())
    if folder is None:
        return None
    place = PurePosixPath(folder)
    for one in (place, *place.parents):
        texts = _texts(git, sha, [(one / name).as_posix() for name in _NAMES])
        config = loads_folder(texts, one.as_posix())
        if config is not None:
            return config
    return None


def config_at(git: Git, sha: str, path: str) -> Config | None:
    """Read the configuration at a path of a commit; None if there is none."""
    return loads_folder(_texts(git, sha, [path]), PurePosixPath(path).parent.as_posix())


def require_few(config: Config) -> None:
    """Refuse an untrusted configuration that would take long to compare with another.

    Raises:
        ConfigError: a table has more entries than anybody would write.
    """
    glob = "Use a glob that matches several benchmarks."
    entries = (
        ("[[rule]]", len(config.rules), glob),
        ("[[waive]]", len(config.waivers), glob),
        ("[[benchmark]]", len(config.benchmarks), glob),
        ("[aliases]", len(config.aliases), "Rename the benchmarks in several pull requests."),
    )
    for table, count, hint in entries:
        if count > MOST_ENTRIES:
            raise ConfigError(
                f"{config.origin.name}: has {count} {table}, but at most {MOST_ENTRIES} "
                "are read from a pull request",
                hint=hint,
            )


def _is_measured_by_default(git: Git, sha: str) -> bool:
    """Whether a commit has no configuration anywhere, but benchmarks that need none.

    If another folder has a configuration, that one covers the benchmarks found there.
    """
    paths = [PurePosixPath(path) for path in list_committed(git, sha)]
    if any(path.name == OWN_FILE for path in paths):
        return False
    shared = (path.as_posix() for path in paths if path.name == SHARED_FILE)
    if any("tool.benchgate" in (read_committed(git, sha, path) or "") for path in shared):
        return False
    return any(map(is_benchmark_file, paths))


def _inside(git: Git, path: Path) -> PurePosixPath | None:
    """A path relative to the repository's root, without resolving links; None if outside.

    Args:
        path: absolute. The part that leads to the repository may contain links.
    """
    lexical = Path(os.path.normpath(path))
    root = git.root.resolve()
    for folder in reversed((lexical, *lexical.parents)):
        if folder.resolve() == root:
            return PurePosixPath(lexical.relative_to(folder).as_posix())
    resolved = path.resolve()
    if not resolved.is_relative_to(root):
        return None
    return PurePosixPath(resolved.relative_to(root).as_posix())


def _texts(git: Git, sha: str, paths: list[str]) -> dict[str, str]:
    """Read files of a commit, by their names in git and in messages: "a1b2c3d:setup.toml"."""
    texts = {}
    for path in paths:
        name = f"{sha[:_SHORT_SHA]}:{path}"
        limit = MOST_SHARED_BYTES if path.endswith(SHARED_FILE) else MOST_BYTES
        if committed_bytes(git, sha, path) > limit:
            raise ConfigError(
                f"{name}: is larger than the limit of {limit} bytes", hint="Make it shorter."
            )
        text = read_committed(git, sha, path)
        if text is None:
            continue
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise ConfigError(f"{name}: is not UTF-8 text", hint="Save it as UTF-8.")
        texts[name] = text.removeprefix("\ufeff")
    return texts


BASE_HAS_NO_BENCHMARKS: Final = (
    "the base has no benchmarks, so both sides were measured with those of the head"
)
"""The warning if the head's benchmarks are used on their own account."""

BENCHMARKS_OF_HEAD: Final = (
    "both sides were measured with the benchmarks of the head (--benchmarks head)"
)
"""The warning if somebody asked for the head's benchmarks."""

OWN_BENCHMARKS: Final = (
    "each side was measured with its own benchmarks (--benchmarks own): those that differ are not "
    "compared"
)
"""The warning if somebody asked for each side's own benchmarks."""


def has_no_benchmarks(git: Git, sha: str, config: Config) -> bool:
    """Whether a commit surely has no benchmarks of its own.

    If it may have some that the commit does not show, in a submodule or made by [build], the
    answer is no: a change must not be able to replace the benchmarks that gate it.

    Args:
        config: of the comparison; its `base` says what is measured in the commit.
    """
    own = config.base
    if own is None:  # the commit has no configuration
        return _has_folder(git, sha, config) and not _may_hold_files(git, sha, config)
    if own.is_empty:
        return _has_folder(git, sha, config)
    if any(isinstance(one, ProgramBenchmark) for one in own.benchmarks):
        return False
    is_made = bool(own.benchmarks and own.build.commands)
    return not is_made and not _may_hold_files(git, sha, own)


def with_benchmarks_of_head(config: Config) -> Config:
    """Measure the head's benchmarks in the base too; what builds the base stays as it is."""
    if config.base is None or config.base.is_empty:
        return replace(config, base=None)
    return replace(config, base=replace(config.base, benchmarks=config.benchmarks))


def _may_hold_files(git: Git, sha: str, config: Config) -> bool:
    """Whether a commit may have benchmark files where a configuration looks for them."""
    searched: list[tuple[str, Callable[[PurePath], bool]]] = [
        (PurePosixPath(config.folder, path).as_posix(), one.may_hold)
        for one in config.benchmarks
        if isinstance(one, FunctionBenchmarks)
        for path in one.paths
    ]
    if any(
        isinstance(one, LiveBenchmarks) and not isinstance(one, FunctionBenchmarks)
        for one in config.benchmarks
    ):
        return True  # a tool finds them, or they are built
    searched += [
        (PurePosixPath(config.folder, one.scenario).as_posix(), lambda _: True)
        for one in config.benchmarks
        if isinstance(one, ScenarioBenchmark)
    ]
    if config.searches:
        searched = [(".", is_benchmark_file)]
    places = [(resolve_committed(git, sha, path), may_hold) for path, may_hold in searched]
    if any(place is None for place, _ in places):  # a link leads out of the repository
        return True
    committed = [PurePosixPath(path) for path in list_committed(git, sha)]
    modules = [PurePosixPath(path) for path in gitlinks(git, sha)]
    return any(
        _holds(PurePosixPath(place or "."), may_hold, committed, modules)
        for place, may_hold in places
    )


def _has_folder(git: Git, sha: str, config: Config) -> bool:
    """Whether a commit has the folder of a configuration, and so something to measure."""
    folder = PurePosixPath(config.folder)
    return any(PurePosixPath(path).is_relative_to(folder) for path in list_committed(git, sha))


def _holds(
    place: PurePosixPath,
    may_hold: Callable[[PurePath], bool],
    committed: Iterable[PurePosixPath],
    modules: Iterable[PurePosixPath],
) -> bool:
    if any(one.is_relative_to(place) or place.is_relative_to(one) for one in modules):
        return True
    files = (path.relative_to(place) for path in committed if path.is_relative_to(place))
    return any(may_hold(file if file.parts else PurePosixPath(place.name)) for file in files)


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
