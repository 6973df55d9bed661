"""The tables [[benchmark]], one for each kind: what is measured."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import reduce
from operator import or_
from pathlib import PurePath, PurePosixPath
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal, get_args

from pydantic import BeforeValidator, Discriminator, Tag, ValidationInfo, WithJsonSchema

from benchgate.config.keys import added, dropped, key, less, neutral, off, on
from benchgate.model.document import MOST_MIB, TOOL_FILE_MIB
from benchgate.tables import fields
from benchgate.tables.fields import PLACEHOLDERS, SHELL, Table, shell_of

# Keys that several kinds have in the same words.
DATA: Final = key(
    dropped,
    (),
    "Files that the work reads, such as `fixtures/*.json`. Both sides read those of the base.",
)
ENV: Final = key(neutral, dict, "Variables added to the environment.")
IN_TURN: Final = key(
    on,
    False,
    "Never run base and head [at the same time](how-it-decides.md#at-the-same-time), because they"
    " share something such as a port.",
)
PARALLEL: Final = key(on, False, "The work uses several CPUs: measure it without pinning.")
PYTHONPATH: Final = key(
    neutral,
    None,
    "Folders to import from; by default [those of the side's own code](#whose-code-runs).",
)
TAGS: Final = key(dropped, (), "Tags for choosing benchmarks with `--tag`.")
TIMEOUT_DEFAULT: Final = "by default `timeout` of `[measure]`"


class BenchmarkTable(Table):
    """What the kinds of [[benchmark]] have in common.

    Until a change is merged, both sides do the work that the base's table names, and under another
    name a benchmark is missing. So the keys that determine the work and the name are neutral.

    Attributes:
        KIND: the key that tells its tables from others.
    """

    KIND: ClassVar[str]

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids that the table itself gives; none if only its files tell them."""
        return ()

    @property
    def subjects(self) -> tuple[str, ...]:
        """What it measures, as people know it: ids, or folders."""
        return self.ids

    def covers(self, subject: str) -> bool:
        """Whether it measures what is a subject of another table of its kind."""
        return subject in self.subjects


PATTERN: Final = "bench_*.py"
_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages"})


class LiveBenchmarks(BenchmarkTable):
    """Benchmarks that live processes measure, workers: those of base and head take turns.

    Attributes:
        LACKS: what to say of a path at which there are none.
        SILENT: what to say of a program that ends and is no worker.
        paths: what is searched, relative to the configuration file.
    """

    LACKS: ClassVar[str] = "does not exist"
    SILENT: ClassVar[str] = "it does not speak the worker protocol"

    paths: fields.Paths
    isolate: bool = key(neutral, False, "Give each benchmark a process of its own.")
    parallel: bool = PARALLEL
    in_turn: bool = IN_TURN
    timeout_s: fields.Duration | None = key(
        neutral,
        None,
        "Time limit for each call of a benchmark, its setup, each count and its"
        f" teardown; {TIMEOUT_DEFAULT}.",
    )
    tags: fields.Names = TAGS
    env: fields.Environment = ENV
    data: fields.DataGlobs = DATA

    @property
    def tool_arguments(self) -> tuple[str, ...]:
        """Further arguments of the tool that they are written for."""
        return tuple(getattr(self, "arguments", ()))

    @property
    def prefix(self) -> str:
        """What their ids begin with; "" if nothing is configured."""
        return str(getattr(self, "group", None) or "")

    @property
    def subjects(self) -> tuple[str, ...]:
        """The folders and files that are searched."""
        return self.paths

    def covers(self, subject: str) -> bool:
        """Whether one of its folders holds the other's folder or file."""
        return any(PurePosixPath(subject).is_relative_to(path) for path in self.paths)


class FunctionBenchmarks(LiveBenchmarks):
    """Functions that are called in the project's own interpreter of Python.

    Attributes:
        BESIDE: names of files that the tool reads from the folders above, if they exist.
        NAMED: patterns of file names by which the tool knows its files among code of the project.
        IN_FOLDERS: whether a path may be that of a folder.
        OWN_PACKAGE: whether such a folder is a package that holds nothing but benchmarks.
    """

    BESIDE: ClassVar[tuple[str, ...]] = ()
    NAMED: ClassVar[tuple[str, ...]] = ()
    IN_FOLDERS: ClassVar[bool] = True
    OWN_PACKAGE: ClassVar[bool] = False

    interpreter: fields.Template | None = key(
        neutral,
        None,
        "Python to run them in, for example `{env}/bin/python`;"
        " by default [that of the project](#tools-that-manage-environments).",
    )
    pythonpath: fields.Templates | None = PYTHONPATH
    allow_foreign: bool = key(
        on, False, "They measure what is installed, such as a dependency, not the project."
    )

    def may_hold(self, file: PurePath) -> bool:
        """Whether a file may belong to the benchmarks.

        Args:
            file: relative to one of its folders; only its name if it is named itself.
        """
        return is_own_code(file)


