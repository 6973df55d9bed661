"""The table [[benchmark]]: what is measured."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import PurePath, PurePosixPath
from typing import Annotated, ClassVar, Final

from pydantic import Discriminator, Field, Tag, ValidationInfo, field_validator

from benchgate.config import fields
from benchgate.config.fields import Table, shell_of
from benchgate.config.laxer import Laxer, added, dropped, less, off, on

PATTERN: Final = "bench_*.py"
_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages"})
_DATA = (
    "Files that the work reads, such as `fixtures/*.json`, relative to the configuration file."
    " If they differ, base and head did different work."
)
_TIMEOUT = "`timeout` of `[measure]`"


class BenchmarkTable(Table):
    """What the kinds of [[benchmark]] have in common.

    Other work cannot be compared with the base's, and under another name a benchmark is missing.
    So the keys that determine the work and the name are neutral.

    Attributes:
        LAXER: for the keys that can loosen the gate, when they do.
        NEUTRAL: all other keys.
        MEASURE_KEYS: keys that take their value from [measure] if they are not set.
    """

    LAXER: ClassVar[Mapping[str, Laxer]]
    NEUTRAL: ClassVar[frozenset[str]]
    MEASURE_KEYS: ClassVar[tuple[str, ...]] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids that the table itself gives; none if only its files tell them."""
        return ()

    @property
    def subjects(self) -> tuple[str, ...]:
        """What it measures, as people know it: ids, or folders."""
        return self.ids

    def covers(self, subject: str, aliases: Mapping[str, str]) -> bool:
        """Whether it measures what another table of its kind measures.

        Args:
            subject: one of the other's subjects.
            aliases: old ids to new ids.
        """
        return not {subject, aliases.get(subject)}.isdisjoint(self.ids)


class CommandBenchmark(BenchmarkTable):
    """A command; each execution of it is a new process."""

    LAXER = {  # noqa: RUF012 - a class variable, see above
        "ok_exit_codes": added,
        "executions": less,
        "tags": dropped,
        "data": dropped,
        "pin": off,
        "allow_foreign": on,
    }
    NEUTRAL = frozenset(
        {"name", "shell", "command", "prepare", "cleanup", "cwd", "timeout", "env", "pythonpath"}
    )
    MEASURE_KEYS = ("executions",)

    name: fields.Identifier = Field(description="The benchmark's id, stable across commits.")
    shell: bool = Field(
        default=False, description="Let `/bin/sh` read `command`, `prepare` and `cleanup`."
    )
    command: fields.Command = Field(description="What is measured.")
    prepare: fields.Command | None = Field(
        default=None, description="Runs before each execution; not timed."
    )
    cleanup: fields.Command | None = Field(
        default=None,
        description="Runs once after the executions of a round, even if they failed; not timed.",
    )
    cwd: fields.RelativePath = Field(
        default=".", description="Folder to run in, relative to the configuration file."
    )
    ok_exit_codes: fields.ExitCodes = Field(
        default=(0,), description="Any other exit code is a failure."
    )
    timeout_s: fields.Duration | None = Field(
        default=None,
        alias="timeout",
        description=f"Time limit for one execution; by default {_TIMEOUT}.",
    )
    env: fields.Environment = Field(
        default_factory=dict, description="Variables added to its environment."
    )
    executions: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="Executions per side and round; by default `executions` of `[measure]`.",
    )
    tags: fields.Names = Field(default=(), description="Tags for choosing benchmarks with `--tag`.")
    data: fields.DataGlobs = Field(default=(), description=_DATA)
    pin: bool = Field(default=False, description="Keep it on one CPU.")
    pythonpath: fields.Templates | None = Field(
        default=None,
        description="Folders for `PYTHONPATH`, relative to the configuration file; by default"
        " [those of the side's own code](#whose-code-runs).",
    )
    allow_foreign: bool = Field(
        default=False,
        description="Measure it even if it does not run [the code of its own side]"
        "(#whose-code-runs).",
    )

    @property
    def ids(self) -> tuple[str, ...]:
        """Its name."""
        return (self.name,)

    @field_validator("command", "prepare", "cleanup", mode="before")
    @classmethod
    def _split(cls, value: object, info: ValidationInfo) -> tuple[str, ...]:
        return fields.argv(value, in_shell=shell_of(info))


class PythonBenchmark(BenchmarkTable):
    """Python functions named `bench_*`, run with the project's interpreter."""

    LAXER = {"tags": dropped, "data": dropped, "parallel": on, "allow_foreign": on}  # noqa: RUF012
    NEUTRAL = frozenset(
        {"python", "interpreter", "pythonpath", "isolate", "timeout", "env", "group"}
    )

    paths: fields.PythonPaths = Field(
        alias="python",
        description="Folders or `bench_*.py` files, relative to the configuration file.",
    )
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
    timeout_s: fields.Duration | None = Field(
        default=None,
        alias="timeout",
        description=f"Time limit for one launch of one function; by default {_TIMEOUT}.",
    )
    tags: fields.Names = Field(default=(), description="Tags for choosing benchmarks with `--tag`.")
    env: fields.Environment = Field(
        default_factory=dict, description="Variables added to their environment."
    )
    data: fields.DataGlobs = Field(default=(), description=_DATA)
    allow_foreign: bool = Field(
        default=False,
        description="They measure what is installed, such as a dependency, not the project; the"
        " notes say which versions ran.",
    )
    group: fields.Identifier | None = Field(default=None, description="Prefix of each id.")

    @property
    def subjects(self) -> tuple[str, ...]:
        """The folders and files that are searched."""
        return self.paths

    def covers(self, subject: str, aliases: Mapping[str, str]) -> bool:  # noqa: ARG002 - of ids
        """Whether one of its folders holds the other's folder or file."""
        return any(PurePosixPath(subject).is_relative_to(path) for path in self.paths)


KINDS: Final[Mapping[str, type[BenchmarkTable]]] = {
    "command": CommandBenchmark,
    "python": PythonBenchmark,
}
"""The kinds of [[benchmark]], by the key that tells them apart."""


def _kind(value: object) -> str | None:
    """Find out which kind of benchmark an entry of [[benchmark]] is."""
    kinds = [kind for kind in KINDS if isinstance(value, dict) and kind in value]
    return kinds[0] if len(kinds) == 1 else None


Benchmark = CommandBenchmark | PythonBenchmark
TaggedBenchmark = Annotated[
    Annotated[CommandBenchmark, Tag("command")] | Annotated[PythonBenchmark, Tag("python")],
    Discriminator(_kind),
]


def is_benchmark_file(path: PurePath) -> bool:
    """Whether a file is searched for benchmarks: not if it is hidden, installed or generated.

    Args:
        path: relative to the folder in which the search started.
    """
    *folders, name = path.parts
    return fnmatchcase(name, PATTERN) and not any(
        folder in _SKIPPED_FOLDERS or folder.startswith(".") for folder in folders
    )
