"""Starts the workers of Python benchmarks, each in the environment of its arm."""

from __future__ import annotations

import os
from collections import deque
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from benchgate.measure.benchfiles import helpers_of, own_folders
from benchgate.measure.importpath import import_path, moved
from benchgate.measure.interpreter import has_own_interpreter, interpreter_of
from benchgate.measure.layout import Layout
from benchgate.measure.pair import Sampling
from benchgate.measure.provided import ProvidedModules, provided_by
from benchgate.measure.worker import Worker, WorkerSetting
from benchgate.measure.worker_process import WorkerFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from benchgate.config import FunctionBenchmarks, Measure
    from benchgate.measure.benchfiles import BenchFile
    from benchgate.measure.counters import Event
    from benchgate.measure.engine import Arm, ArmName
    from benchgate.measure.guardian import Guardian
    from benchgate.measure.valgrind import Valgrind
    from benchgate.stats.timer import Timer

_AHEAD = 2


class Described(NamedTuple):
    """What a worker says about a file that it has imported, and its clock."""

    hello: dict[str, Any]
    timer: Timer


@dataclass(frozen=True, slots=True)
class PythonSettings:
    """How functions are measured.

    Attributes:
        measure: how much to measure, as configured.
        cpu: the CPU that both arms share; None if pinning is impossible or not wanted.
        unpinned: why the arms are not pinned; "" if they are.
        all_cpus: the CPUs for workers that are not pinned.
        interpreter: path of the Python for benchmarks that name no interpreter.
        forbidden: the user's checkout, from which no arm may import.
        environ: variables that every worker inherits.
        event: the event to count as instructions; None to count nothing.
        valgrind: counts instructions in launches of their own; None if it does not.
        starting: times how long the workers of a launch take to start.
        brief: only try whether the functions work: one call of each.
        described: what workers have said about files, by what `_described_as` gives; it is added
            to, and spares other sessions with the same trees the question.
    """

    measure: Measure
    cpu: int | None
    unpinned: str
    all_cpus: tuple[int, ...]
    interpreter: str
    forbidden: tuple[Path, ...]
    environ: Mapping[str, str]
    event: Event | None = None
    valgrind: Valgrind | None = None
    starting: Callable[[], AbstractContextManager[None]] = nullcontext
    brief: bool = False
    described: dict[tuple[str, ...], Described] = field(default_factory=dict)

    @property
    def sampling(self) -> Sampling:
        """How much to measure in a launch."""
        measure = self.measure
        warmup = None if measure.warmup == "auto" else measure.warmup
        launch_ns = round(measure.launch_time_s * 1e9)
        return Sampling(measure.samples, launch_ns, warmup, self.event, self.brief)


