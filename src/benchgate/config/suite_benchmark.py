"""The table [[benchmark]] with `suite`."""

from collections.abc import Mapping
from typing import Final

from pydantic import Field, ValidationInfo, field_validator

from benchgate.config import fields
from benchgate.config.fields import PLACEHOLDERS, SHELL, shell_of
from benchgate.config.program_benchmark import ProgramBenchmark

OUTPUT: Final = "{output}"
"""Stands in the command of a suite for a path that benchgate chooses."""

_LONGEST_TITLE = 60
_PLACEHOLDERS = (*PLACEHOLDERS, OUTPUT.strip("{}"))


class SuiteBenchmark(ProgramBenchmark):
    """A suite of another tool; each run of it is a launch of all its benchmarks."""

    NEUTRAL = (ProgramBenchmark.NEUTRAL - {"command"}) | {"suite", "output", "format", "group"}

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
        description="Any other exit code is a failure; the benchmarks that the suite reported"
        " are still compared.",
    )
    timeout_s: fields.Duration = Field(
        default="10m",
        alias="timeout",
        validate_default=True,
        description="Time limit for one run.",
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
    group: fields.Identifier | None = Field(
        default=None, description="Prefix of each id; by default the ids are those of the tool."
    )

    @property
    def title(self) -> str:
        """What people call it: its group, or the beginning of its command."""
        if self.group is not None:
            return self.group
        in_shell = self.command[: len(SHELL)] == SHELL
        text = " ".join(self.command[len(SHELL) :] if in_shell else self.command)
        return text if len(text) <= _LONGEST_TITLE else f"{text[: _LONGEST_TITLE - 3]}..."

    @property
    def subjects(self) -> tuple[str, ...]:
        """Its title: the ids are known once it has run."""
        return (self.title,)

    def covers(self, subject: str, aliases: Mapping[str, str]) -> bool:  # noqa: ARG002 - of ids
        """Whether it has the title of the other suite."""
        return subject == self.title

    @field_validator("command", mode="before")
    @classmethod
    def _split(cls, value: object, info: ValidationInfo) -> tuple[str, ...]:
        return fields.argv(value, in_shell=shell_of(info), placeholders=_PLACEHOLDERS)
