"""The table [[benchmark]] with `suite`."""

from collections.abc import Mapping
from typing import Final

from pydantic import Field, ValidationInfo, field_validator

from benchgate.config.laxer import off
from benchgate.config.program_benchmark import ProgramBenchmark
from benchgate.model.json_bounds import MOST_MIB, TOOL_FILE_MIB
from benchgate.tables import fields
from benchgate.tables.fields import PLACEHOLDERS, SHELL, shell_of

OUTPUT: Final = "{output}"
"""Stands in the command of a suite for a path that benchgate chooses."""

NOT_KEPT: Final = "not-kept"
"""Stands for the command of a benchmark in a configuration that was stored with a result."""

_LONGEST_TITLE = 60
_PLACEHOLDERS = (*PLACEHOLDERS, OUTPUT.strip("{}"))


class SuiteBenchmark(ProgramBenchmark):
    """A suite of another tool; each run of it is a launch of all its benchmarks."""

    KIND = "suite"
    LAXER = {**ProgramBenchmark.LAXER, "pin": off}  # noqa: RUF012 - a class variable
    NEUTRAL = (ProgramBenchmark.NEUTRAL - {"command"}) | {
        "suite",
        "output",
        "format",
        "group",
        "max_mib",
    }

    shell: bool = Field(
        default=False, description="Let `/bin/sh` read `suite`, `prepare` and `cleanup`."
    )
    command: fields.Command = Field(
        alias="suite",
        description="The command that runs the suite; `{output}` in it becomes the path of a file"
        " or folder that benchgate reads afterwards.",
    )
    prepare: fields.Command | None = Field(default=None, description="Runs before each run.")
    cleanup: fields.Command | None = Field(
        default=None, description="Runs once after the runs of a round, even if they failed."
    )
    ok_exit_codes: fields.ExitCodes = Field(
        default=(0,),
        description="Any other exit code is a failure, also of a command that hyperfine reports;"
        " the benchmarks that the suite reported are still compared.",
    )
    timeout_s: fields.Duration = Field(
        default="10m",
        alias="timeout",
        validate_default=True,
        description="Time limit for each run, `prepare` and `cleanup`.",
    )
    pin: bool = Field(
        default=False, description="Keep it on one CPU, also with `pin = false` in `[measure]`."
    )
    output: fields.RelativePath | None = Field(
        default=None,
        description="File or folder that the suite writes its results to, relative to `cwd`."
        " Without it and without `{output}`, benchgate reads the standard output.",
    )
    format: fields.Text | None = Field(
        default=None,
        description="Format of the results; by default benchgate recognizes it.",
    )
    max_mib: int = Field(
        default=TOOL_FILE_MIB,
        ge=1,
        le=MOST_MIB,
        description="Size limit of its results, in MiB. JSON takes five times as much memory.",
    )
    group: fields.Identifier | None = Field(
        default=None, description="Prefix of each id; by default the ids are those of the tool."
    )

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

    def covers(self, subject: str, aliases: Mapping[str, str]) -> bool:  # noqa: ARG002 - of ids
        """Whether it has the title of the other suite, or may have had it before it was stored."""
        return self.title in {subject, NOT_KEPT}

    @field_validator("command", mode="before")
    @classmethod
    def _split(cls, value: object, info: ValidationInfo) -> tuple[str, ...]:
        return fields.argv(value, in_shell=shell_of(info), placeholders=_PLACEHOLDERS)
