"""A session: the engines of a suite, and what they found and measured, round by round."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from benchgate.errors import UsageError
from benchgate.measure.contract import (
    CountingEngine,
    DivisibleEngine,
    Division,
    ObservingEngine,
    ignore,
)
from benchgate.model.metrics import INSTRUCTIONS, TIME
from benchgate.model.run import CANARY_IDS, LEAST_COUNTED_ROUNDS, BenchmarkFiles, before_round
from benchgate.session.benchmark_sets import FoundSet, found_by
from benchgate.session.conditions import Conditions
from benchgate.session.lanes import Lanes
from benchgate.session.recorder import Recorder, warnings_of_skipped
from benchgate.session.shares import LEAST_ROUNDS, CountingTime, Sharing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from benchgate.measure.arm import ArmName
    from benchgate.measure.contract import Definition, Engine, Task
    from benchgate.model.result import Shard
    from benchgate.model.run import BenchmarkResult
    from benchgate.stats.timer import Timer


_NO_TIME = f"{TIME.name}: the budget has no time for it"


class _RoundIsOverError(Exception):
    """The round ends before the next benchmark."""


class Session:
    """Measures rounds of benchmarks, whatever their kind.

    Args:
        engines: in the order in which a round visits them; or what finds their benchmarks.
        arms: one or two.
        seed: determines all random choices, together with the number of the round.
        clock: seconds, never going backwards; times how long a benchmark takes.

    Attributes:
        without_own_code: benchmarks that ran no code of their side beside their own.
        new_versions: the head's versions of benchmarks whose base version decides: the ids of
            these by theirs.
        costs_s: how long the last round took, by suite, and by benchmark for all others.
        shared: what of it was measured while other benchmarks were, as far as is known.
        suites: the suite of each benchmark that is measured by running a whole suite.
        left_out: benchmarks that the first round had no time for.
        full_rounds: how many rounds have ended.
        counting: how long counting in launches of its own takes, which is in none of the costs.
    """

    def __init__(
        self,
        engines: Sequence[Engine] | Callable[[], Iterable[FoundSet]],
        arms: Sequence[ArmName],
        seed: int,
        clock: Callable[[], float],
        conditions: Conditions | None = None,
    ) -> None:
        conditions = conditions or Conditions()
        self._recorder = Recorder(arms, conditions.tried)
        self.arms = tuple(arms)
        self.seed = seed
        self.cpus = conditions.cpus
        self.runtimes: dict[ArmName, str] = {}
        self.toolchains: dict[ArmName, dict[str, str]] = {
            arm: dict(conditions.toolchains.get(arm, {})) for arm in arms
        }
        self.timers: dict[ArmName, Timer] = {}
        self.costs_s: dict[str, float] = {}
        self.shared: set[str] = set()
        self.suites: dict[str, str] = {}
        self.counting = CountingTime()
        self.budget = conditions.budget
        self.hidden: frozenset[str] = frozenset()
        self.left_out: tuple[str, ...] = ()
        self.full_rounds = 0
        self.shard: Shard | None = None
        self.files = conditions.files
        self.without_own_code: set[str] = set()
        self.new_versions: dict[str, str] = {}
        self._find = engines if callable(engines) else partial(found_by, engines)
        # By engine, whose files it measures with, and what it calls the benchmarks.
        self._found: list[FoundSet] = []
        self._engines_of: dict[str, list[FoundSet]] = {}
        self._clock = clock
        self._ground = conditions.ground
        self._lanes = Lanes(conditions.lane_cpus, clock)
        self._sharing = Sharing(len(conditions.lane_cpus), conditions.tell)
        if lesson := conditions.tried.lesson:
            self._sharing.learn(lesson.written, lesson.pair_bytes)
        self._has_measured = False
        self._warnings: dict[str, None] = {}

    def discover(self) -> None:
        """Find the benchmarks of every engine.

        If a benchmark has one kind in the base and another in the head, both engines measure it.
        """
        for number, one_found in enumerate(self._find()):
            self._found.append(one_found)
            discovery = one_found.discovery
            for arm, definitions in discovery.found.items():
                known = {one.id for one in self._recorder.definitions(arm)}
                if taken := sorted(known & {one.id for one in definitions}):
                    raise UsageError(
                        f"two benchmarks have the id {taken[0]}",
                        hint="Give one [[benchmark]] another `name` or `group`.",
                    )
            every = [one for of_arm in discovery.found.values() for one in of_arm]
            found = {one.id for one in every}
            self.new_versions |= {x.id: x.new_version_of for x in every if x.new_version_of}
            for id_ in found:
                self._engines_of.setdefault(id_, []).append(one_found)
            # No id of a benchmark, and distinct for suites of one name.
            self.suites |= {one.id: f"suite {number}: {one.suite}" for one in every if one.suite}
            self._recorder.define(discovery)
            self._warnings |= dict.fromkeys(discovery.warnings)
            if CANARY_IDS.isdisjoint(found) and one_found.files is self.files:
                self.timers |= discovery.timers
                self.runtimes |= discovery.runtimes
                for arm, versions in discovery.toolchains.items():
                    # What the user names is told by the user's own command.
                    self.toolchains[arm] = {**versions, **self.toolchains[arm]}

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
        left_out = self.hidden | CANARY_IDS | frozenset(self.left_out)
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
    def shown(self) -> tuple[str, ...]:
        """The benchmarks of both arms that decide nothing: not the deciding side's files ran."""
        others = (id_ for id_ in self.ids if self._files_of(id_) is not self.files)
        return tuple(id_ for id_ in others if self.is_on_all_arms(id_))

    @property
    def lanes(self) -> int:
        """How many benchmarks may be measured at a time, once it is known what may be shared."""
        return self._sharing.lanes

    @property
    def peak_bytes(self) -> int:
        """The most memory that the processes of a benchmark have used, on all arms together."""
        engines = (one.engine for one in self._found)
        return max(
            (one.peak_bytes for one in engines if isinstance(one, DivisibleEngine)), default=0
        )

    def definitions(self, arm: ArmName) -> tuple[Definition, ...]:
        """The benchmarks that were found in one arm."""
        return self._recorder.definitions(arm)

    def is_on_all_arms(self, id_: str) -> bool:
        """Whether every arm has the benchmark."""
        return self._recorder.is_on_all_arms(id_)

    def note(self, id_: str, note: str) -> None:
        """Add a note to a benchmark, in every arm that has it."""
        self._recorder.note(id_, note)

    def laid_out(self, ids: Sequence[str]) -> Iterator[tuple[FoundSet, list[str]]]:
        """Lay out each set of benchmark files; yield each engine with those that it measures."""
        for files in self._sets_in(ids):
            self._lay(files)
            for found in self._found:
                own = [id_ for id_ in ids if self._engines_of[id_] == [found]]
                if own and found.files is files:
                    yield found, own

    def leave_unmeasured(self, ids: Collection[str]) -> None:
        """Measure none of these: they run the same code on both sides."""
        self._recorder.leave_unmeasured(ids)

    def measure_round(
        self,
        round_index: int,
        ids: Sequence[str],
        on_measured: Callable[[str], None],
        *,
        starting: Callable[[str], None] = ignore,
        is_over: Callable[[], bool] = lambda: False,
        canary: bool = True,
    ) -> None:
        """Measure one launch of each benchmark on every arm.

        What the end of the first round leaves out is not measured in later rounds either.

        Args:
            ids: what to measure; the seed determines the order.
            on_measured: called for each benchmark after its launches are recorded.
            starting: called for each benchmark before it is measured.
            is_over: asked before each benchmark is measured: whether the round ends here.
            canary: measure the canary too, if there is one.
        """
        rng = random.Random(f"{self.seed}/{round_index}")  # noqa: S311 - repeatable on purpose
        beside = sorted(CANARY_IDS & self._engines_of.keys()) if canary else ()
        order = [*ids, *beside]
        rng.shuffle(order)
        if self._ground:
            # Its own random source: a saved seed repeats everything else without trees, too.
            self._ground.draw(random.Random(f"{self.seed}/{round_index}/places"))  # noqa: S311 - as above
        measured: set[str] = set()

        def end(id_: str) -> None:
            measured.add(id_)
            on_measured(id_)

        begin, ended = _of_users(_unless(is_over, starting)), _of_users(end)
        learns = not self._has_measured and self._sharing.lanes > 1
        if not learns and round_index >= LEAST_ROUNDS and self._sharing.lanes > 1:
            self._sharing.look(self._recorder.times())
        measure = self._learn_to_share if learns else self._measure
        for files in self._sets_in(order):
            self._lay(files)
            of_files = [id_ for id_ in order if self._files_of(id_) is files]
            measure(of_files, rng, round_index, begin, ended)
        self._has_measured = True
        if round_index == 0:
            left = set(ids) - measured
            self.left_out = tuple(id_ for id_ in self.ids if id_ in left)
            for id_ in self.left_out:
                self.note(id_, _NO_TIME)
        timed = [id_ for id_ in ids if id_ in measured]
        self._count(timed, round_index, _of_users(starting))
        if self._ground:
            self._refuse(self._ground.changes_of_round())
            for note in self._ground.notes:
                for id_ in self.known_ids:
                    self.note(id_, note)
        self.full_rounds = round_index + 1

    def _learn_to_share(
        self,
        order: Sequence[str],
        rng: random.Random,
        round_index: int,
        starting: Callable[[str], None],
        ended: Callable[[str], None],
    ) -> None:
        """Measure the first round, and find out what may be shared later.

        The canary comes last, because it writes into the trees.
        """
        lanes = self._sharing.lanes
        before = self._ground.state() if self._ground else {}
        own = [id_ for id_ in order if id_ not in CANARY_IDS]
        self._measure(own, rng, round_index, starting, ended)
        written = self._ground.written_since(before) if self._ground else ()
        self._sharing.learn(written, self.peak_bytes)
        for unit in self.shared:  # in fewer lanes it will take more of a round
            most = len(self.shared)
            self.costs_s[unit] *= min(lanes, most) / min(self._sharing.lanes, most)
        canaries = [id_ for id_ in order if id_ in CANARY_IDS]
        self._measure(canaries, rng, round_index, starting, ended)

    def _measure(
        self,
        order: Sequence[str],
        rng: random.Random,
        round_index: int,
        starting: Callable[[str], None],
        ended: Callable[[str], None],
    ) -> None:
        sizes = Counter(map(self.unit_of, order))
        lanes = self._sharing.lanes_now
        tasks = self._divided(order, rng, round_index, lanes)
        measured: set[str] = set()
        units: set[str] = set()
        measuring = self._lanes.measure(tasks, starting, lanes)
        with suppress(_RoundIsOverError), closing(measuring) as found:
            for one, took_s in found:
                id_ = one.benchmark
                self._recorder.add(one, round_index)
                if not one.runs_own_code:
                    self.without_own_code.add(id_)
                if id_ in measured:
                    continue
                unit = self.unit_of(id_)
                if unit not in units:  # the rest of a suite takes no time of its own
                    self.costs_s[unit] = took_s
                    (self.shared.discard if one.lane is None else self.shared.add)(unit)
                units.add(unit)
                measured.add(id_)
                self._recorder.took(id_, self.costs_s[unit] / sizes[unit])
                ended(id_)

    def _count(self, ids: Sequence[str], round_index: int, starting: Callable[[str], None]) -> None:
        """Count what this round has timed, where that takes launches of its own."""
        alive = frozenset(self._recorder.ids())
        left: dict[str, None] = {}
        refused = set(self.counting.refused)
        for finding in self._found:
            engine = finding.engine
            if not isinstance(engine, CountingEngine):
                continue
            own = [id_ for id_ in ids if finding in self._engines_of[id_] and id_ in alive]
            few = [id_ for id_ in own if self._recorder.rounds_counted(id_) < LEAST_COUNTED_ROUNDS]
            due = finding.public(engine.due_for_counting(finding.own(few)))
            self.counting.refuse_slow({id_: self._recorder.sample_cpu_s(id_) for id_ in due})
            due = [id_ for id_ in due if id_ not in self.counting.refused]
            left |= dict.fromkeys(due)
            began_s = self._clock()
            if due:
                self._lay(finding.files)
            counting = engine.count_round(finding.own(due), round_index, finding.told(starting))
            with closing(counting) as found:
                while not self.counting.is_over and (counted_now := next(found, None)):
                    observations = [finding.named(one) for one in counted_now]
                    for one in observations:
                        self._recorder.add(one, round_index)
                    id_, now_s = observations[0].benchmark, self._clock()
                    has_count = any(one.metrics for one in observations)
                    self.counting.spend(id_, now_s - began_s, has_count=has_count)
                    began_s = now_s
                    del left[id_]
        self.counting.end_round(left)
        for id_ in self.counting.refused.keys() - refused:
            self.note(id_, f"{INSTRUCTIONS.name}: {self.counting.refused[id_]}")

    def _divided(
        self, order: Sequence[str], rng: random.Random, round_index: int, lanes: int
    ) -> list[Task]:
        """Divide a round into tasks; those of benchmarks that run alone may not be shared."""
        division = Division()
        alone_ids, costs_s = self._sharing.alone, self.costs_s
        if lanes > 1 and not self._has_measured:
            alone_ids = {id_ for id_ in order if not self._may_share_at_once(id_)}
            costs_s = dict.fromkeys(order, 1.0)  # nothing is known about them yet
        if lanes > 1:
            shared = (costs_s.get(id_, 0.0) for id_ in order if id_ not in alone_ids)
            division = Division(sum(shared) / lanes, costs_s)
        tasks: list[Task] = []
        for found in self._found:
            own = [id_ for id_ in order if found in self._engines_of[id_]]
            beside = [id_ for id_ in own if id_ not in alone_ids]
            alone = [id_ for id_ in own if id_ in alone_ids]
            if beside:
                tasks += found.tasks(beside, rng, round_index, division)
            if alone:
                rest = found.tasks(alone, rng, round_index, Division())
                tasks += [replace(task, halt=None) for task in rest]
        if lanes > 1:  # what takes longest begins first, so that the lanes end together
            tasks.sort(key=lambda task: -sum(costs_s.get(id_, 0.0) for id_ in task.ids))
        return tasks

    def _may_share_at_once(self, id_: str) -> bool:
        """Whether a benchmark may share even the first round."""
        found = self._engines_of[id_]
        are_divisible = all(isinstance(one.engine, DivisibleEngine) for one in found)
        return are_divisible and self._recorder.was_tried(id_)

    def restore(
        self, earlier: Mapping[ArmName, Sequence[BenchmarkResult]], full_rounds: int
    ) -> None:
        """Go on with what an interrupted session measured of the same benchmarks.

        Args:
            earlier: by arm; launches of these rounds only.
            full_rounds: how many there are.
        """
        shares_s: dict[str, float] = {}
        left_out: set[str] = set()
        for arm, results in earlier.items():
            self._recorder.restore(arm, results)
            ids = {one.own_id: one.id for one in self.definitions(arm)}
            for one in results:
                if one.id in ids and one.round_s is not None:
                    shares_s[ids[one.id]] = one.round_s
                    if any(x.launches and x.launches[-1].lane is not None for x in one.series):
                        self.shared.add(self.unit_of(ids[one.id]))
                if one.id in ids and _NO_TIME in one.notes:
                    left_out.add(ids[one.id])
        for id_, share_s in shares_s.items():
            unit = self.unit_of(id_)
            self.costs_s[unit] = self.costs_s.get(unit, 0.0) + share_s
        self.left_out = tuple(id_ for id_ in self.ids if id_ in left_out)
        self.full_rounds = full_rounds
        if self._sharing.lanes > 1:
            times = self._recorder.times()
            for rounds in range(LEAST_ROUNDS, full_rounds + 1):
                self._sharing.look(
                    {
                        id_: (before_round(base, rounds), before_round(head, rounds))
                        for id_, (base, head) in times.items()
                    }
                )

    def observes(self, id_: str) -> bool:
        """Whether it can observe what a benchmark calls; see `contract.ObservingEngine`."""
        (finding, *others) = self._engines_of[id_]
        (own,) = finding.own([id_])
        engine = finding.engine
        return not others and isinstance(engine, ObservingEngine) and engine.observes(own)

    def observe(self, id_: str, limit_s: float, metrics: Collection[str]) -> None:
        """Observe what a benchmark calls on both sides; see `contract.ObservingEngine`."""
        (finding,) = self._engines_of[id_]
        (own,) = finding.own([id_])
        if isinstance(finding.engine, ObservingEngine):
            self._lay(finding.files)
            for one in finding.engine.observe(own, limit_s, metrics):
                self._recorder.add(finding.named(one), self.full_rounds)

    def conclude(self) -> tuple[str, ...]:
        """Compare the trees with what was built; return warnings for the result."""
        skipped = self._recorder.skipped.items()
        own = {id_: why for id_, why in skipped if id_ not in self.new_versions}
        found = (*self._warnings, *warnings_of_skipped(own))
        if self._ground is None:
            return found
        if not self._recorder.is_spoiled:
            self._refuse(self._ground.changes())
        return (*found, *self._ground.warnings)

    def results(self) -> Mapping[ArmName, tuple[BenchmarkResult, ...]]:
        """What was measured so far, by arm."""
        return {arm: self._recorder.results(arm, self.hidden) for arm in self.arms}

    def _refuse(self, changes: Sequence[str]) -> None:
        """Make the run fail because protected files were changed."""
        if changes:
            self._recorder.spoil(changes)

    def close(self) -> None:
        """End every process of every engine."""
        for found in self._found:
            found.engine.close()

    def _files_of(self, id_: str) -> BenchmarkFiles:
        return self._engines_of[id_][0].files

    def _sets_in(self, ids: Iterable[str]) -> list[BenchmarkFiles]:
        """Whose files some benchmarks need; what is only shown comes last."""
        needed = {self._files_of(id_) for id_ in ids}
        order = (self.files, BenchmarkFiles.OWN, BenchmarkFiles.HEAD, BenchmarkFiles.BASE)
        return [files for files in dict.fromkeys(order) if files in needed]

    def _lay(self, files: BenchmarkFiles) -> None:
        if self._ground:
            self._ground.lay(files)


def _of_users(tell: Callable[[str], None]) -> Callable[[str], None]:
    """Tell only of the user's benchmarks, not of the canary."""
    return lambda id_: None if id_ in CANARY_IDS else tell(id_)


def _unless(is_over: Callable[[], bool], starting: Callable[[str], None]) -> Callable[[str], None]:
    """End the round instead of starting a benchmark if it is over."""

    def begin(id_: str) -> None:
        if is_over():
            raise _RoundIsOverError
        starting(id_)

    return begin
