"""A configured command as each arm runs it: its words, environment and files, and running it."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from benchgate.errors import MeasureError
from benchgate.measure.build import USERS_ENVIRONMENT
from benchgate.measure.engine import ArmName, ignore
from benchgate.measure.execution import trouble_with
from benchgate.measure.machine import available_cpus, kept_off, why_unpinned
from benchgate.measure.own_code import (
    ForeignCodeError,
    OwnCode,
    holds_python,
    import_path,
    is_installed,
    moved,
)
from benchgate.model.redact import Redactor
from benchgate.units import counted

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from benchgate.config import CommandBenchmark, Measure
    from benchgate.config.benchmarks import ProgramBenchmark
    from benchgate.measure.counters import Event, Valgrind
    from benchgate.measure.engine import Arm
    from benchgate.measure.execution import Execution
    from benchgate.measure.launcher import CommandLauncher
    from benchgate.measure.worker import Described


PADDING = "BENCHGATE_PADDING"
HASH_SEED = "PYTHONHASHSEED"


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How a command runs, the same in all arms.

    Attributes:
        id: id of the benchmark.
        executions: most executions per arm and round; slow commands get fewer.
        warmup: executions before those of the first round; they are stored separately.
        pin: run it on one CPU if the OS supports that; wrong for a parallel program.
        in_turn: never run it in two arms at the same time.
        allow_foreign: measure it even if it runs code that is not the arm's own.
        timeout_s: limit for each execution, each prepare and each cleanup.
        grace_s: how long it may clean up if it must end early.
        planned_s: how long an execution takes by its own plan, which no budget shortens.
    """

    id: str
    executions: int
    warmup: int
    pin: bool
    allow_foreign: bool
    timeout_s: float
    grace_s: float = 0.0
    planned_s: float = 0.0
    in_turn: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class ArmCommand:
    """A command in one arm, with every placeholder replaced.

    Attributes:
        names_its_arm: whether the command line itself names the arm's files, so that it runs
            the arm's own code whichever files it opens.
        stdout: a file for its standard output; None if nobody reads that.
    """

    arm: ArmName
    command: tuple[str, ...]
    prepare: tuple[str, ...] | None
    cleanup: tuple[str, ...] | None
    cwd: Path
    env: Mapping[str, str]
    names_its_arm: bool
    ok_exit_codes: frozenset[int]
    stdout: Path | None = None


def run_settings(
    id_: str, benchmarks: Mapping[ArmName, CommandBenchmark], lead: ArmName, measure: Measure
) -> RunSettings:
    """Choose the settings for a command so that all arms run it in the same way.

    Args:
        benchmarks: the benchmark with this id, by the arm whose configuration defines it.
        lead: the arm that decides if both arms have it. The longer timeout applies to both, so that
            neither arm can make the other fail.
        measure: the defaults for what the benchmark does not set.
    """
    leading = benchmarks.get(lead) or next(iter(benchmarks.values()))
    return RunSettings(
        id=id_,
        executions=leading.executions or measure.executions,
        warmup=measure.command_warmup,
        pin=not leading.parallel,
        in_turn=leading.in_turn,
        allow_foreign=leading.allow_foreign,
        timeout_s=max(one.timeout_s or measure.timeout_s for one in benchmarks.values()),
    )


def arm_commands(
    benchmarks: Mapping[ArmName, ProgramBenchmark],
    arms: Sequence[Arm],
    outside: StartingEnvironment,
) -> tuple[ArmCommand, ...]:
    """The command to run in each arm that has it, under conditions as equal as possible.

    All arms get the same variable names. Arguments and environment also take the same space
    at the top of the stack, because that space shifts everything below it and so affects speed.
    """
    require_equal_variables(arms)
    having = [arm for arm in arms if arm.name in benchmarks]
    environs = with_equal_names(
        [
            environ_of(arm, outside, benchmarks[arm.name].pythonpath, benchmarks[arm.name].command)
            for arm in having
        ]
    )
    commands = [
        _arm_command(benchmarks[arm.name], arm, environ)
        for arm, environ in zip(having, environs, strict=True)
    ]
    return padded(commands)


