"""What the tables [[benchmark]] that run a program have in common."""

from pydantic import Field, ValidationInfo, field_validator

from benchgate.config.benchmark_table import (
    DATA_HELP,
    TAGS_HELP,
    TIMEOUT_DEFAULT,
    BenchmarkTable,
)
from benchgate.config.laxer import added, dropped, on
from benchgate.tables import fields
from benchgate.tables.fields import shell_of


class ProgramBenchmark(BenchmarkTable):
    """A program that benchgate runs in each arm."""

    LAXER = {  # noqa: RUF012 - a class variable, see above
        "ok_exit_codes": added,
        "tags": dropped,
        "data": dropped,
        "allow_foreign": on,
    }
    NEUTRAL = frozenset(
        {"shell", "command", "prepare", "cleanup", "cwd", "timeout", "env", "pythonpath"}
    )

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
        description=f"Time limit for each execution, `prepare` and `cleanup`; {TIMEOUT_DEFAULT}.",
    )
    env: fields.Environment = Field(
        default_factory=dict, description="Variables added to its environment."
    )
    tags: fields.Names = Field(default=(), description=TAGS_HELP)
    data: fields.DataGlobs = Field(default=(), description=DATA_HELP)
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

    @field_validator("prepare", "cleanup", mode="before")
    @classmethod
    def _split_helper(cls, value: object, info: ValidationInfo) -> tuple[str, ...]:
        return fields.argv(value, in_shell=shell_of(info))
