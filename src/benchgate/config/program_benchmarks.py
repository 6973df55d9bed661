"""The tables of benchmarks that are programs: commands, and suites of other tools."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BeforeValidator, ValidationInfo, WithJsonSchema

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
from benchgate.config.keys import added, key, less, neutral, off, on
from benchgate.model.document import MOST_MIB, TOOL_FILE_MIB
from benchgate.tables import fields
from benchgate.tables.fields import PLACEHOLDERS, SHELL, shell_of


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