def with_hash_seed(commands: tuple[ArmCommand, ...], rng: random.Random) -> tuple[ArmCommand, ...]:
    """Let Python put sets into the same order in all arms, unless the user chose the order."""
    if any(HASH_SEED in one.env for one in commands):
        return commands
    seed = str(rng.randrange(1, 2**32))
    return tuple(replace(one, env={**one.env, HASH_SEED: seed}) for one in commands)


def require_equal_variables(arms: Sequence[Arm]) -> None:
    """Refuse arms that would be measured under different conditions."""
    names = {frozenset(arm.variables) for arm in arms}
    if len(names) > 1:
        different = sorted(frozenset.union(*names) - frozenset.intersection(*names))
        raise MeasureError(
            "base and head would be measured differently: only one of them sets "
            f"{', '.join(different)}"
        )


def padded(commands: Sequence[ArmCommand]) -> tuple[ArmCommand, ...]:
    """Let the strings of all commands take the same space, by a variable that fills it up."""
    largest = max(_stack_bytes(one) for one in commands)
    return tuple(
        replace(one, env={**one.env, PADDING: "x" * (largest - _stack_bytes(one))})
        for one in commands
    )


def _arm_command(benchmark: ProgramBenchmark, arm: Arm, environ: Mapping[str, str]) -> ArmCommand:
    cwd = arm.folder / arm.substitute(benchmark.cwd)
    variables = {name: arm.substitute(value) for name, value in benchmark.env.items()}

    def words(command: tuple[str, ...]) -> tuple[str, ...]:
        # Word by word, so that a folder's name with a space in it stays one word.
        return tuple(arm.substitute(word) for word in command)

    said = (*benchmark.command, *benchmark.env.values())
    return ArmCommand(
        arm=arm.name,
        command=words(benchmark.command),
        prepare=None if benchmark.prepare is None else words(benchmark.prepare),
        cleanup=None if benchmark.cleanup is None else words(benchmark.cleanup),
        cwd=cwd,
        # PWD would be right in the arm that benchgate was started in, and wrong in the other.
        env={**environ, **arm.variables, **variables, "PWD": str(cwd)},
        names_its_arm=any(arm.substitute(text) != text for text in said),
        ok_exit_codes=frozenset(benchmark.ok_exit_codes),
    )


def _stack_bytes(one: ArmCommand) -> int:
    """Bytes of the strings that a new process finds on its stack: path, arguments, variables."""
    strings = [*one.command, *(f"{name}={value}" for name, value in one.env.items())]
    if "/" in one.command[0]:
        strings.append(one.command[0])
    return sum(len(string.encode(errors="surrogateescape")) + 1 for string in strings)


def workload_hash(benchmark: ProgramBenchmark, *, pin: bool, inside: str = ".") -> str:
    """16 hex digits that change if the work changes, but not with secrets or repetitions.

    Args:
        inside: the folder that `cwd` starts from, relative to the root of the tree.
    """
    definition = json.dumps(
        {
            "command": benchmark.command,
            "prepare": benchmark.prepare,
            "cleanup": benchmark.cleanup,
            "cwd": os.path.normpath(f"{inside}/{benchmark.cwd}"),
            "ok_exit_codes": sorted(benchmark.ok_exit_codes),
            "variables": dict(benchmark.env),
            "pythonpath": benchmark.pythonpath,
            "pin": pin,
        },
        sort_keys=True,
    )
    text = Redactor(benchmark.env)(definition)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class StartingEnvironment:
    """The environment and folders that benchgate was started in.

    Attributes:
        environ: the variables that every command inherits.
        checkout: the user's tree; None if the arm itself is the user's tree.
        cwd: folder that relative entries of PATH and PYTHONPATH start from.
    """

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    checkout: Path | None = None
    cwd: Path = field(default_factory=Path.cwd)


