"""A world without a machine: benchmarks that cost what they are told, and a clock to match."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchgate.measure.arm import ArmName
from benchgate.measure.contract.engine import ignore
from benchgate.measure.contract.found import Definition, Discovery, DiscoveryFailure
from benchgate.measure.contract.observation import Observation
from benchgate.model.metrics import Metric
from benchgate.model.run import Series, Tier
from benchgate.report.progress import Progress
from benchgate.session.effects import Effects
from benchgate.session.phases import Phases
from benchgate.session.session import Session

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchgate.model.row import Row
    from benchgate.report.progress import RoundState

BOTH = (ArmName.BASE, ArmName.HEAD)


class Clock:
    """Seconds that pass when somebody says so."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@dataclass(slots=True)
class Fake:
    """A benchmark.

    Attributes:
        values_s: what each arm that has it measures.
        cost_s: of a round.
        fails_in: round in which the head fails.
        spread: standard deviation of a launch, as a fraction.
        has_tail: whether a launch has samples enough for that, of which some are slow.
    """

    values_s: Mapping[ArmName, float]
    cost_s: float = 1.0
    fails_in: int | None = None
    tags: tuple[str, ...] = ()
    spread: float = 1e-6
    has_tail: bool = False

    def draw(self, value: float, rng: random.Random) -> np.ndarray:
        """A launch."""
        typical = value * rng.lognormvariate(0.0, self.spread)
        if not self.has_tail:
            return np.full(3, typical)
        slow = 1 + (rng.random() < 0.3) * rng.random() / 2
        samples = [1 + abs(rng.gauss(0.0, 0.02)) for _ in range(60)]
        samples = [one + (rng.random() < 0.05) * rng.random() * 0.4 * slow for one in samples]
        return typical * np.array(samples)


@dataclass(slots=True)
class FakeEngine:
    """Measures fakes; every launch has three equal samples."""

    fakes: Mapping[str, Fake]
    arms: Sequence[ArmName]
    clock: Clock
    interrupted_in: int | None = None
    failures: tuple[DiscoveryFailure, ...] = ()
    rounds: list[tuple[str, ...]] = field(default_factory=list)

    def discover(self) -> Discovery:
        return Discovery(
            {
                arm: tuple(
                    Definition(id_, "w", Tier.LOCKSTEP, tags=fake.tags)
                    for id_, fake in self.fakes.items()
                    if arm in fake.values_s
                )
                for arm in self.arms
            },
            self.failures,
        )

    def measure_round(
        self,
        ids: Sequence[str],
        rng: random.Random,
        round_index: int,
        starting: Callable[[str], None] = ignore,
    ) -> Iterator[Observation]:
        self.rounds.append(tuple(sorted(ids)))
        for id_ in ids:
            starting(id_)
            if round_index == self.interrupted_in:
                raise KeyboardInterrupt
            fake = self.fakes[id_]
            self.clock.now_s += fake.cost_s
            if round_index == fake.fails_in:
                yield Observation(ArmName.HEAD, id_, 0, error="boom")
                continue
            for arm, value in fake.values_s.items():
                samples = fake.draw(value, rng)
                time = Series.of_launch(Metric("time", "s"), samples, np.empty(0))
                yield Observation(arm, id_, 0, (time,))

    def close(self) -> None:
        """Nothing is open."""


@dataclass(slots=True)
class Told(Progress):
    """Remembers what it was told.

    Attributes:
        started_s: when each round started.
        messages: each with the number of benchmarks that had begun before it.
    """

    clock: Clock
    started: list[RoundState] = field(default_factory=list)
    started_s: list[float] = field(default_factory=list)
    began: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    messages: list[tuple[int, str]] = field(default_factory=list)

    def round_started(self, state: RoundState) -> None:
        self.started.append(state)
        self.started_s.append(self.clock())

    def measuring(self, benchmark: str) -> None:
        self.began.append(benchmark)

    def decided(self, rows: Sequence[Row]) -> None:
        self.rows += rows

    def message(self, text: str) -> None:
        self.messages.append((len(self.began), text))


@dataclass(slots=True)
class World:
    """Makes sessions, and is the effects of a use case."""

    clock: Clock = field(default_factory=Clock)
    progress: Told = field(init=False)
    phases: Phases = field(init=False)

    def __post_init__(self) -> None:
        self.progress = Told(self.clock)
        self.phases = Phases(self.clock)

    @property
    def effects(self) -> Effects:
        return Effects(
            clock=self.clock,
            now=lambda: "2026-01-02T03:04:05Z",
            draw_seed=lambda: 7,
            environ={"SECRET_TOKEN": "hunter2-hunter2"},
            cwd=Path("/nowhere"),
            progress=self.progress,
            phases=self.phases,
        )

    def open(
        self,
        fakes: Mapping[str, Fake],
        arms: Sequence[ArmName] = BOTH,
        interrupted_in: int | None = None,
        failures: tuple[DiscoveryFailure, ...] = (),
    ) -> tuple[Session, FakeEngine]:
        """Open a session of these benchmarks."""
        engine = FakeEngine(fakes, arms, self.clock, interrupted_in, failures)
        session = Session([engine], arms, 7, self.clock)
        session.discover()
        return session, engine

    @staticmethod
    def fake(
        base_s: float | None = 1e-3,
        head_s: float | None = 1e-3,
        *,
        cost_s: float = 1.0,
        fails_in: int | None = None,
        tags: tuple[str, ...] = (),
        spread: float = 1e-6,
    ) -> Fake:
        """Make a benchmark; None for an arm that lacks it."""
        values = {ArmName.BASE: base_s, ArmName.HEAD: head_s}
        present = {arm: value for arm, value in values.items() if value is not None}
        return Fake(present, cost_s, fails_in, tags, spread)
