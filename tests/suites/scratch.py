"""A project of a tool in a repository of its own, and what is typed there."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from tests.suites.page import shown_files
from tests.suites.tools import PROJECTS

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.git.repository import Git


def make_scratch(git: Git, project: str) -> Path:
    """Copy a project into a repository, with the files that the page shows, and commit it."""
    shutil.copytree(PROJECTS / project, git.root, dirs_exist_ok=True)
    for name, text in shown_files(project).items():
        path = git.root / name
        path.write_text(text, encoding="utf-8")
        if text.startswith("#!"):
            path.chmod(0o755)
    commit(git)
    return git.root


def commit(git: Git) -> None:
    """Commit everything."""
    git.run("add", ".")
    git.run("commit", "--quiet", "--message", "work")


def typed(command: str, folder: Path, allowed: set[int] | None = None) -> str:
    """Run a command as a user types it, and give what it prints on standard output."""
    done = subprocess.run(
        ["/bin/sh", "-e", "-c", command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=290,  # sooner than pytest's
        check=False,
    )
    report = f"exit code {done.returncode}: {command}\n{done.stdout}\n{done.stderr}"
    assert done.returncode in (allowed or {0}), report
    return done.stdout
