"""The configuration of the base: which of its keys judge, and which measure."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from benchgate.config import loads, loads_folder, policy_from
from benchgate.config.live_benchmarks import is_benchmark_file
from benchgate.config.load import OWN_FILE, SHARED_FILE
from benchgate.errors import ConfigError
from benchgate.git.committed import (
    committed_bytes,
    list_committed,
    read_committed,
    resolve_committed,
)

if TYPE_CHECKING:
    from benchgate.config import Config
    from benchgate.git.repository import Git


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
