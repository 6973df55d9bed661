"""[[benchmark]]: the kinds of work that can be measured."""

from typing import Annotated

from pydantic import Discriminator, Field, Tag, ValidationInfo, field_validator

from benchgate.config import fields
from benchgate.config.table import Table, shell_of

_DATA = (
    "Files that the work reads, such as `fixtures/*.json`, relative to the root of the tree."
    " If they differ, base and head did different work."
)
_TIMEOUT = "`timeout` of `[measure]`"


class CommandBenchmark(Table):
    """Any program; each execution is a process of its own."""

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
        default=".", description="Folder to run in, relative to the root of the tree."
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
        description="Folders for `PYTHONPATH`, relative to the root of the tree; by default"
        " [those of the side's own code](#whose-code-runs).",
    )
    allow_foreign: bool = Field(
        default=False,
        description="Measure it even if it does not run [the code of its own side]"
        "(#whose-code-runs).",
    )

    @field_validator("command", "prepare", "cleanup", mode="before")
    @classmethod
    def _split(cls, value: object, info: ValidationInfo) -> tuple[str, ...]:
        return fields.argv(value, in_shell=shell_of(info))


class PythonBenchmark(Table):
    """Python functions named `bench_*`, run in the interpreter of the project."""

    paths: fields.PythonPaths = Field(
        alias="python",
        description="Folders or `bench_*.py` files, relative to the root of the tree.",
    )
    interpreter: fields.Template | None = Field(
        default=None,
        description="Python to run them in, for example `{env}/bin/python`;"
        " by default the `python3` or `python` found on `PATH`.",
    )
    pythonpath: fields.Templates | None = Field(
        default=None,
        description="Folders to import from, relative to the root of the tree; by default"
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


def _kind(value: object) -> str | None:
    """The tag of the table that an entry of [[benchmark]] is to be read as."""
    kinds = [kind for kind in ("command", "python") if isinstance(value, dict) and kind in value]
    return kinds[0] if len(kinds) == 1 else None


Benchmark = CommandBenchmark | PythonBenchmark
TaggedBenchmark = Annotated[
    Annotated[CommandBenchmark, Tag("command")] | Annotated[PythonBenchmark, Tag("python")],
    Discriminator(_kind),
]