def environ_of(
    arm: Arm,
    outside: StartingEnvironment,
    pythonpath: Sequence[str] | None,
    command: Sequence[str] = (),
) -> dict[str, str]:
    """Return the variables of a command in one arm, without the configured ones.

    Args:
        pythonpath: as configured; None for the arm's own folders, if they hold Python code.
        command: what is run.
    """
    environ = dict(outside.environ)

    def entries(name: str) -> tuple[str, ...]:
        return moved(environ.get(name, ""), arm, outside.checkout, outside.cwd)

    programs, folders = entries("PATH"), entries("PYTHONPATH")
    if pythonpath is not None or (holds_python(arm.folder) or holds_python(arm.root)):
        folders = import_path(arm, pythonpath, folders).before
    if (arm.env / "bin").is_dir():
        programs = (str(arm.env / "bin"), *(programs or os.defpath.split(os.pathsep)))
    if (arm.env / "pyvenv.cfg").is_file():
        for name in USERS_ENVIRONMENT:
            environ.pop(name, None)
        environ["VIRTUAL_ENV"] = str(arm.env)
    if programs:
        environ["PATH"] = os.pathsep.join(programs)
    if pythonpath is None and "-m" in command and is_installed(arm):
        # From Python 3.11 on, this makes `python -m` leave out its working folder.
        environ.setdefault("PYTHONSAFEPATH", "1")
    if folders or "PYTHONPATH" in environ:
        environ["PYTHONPATH"] = os.pathsep.join(folders)
    return environ


