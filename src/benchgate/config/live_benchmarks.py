"""The tables of benchmarks that live processes measure, workers."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import PurePath, PurePosixPath
from typing import ClassVar, Final, Literal

from benchgate.config.benchmark_table import (
    DATA,
    ENV,
    IN_TURN,
    PARALLEL,
    PYTHONPATH,
    TAGS,
    TIMEOUT_DEFAULT,
    BenchmarkTable,
)
from benchgate.config.keys import key, neutral, on
from benchgate.tables import fields

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
