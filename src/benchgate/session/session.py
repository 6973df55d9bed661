"""A session: the engines of a suite, and what they found and measured, round by round."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from benchgate.errors import UsageError
from benchgate.measure.engine import ignore
from benchgate.model.metrics import LEAST_COUNTED_ROUNDS
from benchgate.model.run import CANARY_IDS
from benchgate.session.recorder import UNTRIED, Recorder
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchgate.measure.engine import ArmName, Definition, Engine, Observation
    from benchgate.measure.ground import Ground
    from benchgate.model.result import Shard
    from benchgate.model.run import BenchmarkResult
    from benchgate.session.recorder import BaseTrial
    from benchgate.stats.timer import Timer

_SKIPPED_NAMED = 5


class Session:
    """Measures rounds of benchmarks, whatever their kind.

    Args:
        engines: in the order in which a round visits them.
        arms: one or two.
        seed: determines all random choices, together with the number of the round.
        clock: seconds, never going backwards; times how long a benchmark takes.
        cpus: those that the benchmarks may use; none if unknown.
        tried: what trying the base has shown.
        ground: moves the trees before each round and checks that they stay unchanged; None if the
            user's own folder is measured.

    Attributes:
        costs_s: how long the last round took, by suite, and by benchmark for all others.
        suites: the suite of each benchmark that is measured by running a whole suite.
        counting_s: how long counting in launches of its own took in the last round that counted;
            it is part of `costs_s` until the rounds that count are over.
        counted_s: the same in all rounds together.
    """

    def __init__(
        self,
        engines: Sequence[Engine],
        arms: Sequence[ArmName],
        seed: int,
        clock: Callable[[], float],
        *,
        cpus: frozenset[int] = frozenset(),
        tried: BaseTrial = UNTRIED,
        ground: Ground | None = None,
    ) -> None:
        self._recorder = Recorder(arms, tried)
        self.arms = tuple(arms)
        self.seed = seed
        self.cpus = cpus
        self.runtimes: dict[ArmName, str] = {}
        self.toolchains: dict[ArmName, dict[str, str]] = {arm: {} for arm in arms}
        self.timers: dict[ArmName, Timer] = {}
        self.costs_s: dict[str, float] = {}
        self.suites: dict[str, str] = {}
        self.counting_s = 0.0
        self.counted_s = 0.0
        self.hidden: frozenset[str] = frozenset()
        self.shard: Shard | None = None
        self._engines = engines
        self._engines_of: dict[str, list[Engine]] = {}
        self._clock = clock
        self._ground = ground

    def discover(self) -> None:
        """Find the benchmarks of every engine.

        If a benchmark has one kind in the base and another in the head, both engines measure it.

        Raises:
            UsageError: two kinds of benchmark share an id in one arm.
        """
        for number, engine in enumerate(self._engines):
            discovery = engine.discover()
            for arm, definitions in discovery.found.items():
                known = {one.id for one in self._recorder.definitions(arm)}
                if taken := sorted(known & {one.id for one in definitions}):
                    raise UsageError(
                        f"two benchmarks have the id {taken[0]}",
                        hint="Give one [[benchmark]] another `name` or `group`.",
                    )
            every = [one for of_arm in discovery.found.values() for one in of_arm]
            found = {one.id for one in every}
            for id_ in found:
                self._engines_of.setdefault(id_, []).append(engine)
            # No id of a benchmark, and distinct for suites of one name.
            self.suites |= {one.id: f"suite {number}: {one.suite}" for one in every if one.suite}
            self._recorder.define(discovery)
            if CANARY_IDS.isdisjoint(found):
                self.timers |= discovery.timers
                self.runtimes |= discovery.runtimes
                for arm, versions in discovery.toolchains.items():
                    self.toolchains[arm] |= versions

    def unit_of(self, id_: str) -> str:
        """What a round measures as a whole: the suite of a benchmark, or the benchmark itself."""
        return self.suites.get(id_, id_)

    def leave_out(self, ids: Iterable[str]) -> None:
        """Exclude these benchmarks from measuring and from the results."""
        self.hidden |= frozenset(ids)

    @property
    def ids(self) -> tuple[str, ...]:
        """The user's benchmarks that are still to be measured and have not failed.

        None is left once a file was changed that all of them may use.
        """
        if self._recorder.is_spoiled:
            return ()
        left_out = self.hidden | CANARY_IDS
        return tuple(id_ for id_ in self._recorder.ids() if id_ not in left_out)

    @property
    def failures(self) -> tuple[BenchmarkResult, ...]:
        """What could not be read in any arm, except what is excluded."""
        return tuple(failure for failure in self.unread if failure.id not in self.hidden)

    @property
    def unread(self) -> tuple[BenchmarkResult, ...]:
        """What could not be read in any arm, including what is excluded."""
        return tuple(failure for arm in self.arms for failure in self._recorder.failures(arm))

    @property
    def known_ids(self) -> tuple[str, ...]:
        """Every benchmark that was found in any arm, chosen or not, under all of its names."""
        return self._recorder.found()

    @property
    def failed_for_all(self) -> frozenset[str]:
        """Ids of failures that make the numbers of every arm meaningless."""
        return frozenset(self._recorder.failed_for_all)

    def definitions(self, arm: ArmName) -> tuple[Definition, ...]:
        """The benchmarks that were found in one arm."""
        return self._recorder.definitions(arm)

    def is_on_all_arms(self, id_: str) -> bool:
        """Whether every arm has the benchmark."""
        return self._recorder.is_on_all_arms(id_)

    def note(self, id_: str, note: str) -> None:
        """Add a note to a benchmark, in every arm that has it."""
        self._recorder.note(id_, note)

    def measure_round(
        self,
        round_index: int,
        ids: Sequence[str],
        on_measured: Callable[[str], None],
        *,
        starting: Callable[[str], None] = ignore,
        canary: bool = True,
    ) -> None:
        """Measure one launch of each benchmark on every arm.

        Args:
            ids: what to measure; the seed determines the order.
            on_measured: called for each benchmark after its launches are recorded.
            starting: called for each benchmark before it is measured.
            canary: measure the canary too, if there is one.
        """
        rng = random.Random(f"{self.seed}/{round_index}")  # noqa: S311 - repeatable on purpose
        beside = sorted(CANARY_IDS & self._engines_of.keys()) if canary else ()
        order = [*ids, *beside]
        rng.shuffle(order)
        if self._ground:
            # Its own random source: a saved seed repeats everything else without trees, too.
            self._ground.draw(random.Random(f"{self.seed}/{round_index}/places"))  # noqa: S311 - as above
        counting_s: dict[str, float] = {}
        for engine in self._engines:
            chosen = [id_ for id_ in order if engine in self._engines_of[id_]]
            observations = engine.measure_round(chosen, rng, round_index, _of_users(starting))
            self._record(observations, chosen, round_index, _of_users(on_measured), counting_s)
        self._note_counting(counting_s, is_last=round_index + 1 >= LEAST_COUNTED_ROUNDS)
        if self._ground:
            self._refuse(self._ground.changes_of_round())
            for note in self._ground.notes:
                for id_ in self.known_ids:
                    self.note(id_, note)

    def _record(
        self,
        observations: Iterable[Observation],
        chosen: Sequence[str],
        round_index: int,
        ended: Callable[[str], None],
        counting_s: dict[str, float],
    ) -> None:
        """Record what an engine measures, and how long it takes.

        Args:
            counting_s: by benchmark, gets the time of launches that only count.
        """
        started_s, last, unit = self._clock(), None, ""
        for observation in observations:
            self._recorder.add(observation, round_index)
            id_, only_counts = observation.benchmark, observation.only_counts
            if (id_, only_counts) == last:
                continue
            last, now_s = (id_, only_counts), self._clock()
            took_s = max(0.0, now_s - started_s - observation.once_s)
            if only_counts:
                counting_s[id_] = took_s
                self.costs_s[id_] += took_s
            elif unit != self.unit_of(id_):  # the rest of a suite took no time of its own
                unit = self.unit_of(id_)
                self.costs_s[unit] = took_s
            started_s = now_s
            together = sum(self.unit_of(one) == self.unit_of(id_) for one in chosen)
            self._recorder.took(id_, self.costs_s[self.unit_of(id_)] / together)
            if not only_counts:
                ended(id_)

    def _note_counting(self, took_s: Mapping[str, float], *, is_last: bool) -> None:
        """Note what counting took; later rounds do not need that time.

        Args:
            took_s: in this round, by benchmark.
        """
        if not took_s:
            return
        self.counting_s = sum(took_s.values())
        self.counted_s += self.counting_s
        for id_ in took_s if is_last else ():
            self.costs_s[id_] -= took_s[id_]

    def conclude(self) -> tuple[str, ...]:
        """Compare the trees with what was built; return warnings for the result."""
        skipped = warnings_of_skipped(self._recorder.skipped)
        if self._ground is None:
            return skipped
        if not self._recorder.is_spoiled:
            self._refuse(self._ground.changes())
        return (*skipped, *self._ground.warnings)

    def results(self) -> Mapping[ArmName, tuple[BenchmarkResult, ...]]:
        """What was measured so far, by arm."""
        return {arm: self._recorder.results(arm, self.hidden) for arm in self.arms}

    def _refuse(self, changes: Sequence[str]) -> None:
        """Make the run fail because protected files were changed."""
        if changes:
            self._recorder.spoil(changes)

    def close(self) -> None:
        """End every process of every engine."""
        for engine in self._engines:
            engine.close()


def _of_users(tell: Callable[[str], None]) -> Callable[[str], None]:
    """Tell only of the user's benchmarks, not of the canary."""
    return lambda id_: None if id_ in CANARY_IDS else tell(id_)


def warnings_of_skipped(skipped: Mapping[str, str]) -> tuple[str, ...]:
    """Name the benchmarks that are skipped, together if it is for the same reason.

    Args:
        skipped: the reason by id.
    """
    by_reason: dict[str, list[str]] = {}
    for id_, reason in skipped.items():
        by_reason.setdefault(reason, []).append(id_)
    found = []
    for reason, ids in by_reason.items():
        rest = len(ids) - _SKIPPED_NAMED
        named = ", ".join(ids[:_SKIPPED_NAMED]) + (f" and {rest} more" if rest > 0 else "")
        found.append(f"{counted(len(ids), 'benchmark')} skipped, {named}: {reason}")
    return tuple(found)
