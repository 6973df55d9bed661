"""Starts the workers of benchmark files, each in the environment of its arm."""

from __future__ import annotations

import os
import time
from collections import deque
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from benchgate.config.live_benchmarks import FunctionBenchmarks, LiveBenchmarks
from benchgate.measure.contract import Described
from benchgate.measure.functions.interpreter import has_own_interpreter, interpreter_of
from benchgate.measure.languages import NotBuiltError, Programs
from benchgate.measure.machine import Layout
from benchgate.measure.sources import (
    BenchFile,
    ProvidedModules,
    helpers_of,
    import_path,
    moved,
    own_folders,
    provided_by,
)
from benchgate.measure.workers import (
    ProgramSetting,
    Unstarted,
    Worker,
    WorkerFailedError,
    WorkerSetting,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchgate.measure.arm import Arm, ArmName
    from benchgate.measure.contract import EngineSettings
    from benchgate.measure.languages import WorkerProgram
    from benchgate.measure.processes import Guardian


_AHEAD = 2
_SLOW_START_S = 5.0


class Watched(NamedTuple):
    """How a worker is watched.

    Attributes:
        under: what executes its interpreter or program.
        reach: what a worker of Python is to look for; see `Differences.asked`.
    """

    under: Sequence[str] = ()
    reach: Mapping[str, object] | None = None


_UNWATCHED = Watched()


class Workers:
    """Starts and ends the workers of one or two arms."""

    def __init__(
        self, arms: Mapping[ArmName, Arm], settings: EngineSettings, guardian: Guardian
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
        self._programs = Programs(guardian, settings.build_timeout_s)

    @property
    def warnings(self) -> Mapping[str, None]:
        """What makes the times of the programs less reliable."""
        return self._programs.warnings

    def timeout_s(self, file: BenchFile) -> float:
        """The time limit for one launch of a benchmark in a file."""
        return file.benchmark.timeout_s or self._settings.measure.timeout_s

    def built(self, files: Mapping[ArmName, BenchFile]) -> dict[ArmName, Path]:
        """The program of each arm's file in another language, which is built now if it has to be.

        Raises:
            WorkerFailedError: it cannot be built.
        """
        return {
            name: Path(self._program(self._arms[name], file, Layout()).command[0])
            for name, file in files.items()
        }

    def describe(
        self, places: Iterable[tuple[Arm, BenchFile]]
    ) -> Iterator[tuple[Arm, BenchFile, Described | WorkerFailedError]]:
        """Import files in workers; two at a time, if there are two CPUs.

        Yields:
            Each place in order, with what its worker says about it, or why it cannot be imported.
        """
        begun: deque[tuple[Arm, BenchFile, Worker | Described | WorkerFailedError]] = deque()
        for arm, file in places:
            if len(begun) >= (_AHEAD if len(self._settings.all_cpus or ()) > 1 else 1):
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
            start_s = time.monotonic()
            try:
                described = Described(worker.ready(self.timeout_s(file)), worker.timer)
                if (took_s := time.monotonic() - start_s) > _SLOW_START_S:
                    found = f"finding the benchmarks of {file.path}"
                    self._settings.tell(f"{found} took {took_s:.0f} s on the {arm.name}")
            except WorkerFailedError as failure:
                return arm, file, failure
            finally:
                self.end(worker)
            self._settings.described[_described_as(arm, file)] = described
        else:
            described = worker
        is_default = getattr(file.benchmark, "interpreter", "") is None
        if is_default and described.hello["executable"]:
            self._executables[arm.name] = described.hello["executable"]
        return arm, file, described

    def start(
        self,
        files: Mapping[ArmName, BenchFile],
        layouts: Sequence[Layout],
        cpu: int | None,
        *,
        watched: Mapping[ArmName, Watched] = MappingProxyType({}),
    ) -> list[Worker]:
        """Start a worker for each arm's file and import the file.

        Args:
            layouts: one for each worker.
            cpu: the CPU that the workers share; None if they may use all CPUs.
            watched: how the worker of each arm is watched, if it is.

        Raises:
            WorkerFailedError: a worker failed to start or import; the others are ended.
        """
        workers: list[Worker] = []
        try:
            # One by one: if a later worker fails to start, those that have started are ended.
            with self._settings.starting():
                for (name, file), layout in zip(files.items(), layouts, strict=True):
                    worker = self._start(
                        self._arms[name],
                        file,
                        cpu,
                        layout,
                        watched=watched.get(name, _UNWATCHED),
                    )
                    worker.order = len(workers)
                    workers.append(worker)
                for worker in workers:
                    worker.ready(self.timeout_s(files[worker.arm.name]))
        except WorkerFailedError:
            for worker in workers:
                self.end(worker)
            raise
        return workers

    def end(self, worker: Worker) -> None:
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

    def resume(self) -> None:
        """Let workers start again; call it when the threads of all that were halted have ended."""
        self._is_halted = False

    def _start(
        self,
        arm: Arm,
        file: BenchFile,
        cpu: int | None,
        layout: Layout,
        *,
        describe: bool = False,
        watched: Watched = _UNWATCHED,
    ) -> Worker:
        setting: WorkerSetting | ProgramSetting
        if isinstance(file.benchmark, FunctionBenchmarks):
            setting = self._of_python(arm, file, cpu, layout, watched)
        else:
            setting = self._of_program(arm, file, cpu, layout, watched.under)
        with self._starting:
            worker = Worker(arm, setting, self._guardian, describe=describe)
            self._alive.append(worker)
            if self._is_halted:
                worker.stop()
        return worker

    def _of_program(
        self, arm: Arm, file: BenchFile, cpu: int | None, layout: Layout, under: Sequence[str]
    ) -> ProgramSetting:
        # What is drawn is removed when it has started.
        program = self._program(arm, file, Layout() if under else layout)
        return ProgramSetting(
            (*under, *program.command),
            program.folder,
            cpus=self._cpus(cpu),
            variables=self._variables(arm, file.benchmark),
            layout=layout,
            drawn=program.drawn,
            silent=file.benchmark.SILENT,
        )

    def _program(self, arm: Arm, file: BenchFile, memory: Layout) -> WorkerProgram:
        try:
            return self._programs.program(arm, file.benchmark, file.path, memory)
        except NotBuiltError as error:
            line, _, output = str(error).partition("\n")
            raise WorkerFailedError(Unstarted(arm), line, output) from None

    def _cpus(self, cpu: int | None) -> Sequence[int]:
        return sorted(self._settings.all_cpus or ()) if cpu is None else (cpu,)

    def _of_python(
        self,
        arm: Arm,
        file: BenchFile,
        cpu: int | None,
        layout: Layout,
        watched: Watched,
    ) -> WorkerSetting:
        benchmark = file.functions
        checkout = self._settings.outside.checkout
        others = (other.root for other in self._arms.values() if other.root != arm.root)
        variables = self._variables(arm, benchmark)
        inherited = self._inherited_path(arm, benchmark, variables.pop("PYTHONPATH", ""))
        default = self._executables.get(arm.name, self._settings.interpreter)
        interpreter = interpreter_of(arm, benchmark, default)
        in_env = any(str(arm.env) in word for word in interpreter)
        path = import_path(arm, benchmark.pythonpath, inherited, in_env=in_env)
        return WorkerSetting(
            interpreter=interpreter,
            file=arm.root / file.path,
            # The worker sets PYTHONPATH only after its own imports, so that these are not
            # affected.
            path=path.before,
            path_after=path.after,
            cpus=self._cpus(cpu),
            forbidden=(*((checkout,) if checkout else ()), *others),
            variables=variables,
            layout=layout,
            helpers=helpers_of(arm, file),
            own=own_folders(arm, benchmark),
            own_interpreter=has_own_interpreter(benchmark),
            provided=None if benchmark.allow_foreign else self._provided_by(arm),
            host=benchmark.KIND,
            arguments=benchmark.tool_arguments,
            under=watched.under,
            reach=watched.reach,
        )

    def _inherited_path(
        self, arm: Arm, benchmark: FunctionBenchmarks, given: str
    ) -> tuple[str, ...]:
        """The entries of PYTHONPATH, with the user's checkout replaced by the arm's tree."""
        if "PYTHONPATH" in {**arm.variables, **benchmark.env}:
            return tuple(filter(None, given.split(os.pathsep)))
        outside = self._settings.outside
        return moved(given, arm, outside.checkout, outside.cwd)

    def _variables(self, arm: Arm, benchmark: LiveBenchmarks) -> dict[str, str]:
        """The environment of a worker, equally long in both arms because it lies on the stack."""
        variables = {**self._settings.outside.environ, **arm.variables}
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