class PythonBenchmark(FunctionBenchmarks):
    """Python functions named `bench_*`, run with the project's interpreter."""

    KIND = "python"
    LACKS = f"has no file {PATTERN}"

    paths: fields.PythonPaths = key(neutral, ..., "Folders or `bench_*.py` files.", alias="python")
    group: fields.Identifier | None = key(neutral, None, "Prefix of each id.")

    def may_hold(self, file: PurePath) -> bool:
        return is_benchmark_file(file)


class PytestBenchmark(FunctionBenchmarks):
    """Tests with a `benchmark` fixture, as of pytest-benchmark; the project's pytest runs them."""

    KIND = "pytest"
    BESIDE = ("conftest.py",)
    NAMED = ("test_*.py", "*_test.py", "conftest.py")

    paths: fields.Paths = key(
        neutral, ..., "Folders or files of tests that use the `benchmark` fixture.", alias="pytest"
    )
    arguments: fields.Arguments = key(
        neutral, (), "Further arguments of pytest, such as `-k fast`."
    )


def is_benchmark_file(path: PurePath) -> bool:
    """Whether a file is searched for `bench_*` functions: not if it is hidden or installed.

    Args:
        path: relative to the folder in which the search started.
    """
    return is_own_code(path) and fnmatchcase(path.name, PATTERN)


def is_own_code(path: PurePath) -> bool:
    """Whether a file in a folder that is searched is Python, and not hidden, installed or made."""
    return path.suffix == ".py" and not any(
        folder in _SKIPPED_FOLDERS or folder.startswith(".") for folder in path.parts[:-1]
    )


class AsvBenchmark(FunctionBenchmarks):
    """A suite of asv (airspeed velocity); asv itself need not be installed."""

    KIND = "asv"
    BESIDE = ("asv.conf.json", "asv.conf.jsonc")
    OWN_PACKAGE = True

    paths: fields.PythonPaths = key(
        neutral,
        ...,
        "The folder of the benchmarks (`benchmark_dir` in `asv.conf.json`).",
        alias="asv",
    )
    setup: Literal["call", "sample"] | None = key(
        neutral,
        None,
        "Run `setup` before each `call`, as asv_runner 0.3 does, or before each"
        " `sample`, as it did before; by default as the installed one does, or else each sample.",
    )

    @property
    def tool_arguments(self) -> tuple[str, ...]:
        """When setups run."""
        return (self.setup,) if self.setup else ()


class ProgramBenchmark(BenchmarkTable):
    """A program that benchgate runs in each arm."""

    shell: bool = key(neutral, False, "Let `/bin/sh` read `command`, `prepare` and `cleanup`.")
    command: fields.Command = key(neutral, ..., "What is measured.")
    prepare: fields.Command | None = key(neutral, None, "Runs before each execution; not timed.")
    cleanup: fields.Command | None = key(
        neutral, None, "Runs once after the executions of a round, even if they failed."
    )
    cwd: fields.RelativePath = key(neutral, ".", "Folder to run in.")
    ok_exit_codes: fields.ExitCodes = key(added, (0,), "Any other exit code is a failure.")
    timeout_s: fields.Duration | None = key(
        neutral,
        None,
        f"Time limit for each execution, `prepare` and `cleanup`; {TIMEOUT_DEFAULT}.",
    )
    env: fields.Environment = ENV
    tags: fields.Names = TAGS
    data: fields.DataGlobs = DATA
    pythonpath: fields.Templates | None = PYTHONPATH
    allow_foreign: bool = key(
        on,
        False,
        "Measure it even if it does not run [the code of its own side](#whose-code-runs).",
    )


class _Named(BenchmarkTable):
    """Puts `name` before the keys of all programs: the reference lists keys in this order."""

    name: fields.Identifier = key(neutral, ..., "The benchmark's id, stable across commits.")


class CommandBenchmark(ProgramBenchmark, _Named):
    """A command; each execution of it is a new process."""

    KIND = "command"

    executions: int | None = key(
        less,
        None,
        "Executions per side and round; by default `executions` of `[measure]`.",
        ge=1,
        le=10_000,
    )
    parallel: bool = PARALLEL
    in_turn: bool = IN_TURN

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.name,)


