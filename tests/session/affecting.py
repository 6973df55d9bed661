"""Makes changes to a project, and asks which benchmarks they affect."""

from __future__ import annotations

from contextlib import chdir
from typing import TYPE_CHECKING

from tests.session.changes.change import PRELUDE, Change, Link, Program
from tests.session.changes.idle import EDITS, FILES
from tests.session.changes.imports import IMPORTS
from tests.session.changes.names import NAMES
from tests.session.changes.reads import READS
from tests.session.changes.runs import RUNS

from benchgate.cli.world import configuration, real_effects
from benchgate.model.policy import Options
from benchgate.session.checking import CheckRequest, affected

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.session.changes.change import Files, Text

    from benchgate.git.repository import Git

CONFIG = '[[benchmark]]\npython = "benchmarks"\n'


def write(git: Git, files: Files) -> None:
    for name, text in files.items():
        path = git.root / name
        if path.is_symlink() or text is None:
            path.unlink()
        if text is None:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, Link):
            path.symlink_to(text)
        else:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            path.chmod(0o755 if isinstance(text, Program) else 0o644)


def reasons(git: Git, base: Files, head: Files, config: str = CONFIG) -> Mapping[str, str]:
    """What `benchgate affected` would say of a change to a new repository."""
    for files in ({"benchgate.toml": config, **base}, head):
        write(git, files)
        git.run("add", "--all")
        git.run("commit", "--quiet", "--allow-empty", "--message", "work")
    return reasons_of_last(git)


def reasons_of_last(git: Git) -> Mapping[str, str]:
    """What it would say of the last commit."""
    with chdir(git.root):
        against = Options(against="HEAD^")
        read = configuration(git.root, git, None).with_overrides(against)
        return affected(CheckRequest(), read, git, real_effects(quiet=True))


def wrong(git: Git, changes: Sequence[Change], config: str = CONFIG) -> dict[str, tuple[str, str]]:
    """Make all changes at once; for each that is told wrongly, what was expected, and what is."""
    assert len({one.name for one in changes}) == len(changes)
    base: dict[str, Text] = {
        "benchmarks/bench_all.py": PRELUDE + "".join(one.function() for one in changes)
    }
    head: dict[str, Text] = {}
    for one in changes:
        base.update(one.files(is_head=False))
        head.update(one.files(is_head=True))
    found = reasons(git, base, head, config)
    assert found.keys() == {f"all/{one.name}" for one in changes}
    told = {one: found[f"all/{one.name}"] for one in changes}
    return {
        one.name: (one.expected(), why)
        for one, why in told.items()
        if (one.expected() not in why or not one.expected()) and why != one.expected()
    }


REACHING = {"reads": READS, "imports": IMPORTS, "runs": RUNS, "names": NAMES}
IDLE = {"files": FILES, "edits": EDITS}
