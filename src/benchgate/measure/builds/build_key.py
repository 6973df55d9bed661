"""What a build depends on: the key of a kept build."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from benchgate import __version__
from benchgate.errors import UsageError
from benchgate.git.repository import Git
from benchgate.measure.machine import read_environment
from benchgate.measure.processes import build_environment
from benchgate.measure.trees import content

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.config import Build
    from benchgate.measure.arm import Arm


FORMAT: Final = 1
# They differ from one call to the next, and no build depends on them.
_OF_A_CALL = frozenset(
    {
        *("_", "OLDPWD", "SHLVL", "COLUMNS", "LINES", "PYTEST_CURRENT_TEST"),
        *("TERM_SESSION_ID", "WINDOWID", "TMUX", "TMUX_PANE", "STY", "GPG_TTY"),
        *("SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "SSH_AUTH_SOCK", "XDG_SESSION_ID"),
    }
)
_TOOLS = (
    *("python3", "python", "pip", "uv", "cc", "c++", "gcc", "g++", "clang", "ld", "make"),
    *("cmake", "ninja", "cargo", "rustc", "go", "node", "npm", "java", "git"),
)
_NO_TOOLS: Final[Mapping[str, str]] = MappingProxyType({})


def build_key(arm: Arm, build: Build, tools: Mapping[str, str] = _NO_TOOLS) -> str:
    """64 hex digits that change if anything changes that decides the result of a build.

    These are the path of the tree, its content and permissions, the commit and the tags, the
    commands and their variables, the environment, the usual tools and the programs of the commands,
    the versions of the tools that are named, the machine, and the version of benchgate. What a
    build reads elsewhere is not known: files outside of the tree, the network and the time.

    Args:
        arm: right before its build.
        tools: versions of the tools that the build names, as far as they are there already. The
            files of some, such as those of rustup, stay the same when their version changes.
    """
    environment = build_environment(arm, {})
    inherited = {name: value for name, value in environment.items() if name not in _OF_A_CALL}
    for name in arm.variables:
        inherited.pop(name, None)
    path = environment.get("PATH", os.defpath)
    programs = {*_TOOLS, *(command[0] for command in build.commands)}
    machine = read_environment(os.environ)
    parts = {
        "versions": [FORMAT, __version__],
        "place": str(arm.root),
        "commit": [arm.sha, _tags(arm.root)],
        "folder": arm.inside,
        "commands": build.commands,
        "variables": dict(build.env),
        "environment": inherited,
        "tools": dict(tools),
        "umask": _umask(),
        "programs": {name: _program(name, path) for name in sorted(programs)},
        "machine": [
            machine.os,
            machine.kernel,
            machine.machine,
            machine.cpu_model,
            machine.cpu_flags_hash,
            machine.cpu_count,
        ],
        "tree": list(content(arm.root)),
    }
    text = json.dumps(parts, sort_keys=True).encode("utf-8", "surrogateescape")
    return hashlib.sha256(text).hexdigest()


def _tags(root: Path) -> str:
    """The repository's tags, which tools read a version from."""
    try:
        return Git(root).run("for-each-ref", "refs/tags")
    except UsageError:
        return ""


def _program(name: str, path: str) -> tuple[str, int, int] | None:
    """A program's file, size and time; None if it is not found."""
    found = shutil.which(name, path=path)
    if found is None:
        return None
    real = Path(os.path.realpath(found))
    seen = real.stat()
    return str(real), seen.st_size, seen.st_mtime_ns


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
