"""Starts the workers of Python benchmarks, each for a file and in the environment of its arm."""

from __future__ import annotations

import ast
import os
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from benchgate._worker.functions import unknown_attribute
from benchgate.config.benchmarks import (
    PATTERN,
    FunctionBenchmarks,
    LiveBenchmarks,
    PythonBenchmark,
    is_benchmark_file,
)
from benchgate.measure import adapters
from benchgate.measure.adapters.finding import NAMED_FOR_TESTS, find
from benchgate.measure.interpreter import has_own_interpreter, interpreter_of
from benchgate.measure.memory_layout import Layout
from benchgate.measure.own_code import ProvidedModules, import_path, moved, provided_by
from benchgate.measure.worker import (
    Described,
    ProgramSetting,
    Unstarted,
    Worker,
    WorkerFailedError,
    WorkerSetting,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchgate.measure.arm_command import EngineSettings
    from benchgate.measure.engine import Arm, ArmName
    from benchgate.measure.guardian import Guardian


_PREFIX = "bench_"
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_PLAIN = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set)
# With these, a file can create names that its text does not show.
_MAKERS = frozenset({"globals", "vars", "locals", "setattr", "exec", "eval"})


@dataclass(frozen=True, slots=True)
class BenchFile:
    """One benchmark file, or a suite of another tool; it may exist in one arm only.

    Attributes:
        path: relative to an arm's root.
        group: the prefix of its benchmarks' ids; "" if they have none.
        top: the folder that was searched, relative to the root.
    """

    benchmark: LiveBenchmarks
    path: str
    group: str
    top: str = "."

    @property
    def functions(self) -> FunctionBenchmarks:
        """Its table, of a file of Python."""
        return cast("FunctionBenchmarks", self.benchmark)

    @property
    def label(self) -> str:
        """Stands for all of its benchmarks."""
        is_foreign = isinstance(self.benchmark, FunctionBenchmarks)
        if is_foreign and not isinstance(self.benchmark, PythonBenchmark):
            return self.path  # its group is that of the whole suite
        return self.group or self.path

    def id_of(self, name: str) -> str:
        """Return the full id of a benchmark that the worker calls `name`."""
        return f"{self.group}/{name}" if self.group else name


def find_files(arm: Arm, benchmark: FunctionBenchmarks, path: str) -> tuple[BenchFile, ...]:
    """Find the benchmark files of one arm at a benchmark's path; none if the path is absent."""
    place = arm.folder / path
    if not isinstance(benchmark, PythonBenchmark):
        top = place if place.is_dir() else place.parent
        path_, top_ = (p.relative_to(arm.root).as_posix() for p in (place, top))
        exists = place.exists() if benchmark.IN_FOLDERS else place.is_file()
        return (BenchFile(benchmark, path_, benchmark.prefix, top_),) if exists else ()
    files, top = ([place], place.parent) if place.is_file() else (search(place), place)
    found = []
    for file in files:
        group = group_of(file.relative_to(top), benchmark.prefix)
        path_, top_ = (p.relative_to(arm.root).as_posix() for p in (file, top))
        found.append(BenchFile(benchmark, path_, group, top_))
    return tuple(found)


def find_programs(arm: Arm, benchmark: LiveBenchmarks) -> tuple[BenchFile, ...]:
    """Find what a table of another language names in one arm."""
    return tuple(
        BenchFile(benchmark, path, "/".join(filter(None, (benchmark.prefix, group))))
        for path, group in find(arm, benchmark)
    )


def search_of(folders: tuple[str, ...]) -> PythonBenchmark:
    """Return the benchmarks to use if the configuration names none: the folders that hold files."""
    return PythonBenchmark.model_construct(paths=folders)


def group_of(file: PurePath, prefix: str) -> str:
    """Name the group of a benchmark file.

    Args:
        file: path relative to the folder that was searched.
        prefix: the group of the benchmark; "" for none.
    """
    *folders, _ = file.parts
    names = [*folders, file.stem.removeprefix("bench_")]
    return "/".join([prefix, *names] if prefix else names)


def find_folders(arms: Iterable[Arm]) -> tuple[str, ...]:
    """Find the topmost folders with benchmark files in any arm, relative to its configuration."""
    return topmost_folders(
        file.relative_to(arm.folder) for arm in arms for file in search(arm.folder)
    )


def topmost_folders(files: Iterable[PurePath]) -> tuple[str, ...]:
    """Return those folders of the files that do not lie inside another one."""
    found = {file.parent for file in files}
    topmost = [f for f in found if not any(f != g and f.is_relative_to(g) for g in found)]
    return tuple(sorted(folder.as_posix() for folder in topmost))


def search(top: Path) -> list[Path]:
    """Find benchmark files below a folder."""
    files = (file for file in sorted(top.rglob(PATTERN)) if not file.is_dir())
    return [file for file in files if is_benchmark_file(file.relative_to(top))]


def own_folders(arm: Arm, benchmark: FunctionBenchmarks) -> tuple[Path, ...]:
    """Return the folders whose code belongs to this arm only."""
    given = (path for path in benchmark.pythonpath or () if "{" in path)
    return arm.root, arm.env, *(arm.folder / arm.substitute(path) for path in given)


