"""The table [[benchmark]] with `command`."""

from pydantic import Field, ValidationInfo, field_validator

from benchgate.config import fields
from benchgate.config.benchmark_table import (
    DATA_HELP,
    TAGS_HELP,
    TIMEOUT_DEFAULT,
    BenchmarkTable,
)
from benchgate.config.fields import shell_of
from benchgate.config.laxer import added, dropped, less, off, on


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
        description=f"Time limit for one execution; {TIMEOUT_DEFAULT}.",
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
    tags: fields.Names = Field(default=(), description=TAGS_HELP)
    data: fields.DataGlobs = Field(default=(), description=DATA_HELP)
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
