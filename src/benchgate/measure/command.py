"""Measuring commands: in bursts, the arms taking turns execution by execution."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from benchgate.errors import MeasureError
from benchgate.measure.affinity import available_cpus, kept_off, supports_pinning
from benchgate.measure.armenviron import Outside
from benchgate.measure.datafiles import DataFiles, DataFilesError, workload_of
from benchgate.measure.engine import (
    ArmName,
    Definition,
    Discovery,
    DiscoveryFailure,
    Measured,
    Observation,
    Stopwatch,
)
from benchgate.measure.job import (
    CommandSpec,
    jobs_of,
    run_alike,
    trouble_with,
    workload_hash,
)
from benchgate.measure.owncode import ForeignCodeError, OwnCode
from benchgate.measure.process import Launcher
from benchgate.measure.turns import executions_within, later_orders, starting_order
from benchgate.model.metrics import CPU_TIME, INSTRUCTIONS, PEAK_RSS, TIME
from benchgate.model.renames import renamed
from benchgate.model.run import Tier
from benchgate.units import format_value

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchgate.arrays import FloatArray
    from benchgate.measure.counters import Event
    from benchgate.measure.engine import Arm
    from benchgate.measure.guardian import Guardian
    from benchgate.measure.job import Job
    from benchgate.measure.process import Execution
    from benchgate.model.run import Metric

BURST_S = 6.0

_METRICS: tuple[tuple[Metric, Callable[[Execution], float]], ...] = (
    (TIME, lambda execution: execution.wall_ns / 1e9),
    (CPU_TIME, lambda execution: (execution.user_ns + execution.system_ns) / 1e9),
    (PEAK_RSS, lambda execution: execution.peak_rss_bytes),
)


class _JobFailedError(Exception):
    """A job's command, prepare or cleanup failed; the message is an observation's error."""

    def __init__(self, job: Job, error: str, *, of_all: bool = False) -> None:
        super().__init__(error)
        self.job = job
        self.error = error
        self.of_all = of_all


class CommandEngine:
    """Measures commands on one or two arms.

    Args:
        specs: what each arm's own configuration defines, of different names.
        arms: one or two, whose variables have the same names.
        guardian: ends what outlives benchgate.
        aliases: new id of each benchmark that the head renamed, by its old one.
        lead: the arm whose spec says how a benchmark of both is run; see `run_alike`.
        cpu: where pinned benchmarks run; None when no CPU was chosen.
        all_cpus: where everything else runs; None for the CPUs that are available now, which
            inside of `kept_off` are too few.
        unpinned: why no CPU was chosen, for a note.
        outside: what the environment of every command starts from.
        event: what is counted as instructions; None for nothing.
        burst_s: about how long one arm's executions in one round may take, prepare included.

    Raises:
        MeasureError: the arms set different variables.
    """

    def __init__(
        self,
        specs: Mapping[ArmName, Sequence[CommandSpec]],
        arms: Sequence[Arm],
        guardian: Guardian,
        *,
        aliases: Mapping[str, str] = MappingProxyType({}),
        lead: ArmName = ArmName.HEAD,
        cpu: int | None = None,
        all_cpus: frozenset[int] | None = None,
        unpinned: str = "not pinned: no CPU was chosen",
        outside: Outside | None = None,
        event: Event | None = None,
        burst_s: float = BURST_S,
    ) -> None:
        self._commands = _by_id(specs, aliases, lead)
        self._arms = {arm.name: arm for arm in arms}
        self._data = DataFiles({arm.name: arm.root for arm in arms})
        outside = outside or Outside()
        self._jobs = {id_: jobs_of(one, arms, outside) for id_, one in self._commands.items()}
        self._own_code = OwnCode(outside.checkout) if outside.checkout else None
        self._launcher = Launcher(guardian, event)
        pinning = supports_pinning()
        self._cpu = cpu if pinning else None
        self._all_cpus = (all_cpus or available_cpus()) if pinning else None
        self._unpinned = unpinned if pinning else f"not pinned: {pinning.reason}"
        self._burst_s = burst_s
        self._executions: dict[str, int] = {}

    def discover(self) -> Discovery:
        """Give what the configuration of each arm defines."""
        found: dict[ArmName, list[Definition]] = {arm: [] for arm in self._arms}
        failures = []
        for id_, specs in self._commands.items():
            for arm, spec in specs.items():
                try:
                    found[arm].append(self._define(id_, spec, arm))
                except DataFilesError as error:
                    failures.append(DiscoveryFailure(arm, id_, str(error)))
        by_arm = {arm: tuple(definitions) for arm, definitions in found.items()}
        return Discovery(by_arm, tuple(failures))

    def measure_round(
        self, ids: Sequence[str], rng: random.Random, round_index: int
    ) -> Iterator[Observation]:
        """Measure one burst of each benchmark on every arm; see `engine.Engine`.

        When an arm fails, failures are all that is yielded of the benchmark: the head is tried
        alone when the base has failed, because it is chance who was first.
        """
        for name in ids:
            jobs = starting_order(self._jobs[name], name, round_index)
            try:
                yield from self._measure(self._spec_of(name), jobs, rng)
            except _JobFailedError as failure:
                yield _failed(failure, name, jobs)
                others = tuple(job for job in jobs if job.arm is ArmName.HEAD)
                if others and failure.job not in others:
                    try:
                        self._measure(self._spec_of(name), others, rng)
                    except _JobFailedError as too:
                        yield _failed(too, name, jobs)

    def close(self) -> None:
        """End the command that is running, if one is."""
        self._launcher.close()

    def _spec_of(self, name: str) -> CommandSpec:
        """Give how a command is run, which is the same in every arm."""
        return replace(next(iter(self._commands[name].values())), name=name)

    def _define(self, id_: str, spec: CommandSpec, arm: ArmName) -> Definition:
        files = self._data.parts(arm, spec.data)
        parts = {"its definition": workload_hash(spec), **files}
        return Definition(
            id=id_,
            workload=workload_of(parts) if files else parts["its definition"],
            tier=Tier.INTERLEAVED,
            tags=spec.tags,
            notes=(self._unpinned,) if spec.pin and self._cpu is None else (),
            parts=parts,
            renamed_from=None if spec.name == id_ else spec.name,
        )

    def _measure(
        self, spec: CommandSpec, jobs: tuple[Job, ...], rng: random.Random
    ) -> list[Observation]:
        """Measure a burst and clean up; not after Ctrl-C, when nothing more is to be run."""
        try:
            observations = self._burst(spec, jobs, rng)
        except _JobFailedError:
            for job in jobs:
                with suppress(_JobFailedError):  # the first failure is the one to report
                    self._run(spec, job, "cleanup", job.cleanup)
            raise
        for job in jobs:
            self._run(spec, job, "cleanup", job.cleanup)
        return observations

    def _burst(
        self, spec: CommandSpec, jobs: tuple[Job, ...], rng: random.Random
    ) -> list[Observation]:
        warmups: dict[Job, list[Execution]] = {job: [] for job in jobs}
        samples: dict[Job, list[Execution]] = {job: [] for job in jobs}
        count = self._executions.get(spec.name)
        notes: dict[Job, tuple[str, ...]] = {}
        once = Stopwatch()
        if count is None:
            with once:
                notes = self._check(spec, jobs, warmups)
                for turn in range(spec.warmup):
                    self._take_turns(spec, [j for j in jobs if len(warmups[j]) <= turn], warmups)
        slowest_s = self._take_turns(spec, jobs, samples)
        if count is None:
            count = executions_within(self._burst_s, slowest_s, spec.executions)
        for order in later_orders(jobs, count - 1, rng):
            self._take_turns(spec, order, samples)
        self._executions[spec.name] = count
        return [
            Observation(
                arm=job.arm,
                benchmark=spec.name,
                order=order,
                metrics=_measured(samples[job], warmups[job]),
                notes=(
                    *notes.get(job, ()),
                    *_memory_notes(samples[job]),
                    *_count_notes(samples[job]),
                ),
                once_s=once.elapsed_s,
            )
            for order, job in enumerate(jobs)
        ]

    def _take_turns(
        self, spec: CommandSpec, jobs: Sequence[Job], into: dict[Job, list[Execution]]
    ) -> float:
        """Execute each job once; give the seconds that the slowest took, prepare included."""
        slowest_s = 0.0
        for job in jobs:
            started_s = time.perf_counter()
            into[job].append(self._prepare_and_time(spec, job))
            slowest_s = max(slowest_s, time.perf_counter() - started_s)
        return slowest_s

    def _check(
        self, spec: CommandSpec, jobs: tuple[Job, ...], warmups: dict[Job, list[Execution]]
    ) -> dict[Job, tuple[str, ...]]:
        """Execute each job to see that it runs its own code; give what to note of it.

        Being watched costs a little time. So this is the first execution of the warm-up, or one
        that is not recorded.
        """
        notes = {}
        for job in jobs:
            if self._own_code is None or job.allow_foreign:
                continue
            arm = self._arms[job.arm]
            executions: list[Execution] = []

            def execute(job: Job = job, done: list[Execution] = executions) -> None:
                done.append(self._prepare_and_time(spec, job))

            try:
                notes[job] = self._own_code.check(
                    arm,
                    [other for other in self._arms.values() if other is not arm],
                    execute,
                    named=job.names_its_arm,
                    what=job.command[0],
                )
            except ForeignCodeError as error:
                raise _JobFailedError(job, str(error), of_all=True) from error
            if spec.warmup:
                warmups[job].append(executions[0])
        return notes

    def _prepare_and_time(self, spec: CommandSpec, job: Job) -> Execution:
        self._run(spec, job, "prepare", job.prepare)
        cpu = self._cpu if spec.pin else None
        cpus = self._all_cpus if cpu is None else frozenset({cpu})
        with kept_off(cpu):
            return self._execute(spec, job, job.command, job.ok_exit_codes, cpus)

    def _run(self, spec: CommandSpec, job: Job, role: str, argv: tuple[str, ...] | None) -> None:
        if argv is None:
            return
        try:
            self._execute(spec, job, argv, frozenset({0}), self._all_cpus)
        except _JobFailedError as failure:
            raise _JobFailedError(job, f"{role}: {failure.error}") from failure

    def _execute(
        self,
        spec: CommandSpec,
        job: Job,
        argv: tuple[str, ...],
        ok_exit_codes: frozenset[int],
        cpus: frozenset[int] | None,
    ) -> Execution:
        try:
            execution = self._launcher.execute(
                argv, cwd=job.cwd, env=job.env, timeout_s=spec.timeout_s, cpus=cpus
            )
        except MeasureError as error:
            parts = (error.message, error.hint, error.details)
            raise _JobFailedError(job, "\n".join(filter(None, parts))) from error
        trouble = trouble_with(execution, ok_exit_codes, spec.timeout_s)
        if trouble is not None:
            raise _JobFailedError(job, trouble)
        return execution


def _by_id(
    specs: Mapping[ArmName, Sequence[CommandSpec]], aliases: Mapping[str, str], lead: ArmName
) -> Mapping[str, Mapping[ArmName, CommandSpec]]:
    """Join the commands of the arms, what the head renamed under its new id; the head's first."""
    named = {arm: {spec.name: spec for spec in each} for arm, each in specs.items()}
    base, head = (named.get(arm, {}) for arm in (ArmName.BASE, ArmName.HEAD))
    new_ids = {old: new for new, old in renamed(base, head, aliases).items()}
    joined: dict[str, dict[ArmName, CommandSpec]] = {}
    for name, spec in head.items():
        joined[name] = {ArmName.HEAD: spec}
    for name, spec in base.items():
        joined.setdefault(new_ids.get(name, name), {})[ArmName.BASE] = spec
    return {id_: run_alike(both, lead) for id_, both in joined.items()}


