"""Measures functions: one worker process per arm, in turn or at the same time."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from functools import partial
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract import (
    Discovery,
    Division,
    Observation,
    Task,
    ignore,
    starting_order,
    why_in_turn,
)
from benchgate.measure.functions.counter import FunctionCounter
from benchgate.measure.functions.discovery import PythonDiscovery
from benchgate.measure.functions.grouping import divide, together
from benchgate.measure.functions.lockstep import LaunchedBenchmark, measure_launch
from benchgate.measure.functions.reaching import FunctionReach
from benchgate.measure.functions.sample_plan import SamplePlan
from benchgate.measure.functions.sampler import Sampling
from benchgate.measure.functions.starting import Watched, Workers
from benchgate.measure.functions.value_launch import measure_values
from benchgate.measure.languages import LANGUAGES
from benchgate.measure.machine import CounterError, draw_layouts, find_valgrind, moved_to
from benchgate.measure.observing import (
    folder_for_counts,
    observe,
    observe_compiled,
    under_callgrind,
)
from benchgate.measure.sources import note_on_versions, versions_of
from benchgate.measure.workers import (
    ForeignModuleError,
    Worker,
    WorkerFailedError,
    WorkerSkippedError,
)
from benchgate.model.calls import NOT_KNOWN
from benchgate.model.metrics import TIME, Kind

if TYPE_CHECKING:
    import random
    from collections.abc import (
        Callable,
        Collection,
        Generator,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    from benchgate.config.live_benchmarks import LiveBenchmarks
    from benchgate.measure.contract import EngineSettings
    from benchgate.measure.processes import Guardian
    from benchgate.measure.reach import Differences
    from benchgate.measure.sources import BenchFile
    from benchgate.model.calls import CallTree


# How much longer it may take under valgrind.
_VALGRIND = 3
_TWO_KINDS = (
    "one side times it, and on the other side it returns a number: remove it from [aliases]"
)


class FunctionEngine:
    """Measures functions of one or two arms, in any language; see `contract.Engine`.

    Args:
        benchmarks: for each arm, the benchmarks that its own configuration names.

    Attributes:
        peak_bytes: see `contract.DivisibleEngine`.
    """

    def __init__(
        self,
        benchmarks: Mapping[ArmName, Sequence[LiveBenchmarks]],
        arms: Sequence[Arm],
        settings: EngineSettings,
        guardian: Guardian,
    ) -> None:
        self._arms = {arm.name: arm for arm in arms}
        self._settings = settings
        self._workers = Workers(self._arms, settings, guardian)
        self._discovery = PythonDiscovery(benchmarks, self._arms, self._workers, settings)
        self._plans: dict[str, SamplePlan | Kind] = {}
        # Why those are measured in turn that failed when both arms ran at the same time.
        self._parted: dict[str, str] = {}
        self._counter = None
        if settings.valgrind:
            entries = self._discovery.entries
            self._counter = FunctionCounter(settings.valgrind, self._workers, entries, self._plans)
        self.peak_bytes = 0

    def discover(self) -> Discovery:
        """Find the functions; see `PythonDiscovery.discover`."""
        return self._discovery.discover()

    def measure_round(
        self,
        ids: Sequence[str],
        rng: random.Random,
        round_index: int,
        starting: Callable[[str], None] = ignore,
    ) -> Iterator[Observation]:
        """Measure the benchmarks one after the other; see `tasks`."""
        for task in self.tasks(ids, rng, round_index, Division()):
            yield from task.run(self._settings.cpu, starting)

    def tasks(
        self,
        ids: Sequence[str],
        rng: random.Random,
        round_index: int,
        division: Division,
    ) -> Sequence[Task]:
        """Divide a round by files: each has a fresh pair of workers, or one for each lane.

        Benchmarks that are not compared are measured last in each process, because what they leave
        there, such as a filled cache, would change the numbers of one arm only.
        """
        self._workers.resume()
        found = []
        for group in self._groups(ids, division):
            task = partial(self._measure_group, group, Random(rng.getrandbits(64)), round_index)  # noqa: S311 - repeatable on purpose
            alone = self._settings.cpu is None or self._discovery.entries[group[0]].parallel
            found.append(Task(tuple(group), task, None if alone else self._workers.halt))
        return found

    def due_for_counting(self, ids: Iterable[str]) -> list[str]:
        """Keep the functions of all arms that valgrind still has to count."""
        entries = self._discovery.entries
        in_all = (id_ for id_ in ids if len(entries[id_].sides) == len(self._arms))
        return self._counter.due(in_all) if self._counter else []

    def count_round(
        self,
        ids: Sequence[str],
        round_index: int,
        starting: Callable[[str], None] = ignore,
    ) -> Generator[Sequence[Observation]]:
        """Count the functions of one file after the other; see `contract.CountingEngine`."""
        self._workers.resume()
        if self._counter:
            for group in self._groups(ids, Division()):
                yield from self._counter.count(group, round_index, starting)

    def observes(self, id_: str) -> bool:
        """Whether both arms have it, and this session has timed it."""
        sides = self._discovery.entries[id_].sides.values()
        path = self._settings.outside.environ.get("PATH", os.defpath)
        has_valgrind = shutil.which("valgrind", path=path) is not None
        are_able = all(has_valgrind or not _is_under_callgrind(one.file) for one in sides)
        return are_able and len(sides) > 1 and isinstance(self._plans.get(id_), SamplePlan)

    def observe(self, id_: str, limit_s: float, metrics: Collection[str]) -> Sequence[Observation]:
        """Observe a benchmark in processes of its own; see `contract.ObservingEngine`."""
        entry, plan = self._discovery.entries[id_], self._plans[id_]
        if not isinstance(plan, SamplePlan):
            raise TypeError(f"{id_} is not timed")
        files = {arm: side.file for arm, side in entry.sides.items()}
        names = [side.name for side in entry.sides.values()]
        calls: Mapping[ArmName, Mapping[str, CallTree]]
        try:
            if _is_under_callgrind(next(iter(files.values()))):
                trees = self._observe_compiled(files, names, plan, limit_s)
                calls = {arm: {TIME.name: tree} for arm, tree in trees.items()}
            else:
                calls = self._observe_itself(
                    files, names, metrics, plan, timeout_s=entry.timeout_s, limit_s=limit_s
                )
        except (WorkerFailedError, CounterError) as failure:
            error = failure.error if isinstance(failure, WorkerFailedError) else str(failure)
            notes = (f"{NOT_KNOWN}{error.partition(chr(10))[0]}",)
            return [Observation(arm, id_, 0, notes=notes) for arm in files]
        return [Observation(arm, id_, 0, calls=found) for arm, found in calls.items()]

    def reach(self, ids: Sequence[str], differences: Differences) -> Mapping[str, str]:
        """See in one launch what all functions of a file reach; see `reach.ReachingEngine`."""
        reach = FunctionReach(self._workers, self._discovery.entries, differences)
        return {
            id_: why
            for group in self._groups(ids, Division())
            for id_, why in reach.of_group(group).items()
        }

    def _observe_itself(
        self,
        files: Mapping[ArmName, BenchFile],
        names: Sequence[str],
        metrics: Collection[str],
        plan: SamplePlan,
        *,
        timeout_s: float,
        limit_s: float,
    ) -> Mapping[ArmName, Mapping[str, CallTree]]:
        workers = self._started(files)
        try:
            for worker in workers:
                worker.allow(timeout_s)
            return observe(
                workers,
                names,
                metrics,
                loops=plan.loops,
                warms_up=plan.samples > 1,
                limit_s=limit_s,
            )
        finally:
            for worker in workers:
                self._workers.end(worker)

    def _observe_compiled(
        self,
        files: Mapping[ArmName, BenchFile],
        names: Sequence[str],
        plan: SamplePlan,
        limit_s: float,
    ) -> Mapping[ArmName, CallTree]:
        valgrind = find_valgrind(self._settings.outside.environ)
        with folder_for_counts() as folder:
            folders = {arm: folder / arm for arm in files}
            for own in folders.values():
                own.mkdir()
            under = {
                arm: Watched(under_callgrind(valgrind, own, samples=True))
                for arm, own in folders.items()
            }
            workers = self._started(files, under)
            limit_s *= _VALGRIND
            return observe_compiled(
                workers, self._workers.end, names, folders, loops=plan.loops, limit_s=limit_s
            )

    def _started(
        self,
        files: Mapping[ArmName, BenchFile],
        under: Mapping[ArmName, Watched] = MappingProxyType({}),
    ) -> list[Worker]:
        self._workers.resume()
        layouts = draw_layouts(Random(0), len(files))  # noqa: S311 - repeatable on purpose
        return self._workers.start(files, layouts, None, watched=under)

    def _groups(self, ids: Sequence[str], division: Division) -> list[list[str]]:
        """Put together what shares a pair of processes."""
        groups: dict[tuple[object, ...], list[str]] = {}
        entries = self._discovery.entries
        places = together([next(iter(entries[id_].sides.values())).name for id_ in ids])
        # A program of another language may have them in its own order only.
        listed = {id_: (index,) for index, id_ in enumerate(entries) if entries[id_].is_in_order}
        ranks = {
            id_: (False, listed[id_]) if id_ in listed else (not entries[id_].is_compared, place)
            for id_, place in zip(ids, places, strict=True)
        }
        for id_ in sorted(ids, key=ranks.__getitem__):
            entry = entries[id_]
            # A thread keeps the CPUs that its process had when the thread started.
            key = (*entry.place_in(self._arms), entry.parallel)
            groups.setdefault((*key, id_) if entry.isolate else key, []).append(id_)
        return [
            part
            for group in groups.values()
            for part in divide(
                group, [division.costs_s.get(id_, 0.0) for id_ in group], division.share_s
            )
        ]

    def close(self) -> None:
        """Kill every worker that is still alive."""
        self._workers.close()

    def _measure_group(
        self,
        ids: Sequence[str],
        rng: random.Random,
        round_index: int,
        cpu: int | None,
        starting: Callable[[str], None],
    ) -> Iterator[Observation]:
        """Measure benchmarks that share their processes; start new workers if needed."""
        pending = list(ids)
        while pending:
            starting(pending[0])  # its file is imported first, which may take long
            entries = [self._discovery.entries[id_] for id_ in pending]
            parallel = entries[0].parallel
            files = {arm: side.file for entry in entries for arm, side in entry.sides.items()}
            arms = tuple(arm for arm in self._arms if arm in files)
            arms = starting_order(arms, files[arms[0]].path, round_index)
            layouts = draw_layouts(rng, len(arms), round_index)
            try:
                in_turn = {arm: files[arm] for arm in arms}
                workers = self._workers.start(in_turn, layouts, None if parallel else cpu)
            except WorkerFailedError as failure:
                arm = failure.worker.arm.name
                for id_ in pending:
                    if arm in self._discovery.entries[id_].sides:
                        yield _failed(failure, id_)
                        yield from self._other_alone(failure, id_, rng, cpu)
                pending = [i for i in pending if arm not in self._discovery.entries[i].sides]
                continue
            try:
                yield from self._use(workers, pending, rng, None if parallel else cpu, starting)
                self.peak_bytes = max(self.peak_bytes, sum(w.peak_bytes() for w in workers))
            except BaseException:
                for worker in workers:
                    self._workers.kill(worker)
                raise
            for worker in workers:
                self._workers.end(worker)

    def _use(
        self,
        workers: Sequence[Worker],
        pending: list[str],
        rng: random.Random,
        cpu: int | None,
        starting: Callable[[str], None],
    ) -> Iterator[Observation]:
        """Measure pending benchmarks until one fails or leaves its process changed."""
        start_ns = max(worker.start_ns for worker in workers) // len(pending)
        while pending:
            id_ = pending.pop(0)
            starting(id_)
            entry = self._discovery.entries[id_]
            players = [worker for worker in workers if worker.arm.name in entry.sides]
            try:
                with moved_to(cpu):
                    observations, is_spent = self._launch(players, id_, rng, cpu, start_ns)
            except WorkerFailedError as failure:
                if failure.is_beside:
                    # They may need the same thing, such as a port. What fails anyway fails again.
                    self._parted[id_] = why_in_turn(failure.error)
                    self._plans.pop(id_, None)
                    pending.insert(0, id_)
                    return
                yield _failed(failure, id_)
                yield from self._other_alone(failure, id_, rng, cpu)
                return
            notes: tuple[str, ...] = ()
            if id_ in self._parted:
                notes += (self._parted[id_],)
            if entry.allow_foreign and len(players) > 1:
                packages = {w.arm.name: versions_of(w.packages.items()) for w in players}
                notes += note_on_versions(packages[ArmName.BASE], packages[ArmName.HEAD])
            for one in observations:
                yield replace(one, notes=(*one.notes, *notes))
            if is_spent:
                return

    def _launch(
        self,
        workers: Sequence[Worker],
        id_: str,
        rng: random.Random,
        cpu: int | None,
        start_ns: int = 0,
    ) -> tuple[list[Observation], bool]:
        """Measure one benchmark in every worker, and keep the plan for the launches that follow.

        Args:
            cpu: the CPU that the workers share; None if they may use all CPUs.
            start_ns: the benchmark's share of the time that a worker took to start.

        Returns:
            What was seen in each worker, and whether a process was left changed.

        Raises:
            WorkerFailedError: the benchmark failed; the state of the workers is then unknown.
        """
        entry = self._discovery.entries[id_]
        sides = [entry.sides[worker.arm.name] for worker in workers]
        names = [side.name for side in sides]
        plan = self._plans.get(id_)
        together = cpu is not None and not entry.in_turn and id_ not in self._parted
        if len({side.metric is None for side in sides}) > 1:
            raise WorkerFailedError(workers[0], _TWO_KINDS)
        if metrics := [side.metric for side in sides if side.metric]:
            kind = plan if isinstance(plan, Kind) else None
            self._plans[id_], observations, is_spent = measure_values(
                id_, workers, names, metrics, kind, timeout_s=entry.timeout_s
            )
        else:
            self._plans[id_], observations, is_spent = measure_launch(
                LaunchedBenchmark(id_, names, entry.timeout_s, entry.isolate),
                workers,
                plan if isinstance(plan, SamplePlan) else None,
                self._sampling(id_, start_ns, pinned=cpu is not None, together=together),
                rng,
            )
        return observations, is_spent

    def _sampling(self, id_: str, start_ns: int, *, pinned: bool, together: bool) -> Sampling:
        """How much to measure in a launch."""
        measure = self._settings.measure
        return Sampling(
            samples=measure.samples,
            launch_ns=round(measure.launch_time_s * 1e9),
            start_ns=start_ns,
            warmup=None if measure.warmup == "auto" else measure.warmup,
            event=self._settings.event,
            brief=self._settings.brief,
            pinned=pinned,
            together=together,
            traces=self._settings.traces(id_),
        )

    def _other_alone(
        self,
        failure: WorkerFailedError,
        id_: str,
        rng: random.Random,
        cpu: int | None,
    ) -> Iterator[Observation]:
        """If the base failed, run the head too: which arm went first was random.

        If either is skipped, run the other one: it may be skipped as well.
        """
        entry = self._discovery.entries[id_]
        arm = failure.worker.arm.name
        other = ArmName.HEAD if arm is ArmName.BASE else ArmName.BASE
        side = entry.sides.get(other)
        is_skipped = isinstance(failure, WorkerSkippedError)
        if side is None or (other is ArmName.BASE and not is_skipped):
            return
        workers: list[Worker] = []
        try:
            layouts = draw_layouts(rng, 1)
            on = None if entry.parallel else cpu
            workers = self._workers.start({other: side.file}, layouts, on)
            self._launch(workers, id_, rng, on)
        except WorkerFailedError as too:
            yield _failed(too, id_)
        finally:
            for worker in workers:
                self._workers.end(worker)


def _is_under_callgrind(file: BenchFile) -> bool:
    """Whether valgrind must observe what the benchmarks of a file call."""
    language = LANGUAGES.get(file.benchmark.KIND)
    return language is not None and language.OBSERVED_UNDER_CALLGRIND


def _failed(failure: WorkerFailedError, id_: str) -> Observation:
    return Observation(
        failure.worker.arm.name,
        id_,
        failure.worker.order,
        error=failure.error,
        of_all=isinstance(failure, ForeignModuleError),
        skipped=isinstance(failure, WorkerSkippedError),
    )
