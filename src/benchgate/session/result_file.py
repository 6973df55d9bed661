"""Makes the result of a session at any moment, and saves it while measuring goes on."""

from __future__ import annotations

import math
import shlex
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from benchgate import __version__
from benchgate.errors import Interrupted, UsageError
from benchgate.files import write_atomic
from benchgate.git.changes import read_changes
from benchgate.git.repository import current_branch
from benchgate.measure.arm import ArmName
from benchgate.measure.machine import CpuUse, read_environment
from benchgate.model.codec import encode_result
from benchgate.model.redact import Redactor
from benchgate.model.result import Result
from benchgate.model.run import Run, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchgate.git.repository import Git
    from benchgate.model.environment import Environment
    from benchgate.session.effects import Effects
    from benchgate.session.session import Session


DEFAULT_SUITE = "default"
_SAVE_EVERY_S: Final = 1.0


@dataclass(slots=True, kw_only=True)
class ResultFile:
    """Makes the result of a session at any moment, and saves it.

    Attributes:
        sources: the code of each arm.
        began_s: when measuring began, by the clock of the effects.
        started: the same, as a time of day.
        suite: name of the suite.
        output: where to save; None keeps it in memory.
        again: the command that goes on if this session is interrupted; "" if none can.
        must_save: it is an error if the file cannot be written; otherwise that is a warning.
        warnings: to put into the result; may grow during measuring.
        environments: the machine, for each arm.
    """

    session: Session
    sources: Mapping[ArmName, Source]
    effects: Effects
    began_s: float
    started: str
    suite: str = DEFAULT_SUITE
    screen_rounds: int = 0
    until_decided: bool = False
    output: Path | None
    again: str = ""
    must_save: bool = True
    warnings: tuple[str, ...]
    environments: Mapping[ArmName, Environment] = field(init=False)
    complete: bool = field(default=False, init=False)
    _before: CpuUse | None = field(init=False)
    _redact: Redactor = field(init=False)
    _saved_s: float = field(default=-math.inf, init=False)

    def __post_init__(self) -> None:
        self.environments = {
            arm: read_environment(
                self.effects.environ,
                self.session.toolchains[arm],
                timer=self.session.timers.get(arm),
                cpu_count=len(self.session.cpus) or None,
            )
            for arm in self.session.arms
        }
        self._redact = Redactor(self.effects.environ)
        self._before = CpuUse.read(self.session.cpus)

    def result(self) -> Result:
        """Make a result of what was measured so far."""
        runs = {
            arm: Run(
                source=self.sources[arm],
                started=self.started,
                environment=self.environments[arm],
                benchmarks=benchmarks,
                suite=self.suite,
                seed=self.session.seed,
                complete=self.complete,
                full_rounds=self.session.full_rounds,
                screen_rounds=self.screen_rounds,
                until_decided=self.until_decided,
                files=self.session.files,
            )
            for arm, benchmarks in self.session.results().items()
        }
        return Result(
            head=runs[ArmName.HEAD],
            base=runs.get(ArmName.BASE),
            duration_s=self.effects.clock() - self.began_s,
            warnings=self.warnings,
            tool=f"benchgate {__version__}",
            shard=self.session.shard,
            phases=self.effects.phases.taken(),
        )

    def save_sometimes(self) -> None:
        """Save, unless that was done within the last second."""
        if self.effects.clock() - self._saved_s >= _SAVE_EVERY_S:
            self.save()

    def save(self) -> None:
        """Write the result file, if there is to be one."""
        self._saved_s = self.effects.clock()
        if self.output is None:
            return
        try:
            write_atomic(self.output, encode_result(self.result(), self._redact))
        except UsageError as error:
            if self.must_save:
                raise
            self.output = None
            self.effects.progress.message(f"warning: this result is not kept: {error.message}")

    def finish(self, warnings: tuple[str, ...] = ()) -> None:
        """Save the result as complete.

        Args:
            warnings: those that came up at the end.
        """
        self.warnings += warnings
        self.complete = True
        now = CpuUse.read(self.session.cpus)
        if now and self._before:
            busy = now.elsewhere_since(self._before)
            self.environments = {
                arm: replace(one, busy_elsewhere=busy) for arm, one in self.environments.items()
            }
        self.save()

    @contextmanager
    def kept_when_interrupted(self) -> Iterator[None]:
        """Save the result when an interruption arrives, and pass the interruption on.

        Raises:
            Interrupted: instead of KeyboardInterrupt.
        """
        try:
            yield
        except KeyboardInterrupt:
            self.save()
            shown = f"`benchgate compare {shlex.quote(str(self.output))}` shows what was measured."
            more = f" {self.again} goes on." if self.again and self.session.full_rounds else ""
            hint = f"{shown}{more}" if self.output else ""
            raise Interrupted("interrupted", hint=hint) from None


def working_tree_source(git: Git) -> Source:
    """Describe what the user has checked out, including uncommitted changes."""
    changes = read_changes(git)
    return Source(
        sha=git.head_sha(),
        ref=current_branch(git),
        dirty=changes.dirty,
        untracked=len(changes.untracked),
    )
