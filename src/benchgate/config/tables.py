"""The tables of the configuration: their keys, defaults and meaning.

A field's alias is the key that people write. The field's own name carries the unit of the parsed
value: durations are in seconds, percentages are fractions, and None means that the key is not set.
docs/configuration.md, the JSON schema and the hints of errors are made from the descriptions.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator

from benchgate.config.benchmarks import KINDS, TaggedBenchmark
from benchgate.interval import CONFIDENCE, LEAST_CONFIDENCE
from benchgate.model.run import PYTHON
from benchgate.tables import fields
from benchgate.tables.fields import Table, shell_of
from benchgate.units import Quantity, format_percent


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
        description="The fewest fresh rounds of each suspect. It gets more if"
        " [its test needs more](how-it-decides.md#confirm).",
    )
    max_rounds: int = Field(
        default=30,
        ge=5,
        description="The most rounds of a benchmark, unless the test of a suspect needs more.",
    )
    rounds: int | None = Field(
        default=None,
        ge=1,
        description="Measure exactly this many rounds of everything, without screening.",
    )
    until_decided: bool = Field(
        default=False,
        description="Measure every benchmark, and its tail, until it is decided or cannot be;"
        " without `max_rounds`, and without a `budget` unless you set it.",
    )
    seed: int | None = Field(
        default=None,
        ge=0,
        lt=2**63,
        description="Repeats the random choices of the run with this seed.",
    )
    samples: int = Field(
        default=45,
        ge=1,
        le=100_000,
        description="Samples per launch.",
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
        " its setup and its teardown.",
    )
    pin: bool = Field(
        default=True,
        description="Keep both sides of a function or a command on one CPU.",
    )
    lanes: fields.LanesOrAuto = Field(
        default="auto",
        description="How many Python benchmarks are measured"
        " [at the same time](commands.md#several-benchmarks-at-the-same-time).",
    )
    canary: bool = Field(
        default=True,
        description="Measure fixed workloads beside the benchmarks, to notice a disturbance.",
    )
    counter: Literal["auto", "perf", "valgrind", "none"] = Field(
        default="auto",
        description="What [counts instructions](noisy-machines.md#count-with-valgrind). `auto` is"
        " `perf`; where that does not work, it is `valgrind` for what `metrics` judges by"
        " instructions.",
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
        " command that prints its version.",
    )

    @field_validator("commands", mode="before")
    @classmethod
    def _split(cls, value: object, info: ValidationInfo) -> tuple[tuple[str, ...], ...]:
        listed = value if isinstance(value, list) else [value]
        return tuple(fields.argv(item, in_shell=shell_of(info)) for item in listed)


MOST_RULES = 500
"""Most entries of [[rule]], [[limit]] and [[waive]]: each is compared with every benchmark."""


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
        description="The smallest change of location (p25, median, mean, min) that matters.",
    )
    tail_margin: fields.Margin = Field(
        default="5%",
        validate_default=True,
        description="The same for a tail (p95 and above, and high percentiles of latencies).",
    )
    statistics: fields.Statistics = Field(
        default=("p25", "p95"),
        description="The statistics that are compared. Tails need enough `samples`: 40 for p95 and"
        " max, 200 for p99, 2000 for p99.9.",
    )
    settle: fields.Statistics | None = Field(
        default=None,
        description="The statistics that are measured until they are decided; by default all of"
        " `statistics` except the tail.",
    )
    metrics: fields.Metrics = Field(
        default=("time",),
        description="The metrics that decide; the others are only shown.",
    )
    tolerance: fields.Tolerance | None = Field(
        default=None,
        description="How much an exact metric (a count or a size) may change; by default 1 % for"
        " `instructions` and 0 for the others.",
    )
    confidence: float = Field(
        default=CONFIDENCE,
        ge=LEAST_CONFIDENCE,
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
        ' `"all"`: all of the base, except those that'
        " [changed together](glossary.md#changed-together) with the code.",
    )


class Baseline(Table):
    """The base with which the head is compared."""

    source: Literal["auto", "artifact", "git", "directory", "file"] = Field(
        default="auto",
        description="Where the baseline comes from: the base commit, measured beside the head"
        " (`git`), result files (`directory`, `file`), or artifacts of earlier runs on GitHub"
        " (`artifact`). `auto` is `git`, except for what artifacts show to be unchanged.",
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
        description="How many artifacts of earlier runs are read; fewer than 10 settle nothing.",
    )
    required: bool = Field(default=False, description="A missing baseline is an error.")
    advisory_fails: bool = Field(
        default=False,
        description="Let stored results fail a build even if there are too few to calibrate.",
    )


class HistoryTable(Table):
    """Where `benchgate history` keeps the runs of the project."""

    store: fields.Text | None = Field(
        default=None,
        description="A folder, relative to this file, or an address such as"
        " `s3://bucket/folder`; by default `.benchgate/history`.",
    )


class _Selection(Table):
    """The rows that an entry is about."""

    benchmark: fields.Text = Field(
        description="Benchmark-id glob: `*` and `?` are special, `[` is not."
    )
    metric: fields.Text | None = Field(
        default=None, description="Glob over metrics; all by default."
    )


class Rule(_Selection):
    """Other margins, statistics or metrics for some benchmarks."""

    margin: fields.Margin | None = Field(default=None, description="As in `[gate]`.")
    tail_margin: fields.Margin | None = Field(default=None, description="As in `[gate]`.")
    statistics: fields.Statistics | None = Field(default=None, description="As in `[gate]`.")
    settle: fields.Statistics | None = Field(default=None, description="As in `[gate]`.")
    metrics: fields.Metrics | None = Field(default=None, description="As in `[gate]`.")
    tolerance: fields.Tolerance | None = Field(default=None, description="As in `[gate]`.")


class Limit(_Selection):
    """What a metric of some benchmarks must not exceed, whatever the base measures."""

    metric: fields.Text = Field(default="time", description="The metric's name.")
    statistic: fields.Statistic = Field(
        default="median",
        description="The statistic that is compared with the limit.",
    )
    max: fields.Bound | None = Field(
        default=None,
        description='The largest value: `"20ms"`, `"64 MiB"`, `"1 %"`, or a number in the unit of'
        " the metric.",
    )
    min: fields.Bound | None = Field(
        default=None, description='The smallest value, such as `"1000/s"` for a throughput.'
    )

    @property
    def bound(self) -> Quantity:
        """The one value that it has."""
        found = self.max or self.min
        if found is None:
            raise ValueError("a limit has a `max` or a `min`")
        return found

    @property
    def words(self) -> str:
        return f"{'at most' if self.max else 'at least'} {self.bound.text}"


class Accept(Table):
    """Ways to make the waivers of a pull request count before they are merged."""

    review: bool = Field(
        default=True,
        description="Accept by an approving review of exactly this commit, by somebody else with"
        " write access.",
    )
    label: fields.Text | None = Field(
        default=None,
        description="Accept by a label of this name that somebody with write access set after the"
        " last push.",
    )
    forks: bool = Field(
        default=False, description="Whether this also applies to pull requests from forks."
    )


class Waive(_Selection):
    """A permission for one benchmark to regress, be missing, or do other work for some time."""

    ceiling: fields.Margin | None = Field(
        default=None,
        description="The largest estimated change that is waived; required for a regression.",
    )
    outcome: fields.Waivable = Field(
        default="regressed",
        description="What is waived.",
    )
    until: fields.Day = Field(description="The last day on which the waiver is valid, in UTC.")
    reason: fields.Reason = Field(description="Why this is accepted; shown with every row.")

    @property
    def granted(self) -> str:
        """The permission in words."""
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
        description="What is measured; each is a command, Python code, a suite of another tool, or"
        " a scenario.",
    )
    rules: Annotated[tuple[Rule, ...], BeforeValidator(fields.as_tuple)] = Field(
        default=(),
        max_length=MOST_RULES,
        alias="rule",
        description="Exceptions to `[gate]`; later ones win, key by key.",
    )
    limits: Annotated[tuple[Limit, ...], BeforeValidator(fields.as_tuple)] = Field(
        default=(),
        max_length=MOST_RULES,
        alias="limit",
        description="What metrics must not exceed, whatever the base measures; of several for one"
        " statistic, the last one counts.",
    )
    waivers: Annotated[tuple[Waive, ...], BeforeValidator(fields.as_tuple)] = Field(
        default=(),
        max_length=MOST_RULES,
        alias="waive",
        description="What is accepted until a day, such as regressions up to a ceiling.",
    )
    accept: Accept = Field(
        default_factory=Accept,
        description="What makes the waivers of a pull request count before they are merged.",
    )
    history: HistoryTable = Field(
        default_factory=HistoryTable, description="Where the history of the project is kept."
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
    **{("benchmark", kind): table for kind, table in KINDS.items()},
    ("rule",): Rule,
    ("limit",): Limit,
    ("waive",): Waive,
    ("accept",): Accept,
    ("history",): HistoryTable,
}
"""Every table by its path; a tag distinguishes the kinds of [[benchmark]]."""
