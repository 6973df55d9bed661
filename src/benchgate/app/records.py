"""From what a session holds to a result file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate import __version__
from benchgate.files import write_atomic
from benchgate.measure.engine import ArmName
from benchgate.measure.environment import read_environment
from benchgate.model.codec import encode_result
from benchgate.model.environment import Environment
from benchgate.model.redact import Redactor
from benchgate.model.result import Result, Run, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from benchgate.app.effects import Effects
    from benchgate.measure.session import Session


@dataclass(slots=True)
class Record:
    """Gives the result at any moment, and saves it.

    Attributes:
        sources: the code of each arm.
        output: where to save; None keeps it in memory.
    """

    session: Session
    sources: Mapping[ArmName, Source]
    screen_rounds: int
    started: str
    began_s: float
    clock: Callable[[], float]
    environments: Mapping[ArmName, Environment]
    redact: Redactor
    output: Path | None
    warnings: tuple[str, ...] = ()

    def result(self, *, complete: bool) -> Result:
        """Give what was measured so far."""
        runs = {
            arm: Run(
                source=self.sources[arm],
                started=self.started,
                environment=self.environments[arm],
                benchmarks=benchmarks,
                seed=self.session.seed,
                complete=complete,
                screen_rounds=self.screen_rounds,
            )
            for arm, benchmarks in self.session.results().items()
        }
        return Result(
            head=runs[ArmName.HEAD],
            base=runs.get(ArmName.BASE),
            duration_s=self.clock() - self.began_s,
            warnings=self.warnings,
            tool=f"benchgate {__version__}",
        )

    def save(self, *, complete: bool = False) -> None:
        """Write the result file, where one is wanted."""
        if self.output is not None:
            write_atomic(self.output, encode_result(self.result(complete=complete), self.redact))


def environments_of(session: Session, effects: Effects) -> dict[ArmName, Environment]:
    """Describe this machine for each arm, with the versions that the arm's benchmarks use."""
    return {arm: read_environment(effects.environ, session.toolchains[arm]) for arm in session.arms}
