"""Python functions, measured in lockstep: a worker of each arm, alive together, taking turns."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from benchgate.config.benchmarks import PATTERN
from benchgate.errors import UsageError
from benchgate.measure.affinity import moved_to
from benchgate.measure.benchfiles import (
    BenchFile,
    find_files,
    helpers_of,
    interpreter_of,
    own_folders,
    scripts_of,
)
from benchgate.measure.datafiles import DataFiles, DataFilesError, workload_of
from benchgate.measure.engine import (
    ArmName,
    Definition,
    Discovery,
    DiscoveryFailure,
    Observation,
)
from benchgate.measure.entry import Entry, Side
from benchgate.measure.importpath import import_path, moved
from benchgate.measure.layout import Layout, draw_layout
from benchgate.measure.pair import Sampling, measure_launch
from benchgate.measure.provided import Provided, provided_by, versions_of
from benchgate.measure.turns import starting_order
from benchgate.measure.worker import ForeignModuleError, Worker, WorkerFailedError, WorkerSetting
from benchgate.model.renames import renamed
from benchgate.model.result import Tier

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Mapping, Sequence

    from benchgate.measure.benchfiles import PythonSpec
    from benchgate.measure.counters import Event
    from benchgate.measure.engine import Arm
    from benchgate.measure.guardian import Guardian
    from benchgate.measure.lockstep import Plan
    from benchgate.stats.timer import Timer


_LINES_NAMED = 3


@dataclass(frozen=True, slots=True)
class PythonSettings:
    """How functions are measured.

    Attributes:
        samples: per launch, where the work is short enough.
        launch_ns: time for them.
        warmup: samples to discard; None to go on until they settle.
        cpu: the CPU that both arms share; None where pinning is impossible or not wanted.
        unpinned: why they are not pinned; "" when they are.
        all_cpus: for what is not pinned.
        interpreter: path of what runs benchmarks that name no interpreter.
        forbidden: the user's checkout: no arm may import from it.
        environ: variables that every worker inherits.
        event: what is counted as instructions; None for nothing.
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
    event: Event | None = None

    @property
    def sampling(self) -> Sampling:
        """How much is measured in a launch."""
        return Sampling(self.samples, self.launch_ns, self.warmup, self.event)


