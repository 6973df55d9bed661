"""What tests of hosted suites share: a worker on files of a tree, and the log that they write."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.measure.benchmarks import OWN_TIME, TAKEN
from tests.measure.test_worker import PLAIN

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.workers.start import WorkerSetting
from benchgate.measure.workers.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchgate.measure.processes.guardian import Guardian

LOG = """\
import os


def log(text):
    with open(os.environ["LOG"], "a") as file:
        file.write(f"{text} ")


"""
"""The beginning of a file whose functions log what they do."""


@dataclass
class Hosts:
    """Starts workers on the files of a tree.

    Attributes:
        variables: added to their environment.
    """

    folder: Path
    guardian: Guardian
    variables: dict[str, str] = field(default_factory=dict)
    workers: list[Worker] = field(default_factory=list)

    @property
    def root(self) -> Path:
        """The tree."""
        return self.folder / "tree"

    @property
    def log(self) -> Path:
        """The file that `log` writes to."""
        return self.folder / "log"

    def write(self, files: Mapping[str, str]) -> None:
        """Write files of the tree."""
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def have_own_time(self) -> None:
        """Let time pass for them only if their files add to `time.now_ns`."""
        clock = self.folder / "clock"
        clock.mkdir()
        (clock / "sitecustomize.py").write_text(OWN_TIME + TAKEN)
        self.variables["PYTHONPATH"] = str(clock)

    def start(
        self,
        host: str,
        file: str,
        *,
        path: str = ".",
        arguments: Sequence[str] = (),
        describe: bool = True,
    ) -> Worker:
        """Start a worker.

        Args:
            file: what it hosts: a file or a folder of the tree.
            path: the folder of the tree to import from.
        """
        hosted = self.root / file
        setting = WorkerSetting(
            interpreter=(sys.executable,),
            file=hosted,
            path=[str(self.root / path)],
            cpus=None,
            forbidden=(),
            variables={
                "PATH": os.environ["PATH"],
                "LOG": str(self.log),
                **self.guardian.variables,
                **self.variables,
            },
            layout=PLAIN,
            helpers=hosted if hosted.is_dir() else hosted.parent,
            host=host,
            arguments=arguments,
        )
        arm = Arm(ArmName.HEAD, self.root, self.folder / "env")
        worker = Worker(arm, setting, self.guardian, describe=describe)
        self.workers.append(worker)
        return worker

    def close(self) -> None:
        """Kill the workers."""
        for worker in self.workers:
            worker.kill()


def described(worker: Worker) -> list[dict[str, Any]]:
    """What it says about each benchmark."""
    found: list[dict[str, Any]] = worker.ready(30)["benchmarks"]
    return found


def found(worker: Worker) -> list[str]:
    """The ids of its benchmarks."""
    return [each["id"] for each in described(worker)]


def logged(log: Path) -> list[str]:
    """The words in the log, in the order in which they were written."""
    return log.read_text().split() if log.exists() else []
