"""What a worker is started with: one of Python, and one of another language."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from benchgate._worker import PROGRAM
from benchgate.measure.workers.replies import KEYS_OF_ANY, KEYS_OF_PYTHON

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchgate.measure.arm import Arm
    from benchgate.measure.machine import Layout
    from benchgate.measure.sources import ProvidedModules


CHANNEL: Final = "BENCHGATE_FD"
SEED: Final = "BENCHGATE_SEED"
"""The variable that tells a worker the descriptor of its channel."""


@dataclass(frozen=True, slots=True)
class WorkerSetting:
    """The settings that a worker is started with.

    Attributes:
        interpreter: the command that starts Python.
        under: a program, and its arguments, that executes the interpreter; empty for none.
        file: the benchmark file.
        helpers: folder whose modules belong to the benchmarks; None if there is none.
        own: folders whose code belongs to this arm only.
        own_interpreter: whether the interpreter belongs to this arm only, too.
        provided: modules that may come from `own` only; None to not check this.
        path: entries for sys.path, before the interpreter's own.
        cpus: CPUs to run on; None leaves the choice to the OS.
        forbidden: trees that no module may come from: the user's checkout, the other arm.
        variables: the whole environment of the process, except the hash seed.
        layout: decides where its objects lie in memory.
        path_after: entries for sys.path, after the interpreter's own.
        host: which host in the worker runs the file: "python", or the tool whose suite it is.
        arguments: further arguments of that tool.
        reach: what to look for in what it reaches; None if it is measured.
    """

    interpreter: Sequence[str]
    file: Path
    path: Sequence[str]
    cpus: Sequence[int] | None
    forbidden: Sequence[Path]
    variables: Mapping[str, str]
    layout: Layout
    path_after: Sequence[str] = ()
    helpers: Path | None = None
    own: Sequence[Path] = ()
    own_interpreter: bool = False
    provided: ProvidedModules | None = None
    host: str = "python"
    arguments: Sequence[str] = ()
    under: Sequence[str] = ()
    reach: Mapping[str, object] | None = None
    folder: None = None

    WHAT = "the interpreter "
    KEYS = MappingProxyType({**KEYS_OF_ANY, **KEYS_OF_PYTHON})
    drawn = None
    silent = ""
    cpus_at_start = None  # it binds itself, when its interpreter has started

    def words(self, channel: int) -> list[str]:
        """The command that starts it, with the descriptor of its channel."""
        return [*self.under, *self.interpreter, str(PROGRAM), *[str(channel)] * 2]

    def environ(self, _channel: int) -> Mapping[str, str]:
        """Its environment, except what its layout adds."""
        return self.variables

    def request(self, arm: Arm) -> dict[str, Any]:
        """What a worker is told about it."""
        return {
            "file": str(self.file),
            "host": self.host,
            "arguments": list(self.arguments),
            "root": str(arm.root),
            "helpers": str(self.helpers) if self.helpers else None,
            "path": list(self.path),
            "path_after": list(self.path_after),
            "cpus": list(self.cpus) if self.cpus else None,
            "own": [str(folder) for folder in self.own],
            "own_interpreter": self.own_interpreter,
            "provided": sorted(self.provided.modules) if self.provided else [],
            "forbidden": [str(folder) for folder in self.forbidden],
            **({"reach": self.reach} if self.reach else {}),
            "occupy": [self.layout.blocks, self.layout.chunks, self.layout.gap_bytes],
        }


@dataclass(frozen=True, slots=True)
class ProgramSetting:
    """The settings that a worker of another language is started with.

    Attributes:
        command: starts it.
        folder: where it starts; None for the folder of the configuration.
        cpus: as in `WorkerSetting`.
        variables: the whole environment of the process.
        layout: decides where its stack and its objects lie.
        drawn: its file, if it was made for this start only.
        silent: what is wrong if it ends and has not said a word.
    """

    command: Sequence[str]
    folder: Path | None
    cpus: Sequence[int] | None
    variables: Mapping[str, str]
    layout: Layout
    drawn: Path | None = None
    silent: str = "it does not speak the worker protocol"
    provided: None = None

    WHAT = ""
    KEYS = KEYS_OF_ANY

    @property
    def cpus_at_start(self) -> frozenset[int] | None:
        return frozenset(self.cpus) if self.cpus else None

    def words(self, _channel: int) -> list[str]:
        """The command that starts it."""
        return [*self.command]

    def environ(self, channel: int) -> Mapping[str, str]:
        """Its environment, with the descriptor of its channel, and a number for each round."""
        return {**self.variables, CHANNEL: str(channel), SEED: str(self.layout.hash_seed)}

    def request(self, _arm: Arm) -> dict[str, Any]:
        return {}