class Workers:
    """Starts and ends the workers of one or two arms."""

    def __init__(
        self, arms: Mapping[ArmName, Arm], settings: PythonSettings, guardian: Guardian
    ) -> None:
        self._arms = arms
        self._settings = settings
        self._guardian = guardian
        # The executable behind the default interpreter: a version manager's shim starts slowly.
        self._executables: dict[ArmName, str] = {}
        self._alive: list[Worker] = []
        self._is_halted = False
        self._starting = Lock()
        self._provided: dict[ArmName, ProvidedModules] = {}

    def timeout_s(self, file: BenchFile) -> float:
        """The time limit for one launch of a benchmark in a file."""
        return file.benchmark.timeout_s or self._settings.measure.timeout_s

    def describe(
        self, places: Iterable[tuple[Arm, BenchFile]]
    ) -> Iterator[tuple[Arm, BenchFile, Described | WorkerFailedError]]:
        """Import files in workers; two at a time, if there are two CPUs.

        Yields:
            Each place in order, with what its worker says about it, or why it cannot be imported.
        """
        begun: deque[tuple[Arm, BenchFile, Worker | Described | WorkerFailedError]] = deque()
        for arm, file in places:
            if len(begun) >= (_AHEAD if len(self._settings.all_cpus) > 1 else 1):
                yield self._described(*begun.popleft())
            try:
                known = self._settings.described.get(_described_as(arm, file))
                worker = known or self._start(arm, file, None, Layout(), describe=True)
                begun.append((arm, file, worker))
            except WorkerFailedError as failure:
                begun.append((arm, file, failure))
        while begun:
            yield self._described(*begun.popleft())

    def _described(
        self, arm: Arm, file: BenchFile, worker: Worker | Described | WorkerFailedError
    ) -> tuple[Arm, BenchFile, Described | WorkerFailedError]:
        if isinstance(worker, WorkerFailedError):
            return arm, file, worker
        if isinstance(worker, Worker):
            try:
                described = Described(worker.ready(self.timeout_s(file)), worker.timer)
            except WorkerFailedError as failure:
                return arm, file, failure
            finally:
                self.end(worker)
            self._settings.described[_described_as(arm, file)] = described
        else:
            described = worker
        if file.benchmark.interpreter is None and described.hello["executable"]:
            self._executables[arm.name] = described.hello["executable"]
        return arm, file, described

    def start(
        self,
        files: Mapping[ArmName, BenchFile],
        layouts: Sequence[Layout],
        cpu: int | None,
        *,
        under: Mapping[ArmName, Sequence[str]] = MappingProxyType({}),
    ) -> list[Worker]:
        """Start a worker for each arm's file and import the file.

        Args:
            layouts: one for each worker.
            cpu: the CPU that the workers share; None if they may use all CPUs.
            under: for each arm, the program that executes its interpreter, if there is one.

        Raises:
            WorkerFailedError: a worker failed to start or import; the others are ended.
        """
        workers: list[Worker] = []
        try:
            # One by one: if a later worker fails to start, those that have started are ended.
            with self._settings.starting():
                for (name, file), layout in zip(files.items(), layouts, strict=True):
                    other = under.get(name, ())
                    worker = self._start(self._arms[name], file, cpu, layout, under=other)
                    workers.append(worker)
                for worker in workers:
                    worker.ready(self.timeout_s(files[worker.arm.name]))
        except WorkerFailedError:
            for worker in workers:
                self.end(worker)
            raise
        return workers

    def end(self, worker: Worker) -> None:
        """End a worker cleanly."""
        worker.close()
        self._alive.remove(worker)

    def kill(self, worker: Worker) -> None:
        """End a worker at once; does nothing if it has ended."""
        worker.kill()
        if worker in self._alive:
            self._alive.remove(worker)

    def close(self) -> None:
        """Kill every worker that is still alive."""
        while self._alive:
            self._alive.pop().kill()

    def halt(self) -> None:
        """Kill the processes of all workers, and start no more; for another thread than theirs."""
        with self._starting:
            self._is_halted = True
            for worker in list(self._alive):  # its own thread may end one meanwhile
                worker.stop()

    def _start(
        self,
        arm: Arm,
        file: BenchFile,
        cpu: int | None,
        layout: Layout,
        *,
        describe: bool = False,
        under: Sequence[str] = (),
    ) -> Worker:
        others = tuple(other.root for other in self._arms.values() if other.root != arm.root)
        variables = self._variables(arm, file.benchmark)
        inherited = self._inherited_path(arm, file.benchmark, variables.pop("PYTHONPATH", ""))
        default = self._executables.get(arm.name, self._settings.interpreter)
        interpreter = interpreter_of(arm, file.benchmark, default)
        in_env = any(str(arm.env) in word for word in interpreter)
        path = import_path(arm, file.benchmark.pythonpath, inherited, in_env=in_env)
        setting = WorkerSetting(
            interpreter=interpreter,
            file=arm.root / file.path,
            # The worker sets PYTHONPATH only after its own imports, so that these are not
            # affected.
            path=path.before,
            path_after=path.after,
            cpus=self._settings.all_cpus if cpu is None else (cpu,),
            forbidden=self._settings.forbidden + others,
            variables=variables,
            layout=layout,
            helpers=helpers_of(arm, file),
            own=own_folders(arm, file.benchmark),
            own_interpreter=has_own_interpreter(file.benchmark),
            provided=None if file.benchmark.allow_foreign else self._provided_by(arm),
            host=file.benchmark.KIND,
            arguments=file.benchmark.tool_arguments,
            under=under,
        )
        with self._starting:
            worker = Worker(arm, setting, self._guardian, describe=describe)
            self._alive.append(worker)
            if self._is_halted:
                worker.stop()
        return worker

    def _inherited_path(
        self, arm: Arm, benchmark: FunctionBenchmarks, given: str
    ) -> tuple[str, ...]:
        """The entries of PYTHONPATH, with the user's checkout replaced by the arm's tree."""
        if "PYTHONPATH" in {**arm.variables, **benchmark.env}:
            return tuple(filter(None, given.split(os.pathsep)))
        return moved(given, arm, next(iter(self._settings.forbidden), None), Path.cwd())

    def _variables(self, arm: Arm, benchmark: FunctionBenchmarks) -> dict[str, str]:
        """The environment of a worker, equally long in both arms because it lies on the stack."""
        variables = {**self._settings.environ, **arm.variables}
        variables |= {key: arm.substitute(value) for key, value in benchmark.env.items()}
        variables.pop("OLDPWD", None)
        return variables | {"PWD": str(arm.folder)}

    def _provided_by(self, arm: Arm) -> ProvidedModules | None:
        """What an arm must import from its own tree; nothing if there is only one arm."""
        if len(self._arms) > 1 and arm.name not in self._provided:
            self._provided[arm.name] = provided_by(arm.root)
        return self._provided.get(arm.name)


def _described_as(arm: Arm, file: BenchFile) -> tuple[str, ...]:
    """Identify a file and how it runs, whichever folders were searched for it."""
    settings = file.benchmark.model_dump_json(exclude={"paths"})
    return arm.name, file.path, file.group, file.top, settings
