"""The scratch repository in which a peer works: ten workloads, with a commit for each arm."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.gate.project import TEN, Change, git, repository

from benchgate.config import loads
from benchgate.measure.machine import choose_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).parents[3]
ENVIRONMENT = ROOT / ".venv-peers"
LOCK = ROOT / "requirements" / "peers.txt"
SUITE = Path(__file__).parent / "suite"
PERCENT = 3
ARMS = ("base", "same", "slower")


@dataclass(frozen=True, slots=True)
class Done:
    """A command that has ended, after `seconds`."""

    exit_code: int
    out: str
    err: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Lab:
    """A scratch repository, and how commands are run in it.

    Attributes:
        folder: the repository. Each of `ARMS` is a tag: "same" is an empty commit after "base",
            and "slower" has 3 % more loop units in each of the ten workloads.
        kept: a folder beside it for what the tools save.
        cpu: the CPU to which the work is bound; None if the OS cannot.
    """

    folder: Path
    kept: Path
    cpu: int | None

    def checkout(self, arm: str) -> None:
        """Check out an arm, and remove everything else from the working tree."""
        git(self.folder, "checkout", "--force", arm)
        git(self.folder, "clean", "-dfx")

    def run(
        self,
        *command: str,
        codes: Sequence[int] = (0,),
        environ: Mapping[str, str] | None = None,
    ) -> Done:
        """Run a command of the peers' environment in the repository.

        Args:
            codes: exit codes that are answers and not failures.
            environ: variables to set.

        Raises:
            RuntimeError: if it failed; with everything that it printed.
        """
        path = os.pathsep.join((str(ENVIRONMENT / "bin"), os.environ["PATH"]))
        started = time.monotonic()
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, "PATH": path, **(environ or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.monotonic() - started
        if done.returncode not in codes:
            said = f"{' '.join(command)} failed with {done.returncode}:"
            raise RuntimeError(f"{said}\n{done.stdout}{done.stderr}")
        return Done(done.returncode, done.stdout, done.stderr, seconds)

    def pinned(self, *command: str) -> tuple[str, ...]:
        """Give the command that runs this one bound to the CPU."""
        return command if self.cpu is None else ("taskset", "-c", str(self.cpu), *command)


@contextmanager
def laboratory() -> Iterator[Lab]:
    """Make a repository with the arms, on the CPU that benchgate would choose."""
    with repository(TEN, Change(TEN.names, PERCENT)) as folder:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(SUITE, folder, ignore=ignored, dirs_exist_ok=True)
        git(folder, "add", "--all", "--", ".", ":!workloads.py")
        git(folder, "commit", "--message=base")
        git(folder, "tag", "base")
        git(folder, "commit", "--allow-empty", "--message=same")
        git(folder, "tag", "same")
        git(folder, "commit", "--all", "--message=slower")
        git(folder, "tag", "slower")
        kept = folder.parent / "kept"
        kept.mkdir()
        yield Lab(folder, kept, choose_place(loads("", "defaults"), None).cpu)
