"""Makes the result of a session, and writes it to a file."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate import __version__
from benchgate.errors import Interrupted
from benchgate.files import write_atomic
from benchgate.git.branches import current_branch
from benchgate.git.changes import read_changes
from benchgate.measure.engine import ArmName
from benchgate.measure.machine import read_environment
from benchgate.model.codec import encode_result
from benchgate.model.redact import Redactor
from benchgate.model.result import Result
from benchgate.model.run import Run, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from typing import Self

    from benchgate.git.repository import Git
    from benchgate.model.environment import Environment
    from benchgate.session.effects import Effects
    from benchgate.session.session import Session

DEFAULT_SUITE = "default"


@dataclass(slots=True)
class ResultFile:
    """Makes the result of a session at any moment, and saves it.

    Attributes:
        sources: the code of each arm.
        suite: name of the suite.
        output: where to save; None keeps it in memory.
        warnings: to put into the result; may grow during measuring.
    """

    session: Session
    sources: Mapping[ArmName, Source]
    environments: Mapping[ArmName, Environment]
    suite: str
    screen_rounds: int
    until_decided: bool
    started: str
    elapsed_s: Callable[[], float]
    redact: Redactor
    output: Path | None
    warnings: tuple[str, ...]
    complete: bool = False

    @classmethod
    def begin(
        cls,
        session: Session,
        sources: Mapping[ArmName, Source],
        effects: Effects,
        *,
        began_s: float,
        started: str,
        suite: str = DEFAULT_SUITE,
        screen_rounds: int,
        until_decided: bool = False,
        output: Path | None,
        warnings: tuple[str, ...],
    ) -> Self:
        """Describe the machine, and store what no longer changes."""
        environments = {
            arm: read_environment(
                effects.environ,
                session.toolchains[arm],
                timer=session.timers.get(arm),
                cpu_count=session.cpu_count,
            )
            for arm in session.arms
        }
        return cls(
            session=session,
            sources=sources,
            environments=environments,
            suite=suite,
            screen_rounds=screen_rounds,
            until_decided=until_decided,
            started=started,
            elapsed_s=lambda: effects.clock() - began_s,
            redact=Redactor(effects.environ),
            output=output,
            warnings=warnings,
        )

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
                screen_rounds=self.screen_rounds,
                until_decided=self.until_decided,
            )
            for arm, benchmarks in self.session.results().items()
        }
        return Result(
            head=runs[ArmName.HEAD],
            base=runs.get(ArmName.BASE),
            duration_s=self.elapsed_s(),
            warnings=self.warnings,
            tool=f"benchgate {__version__}",
            shard=self.session.shard,
        )

    def save(self) -> None:
        """Write the result file, if the user wants one."""
        if self.output is not None:
            write_atomic(self.output, encode_result(self.result(), self.redact))

    def finish(self, warnings: tuple[str, ...] = ()) -> None:
        """Save the result as complete.

        Args:
            warnings: those that came up at the end.
        """
        self.warnings += warnings
        self.complete = True
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
            hint = f"What was measured is in {self.output}." if self.output else ""
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
