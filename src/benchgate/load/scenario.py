"""A scenario: a workload under load, as a file describes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from benchgate.model.load import Loop

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.load.tables import Experiment, Load, Script, Service, Step, Target

DEFAULT_DURATION_S: Final = 10.0
BRIEF_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Scenario:
    """A checked scenario.

    Attributes:
        name: the first part of its ids.
        file: what messages call its file.
        targets: one or more; they are loaded one after the other.
        setup, teardown: run before and after each launch; None if there is nothing to run.
        lines: the line of each key in the file, by its dotted path.
    """

    name: str
    file: str
    targets: tuple[Target, ...]
    load: Load
    experiment: Experiment
    steps: tuple[Step, ...]
    services: tuple[Service, ...]
    setup: Script | None
    teardown: Script | None
    lines: Mapping[str, int]

    @property
    def duration_s(self) -> float:
        """The measured time of a launch."""
        if self.load.duration_s is not None:
            return self.load.duration_s
        return sum(stage.duration_s for stage in self.load.stages) or DEFAULT_DURATION_S

    @property
    def loop(self) -> Loop:
        """Whether operations begin on a schedule."""
        is_open = self.load.rate or any(stage.rate is not None for stage in self.load.stages)
        return Loop.OPEN if is_open else Loop.CLOSED

    @property
    def most_workers(self) -> int:
        """How many workers work at once, at most."""
        return max([self.load.concurrency, *(one.concurrency or 0 for one in self.load.stages)])

    @property
    def most_rate(self) -> float:
        """Operations per second of all workers, at most; 0 for a closed loop."""
        return max([self.load.rate, *(one.rate or 0.0 for one in self.load.stages)])

    def id_of(self, target: Target, step: Step) -> str:
        """`scenario/step`, or `scenario/target/step` if there are several targets."""
        middle = (target.title,) if len(self.targets) > 1 else ()
        return "/".join((self.name, *middle, step.name))

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all its benchmarks."""
        return tuple(self.id_of(target, step) for target in self.targets for step in self.steps)

    def shortened(self) -> Scenario:
        """The same without a warm-up, and with at most a second of its largest load."""
        load = self.load.model_copy(
            update={
                "duration_s": min(self.duration_s, BRIEF_S),
                "warmup_s": 0.0,
                "concurrency": self.most_workers,
                "rate": self.most_rate,
                "stages": (),
            }
        )
        return replace(self, load=load)

    def target(self, title: str) -> Target:
        """Find a target by its title.

        Raises:
            StopIteration: there is none.
        """
        return next(one for one in self.targets if one.title == title)