def helpers_of(arm: Arm, file: BenchFile) -> Path | None:
    """Return the folder whose modules belong to the benchmarks instead of being measured.

    It is the folder that was searched for benchmarks, unless the project's own code is there: if
    modules are imported from it or a folder in it, or if it is not named for tests and is a
    package, or what it holds is imported as one, or nothing in it imports the project from
    elsewhere.
    """
    top = arm.root / file.top
    path = import_path(arm, file.functions.pythonpath)
    folders = (str(arm.root), *path.before, *path.after)
    if any(Path(folder).is_relative_to(top) for folder in folders):
        return None
    if file.functions.OWN_PACKAGE or NAMED_FOR_TESTS.search(file.top):
        return top
    if (top / "__init__.py").exists():
        return None
    files = {each.stem: each for each in top.glob("*.py")}
    names = {name for each in files.values() for name in _imports_of(each)}
    beside = {name for name in names if name in files}
    is_namespace = any(top.name in name.split(".") for name in names)
    elsewhere = names - beside if beside else ()
    imports_project = not beside or any(
        _is_module(Path(folder), name.partition(".")[0]) for folder in folders for name in elsewhere
    )
    return None if is_namespace or not imports_project else top


def _imports_of(file: Path) -> set[str]:
    """The modules that a file imports by their full names, as far as its text shows."""
    found: set[str] = set()
    with suppress(OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module)
    return found


def _is_module(folder: Path, name: str) -> bool:
    return (folder / f"{name}.py").is_file() or (folder / name).is_dir()


@dataclass(frozen=True, slots=True)
class BenchSource:
    """What the text of a benchmark file says.

    Attributes:
        names: of the functions, and of other names that may be one after the import.
        makes_more: whether importing the file may create more benchmarks.
        problems: a line number, and what is wrong with the function there.
    """

    names: tuple[str, ...] = ()
    makes_more: bool = False
    problems: tuple[tuple[int, str], ...] = ()


def read_source(source: bytes) -> BenchSource:
    """Read the text of a benchmark file.

    Raises:
        SyntaxError: the file is not Python.
        ValueError: the file holds null bytes.
    """
    tree = ast.parse(source)
    names: dict[str, None] = {}
    problems: list[tuple[int, str]] = []
    makes_more = False
    plain: set[ast.AST] = set()
    for node in _in_module(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, _PLAIN):
            plain.update(node.targets)
        if node not in plain:
            names.update((name, None) for name in _bound(node) if name.startswith(_PREFIX))
        problems += _problems(node)
        makes_more = makes_more or _makes_names(node)
    return BenchSource(tuple(names), makes_more, tuple(problems))


def _in_module(tree: ast.AST) -> Iterator[ast.AST]:
    """Return the code that runs on import, without the bodies of functions and classes."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, _SCOPES):
            yield from _in_module(node)


def _bound(node: ast.AST) -> list[str]:
    if isinstance(node, _Function):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return [node.id]
    return []


def _makes_names(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return any(alias.name == "*" for alias in node.names)
    return isinstance(node, ast.Name) and node.id in _MAKERS


def _problems(node: ast.AST) -> list[tuple[int, str]]:
    """Report functions that a session would refuse."""
    if isinstance(node, _Function) and node.name.startswith(_PREFIX):
        yields = any(isinstance(each, ast.Yield | ast.YieldFrom) for each in _in_module(node))
        problem = f"{node.name} is a generator: calling it would not run its body"
        return [(node.lineno, problem)] if yields and not node.decorator_list else []
    if (
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id.startswith(_PREFIX)
    ):
        problem = unknown_attribute(node.value.id, [node.attr])
        return [(node.lineno, problem)] if problem else []
    return []


_AHEAD = 2
_SLOW_START_S = 5.0


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
        self._programs = adapters.Programs(guardian, settings.build_timeout_s)

    @property
    def warnings(self) -> Mapping[str, None]:
        """What makes the times of the programs less reliable."""
        return self._programs.warnings

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
        under: Mapping[ArmName, Sequence[str]] = MappingProxyType({}),
    ) -> list[Worker]:
        """Start a worker for each arm's file and import the file.

        Args:
            layouts: one for each worker.
            cpu: the CPU that the workers share; None if they may use all CPUs.
            under: for each arm, what executes its interpreter or program, if anything does.

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
        under: Sequence[str] = (),
    ) -> Worker:
        setting: WorkerSetting | ProgramSetting
        if isinstance(file.benchmark, FunctionBenchmarks):
            setting = self._of_python(arm, file, cpu, layout, under)
        else:
            setting = self._of_program(arm, file, cpu, layout, under)
        with self._starting:
            worker = Worker(arm, setting, self._guardian, describe=describe)
            self._alive.append(worker)
            if self._is_halted:
                worker.stop()
        return worker

    def _of_program(
        self, arm: Arm, file: BenchFile, cpu: int | None, layout: Layout, under: Sequence[str]
    ) -> ProgramSetting:
        try:
            # What is drawn is removed when it has started.
            memory = Layout() if under else layout
            program = self._programs.program(arm, file.benchmark, file.path, memory)
        except adapters.NotBuiltError as error:
            line, _, output = str(error).partition("\n")
            raise WorkerFailedError(Unstarted(arm), line, output) from None
        return ProgramSetting(
            (*under, *program.command),
            program.folder,
            cpus=self._cpus(cpu),
            variables=self._variables(arm, file.benchmark),
            layout=layout,
            drawn=program.drawn,
            silent=file.benchmark.SILENT,
        )

    def _cpus(self, cpu: int | None) -> Sequence[int]:
        return sorted(self._settings.all_cpus or ()) if cpu is None else (cpu,)

    def _of_python(
        self,
        arm: Arm,
        file: BenchFile,
        cpu: int | None,
        layout: Layout,
        under: Sequence[str],
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
            under=under,
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
