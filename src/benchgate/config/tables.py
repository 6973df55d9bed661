"""The tables of the configuration: their keys, defaults and meaning.

A field's alias is the key that people write. The field's own name carries the unit of the parsed
value: durations are in seconds, percentages are fractions, and None means that the key is not set.
docs/configuration.md, the JSON schema and the hints of errors are made from the descriptions.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from benchgate.config.benchmarks import (
    KINDS,
    TaggedBenchmark,
)
from benchgate.config.measurement import Build, Measure
from benchgate.interval import CONFIDENCE, LEAST_CONFIDENCE
from benchgate.tables import fields
from benchgate.tables.fields import Table
from benchgate.units import Quantity, format_percent

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
        description="The smallest change of location (p25, median, mean, min) that matters."
        " A change is found reliably from 1.5 margins up.",
    )
    tail_margin: fields.Margin = Field(
        default="5%",
        validate_default=True,
        description="The same for a tail (p95 and above, and high percentiles of latencies).",
    )
    statistics: fields.Statistics = Field(
        default=("p25", "p95"),
        description="The statistics of a launch that are compared. Tails need samples enough in"
        " each launch: 40 for p95 and max, 200 for p99, 2000 for p99.9.",
    )
    settle: fields.Statistics | None = Field(
        default=None,
        description="The statistics that are measured until they are decided; by default all of"
        ' `statistics` except the tail. `["p25", "p95"]` includes it.',
    )
    metrics: fields.Metrics = Field(
        default=("time",),
        description="Names of the metrics that decide; the others are only shown. For a scenario,"
        " `time` stands for throughput, latencies and errors.",
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
        ' `"improved"` also fails a build that got faster, so that nobody misses it.'
        ' `"inconclusive"` and `"incomparable"` give no verdict, with exit code 4. The former'
        " includes what got too few rounds for a test, but no row that is *not settled*.",
    )
    min_compared: fields.CountOrAll | None = Field(
        default="all",
        validate_default=True,
        description="How many benchmarks must have been compared for a pass;"
        ' `"all"` means every benchmark of the base. Those that [changed together]'
        "(glossary.md#changed-together) with the code do not have to be compared.",
    )


class Baseline(Table):
    """The base with which the head is compared."""

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
        description="The statistic of a launch that is compared with the limit. A metric with one"
        " value in each launch has no other.",
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
        """The limit in words."""
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
        " commit was pushed.",
    )
    forks: bool = Field(
        default=False, description="Whether this also applies to pull requests from forks."
    )


class Waive(_Selection):
    """A permission for one benchmark to regress, be missing, or do other work for some time."""

    ceiling: fields.Margin | None = Field(
        default=None,
        description="The largest estimated change that is waived; beyond it, the row regresses."
        " Required to waive a regression.",
    )
    outcome: fields.Waivable = Field(
        default="regressed",
        description='What is waived: `"regressed"`, `"missing"` if the benchmark was removed, or'
        ' `"incomparable"` if it did different work.',
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
