"""Python functions, measured in lockstep: a worker of each arm, alive together, taking turns."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchgate.measure.benchfiles import BenchFile, find_files, interpreter_of, search_path
from benchgate.measure.engine import (
    ArmName,
    Definition,
    Discovery,
    DiscoveryFailure,
    Measured,
    Observation,
)
from benchgate.measure.lockstep import (
    Calibrated,
    Plan,
    Turns,
    make_plan,
    take_turns,
    target_interval_ns,
    warm_up_until_settled,
)
from benchgate.measure.worker import Worker, WorkerFailedError, WorkerSetting
from benchgate.model.result import Kind, Metric, Tier

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from benchgate.arrays import FloatArray
    from benchgate.measure.benchfiles import PythonSpec
    from benchgate.measure.engine import Arm
    from benchgate.measure.guardian import Guardian

TIME = Metric("time", "s")
CPU_TIME = Metric("cpu_time", "s")
PEAK_RSS = Metric("peak_rss", "B")
ALLOC_PEAK = Metric("alloc_peak", "B", kind=Kind.EXACT)
ALLOC_BLOCKS = Metric("alloc_blocks", "", kind=Kind.EXACT)

_NOTHING: FloatArray = np.empty(0)


@dataclass(frozen=True, slots=True)
class PythonSettings:
    """How functions are measured.

    Attributes:
        samples: per launch, where the work is short enough.
        launch_ns: time for them.
        warmup: samples to discard; None to go on until they settle.
        cpu: the CPU that both arms share; None where pinning is impossible or not wanted.
        unpinned: why they are not pinned; "" when they are.
        interpreter: what runs benchmarks that name no interpreter.
        forbidden: the user's checkout: no arm may import from it.
        environ: variables that every worker inherits.
    """

    samples: int
    launch_ns: int
    warmup: int | None
    cpu: int | None
    unpinned: str
    all_cpus: tuple[int, ...]
    interpreter: str
    forbidden: tuple[Path, ...]
    environ: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Entry:
    """A benchmark, and where it is: its file, its name in it, the arms that have it."""

    file: BenchFile
    name: str
    arms: tuple[ArmName, ...]
    parallel: bool


class PythonEngine:
    """Measures `bench_*` functions of one or two arms; see `engine.Engine`."""

    def __init__(
        self,
        specs: Sequence[PythonSpec],
        arms: Sequence[Arm],
        settings: PythonSettings,
        guardian: Guardian,
    ) -> None:
        self._specs = specs
        self._arms = {arm.name: arm for arm in arms}
        self._settings = settings
        self._guardian = guardian
        self._entries: dict[str, _Entry] = {}
        self._plans: dict[str, Plan] = {}
        self._alive: list[Worker] = []

    def discover(self) -> Discovery:
        """Import every benchmark file once in each arm and list its functions."""
        found: dict[ArmName, list[Definition]] = {name: [] for name in self._arms}
        failures: list[DiscoveryFailure] = []
        toolchains: dict[ArmName, dict[str, str]] = {name: {} for name in self._arms}
        for arm in self._arms.values():
            for file in (f for spec in self._specs for f in find_files(arm, spec)):
                try:
                    hello = self._describe(arm, file)
                except WorkerFailedError as failure:
                    failures.append(DiscoveryFailure(arm.name, file.group, failure.error))
                    continue
                toolchains[arm.name]["python"] = hello["python"]
                for described in hello["benchmarks"]:
                    found[arm.name].append(self._define(arm, file, described))
        return Discovery({a: tuple(d) for a, d in found.items()}, tuple(failures), toolchains)

    def measure_round(
        self, ids: Sequence[str], rng: random.Random, round_index: int
    ) -> Iterator[Observation]:
        """Measure the benchmarks file by file, a fresh pair of workers for each file."""
        groups: dict[tuple[str, str], list[str]] = {}
        for id_ in ids:
            file = self._entries[id_].file
            groups.setdefault((file.path, id_ if file.spec.isolate else ""), []).append(id_)
        for group in groups.values():
            yield from self._measure_group(group, rng, round_index)

    def close(self) -> None:
        """Kill every worker that is still alive."""
        while self._alive:
            self._alive.pop().kill()

    def _describe(self, arm: Arm, file: BenchFile) -> dict[str, Any]:
        worker = self._start(arm, file, hash_seed=0, describe=True)
        try:
            return worker.ready(file.spec.timeout_s)
        finally:
            self._end(worker)

    def _define(self, arm: Arm, file: BenchFile, described: Mapping[str, Any]) -> Definition:
        id_ = file.id_of(described["id"])
        known = self._entries.get(id_)
        parallel = file.spec.parallel or described["parallel"]
        self._entries[id_] = _Entry(
            file, described["id"], (*(known.arms if known else ()), arm.name), parallel
        )
        unpinned = "not pinned: it is marked parallel" if parallel else self._settings.unpinned
        return Definition(
            id=id_,
            workload=described["workload"],
            tier=Tier.LOCKSTEP,
            tags=file.spec.tags,
            location=described["location"],
            display_unit=described["unit"],
            notes=(unpinned,) if unpinned else (),
        )

    def _measure_group(
        self, ids: Sequence[str], rng: random.Random, round_index: int
    ) -> Iterator[Observation]:
        """Measure benchmarks in one pair of processes; start anew after one that failed."""
        pending = list(ids)
        while pending:
            hash_seed = rng.randrange(1, 2**32)
            arms = [a for a in self._arms if any(a in self._entries[i].arms for i in pending)]
            if round_index % 2:
                arms.reverse()
            try:
                workers = self._start_all(arms, self._entries[pending[0]].file, hash_seed)
            except WorkerFailedError as failure:
                for id_ in pending:
                    yield _failed(failure, id_, arms)
                return
            while pending:
                id_ = pending.pop(0)
                try:
                    yield from self._measure_one(id_, workers, rng)
                except WorkerFailedError as failure:
                    yield _failed(failure, id_, arms)
                    break
            for worker in workers:
                self._end(worker)

    def _start_all(self, arms: Sequence[ArmName], file: BenchFile, hash_seed: int) -> list[Worker]:
        workers: list[Worker] = []
        try:
            # One by one, so that those that have started are ended when a later one cannot.
            for name in arms:
                worker = self._start(self._arms[name], file, hash_seed)
                workers.append(worker)
            for worker in workers:
                worker.ready(file.spec.timeout_s)
        except WorkerFailedError:
            for worker in workers:
                self._end(worker)
            raise
        return workers

    def _start(
        self, arm: Arm, file: BenchFile, hash_seed: int, *, describe: bool = False
    ) -> Worker:
        spec = file.spec
        others = tuple(other.root for other in self._arms.values() if other.root != arm.root)
        path = search_path(arm, spec)
        environ = {**self._settings.environ, **arm.variables}
        environ |= {key: arm.substitute(value) for key, value in spec.variables.items()}
        # Processes that the benchmark starts must find the arm's code too.
        inherited = environ.get("PYTHONPATH")
        environ["PYTHONPATH"] = os.pathsep.join(
            [*map(str, path), *([inherited] if inherited else [])]
        )
        environ["PYTHONHASHSEED"] = str(hash_seed)
        worker = Worker(
            arm,
            WorkerSetting(
                interpreter=shlex.split(interpreter_of(arm, spec, self._settings.interpreter)),
                file=arm.root / file.path,
                path=path,
                cpus=None if self._settings.cpu is None else (self._settings.cpu,),
                forbidden=self._settings.forbidden + others,
                variables=environ,
            ),
            self._guardian,
            describe=describe,
        )
        self._alive.append(worker)
        return worker

    def _end(self, worker: Worker) -> None:
        self._alive.remove(worker)
        worker.close()

    def _measure_one(
        self, id_: str, workers: Sequence[Worker], rng: random.Random
    ) -> Iterator[Observation]:
        entry = self._entries[id_]
        players = [worker for worker in workers if worker.arm.name in entry.arms]
        pinned = self._settings.cpu is not None and not entry.parallel
        cpus = (self._settings.cpu,) if pinned else self._settings.all_cpus
        own_rss = []
        for worker in players:
            worker.allow(entry.file.spec.timeout_s * len(players))
            own_rss.append(worker.ask("open", id=entry.name, cpus=cpus)["rss_is_own"])
        first_time = id_ not in self._plans
        if first_time:
            self._plans[id_] = self._calibrate(players)
        plan = self._plans[id_]
        for worker in players:
            worker.ask("loops", loops=plan.loops)
        warmup, notes = self._warm_up(id_, players, rng)
        for worker in players:
            worker.ask("begin")
        turns = take_turns(players, plan.samples, rng)
        rss = [worker.ask("end")["peak_rss"] for worker in players]
        exact = [worker.ask("allocations") if first_time else {} for worker in players]
        for worker in players:
            worker.ask("close")
            worker.forget_output()
        for index, worker in enumerate(players):
            metrics = _timings(plan.loops, turns[index], warmup[index])
            if own_rss[index] or entry.file.spec.isolate:
                metrics.append(_single(PEAK_RSS, rss[index]))
            for metric in (ALLOC_PEAK, ALLOC_BLOCKS):
                if metric.name in exact[index]:
                    metrics.append(_single(metric, exact[index][metric.name]))
            yield Observation(
                worker.arm.name, id_, workers.index(worker), tuple(metrics), notes=notes
            )

    def _calibrate(self, players: Sequence[Worker]) -> Plan:
        timer_cost_ns = max(worker.timer_cost_ns for worker in players)
        settings = self._settings
        target_ns = target_interval_ns(timer_cost_ns, settings.launch_ns, settings.samples)
        found = [worker.ask("calibrate", target_ns=target_ns) for worker in players]
        return make_plan(
            [Calibrated(f["loops"], f["sample_ns"]) for f in found],
            timer_cost_ns=timer_cost_ns,
            launch_ns=settings.launch_ns,
            samples=settings.samples,
            warmup=settings.warmup or 0,
        )

    def _warm_up(
        self, id_: str, players: Sequence[Worker], rng: random.Random
    ) -> tuple[list[Turns], tuple[str, ...]]:
        """Discard samples; `auto` settles their number in the first launch, for all launches."""
        plan = self._plans[id_]
        if self._settings.warmup is not None or plan.warmup:
            return take_turns(players, plan.warmup, rng), plan.notes
        turns, settled = warm_up_until_settled(players, rng)
        count = len(turns[0].wall_ns)
        notes = plan.notes
        if not settled:
            notes += (f"the warm-up has not settled after {count} samples",)
        self._plans[id_] = Plan(plan.loops, plan.samples, count, notes)
        return turns, notes


def _timings(loops: int, turns: Turns, warmup: Turns) -> list[Measured]:
    scale = 1e9 * loops
    return [
        Measured(TIME, loops, _scaled(turns.wall_ns, scale), _scaled(warmup.wall_ns, scale)),
        Measured(CPU_TIME, loops, _scaled(turns.cpu_ns, scale), _scaled(warmup.cpu_ns, scale)),
    ]


def _scaled(values: Sequence[int], divisor: float) -> FloatArray:
    return np.asarray(values, dtype=np.float64) / divisor


def _single(metric: Metric, value: float) -> Measured:
    return Measured(metric, 1, np.array([value], dtype=np.float64), _NOTHING)


def _failed(failure: WorkerFailedError, id_: str, arms: Sequence[ArmName]) -> Observation:
    arm = failure.worker.arm.name
    return Observation(arm, id_, arms.index(arm), error=failure.error)