def with_equal_names(environs: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Give all environments the same names; here an empty variable means the same as none."""
    names = [name for environ in environs for name in environ]
    return [dict.fromkeys(names, "") | dict(environ) for environ in environs]


class RunFailedError(Exception):
    """What an arm ran failed; the message is one line, then details: see `Observation.error`.

    Args:
        of_all: the failure counts for every arm, because no arm's numbers would be meaningful.
    """

    def __init__(self, error: str, *, of_all: bool = False) -> None:
        super().__init__(error)
        self.error = error
        self.of_all = of_all


class CommandFailedError(RunFailedError):
    """A command, its prepare or its cleanup failed."""

    def __init__(self, command: ArmCommand, error: str, *, of_all: bool = False) -> None:
        super().__init__(error, of_all=of_all)
        self.command = command


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """How engines measure.

    Attributes:
        measure: the defaults for what a benchmark does not set.
        aliases: for each benchmark that the head renamed, its new id by its old id.
        lead: the arm that decides how a benchmark of both arms runs.
        cpu: the CPU for pinned benchmarks; None if no CPU was chosen.
        all_cpus: the CPUs for everything else; None for the CPUs that are available now, which
            are too few inside `kept_off`.
        unpinned: the reason why no CPU was chosen, for a note; "" if one was.
        outside: the environment that the environment of every program starts from.
        interpreter: path of the Python for functions that name no interpreter.
        event: what is counted as instructions; None to count nothing.
        valgrind: counts instructions in launches of their own; None if it does not.
        traces: whether the allocations of a benchmark of Python are traced.
        unable: ids of benchmarks, files and functions that are left out of the base.
        brief: only try whether functions and scenarios work: none of their launches counts.
        described: what workers have said about files, by what `_described_as` gives; it is added
            to, and spares other sessions with the same trees the question.
        introspect: ask the targets of scenarios for their versions and settings.
        requires_files: whether it is an error if neither side has a file that the head names.
        runs_suites: whether suites are run to find their benchmarks; if not, each is one entry.
        has_canary: whether to make the canary too, if it is wanted.
        tell: tells the user what takes time, and what concerns no single benchmark.
        starting: times how long the workers of a launch take to start.
        build_timeout_s: the time limit for each command that builds a worker.
        may_want: whether a group of ids may have a benchmark that is chosen.
    """

    measure: Measure
    aliases: Mapping[str, str] = field(default_factory=dict)
    lead: ArmName = ArmName.HEAD
    cpu: int | None = None
    all_cpus: frozenset[int] | None = None
    unpinned: str = "not pinned: no CPU was chosen"
    outside: StartingEnvironment = field(default_factory=StartingEnvironment)
    interpreter: str = ""
    event: Event | None = None
    valgrind: Valgrind | None = None
    traces: Callable[[str], bool] = lambda _: True
    unable: Collection[str] = ()
    brief: bool = False
    described: dict[tuple[str, ...], Described] = field(default_factory=dict)
    introspect: bool = False
    requires_files: bool = True
    runs_suites: bool = True
    has_canary: bool = True
    tell: Callable[[str], None] = ignore
    starting: Callable[[], AbstractContextManager[None]] = nullcontext
    build_timeout_s: float = 600.0
    may_want: Callable[[str], bool] = lambda _: True


class ArmRunner:
    """Runs commands, one at a time.

    Args:
        arms: the arms that the commands belong to.
        launcher: starts the commands.
        settings: `outside.checkout` is the user's tree, whose files no arm may run.

    Attributes:
        all_cpus: the CPUs for what is not pinned; None for those of benchgate.
    """

    def __init__(
        self,
        arms: Mapping[ArmName, Arm],
        launcher: CommandLauncher,
        settings: EngineSettings,
    ) -> None:
        checkout = settings.outside.checkout
        self._arms = arms
        self._launcher = launcher
        self._own_code = OwnCode(checkout) if checkout else None
        impossible = why_unpinned()
        self._cpu = None if impossible else settings.cpu
        self.all_cpus = None if impossible else settings.all_cpus or available_cpus()
        self._unpinned = impossible or settings.unpinned

    def notes_on_pinning(self, *, pin: bool) -> tuple[str, ...]:
        """Say why a benchmark is not pinned, if it should be."""
        return (self._unpinned,) if pin and self._cpu is None else ()

    def check(
        self, settings: RunSettings, command: ArmCommand
    ) -> tuple[Execution | None, tuple[str, ...]]:
        """Execute a command to check that it runs its own code; return notes about it, too.

        Watching costs a little time. The execution is None if nothing is to be checked: then the
        command did not run.

        Raises:
            CommandFailedError: it failed, or it runs other code.
        """
        executions: list[Execution] = []
        notes = self.check_while(
            settings,
            command,
            lambda: executions.append(self.prepare_and_time(settings, command)),
            what=command.command[0],
        )
        return (executions[0], notes) if executions else (None, ())

    def check_while(
        self,
        settings: RunSettings,
        command: ArmCommand,
        run: Callable[[], object],
        *,
        what: str,
        besides: Sequence[Path] = (),
    ) -> tuple[str, ...]:
        """Check which code is run by something that includes a command; return notes about it.

        It does not run at all if nothing is to be checked.

        Args:
            what: what runs, for the error.
            besides: files and folders that do not count, whoever opens something of them.

        Raises:
            CommandFailedError: it runs other code; also what `run` raises.
        """
        if self._own_code is None or settings.allow_foreign:
            return ()
        arm = self._arms[command.arm]
        try:
            return self._own_code.check(
                arm,
                [other for other in self._arms.values() if other is not arm],
                run,
                named=command.names_its_arm,
                what=what,
                besides=besides,
            )
        except ForeignCodeError as error:
            raise CommandFailedError(command, str(error), of_all=True) from error

    def prepare_and_time(self, settings: RunSettings, command: ArmCommand) -> Execution:
        """Run the prepare, and then execute the command.

        Raises:
            CommandFailedError: one of them failed.
        """
        self.prepare(settings, command)
        with kept_off(self.cpu_for(settings)):
            return self.time(settings, command)

    def cpu_for(self, settings: RunSettings) -> int | None:
        """The CPU that a command is pinned to; None if it is not pinned."""
        return self._cpu if settings.pin else None

    def prepare(self, settings: RunSettings, command: ArmCommand) -> None:
        """Run the prepare of a command, if it has one."""
        self._run(settings, command, "prepare", command.prepare)

    def time(self, settings: RunSettings, command: ArmCommand) -> Execution:
        """Execute a command; whoever calls this keeps benchgate off its CPU."""
        cpu = self.cpu_for(settings)
        return self._execute(
            settings,
            command,
            command.command,
            self.all_cpus if cpu is None else frozenset({cpu}),
            ok_exit_codes=command.ok_exit_codes,
            stdout=command.stdout,
        )

    def give_up(self) -> None:
        """End the command that is running in another thread; it fails there."""
        self._launcher.close()

    def clean_up(self, settings: RunSettings, command: ArmCommand) -> None:
        """Run the cleanup of a command, if it has one."""
        self._run(settings, command, "cleanup", command.cleanup)

    def _run(
        self, settings: RunSettings, command: ArmCommand, role: str, argv: tuple[str, ...] | None
    ) -> None:
        if argv is None:
            return
        try:
            self._execute(settings, command, argv, self.all_cpus)
        except CommandFailedError as failure:
            raise CommandFailedError(command, f"{role}: {failure.error}") from failure

    def _execute(
        self,
        settings: RunSettings,
        command: ArmCommand,
        argv: tuple[str, ...],
        cpus: frozenset[int] | None,
        *,
        ok_exit_codes: frozenset[int] = frozenset({0}),
        stdout: Path | None = None,
    ) -> Execution:
        try:
            execution = self._launcher.execute(
                argv,
                cwd=command.cwd,
                env=command.env,
                timeout_s=settings.timeout_s,
                cpus=cpus,
                stdout=stdout,
                grace_s=settings.grace_s,
                planned_s=settings.planned_s,
            )
        except MeasureError as error:
            arm = self._arms[command.arm]
            hint = arm.why_missing(argv[0]) or error.hint
            parts = (arm.generalize(error.message), hint, error.details)
            raise CommandFailedError(command, "\n".join(filter(None, parts))) from error
        trouble = trouble_with(execution, ok_exit_codes)
        if trouble is not None:
            raise CommandFailedError(command, trouble)
        return execution


MAX_FILES = 1000
MAX_BYTES = 2 * 2**30
_CHUNK_BYTES = 2**20


class DataFilesError(Exception):
    """A data file cannot be read; the message says which one, and why."""


def data_parts(arm: Arm, globs: Iterable[str]) -> dict[str, str]:
    """Read the data files of an arm; return for each a name for people, and its digest.

    Args:
        globs: relative to the folder of the configuration; a glob may match nothing.
    """
    found: dict[str, Path] = {}
    for glob in globs:
        found |= matches(arm, glob)
        if len(found) > MAX_FILES:
            raise DataFilesError(
                f"`data` matches more than {counted(MAX_FILES, 'file')}: pack them into one"
            )
    left_bytes = MAX_BYTES
    parts = {}
    for name in sorted(found):
        digest, size_bytes = _digest(found[name], name, left_bytes)
        left_bytes -= size_bytes
        parts[f"its data file {name}"] = digest
    return parts


class DataFiles:
    """The data files of every arm, each read once."""

    def __init__(self, arms: Mapping[ArmName, Arm]) -> None:
        self._arms = arms
        self._known: dict[tuple[ArmName, tuple[str, ...]], Mapping[str, str]] = {}

    def parts(self, arm: ArmName, globs: tuple[str, ...]) -> Mapping[str, str]:
        """Read the files that the globs match in one arm, like `data_parts`."""
        for glob in globs:
            if not any(matches(one, glob) for one in self._arms.values()):
                raise DataFilesError(f"`data` has {glob!r}: there is no such file in the tree")
        key = arm, globs
        if key not in self._known:
            self._known[key] = data_parts(self._arms[arm], globs)
        return self._known[key]


def workload_of(parts: Mapping[str, str]) -> str:
    """Return 16 hex digits that change if any part of a benchmark's work changes."""
    text = "\0".join(f"{name}\0{parts[name]}" for name in sorted(parts))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def matches(arm: Arm, glob: str) -> dict[str, Path]:
    """Find the files of a tree that a glob of `data` names, by their names in the folder.

    Raises:
        DataFilesError: the glob, or a file that it matches, leaves the tree.
    """
    pattern = PurePosixPath(glob)
    if not glob.strip() or pattern.is_absolute() or ".." in pattern.parts:
        raise DataFilesError(f"`data` has {glob!r}: it must be relative to the configuration file")
    inside = arm.root.resolve()
    found = {}
    for path in arm.folder.glob(glob):
        if not path.is_file():
            continue
        name = path.relative_to(arm.folder).as_posix()
        if not path.resolve().is_relative_to(inside):
            raise DataFilesError(f"the data file {name} is a link to a place outside of the tree")
        found[name] = path
    return found


def _digest(path: Path, name: str, limit_bytes: int) -> tuple[str, int]:
    hasher, size_bytes = hashlib.sha256(), 0
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                hasher.update(chunk)
                size_bytes += len(chunk)
                if size_bytes > limit_bytes:
                    raise DataFilesError(f"the data files are larger than {MAX_BYTES >> 30} GiB")
    except OSError as error:
        raise DataFilesError(f"the data file {name} cannot be read: {error.strerror}") from None
    return hasher.hexdigest()[:16], size_bytes
