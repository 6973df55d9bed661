"""Creates the real side effects: clock, consoles, repository, configuration."""

from __future__ import annotations

import os
import secrets
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

from rich.console import Console

from benchgate.cli.boundary import Unread
from benchgate.config import load
from benchgate.errors import NotARepositoryError
from benchgate.git.repository import Git, find_root
from benchgate.model.redact import Redactor
from benchgate.report.progress import create_progress
from benchgate.session.effects import Effects
from benchgate.session.phases import Phases

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.config import Config
    from benchgate.measure.builds import BuildCache


_SEED_BITS = 32
CI_VARIABLES: Final = (
    *("CI", "GITHUB_ACTIONS", "GITLAB_CI", "CIRCLECI", "BUILDKITE", "TF_BUILD", "JENKINS_URL"),
    *("TEAMCITY_VERSION", "BITBUCKET_BUILD_NUMBER", "CODEBUILD_BUILD_ID"),
)
"""Variables of which CI systems set at least one."""

_NO = frozenset({"", "0", "false", "no", "off"})
# The moment when the process started, among the fields after its name.
_START_FIELD = 19


def console(*, stderr: bool = False) -> Console:
    """Make a console for people; rich decides on color, and honors NO_COLOR."""
    file = cast("IO[str]", Unread()) if stderr else None
    return Console(file=file, highlight=False, soft_wrap=not sys.stdout.isatty())


def real_effects(
    *, quiet: bool = False, cwd: Path | None = None, builds: BuildCache | None = None
) -> Effects:
    """Make the real side effects.

    Args:
        cwd: the folder where the command was called, if the shell knows it by another name.
        builds: where builds are kept.
    """
    return Effects(
        clock=time.monotonic,
        now=lambda: datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        draw_seed=lambda: secrets.randbits(_SEED_BITS),
        environ=dict(os.environ),
        cwd=cwd or Path.cwd(),
        progress=create_progress(
            console(stderr=True),
            quiet=quiet,
            plain=is_in_ci(os.environ),
            redact=Redactor(os.environ),
        ),
        phases=Phases(time.monotonic, time.monotonic() - _age_s()),
        builds=builds,
    )


def _age_s() -> float:
    """How long this process has been running; if the system does not tell, its CPU time."""
    try:
        fields = Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        booted_s = time.clock_gettime(time.CLOCK_BOOTTIME)
        return max(0.0, booted_s - int(fields[_START_FIELD]) / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, AttributeError):
        return time.process_time()


def is_in_ci(environ: Mapping[str, str]) -> bool:
    """Whether a CI system runs benchgate, as far as its variables tell."""
    return any(environ.get(name, "").strip().lower() not in _NO for name in CI_VARIABLES)


def working_directory() -> Path:
    """The folder where the command was called, by the name that the shell uses for it.

    So a folder that a change replaced with a symbolic link keeps its name.
    """
    cwd = Path.cwd()
    named = Path(os.environ.get("PWD", ""))
    is_same = named.is_absolute() and named.resolve() == cwd
    return named if is_same and ".." not in named.parts else cwd


def repository(cwd: Path, outputs: Iterable[Path | None] = ()) -> Git:
    """Find the repository where the command was called.

    Args:
        outputs: files that the command writes; if an earlier call wrote them, they do not count as
            changes of the code.
    """
    return Git(find_root(cwd), tuple(path.resolve() for path in outputs if path))


def repository_or_none(cwd: Path, outputs: Iterable[Path | None] = ()) -> Git | None:
    """Find the repository, for commands that also work without one."""
    try:
        return repository(cwd, outputs)
    except NotARepositoryError:
        return None


def configuration(cwd: Path, git: Git | None, explicit: Path | None) -> Config:
    """Load the configuration of the repository, or the file that was named."""
    return load(cwd, git.root if git else None, explicit)
