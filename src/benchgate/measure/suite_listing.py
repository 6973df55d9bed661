"""Lists a suite of another tool without running it: only a run tells its benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.measure.armcommand import workload_hash
from benchgate.measure.engine import Definition, Discovery, Observation, ignore
from benchgate.model.run import Tier

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchgate.config import SuiteBenchmark
    from benchgate.measure.engine import Arm, ArmName


class SuiteListing:
    """Stands for a suite by a single entry, which cannot be measured.

    Args:
        suites: the suite as each arm's own configuration defines it.
        arms: all of them.
    """

    def __init__(self, suites: Mapping[ArmName, SuiteBenchmark], arms: Sequence[Arm]) -> None:
        self._suites = suites
        self._arms = arms

    def discover(self) -> Discovery:
        """Return the entry: its id is the title of the suite."""
        found: dict[ArmName, tuple[Definition, ...]] = {}
        for arm in self._arms:
            suite = self._suites.get(arm.name)
            found[arm.name] = (_entry(suite),) if suite else ()
        return Discovery(found)

    def measure_round(
        self,
        ids: Sequence[str],
        rng: random.Random,
        round_index: int,
        starting: Callable[[str], None] = ignore,
    ) -> Iterator[Observation]:
        """Measure nothing.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Nothing is open."""


def _entry(suite: SuiteBenchmark) -> Definition:
    workload = workload_hash(suite, pin=suite.pin)
    return Definition(
        suite.title, workload, Tier.SUITE, suite.KIND, suite.tags, is_unrun_suite=True
    )