class PyperfBenchmark(FunctionBenchmarks):
    """Scripts that are written for pyperf's Runner; they run with the project's own pyperf."""

    KIND = "pyperf"
    LACKS = "is not a file"
    IN_FOLDERS = False

    paths: fields.Paths = key(neutral, ..., "Scripts that use `pyperf.Runner`.", alias="pyperf")
    arguments: fields.Arguments = key(
        neutral, (), "Arguments of each script; options of pyperf itself have no effect."
    )
    group: fields.Identifier | None = key(
        neutral, None, "Prefix of each id, for scripts that give benchmarks the same names."
    )
    isolate: bool = key(neutral, True, "Give each benchmark a process of its own, as pyperf does.")

    def may_hold(self, file: PurePath) -> bool:
        """Whether a file may be one of them, whatever its name ends with."""
        return len(file.parts) == 1


class WorkerBenchmark(LiveBenchmarks):
    """A program that speaks [benchgate's worker protocol](worker-protocol.md), in any language."""

    KIND = "worker"

    command: fields.Command = key(neutral, ..., "The command that starts it.", alias="worker")
    paths: fields.Paths = key(neutral, (), "Its source files: a change of them is other work.")
    group: fields.Identifier | None = key(neutral, None, "Prefix of each id.")

    @property
    def title(self) -> str:
        """What people call it."""
        return self.group or " ".join(self.command)

    @property
    def subjects(self) -> tuple[str, ...]:
        """Its title: the ids are known once it has run."""
        return (self.title,)

    def covers(self, subject: str) -> bool:
        """Whether it has the same title."""
        return subject == self.title


class GoBenchmark(LiveBenchmarks):
    """Functions `Benchmark*` of Go, and what they start by `b.Run`."""

    KIND = "go"
    LACKS = "has no file *_test.go with a function Benchmark*"

    paths: fields.Paths = key(
        neutral, ..., "Folders that are searched for packages with benchmarks.", alias="go"
    )
    arguments: fields.Arguments = key(
        neutral, (), "Further arguments of `go test -c`, such as `-tags fast`."
    )
    group: fields.Identifier | None = key(neutral, None, "Prefix of each id.")


class NodeBenchmark(LiveBenchmarks):
    """Scripts that use tinybench, mitata or benchmark.js, and files of `vitest bench`."""

    KIND = "node"
    LACKS = "is no script, and no folder with files *.bench.* of vitest"

    paths: fields.Paths = key(
        neutral,
        ...,
        "Scripts that run benchmarks, or folders with files of vitest. `benchmarks/*.js` stands for"
        " all scripts there that import one of these tools.",
        alias="node",
    )
    arguments: fields.Arguments = key(
        neutral,
        (),
        "Arguments of `node`, such as `--import tsx`, and after `--` those of the script; for"
        " files of vitest, options of `vitest bench`.",
    )
    cwd: fields.RelativePath = key(neutral, ".", "Folder to run in.")
    group: fields.Identifier | None = key(neutral, None, "Prefix of each id.")


class RustBenchmark(LiveBenchmarks):
    """Bench targets of Cargo that use Criterion or `#[bench]`."""

    KIND = "rust"
    LACKS = "is no bench target (of another folder's Cargo.toml: FOLDER/NAME)"

    paths: fields.Paths = key(
        neutral,
        ...,
        "Names of bench targets, after the folder of their package: `crates/text/words`.",
        alias="rust",
    )
    arguments: fields.Arguments = key(
        neutral, (), "Further arguments of `cargo bench`, such as `--features fast`."
    )
    group: fields.Identifier | None = key(neutral, None, "Prefix of each id.")


class CppBenchmark(LiveBenchmarks):
    """Programs of Google Benchmark, which `[build]` builds with the flags that benchgate adds."""

    KIND = "cpp"
    LACKS = "is not there: [build] must build it"
    SILENT = "it does not speak the worker protocol: [build] must compile it with $CXX"

    paths: fields.Paths = key(neutral, ..., "The programs, such as `build/bench`.", alias="cpp")
    arguments: fields.Arguments = key(neutral, (), "Arguments of the programs.")
    group: fields.Identifier | None = key(neutral, None, "Prefix of each id.")


class ScenarioBenchmark(BenchmarkTable):
    """A workload under load, as a file of each side describes it."""

    KIND = "scenario"

    scenario: fields.RelativePath = key(neutral, ..., "The scenario file (TOML, JSON or YAML).")
    timeout_s: fields.Duration | None = key(
        neutral,
        None,
        "Time limit for one launch; by default one that its durations leave room for.",
    )
    env: fields.Environment = key(
        neutral, dict, "Variables added to the environment of the load generator and its services."
    )
    tags: fields.Names = TAGS
    data: fields.DataGlobs = DATA
    pythonpath: fields.Templates | None = PYTHONPATH
    allow_foreign: bool = key(on, False, "Measure it even if nothing in it depends on the side.")

    @property
    def subjects(self) -> tuple[str, ...]:
        """Its file: the ids are known once it has been read."""
        return (self.scenario,)

    def covers(self, subject: str) -> bool:
        """Whether it has the same file."""
        return PurePosixPath(subject) == PurePosixPath(self.scenario)