class PythonEngine:
    """Measures `bench_*` functions of one or two arms; see `engine.Engine`.

    Args:
        specs: what each arm's own configuration looks for in it.
        aliases: new id of each benchmark that the head renamed, by its old one.
        lead: the arm whose spec says how a benchmark of both is run: isolated, parallel.
    """

    def __init__(
        self,
        specs: Mapping[ArmName, Sequence[PythonSpec]],
        arms: Sequence[Arm],
        settings: PythonSettings,
        guardian: Guardian,
        *,
        aliases: Mapping[str, str] = MappingProxyType({}),
        lead: ArmName = ArmName.HEAD,
    ) -> None:
        self._specs = specs
        self._aliases = aliases
        self._lead = lead
        self._arms = {arm.name: arm for arm in arms}
        self._data = DataFiles({arm.name: arm.root for arm in arms})
        self._settings = settings
        self._guardian = guardian
        self._entries: dict[str, Entry] = {}
        self._plans: dict[str, Plan] = {}
        # What the default interpreter turned out to be: a version manager's shim starts slowly.
        self._executables: dict[ArmName, str] = {}
        self._alive: list[Worker] = []
        self._provided: dict[ArmName, Provided] = {}

    def discover(self) -> Discovery:
        """Import every benchmark file once in each arm and list its functions.

        Raises:
            UsageError: a place that the head configures holds no benchmark file in any arm.
        """
        found: dict[ArmName, dict[str, Definition]] = {}
        failures: list[DiscoveryFailure] = []
        toolchains: dict[ArmName, dict[str, str]] = {}
        timers: dict[ArmName, Timer] = {}
        for arm in self._arms.values():
            definitions = found[arm.name] = {}
            toolchains[arm.name] = {}
            for file in self._files(arm):
                try:
                    hello, timer = self._describe(arm, file)
                except WorkerFailedError as failure:
                    failures.append(_unread(failure, file.group))
                    continue
                toolchains[arm.name]["python"] = hello["python"]
                other = timers.get(arm.name, timer)
                timers[arm.name] = max(timer, other, key=attrgetter("cost_ns"))
                failures += [
                    DiscoveryFailure(arm.name, file.id_of(name), error)
                    for name, error in hello["faults"].items()
                ]
                for described in hello["benchmarks"]:
                    id_ = file.id_of(described["id"])
                    if id_ in definitions:
                        other_file = self._entries[id_].sides[arm.name].file
                        failures.append(_taken(arm, file, id_, other_file))
                        break
                    try:
                        definitions[id_] = self._define(arm, file, described)
                    except DataFilesError as error:
                        failures.append(DiscoveryFailure(arm.name, id_, str(error)))
        base, head = found.get(ArmName.BASE, {}), found.get(ArmName.HEAD, {})
        self._join(base, head)
        self._add_notes(base, head)
        by_arm = {arm: tuple(definitions.values()) for arm, definitions in found.items()}
        return Discovery(by_arm, tuple(failures), toolchains, timers)

    def measure_round(
        self, ids: Sequence[str], rng: random.Random, round_index: int
    ) -> Iterator[Observation]:
        """Measure the benchmarks file by file, a fresh pair of workers for each file."""
        groups: dict[tuple[object, ...], list[str]] = {}
        for id_ in ids:
            entry = self._entries[id_]
            # Threads keep the CPUs of the process that they were started in.
            key = (*entry.place_in(self._arms), entry.parallel)
            groups.setdefault((*key, id_) if entry.isolate else key, []).append(id_)
        for group in groups.values():
            yield from self._measure_group(group, rng, round_index)

    def close(self) -> None:
        """Kill every worker that is still alive."""
        while self._alive:
            self._alive.pop().kill()

    def _files(self, arm: Arm) -> Iterator[BenchFile]:
        for spec in self._specs.get(arm.name, ()):
            for path in spec.paths:
                # What the base's configuration names may be gone from it; the head must be told.
                if arm.name is ArmName.HEAD and not any(
                    find_files(other, spec, path) for other in self._arms.values()
                ):
                    raise UsageError(
                        "no benchmarks found: "
                        f'[[benchmark]] python = "{path}" has no file {PATTERN}',
                        hint="The path in benchgate.toml or pyproject.toml is relative to the root "
                        "of the repository. A file that git ignores is not measured.",
                    )
                yield from find_files(arm, spec, path)

    def _describe(self, arm: Arm, file: BenchFile) -> tuple[dict[str, Any], Timer]:
        worker = self._start(arm, file, self._cpus(parallel=True), Layout(), describe=True)
        try:
            hello = worker.ready(file.spec.timeout_s)
        finally:
            self._end(worker)
        if file.spec.interpreter is None and hello["executable"]:
            self._executables[arm.name] = hello["executable"]
        return hello, worker.timer

    def _define(self, arm: Arm, file: BenchFile, described: Mapping[str, Any]) -> Definition:
        id_ = file.id_of(described["id"])
        parallel = file.spec.parallel or described["parallel"]
        side = Side(file, described["id"], parallel)
        entry = Entry({arm.name: side}, self._lead)
        known = self._entries.get(id_)
        self._entries[id_] = known.joined(entry) if known else entry
        parts = {
            **described["parts"],
            **file.spec.settings,
            **scripts_of(arm, file.spec),
            **self._data.parts(arm.name, (*file.spec.data, *described["data"])),
        }
        return Definition(
            id=id_,
            workload=workload_of(parts),
            parts=parts,
            also_runs=described["also_runs"],
            tier=Tier.LOCKSTEP,
            tags=file.spec.tags,
            location=described["location"],
            display_unit=described["unit"],
        )

    def _add_notes(self, base: dict[str, Definition], head: dict[str, Definition]) -> None:
        for definitions in (base, head):
            for id_, one in definitions.items():
                definitions[id_] = replace(one, notes=self._notes(id_))
        for id_ in base.keys() & head.keys():
            if note := note_on_import(base[id_], head[id_]):
                head[id_] = replace(head[id_], notes=(*head[id_].notes, note))

    def _notes(self, id_: str) -> tuple[str, ...]:
        """Say why a benchmark is not pinned, if it is not."""
        parallel = self._entries[id_].parallel
        unpinned = "not pinned: it is marked parallel" if parallel else self._settings.unpinned
        return (unpinned,) if unpinned else ()

    def _join(self, base: dict[str, Definition], head: Mapping[str, Definition]) -> None:
        """Let what the head renamed be one benchmark, under its new id."""
        for new, old in renamed(base, head, self._aliases).items():
            base[new] = replace(base.pop(old), id=new, renamed_from=old)
            self._entries[new] = self._entries.pop(old).joined(self._entries[new])

    def _measure_group(
        self, ids: Sequence[str], rng: random.Random, round_index: int
    ) -> Iterator[Observation]:
        """Measure benchmarks that share their processes, with as many pairs as it takes."""
        pending = list(ids)
        while pending:
            entries = [self._entries[id_] for id_ in pending]
            parallel = entries[0].parallel
            files = {arm: side.file for entry in entries for arm, side in entry.sides.items()}
            arms = tuple(arm for arm in self._arms if arm in files)
            arms = starting_order(arms, files[arms[0]].path, round_index)
            layout = draw_layout(rng)
            try:
                in_turn = {arm: files[arm] for arm in arms}
                workers = self._start_all(in_turn, self._cpus(parallel=parallel), layout)
            except WorkerFailedError as failure:
                lacking = [
                    i for i in pending if failure.worker.arm.name not in self._entries[i].sides
                ]
                for id_ in pending:
                    if id_ not in lacking:
                        yield _failed(failure, id_, arms)
                        yield from self._head_alone(failure, id_, arms, rng)
                pending = lacking
                continue
            yield from self._use(workers, pending, rng)
            for worker in workers:
                self._end(worker)

    def _use(
        self, workers: Sequence[Worker], pending: list[str], rng: random.Random
    ) -> Iterator[Observation]:
        """Measure what is pending until a benchmark fails, or leaves a process changed."""
        arms = [worker.arm.name for worker in workers]
        while pending:
            id_ = pending.pop(0)
            entry = self._entries[id_]
            players = [worker for worker in workers if worker.arm.name in entry.sides]
            try:
                with moved_to(None if entry.parallel else self._settings.cpu):
                    launched = measure_launch(
                        players,
                        [entry.sides[worker.arm.name].name for worker in players],
                        self._plans.get(id_),
                        self._settings.sampling,
                        rng,
                        timeout_s=entry.timeout_s,
                        alone=entry.isolate,
                    )
            except WorkerFailedError as failure:
                yield _failed(failure, id_, arms)
                yield from self._head_alone(failure, id_, arms, rng)
                return
            self._plans[id_] = launched.plan
            notes = launched.notes
            if entry.allow_foreign and len(players) > 1:
                packages = {w.arm.name: versions_of(w.packages.items()) for w in players}
                notes += note_on_versions(packages[ArmName.BASE], packages[ArmName.HEAD])
            for worker, metrics in zip(players, launched.metrics, strict=True):
                name = worker.arm.name
                yield Observation(
                    name,
                    id_,
                    arms.index(name),
                    metrics,
                    notes=notes,
                    once_s=launched.once_s,
                )
            if launched.is_spent:
                return

    def _head_alone(
        self, failure: WorkerFailedError, id_: str, arms: Sequence[ArmName], rng: random.Random
    ) -> Iterator[Observation]:
        """Where the base has failed, see whether the head does, too: who was first is chance."""
        entry = self._entries[id_]
        side = entry.sides.get(ArmName.HEAD)
        if failure.worker.arm.name is not ArmName.BASE or side is None:
            return
        workers: list[Worker] = []
        try:
            cpus = self._cpus(parallel=entry.parallel)
            workers = self._start_all({ArmName.HEAD: side.file}, cpus, draw_layout(rng))
            measure_launch(
                workers,
                [side.name],
                self._plans.get(id_),
                self._settings.sampling,
                rng,
                timeout_s=entry.timeout_s,
                alone=True,
            )
        except WorkerFailedError as too:
            yield _failed(too, id_, arms)
        finally:
            for worker in workers:
                self._end(worker)

    def _start_all(
        self, files: Mapping[ArmName, BenchFile], cpus: Sequence[int], layout: Layout
    ) -> list[Worker]:
        workers: list[Worker] = []
        try:
            # One by one, so that those that have started are ended when a later one cannot.
            for name, file in files.items():
                worker = self._start(self._arms[name], file, cpus, layout)
                workers.append(worker)
            for worker in workers:
                worker.ready(files[worker.arm.name].spec.timeout_s)
        except WorkerFailedError:
            for worker in workers:
                self._end(worker)
            raise
        return workers

    def _start(
        self,
        arm: Arm,
        file: BenchFile,
        cpus: Sequence[int],
        layout: Layout,
        *,
        describe: bool = False,
    ) -> Worker:
        others = tuple(other.root for other in self._arms.values() if other.root != arm.root)
        variables = self._variables(arm, file.spec)
        inherited = self._inherited_path(arm, file.spec, variables.pop("PYTHONPATH", ""))
        default = self._executables.get(arm.name, self._settings.interpreter)
        interpreter = interpreter_of(arm, file.spec, default)
        in_env = any(str(arm.env) in word for word in interpreter)
        path = import_path(arm, file.spec.pythonpath, inherited, in_env=in_env)
        worker = Worker(
            arm,
            WorkerSetting(
                interpreter=interpreter,
                file=arm.root / file.path,
                # The worker sets PYTHONPATH after its own imports, which it must not disturb.
                path=path.before,
                path_after=path.after,
                cpus=cpus,
                forbidden=self._settings.forbidden + others,
                variables=variables,
                layout=layout,
                helpers=helpers_of(arm, file),
                own=own_folders(arm, file.spec),
                own_interpreter=file.spec.own_interpreter,
                provided=None if file.spec.allow_foreign else self._provided_by(arm),
            ),
            self._guardian,
            describe=describe,
        )
        self._alive.append(worker)
        return worker

    def _inherited_path(self, arm: Arm, spec: PythonSpec, given: str) -> tuple[str, ...]:
        """Give the entries of PYTHONPATH: those of the user are made the arm's own."""
        if "PYTHONPATH" in {**arm.variables, **spec.variables}:
            return tuple(filter(None, given.split(os.pathsep)))
        return moved(given, arm, next(iter(self._settings.forbidden), None), Path.cwd())

    def _variables(self, arm: Arm, spec: PythonSpec) -> dict[str, str]:
        """Give the environment of a worker: as long on both arms, because it lies on the stack."""
        variables = {**self._settings.environ, **arm.variables}
        variables |= {key: arm.substitute(value) for key, value in spec.variables.items()}
        variables.pop("OLDPWD", None)
        return variables | {"PWD": str(arm.root)}

    def _provided_by(self, arm: Arm) -> Provided | None:
        """Give what an arm must import from its own tree; nothing where there is one arm only."""
        if len(self._arms) > 1 and arm.name not in self._provided:
            self._provided[arm.name] = provided_by(arm.root)
        return self._provided.get(arm.name)

    def _cpus(self, *, parallel: bool) -> tuple[int, ...]:
        settings = self._settings
        return settings.all_cpus if parallel or settings.cpu is None else (settings.cpu,)

    def _end(self, worker: Worker) -> None:
        worker.close()
        self._alive.remove(worker)


