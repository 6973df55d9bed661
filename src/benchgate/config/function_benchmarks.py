"""The tables [[benchmark]] whose functions run in the project's own interpreter."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import PurePath, PurePosixPath
from typing import ClassVar, Final

from pydantic import Field

from benchgate.config.benchmark_table import (
    DATA_HELP,
    IN_TURN_HELP,
    TAGS_HELP,
    TIMEOUT_DEFAULT,
    BenchmarkTable,
)
from benchgate.config.laxer import dropped, on
from benchgate.tables import fields

PATTERN: Final = "bench_*.py"
_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages"})


class FunctionBenchmarks(BenchmarkTable):
    """Functions that are called in the project's own interpreter, base and head side by side.

    Attributes:
        BESIDE: names of files that the tool reads from the folders above, if they exist.
        NAMED: patterns of file names by which the tool knows its files among code of the project.
        LACKS: what to say of a path at which there are none.
        IN_FOLDERS: whether a path may be that of a folder.
        OWN_PACKAGE: whether such a folder is a package that holds nothing but benchmarks.
        paths: folders or files that are searched, relative to the configuration file.
    """

    BESIDE: ClassVar[tuple[str, ...]] = ()
    NAMED: ClassVar[tuple[str, ...]] = ()
    LACKS: ClassVar[str] = "does not exist"
    IN_FOLDERS: ClassVar[bool] = True
    OWN_PACKAGE: ClassVar[bool] = False

    LAXER = {  # noqa: RUF012 - a class variable
        "tags": dropped,
        "data": dropped,
        "parallel": on,
        "in_turn": on,
        "allow_foreign": on,
    }

    paths: fields.Paths
    interpreter: fields.Template | None = Field(
        default=None,
        description="Python to run them in, for example `{env}/bin/python`;"
        " by default [that of the project](#tools-that-manage-environments).",
    )
    pythonpath: fields.Templates | None = Field(
        default=None,
        description="Folders to import from, relative to the configuration file; by default"
        " [those of the side's own code](#whose-code-runs).",
    )
    isolate: bool = Field(default=False, description="Give each function a process of its own.")
    parallel: bool = Field(
        default=False, description="They use several CPUs themselves: measure them without pinning."
    )
    in_turn: bool = Field(default=False, description=IN_TURN_HELP)
    timeout_s: fields.Duration | None = Field(
        default=None,
        alias="timeout",
        description="Time limit for each call of a function, its setup, each count and its"
        f" teardown; {TIMEOUT_DEFAULT}.",
    )
    tags: fields.Names = Field(default=(), description=TAGS_HELP)
    env: fields.Environment = Field(
        default_factory=dict, description="Variables added to their environment."
    )
    data: fields.DataGlobs = Field(default=(), description=DATA_HELP)
    allow_foreign: bool = Field(
        default=False,
        description="They measure what is installed, such as a dependency, not the project; the"
        " notes say which versions ran.",
    )

    @property
    def tool_arguments(self) -> tuple[str, ...]:
        """Further arguments of the tool that they are written for."""
        return ()

    @property
    def prefix(self) -> str:
        """What their ids begin with; "" if nothing is configured."""
        return ""

    @property
    def subjects(self) -> tuple[str, ...]:
        """The folders and files that are searched."""
        return self.paths

    def may_hold(self, file: PurePath) -> bool:
        """Whether a file may belong to the benchmarks.

        Args:
            file: relative to one of its folders; only its name if it is named itself.
        """
        return is_own_code(file)

    def covers(self, subject: str, aliases: Mapping[str, str]) -> bool:  # noqa: ARG002 - of ids
        """Whether one of its folders holds the other's folder or file."""
        return any(PurePosixPath(subject).is_relative_to(path) for path in self.paths)


class PythonBenchmark(FunctionBenchmarks):
    """Python functions named `bench_*`, run with the project's interpreter."""

    KIND = "python"
    LACKS = f"has no file {PATTERN}"
    NEUTRAL = frozenset(
        {"python", "interpreter", "pythonpath", "isolate", "timeout", "env", "group"}
    )

    paths: fields.PythonPaths = Field(
        alias="python",
        description="Folders or `bench_*.py` files, relative to the configuration file.",
    )
    group: fields.Identifier | None = Field(default=None, description="Prefix of each id.")

    @property
    def prefix(self) -> str:
        """The group."""
        return self.group or ""

    def may_hold(self, file: PurePath) -> bool:
        """Whether a file is one of them."""
        return is_benchmark_file(file)


class PytestBenchmark(FunctionBenchmarks):
    """Tests with a `benchmark` fixture, as of pytest-benchmark; the project's pytest runs them."""

    KIND = "pytest"
    BESIDE = ("conftest.py",)
    NAMED = ("test_*.py", "*_test.py", "conftest.py")
    NEUTRAL = frozenset(
        {"pytest", "arguments", "interpreter", "pythonpath", "isolate", "timeout", "env"}
    )

    paths: fields.Paths = Field(
        alias="pytest",
        description="Folders or files of tests that use the `benchmark` fixture, relative to the"
        " configuration file.",
    )
    arguments: fields.Arguments = Field(
        default=(), description="Further arguments of pytest, such as `-k fast`."
    )

    @property
    def tool_arguments(self) -> tuple[str, ...]:
        """Further arguments of pytest."""
        return self.arguments


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