def _failed(failure: _JobFailedError, name: str, jobs: Sequence[Job]) -> Observation:
    job = failure.job
    return Observation(job.arm, name, jobs.index(job), error=failure.error, of_all=failure.of_all)


def _measured(samples: list[Execution], warmup: list[Execution]) -> tuple[Measured, ...]:
    measured = [
        Measured(
            metric=metric,
            loops=1,
            samples=np.array([value(execution) for execution in samples], dtype=np.float64),
            warmup=np.array([value(execution) for execution in warmup], dtype=np.float64),
        )
        for metric, value in _METRICS
    ]
    if all(execution.count is not None for execution in samples):
        measured.append(Measured(INSTRUCTIONS, 1, _counts(samples), _counts(warmup)))
    return tuple(measured)


def _counts(executions: list[Execution]) -> FloatArray:
    counts = [execution.count for execution in executions if execution.count is not None]
    return np.array(counts, dtype=np.float64)


def _memory_notes(samples: list[Execution]) -> tuple[str, ...]:
    floor_bytes = max(execution.peak_rss_floor_bytes for execution in samples)
    if all(execution.peak_rss_bytes > floor_bytes for execution in samples):
        return ()
    return (f"{PEAK_RSS.name}: less than {format_value(floor_bytes, 'B')} cannot be told apart",)


def _count_notes(samples: list[Execution]) -> tuple[str, ...]:
    reasons = dict.fromkeys(execution.uncounted for execution in samples if execution.uncounted)
    return tuple(f"{INSTRUCTIONS.name}: {reason}" for reason in reasons)
