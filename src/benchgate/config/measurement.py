"""The tables [measure] and [build]: how much is measured, and what prepares it."""

import math
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from benchgate.model.environment import PYTHON
from benchgate.tables import fields
from benchgate.tables.fields import Table, shell_of


def _other_than_python(name: str) -> str:
    if name == PYTHON:
        raise ValueError("leave it out: benchgate records the version of Python itself")
    return name


Tool = Annotated[fields.Identifier, AfterValidator(_other_than_python)]


class Measure(Table):
    """How much is measured, and how."""

    budget_s: fields.Duration = Field(
        default="10m",
        alias="budget",
        validate_default=True,
        description="Time limit for measuring; what is still open then is inconclusive.",
    )
    screen_rounds: int = Field(
        default=5,
        ge=4,
        description="Rounds of everything, to find suspects; fewer than 4 cannot find any.",
    )
    confirm_rounds: int = Field(
        default=12,
        ge=1,
        description="The fewest fresh rounds of each suspect. In any case a suspect gets [three"
        " more than its test needs](how-it-decides.md#confirm), which is 12 or more with the"
        " default `alpha`, and as many again if the test fails but the change still shows.",
    )
    max_rounds: int = Field(
        default=30,
        ge=5,
        description="The most rounds in which a benchmark is measured, unless the test of a suspect"
        " [needs more](how-it-decides.md#confirm).",
    )
    rounds: int | None = Field(
        default=None,
        ge=1,
        description="Measure exactly this many rounds of everything, without screening.",
    )
    until_decided: bool = Field(
        default=False,
        description="Keep measuring every benchmark, including tails, until it is decided or cannot"
        " be. `max_rounds` then does not apply, and `budget` only if you set it.",
    )
    seed: int | None = Field(
        default=None,
        ge=0,
        lt=2**63,
        description="Repeats the random choices of the run with this seed; random if not set.",
    )
    samples: int = Field(
        default=45,
        ge=1,
        le=100_000,
        description="Samples per launch; the tail (p95) needs 40 or more, p99 200, p99.9 2000.",
    )
    launch_time_s: fields.Duration = Field(
        default="15ms",
        alias="launch_time",
        validate_default=True,
        description="Time for the samples of one launch; slow work gets fewer samples.",
    )
    warmup: fields.CountOrAuto = Field(
        default=3,
        description='Samples to discard first in each launch; `"auto"`: until they are steady.',
    )
    timeout_s: fields.Duration = Field(
        default="60s",
        alias="timeout",
        validate_default=True,
        description="Time limit for each execution of a command, and for each call of a function,"
        " its setup and its teardown; exceeding it is a failure.",
    )
    pin: bool = Field(
        default=True,
        description="Keep both sides of a function or a command on one CPU. A suite has a `pin` of"
        " its own.",
    )
    lanes: fields.LanesOrAuto = Field(
        default="auto",
        description="How many Python benchmarks are measured at the same time, each on a CPU of its"
        ' own; `"auto"`: as many as there are physical cores to use.',
    )
    canary: bool = Field(
        default=True,
        description="Measure fixed workloads beside the benchmarks, to notice a disturbance.",
    )
    counter: Literal["auto", "perf", "valgrind", "none"] = Field(
        default="auto",
        description="What [counts instructions](noisy-machines.md#count-with-valgrind): the"
        " processor (`perf`), valgrind, which is slow, or nothing. `auto` is `perf`; where that"
        " does not work, it is `valgrind` for what `metrics` judges by instructions.",
    )
    executions: int = Field(
        default=6, ge=1, le=10_000, description="Executions of a command per side and round."
    )
    command_warmup: int = Field(
        default=1,
        ge=0,
        le=10_000,
        description="Executions of a command to discard before its first round.",
    )

    @property
    def limit_s(self) -> float:
        """Time limit for measuring, in seconds: infinite if everything is to be decided.

        A budget that the user has set applies in any case.
        """
        is_set = "budget_s" in self.model_fields_set
        return math.inf if self.until_decided and not is_set else self.budget_s


class Build(Table):
    """Commands that prepare an arm; they run once per arm, in the folder of the configuration."""

    shell: bool = Field(default=False, description="Let `/bin/sh` read the command.")
    commands: fields.Commands = Field(
        default=(),
        alias="command",
        description="A command, or a list of commands that run one after the other.",
    )
    timeout_s: fields.Duration = Field(
        default="10m",
        alias="timeout",
        validate_default=True,
        description="Time limit for each command.",
    )
    env: fields.Environment = Field(
        default_factory=dict, description="Variables added to its environment."
    )
    cache: bool = Field(
        default=True,
        description="Use [what the same build left](commands.md#builds-are-kept-for-a-day) less"
        " than a day ago; not in CI.",
    )
    toolchains: Mapping[Tool, fields.ToolCommand] = Field(
        default_factory=dict,
        description="For each tool that decides how fast the code is, such as a compiler, the"
        " command that prints its version. Stored results of other versions are not used.",
    )

    @field_validator("commands", mode="before")
    @classmethod
    def _split(cls, value: object, info: ValidationInfo) -> tuple[tuple[str, ...], ...]:
        listed = value if isinstance(value, list) else [value]
        return tuple(fields.argv(item, in_shell=shell_of(info)) for item in listed)
