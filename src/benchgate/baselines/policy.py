"""The configuration of the base commit, by which a change is judged."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from benchgate.config import loads_folder, policy_from
from benchgate.config.load import OWN_FILE, SHARED_FILE
from benchgate.errors import ConfigError
from benchgate.git.contents import read_committed

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.config import Config
    from benchgate.git.repository import Git

_NAMES = (OWN_FILE, SHARED_FILE)
_SHORT_SHA = 7


def judged_by_base(git: Git, sha: str, head: Config, start: Path) -> tuple[Config, tuple[str, ...]]:
    """Judge what the head measures by the configuration of the base, where it has one.

    Args:
        sha: the base commit.
        head: the change's own configuration, with the options of the command line.
        start: the folder that the head's was searched from.

    Returns:
        The configuration to use, and a warning where it had to be the head's own.
    """
    try:
        base = base_config(git, sha, head, start)
    except ConfigError as error:
        why = error.message.replace("\n ", "")
        return head, (
            f"judged by the change's own configuration, because the base's is not: {why}",
        )
    return (head if base is None else policy_from(base, head)), ()


def base_config(git: Git, sha: str, head: Config, start: Path) -> Config | None:
    """Read the configuration that a commit has where the head has its own.

    A file with a name of its own is looked for under that name alone; the others as `load` does,
    upwards from the folder of the head's.

    Args:
        sha: the commit.
        head: its own configuration tells where to look.
        start: where to look if the head has none: the folder that it was searched from.

    Returns:
        None where the commit has none, or the head's lies outside of the repository.

    Raises:
        ConfigError: it is not valid.
        UsageError: the commit is not here.
    """
    place = head.source or start / OWN_FILE
    folder = place.parent.resolve()
    if not folder.is_relative_to(git.root):
        return None
    inside = PurePosixPath(folder.relative_to(git.root).as_posix())
    searched = [inside, *inside.parents] if place.name in _NAMES else [inside]
    names = _NAMES if place.name in _NAMES else (place.name,)
    for one in searched:
        config = loads_folder(_texts(git, sha, [(one / name).as_posix() for name in names]))
        if config is not None:
            return config
    return None


def _texts(git: Git, sha: str, paths: list[str]) -> dict[str, str]:
    """The files that a commit has, by what git and our messages call them: "a1b2c3d:setup.toml"."""
    found = {f"{sha[:_SHORT_SHA]}:{path}": read_committed(git, sha, path) for path in paths}
    texts = {name: text.removeprefix("\ufeff") for name, text in found.items() if text is not None}
    for name, text in texts.items():
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise ConfigError(f"{name}: is not UTF-8 text", hint="save it as UTF-8")
    return texts
