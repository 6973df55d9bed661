"""The tables of the configuration: their keys, defaults and meaning.

A field's alias is the key people write; its own name carries the unit of what the value
became: durations are seconds, percentages fractions, and None is what was not said. The
descriptions are the documentation: docs/configuration.md, the JSON schema and the hints of
errors are made from them.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from benchgate.config import fields
from benchgate.config.benchmarks import CommandBenchmark, PythonBenchmark, TaggedBenchmark
from benchgate.config.table import Table, shell_of
from benchgate.units import format_percent


class Gate(Table):
    """How the measured launches are judged."""

    rule: Literal["launch", "classical"] = Field(
        default="launch",
        description="Which rule decides: tests over launches, or the textbook rule"
        " (Mann-Whitney p < 0.05 and a p95 ratio beyond 5 %).",
    )
    unit: Literal["launch", "sample"] = Field(
        default="launch",
        description="What the classical rule compares: values of launches, or raw samples.",
    )
    alpha: float = Field(
        default=0.01,
        gt=0,
        lt=0.5,
        description="False-alarm rate of the whole suite: the probability that unchanged code"
        " fails.",
    )
    margin: fields.Margin = Field(
        default="2%",
        validate_default=True,
        description="The smallest change of location (p25, median, mean, min) that matters."
        " A change is found reliably from 1.5 margins up.",
    )
    tail_margin: fields.Margin = Field(
        default="5%", validate_default=True, description="The same for the tail (p95)."
    )
    statistics: fields.Statistics = Field(
        default=("p25", "p95"), description="The statistics of a launch that are compared."
    )
    metrics: fields.Metrics = Field(
        default=("time",),
        description="Names of the metrics that decide; the others are only shown.",
    )
    tolerance: fields.Tolerance | None = Field(
        default=None,
        description="How much an exact metric (a count or a size) may change; by default 1 % for"
        " `instructions` and 0 for the others.",
    )
    confidence: float = Field(
        default=0.95,
        ge=0.5,
        lt=1,
        description="Confidence of each row's interval, and so of each *unchanged*.",
    )
    fail_on: fields.FailOns = Field(
        default=("regressed", "failed"),
        description="The outcomes that fail the build; with an empty list benchgate only reports."
        ' `"inconclusive"` and `"incomparable"` give no verdict, with exit code 4.',
    )
    min_compared: fields.CountOrAll | None = Field(
        default="all",
        validate_default=True,
        description="How many benchmarks must have been compared for a pass;"
        ' `"all"` means every benchmark of the base.',
    )


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
        description="Fresh rounds of each suspect; more if the test needs more, and as many again"
        " if the test fails but the change still shows.",
    )
    max_rounds: int = Field(
        default=30, ge=5, description="The most rounds in which a benchmark is measured."
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
        default=45, ge=1, le=100_000, description="Samples per launch; the tail needs 40 or more."
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
        description="Time limit for one launch of one benchmark; exceeding it is a failure.",
    )
    pin: bool = Field(default=True, description="Keep both sides of a Python benchmark on one CPU.")
    canary: bool = Field(
        default=True,
        description="Measure fixed workloads beside the benchmarks, to notice a disturbance.",
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
        """Seconds that measuring may take: without end where all is to be decided.

        A budget that somebody has set holds all the same.
        """
        is_set = "budget_s" in self.model_fields_set
        return math.inf if self.until_decided and not is_set else self.budget_s


class Build(Table):
    """What prepares one arm; it runs once in each, in the root of its tree."""

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

    @field_validator("commands", mode="before")
    @classmethod
    def _split(cls, value: object, info: ValidationInfo) -> tuple[tuple[str, ...], ...]:
        listed = value if isinstance(value, list) else [value]
        return tuple(fields.argv(item, in_shell=shell_of(info)) for item in listed)


class Baseline(Table):
    """What the head is compared with."""

    source: Literal["auto", "artifact", "git", "directory", "file"] = Field(
        default="auto",
        description="Where the baseline comes from: the base commit, built and measured beside"
        " the head (`git`), result files (`directory`, `file`), or artifacts of earlier runs on"
        " GitHub (`artifact`). `auto` is `git`, except for what artifacts show to be unchanged."
        " Outside of GitHub there are no artifacts, and both `auto` and `artifact` are `git`.",
    )
    against: fields.Text | None = Field(
        default=None,
        description="The base commit; by default the merge base with the default branch.",
    )
    path: fields.Text | None = Field(
        default=None,
        description="The folder or file with results; the default folder is `.benchgate`.",
    )
    runs: int = Field(
        default=10,
        ge=1,
        le=30,
        description="How many artifacts of earlier runs on the same machine are read; fewer than 10"
        " cannot settle anything.",
    )
    required: bool = Field(default=False, description="A missing baseline is an error.")
    advisory_fails: bool = Field(
        default=False,
        description="Let stored results fail a build even when there are too few to calibrate.",
    )


class Rule(Table):
    """Other margins, statistics or metrics for some benchmarks."""

    benchmark: fields.Text = Field(
        description="Benchmark-id glob: `*` and `?` are special, `[` is not."
    )
    metric: fields.Text | None = Field(
        default=None, description="Glob over metrics; all by default."
    )
    margin: fields.Margin | None = Field(default=None, description="As in `[gate]`.")
    tail_margin: fields.Margin | None = Field(default=None, description="As in `[gate]`.")
    statistics: fields.Statistics | None = Field(default=None, description="As in `[gate]`.")
    metrics: fields.Metrics | None = Field(default=None, description="As in `[gate]`.")
    tolerance: fields.Tolerance | None = Field(default=None, description="As in `[gate]`.")


class Accept(Table):
    """What makes the waivers of a pull request count before they are merged."""

    review: bool = Field(
        default=True,
        description="Accept by an approving review of exactly this commit, by somebody else with"
        " write access.",
    )
    label: fields.Text | None = Field(
        default=None,
        description="Accept by a label of this name that somebody with write access set after the"
        " commit was pushed.",
    )
    forks: bool = Field(
        default=False, description="Whether this also applies to pull requests from forks."
    )


class Waive(Table):
    """What one benchmark may do for a while: regress, be gone, or do other work."""

    benchmark: fields.Text = Field(
        description="Benchmark-id glob: `*` and `?` are special, `[` is not."
    )
    metric: fields.Text | None = Field(
        default=None, description="Glob over metrics; all by default."
    )
    ceiling: fields.Margin | None = Field(
        default=None,
        description="The largest estimated change that is waived; beyond it, the row regresses."
        " Required to waive a regression.",
    )
    outcome: fields.Waivable = Field(
        default="regressed",
        description='What is waived: `"regressed"`, `"missing"` if the benchmark was removed, or'
        ' `"incomparable"` if its definition changed.',
    )
    until: fields.Day = Field(description="The last day on which the waiver is valid, in UTC.")
    reason: fields.Reason = Field(description="Why this is accepted; shown with every row.")

    @property
    def granted(self) -> str:
        """What it allows, in words."""
        what = self.outcome if self.ceiling is None else f"up to {format_percent(self.ceiling)}"
        return f"{what} until {self.until}"


class Settings(Table):
    """A whole configuration."""

    gate: Gate = Field(default_factory=Gate, description="How launches are judged.")
    measure: Measure = Field(default_factory=Measure, description="How much is measured.")
    build: Build = Field(default_factory=Build, description="What prepares each side.")
    baseline: Baseline = Field(
        default_factory=Baseline, description="What the head is compared with."
    )
    benchmarks: Annotated[tuple[TaggedBenchmark, ...], BeforeValidator(fields.as_tuple)] = Field(
        default=(),
        alias="benchmark",
        description="What is measured; each is a command or Python code.",
    )
    rules: Annotated[tuple[Rule, ...], BeforeValidator(fields.as_tuple)] = Field(
        default=(),
        alias="rule",
        description="Exceptions to `[gate]`; later ones win, key by key.",
    )
    waivers: Annotated[tuple[Waive, ...], BeforeValidator(fields.as_tuple)] = Field(
        default=(),
        alias="waive",
        description="What is accepted until a day, such as regressions up to a ceiling.",
    )
    accept: Accept = Field(
        default_factory=Accept,
        description="What makes the waivers of a pull request count before they are merged.",
    )
    aliases: Mapping[fields.Identifier, fields.Identifier] = Field(
        default_factory=dict, description='Renamed benchmarks: `"old/id" = "new/id"`.'
    )


TABLES: Mapping[tuple[str, ...], type[Table]] = {
    (): Settings,
    ("gate",): Gate,
    ("measure",): Measure,
    ("build",): Build,
    ("baseline",): Baseline,
    ("benchmark", "command"): CommandBenchmark,
    ("benchmark", "python"): PythonBenchmark,
    ("rule",): Rule,
    ("waive",): Waive,
    ("accept",): Accept,
}
"""Every table by its place; the two kinds of [[benchmark]] are told apart by their tag."""


def keys_of(table: type[Table]) -> tuple[str, ...]:
    """The keys that people may write in a table, in the order of its definition."""
    return tuple(info.alias or name for name, info in table.model_fields.items())


def field_of(table: type[Table], key: str) -> str:
    """The field that holds what people write under a key.

    Raises:
        StopIteration: the table has no such key.
    """
    return next(name for name, info in table.model_fields.items() if (info.alias or name) == key)