OUTPUT: Final = "{output}"
"""Stands in the command of a suite for a path that benchgate chooses."""

FILTER: Final = "{filter}"
"""Stands in the command of a suite for what selects the benchmarks that a round measures."""

NOT_KEPT: Final = "not-kept"
"""Stands for the command of a benchmark in a configuration that was stored with a result."""

_LONGEST_TITLE = 60


def _argv(value: object, info: ValidationInfo) -> tuple[str, ...]:
    placeholders = (*PLACEHOLDERS, OUTPUT.strip("{}"), FILTER.strip("{}"))
    words = fields.argv(value, in_shell=shell_of(info), placeholders=placeholders)
    if words[: len(SHELL)] == SHELL and FILTER in words[-1]:
        raise ValueError(
            f"{FILTER} has characters that a shell does not take as they are: put what needs a "
            "shell into a script, and leave shell = true out"
        )
    return words


class SuiteBenchmark(ProgramBenchmark):
    """A suite of another tool; each run of it is a launch of all its benchmarks."""

    KIND = "suite"

    shell: bool = key(neutral, False, "Let `/bin/sh` read `suite`, `prepare` and `cleanup`.")
    command: Annotated[tuple[str, ...], BeforeValidator(_argv), WithJsonSchema(fields.COMMAND)] = (
        key(neutral, ..., "The command that runs the suite.", alias="suite")
    )
    prepare: fields.Command | None = key(neutral, None, "Runs before each run.")
    cleanup: fields.Command | None = key(
        neutral, None, "Runs once after the runs of a round, even if they failed."
    )
    ok_exit_codes: fields.ExitCodes = key(
        added, (0,), "Any other exit code is a failure, also of a command that hyperfine reports."
    )
    timeout_s: fields.Duration = key(
        neutral,
        "10m",
        "Time limit for each run, `prepare` and `cleanup`.",
    )
    pin: bool = key(off, False, "Keep it on one CPU, also with `pin = false` in `[measure]`.")
    output: fields.RelativePath | None = key(
        neutral, None, "File or folder that the suite writes its results to, relative to `cwd`."
    )
    format: fields.Text | None = key(
        neutral, None, "Format of the results; by default benchgate recognizes it."
    )
    max_mib: int = key(
        neutral,
        TOOL_FILE_MIB,
        "Size limit of its results, in MiB. JSON takes five times as much memory.",
        ge=1,
        le=MOST_MIB,
    )
    group: fields.Identifier | None = key(
        neutral, None, "Prefix of each id; by default the ids are those of the tool."
    )

    @property
    def has_filter(self) -> bool:
        """Whether its command is told which benchmarks to run."""
        return any(FILTER in word for word in self.command)

    @property
    def title(self) -> str:
        """What people call it: its group, or the beginning of its command, and its folder."""
        if self.group is not None:
            return self.group
        in_shell = self.command[: len(SHELL)] == SHELL
        text = " ".join(self.command[len(SHELL) :] if in_shell else self.command)
        if len(text) > _LONGEST_TITLE:
            text = f"{text[: _LONGEST_TITLE - 3]}..."
        return text if self.cwd == "." or text == NOT_KEPT else f"{text} in {self.cwd}"

    @property
    def subjects(self) -> tuple[str, ...]:
        """Its title: the ids are known once it has run."""
        return (self.title,)

    def covers(self, subject: str) -> bool:
        """Whether it has the title of the other suite, or may have had it before it was stored."""
        return self.title in {subject, NOT_KEPT}


Benchmark = (
    CommandBenchmark
    | PythonBenchmark
    | PytestBenchmark
    | AsvBenchmark
    | PyperfBenchmark
    | GoBenchmark
    | NodeBenchmark
    | RustBenchmark
    | CppBenchmark
    | WorkerBenchmark
    | SuiteBenchmark
    | ScenarioBenchmark
)

KINDS: Final[Mapping[str, type[BenchmarkTable]]] = {kind.KIND: kind for kind in get_args(Benchmark)}
"""The kinds of [[benchmark]], by the key that tells them apart."""


def _kind(value: object) -> str | None:
    """Find out which kind of benchmark an entry of [[benchmark]] is."""
    kinds = [kind for kind in KINDS if isinstance(value, dict) and kind in value]
    return kinds[0] if len(kinds) == 1 else None


if TYPE_CHECKING:
    TaggedBenchmark = Benchmark
else:
    _TAGGED = (Annotated[kind, Tag(key)] for key, kind in KINDS.items())
    TaggedBenchmark = Annotated[reduce(or_, _TAGGED), Discriminator(_kind)]