def note_on_import(base: Definition, head: Definition) -> str:
    """Say where the files of both arms differ in what they run on import, beside the work."""
    changed = base.also_runs.keys() ^ head.also_runs.keys()
    lines = sorted(line for digest, line in head.also_runs.items() if digest in changed)
    if not changed:
        return ""
    named = ", ".join(map(str, lines[:_LINES_NAMED]))
    places = f" ({'line' if len(lines) == 1 else 'lines'} {named})" if lines else ""
    return (
        "its file runs other code on import in the head than in the base"
        f"{places}, though not for this benchmark"
    )


def note_on_versions(base: Mapping[str, str], head: Mapping[str, str]) -> tuple[str, ...]:
    """Say which versions of what is installed each arm ran, by name."""
    if base == head:
        ran = ", ".join(f"{name} {version}" for name, version in base.items())
        return (f"both arms ran the same versions: {ran}",) if ran else ()
    changed = (name for name in sorted({**base, **head}) if base.get(name) != head.get(name))
    return tuple(
        f"the base ran {name} {base.get(name, '(none)')}, the head {head.get(name, '(none)')}"
        for name in changed
    )


def _taken(arm: Arm, file: BenchFile, id_: str, other: BenchFile) -> DiscoveryFailure:
    where = f"{file.path} and {other.path}" if file.path != other.path else f"{file.path}, twice"
    return DiscoveryFailure(
        arm.name,
        file.path,
        f"two benchmarks have the id {id_} ({where}): give one [[benchmark]] another `group`",
    )


def _failed(failure: WorkerFailedError, id_: str, arms: Sequence[ArmName]) -> Observation:
    arm = failure.worker.arm.name
    of_all = isinstance(failure, ForeignModuleError)
    return Observation(arm, id_, arms.index(arm), error=failure.error, of_all=of_all)


def _unread(failure: WorkerFailedError, group: str) -> DiscoveryFailure:
    of_all = isinstance(failure, ForeignModuleError)
    return DiscoveryFailure(failure.worker.arm.name, group, failure.error, of_all)
