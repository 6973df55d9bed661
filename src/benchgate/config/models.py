"""The tables of the configuration: their keys, defaults and meaning.

A field's alias is the key people write; its own name carries the unit of what the value
became: durations are seconds, percentages fractions, and None is what was not said. The
descriptions are the documentation: docs/configuration.md, the JSON schema and the hints of
errors are made from them.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from benchgate.config import fields
from benchgate.config.benchmarks import (
    Build,
    CommandBenchmark,
    Measure,
    PythonBenchmark,
    TaggedBenchmark,
)
from benchgate.config.fields import Table
from benchgate.units import format_percent


class Gate(Table):
    """How the measured launches are judged."""

    rule: Literal["launch", "classical"] = Field(
        default="launch",
        description="Which rule decides: tests over launches, or the textbook comparison"
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
        description="Probability that unchanged code fails, for the whole suite.",
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
        default=("p25", "p95"), description="What is compared of each launch."
    )
    metrics: fields.Metrics = Field(
        default=("time",),
        description="Names of the metrics that decide; the others are only shown.",
    )
    tolerance: fields.Tolerance | None = Field(
        default=None,
        description="How far an exact metric (a count or a size) may change; by default 1 % for"
        " `instructions`, and nothing for the others.",
    )
    confidence: float = Field(
        default=0.95,
        ge=0.5,
        lt=1,
        description="Of each row's interval, and so of each *unchanged*.",
    )
    fail_on: fields.FailOns = Field(
        default=("regressed", "failed"),
        description="The outcomes that fail the build; an empty list only reports."
        ' `"inconclusive"` and `"incomparable"` leave it without a verdict, with exit code 4.',
    )
    min_compared: fields.CountOrAll | None = Field(
        default="all",
        validate_default=True,
        description="How many benchmarks must have been compared for a pass;"
        ' `"all"` means every benchmark of the base.',
    )


class Baseline(Table):
    """What the head is compared with."""

    source: Literal["auto", "artifact", "git", "directory", "file"] = Field(
        default="auto",
        description="Where the baseline comes from: the base commit, built and measured beside"
        " the head (`git`), result files (`directory`, `file`), or what earlier runs on GitHub left"
        " (`artifact`). `auto` is `git`, but for what artefacts show to be unchanged; outside of"
        " GitHub there are none, and both are `git`.",
    )
    against: fields.Text | None = Field(
        default=None,
        description="The base commit; by default the merge base with the default branch.",
    )
    path: fields.Text | None = Field(
        default=None,
        description="The folder or file of results; a folder is `.benchgate` by default.",
    )
    runs: int = Field(
        default=10,
        ge=1,
        le=30,
        description="How many artefacts of earlier runs on such a machine are read; fewer than 10"
        " settle nothing.",
    )
    required: bool = Field(default=False, description="A missing baseline is an error.")
    advisory_fails: bool = Field(
        default=False,
        description="Let stored results fail a build though too few of them are known.",
    )


class Rule(Table):
    """Other margins, statistics or metrics for some benchmarks."""

    benchmark: fields.Text = Field(
        description="Glob over benchmark ids: `*` and `?` are special, `[` is not."
    )
    metric: fields.Text | None = Field(
        default=None, description="Glob over metrics; by default all."
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
        description="An approving review of exactly this commit, by somebody else who may write to"
        " the repository.",
    )
    label: fields.Text | None = Field(
        default=None,
        description="A label of this name, set by somebody who may write to the repository, after"
        " the commit was pushed.",
    )
    forks: bool = Field(
        default=False, description="Whether that holds for pull requests from forks, too."
    )


class Waive(Table):
    """What one benchmark may do for a while: regress, be gone, or do other work."""

    benchmark: fields.Text = Field(
        description="Glob over benchmark ids: `*` and `?` are special, `[` is not."
    )
    metric: fields.Text | None = Field(
        default=None, description="Glob over metrics; by default all."
    )
    ceiling: fields.Margin | None = Field(
        default=None,
        description="The largest estimated change that is waived; beyond it, it has regressed."
        " Required to waive a regression.",
    )
    outcome: fields.Waivable = Field(
        default="regressed",
        description='What is waived: `"regressed"`, `"missing"` if the benchmark was removed, or'
        ' `"incomparable"` if its definition changed.',
    )
    until: fields.Day = Field(description="The last day on which it holds, in UTC.")
    reason: fields.Reason = Field(description="Why it is accepted; shown beside every row.")

    @property
    def granted(self) -> str:
        """What it allows, in words."""
        what = self.outcome if self.ceiling is None else f"up to {format_percent(self.ceiling)}"
        return f"{what} until {self.until}"


class Settings(Table):
    """A whole configuration."""

    gate: Gate = Field(default_factory=Gate, description="How launches are judged.")
    measure: Measure = Field(default_factory=Measure, description="How much is measured.")
    build: Build = Field(default_factory=Build, description="What prepares an arm.")
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
        description="Exceptions from `[gate]`; later ones win, key by key.",
    )
    waivers: Annotated[tuple[Waive, ...], BeforeValidator(fields.as_tuple)] = Field(
        default=(),
        alias="waive",
        description="Regressions that are allowed, up to a ceiling and until a day.",
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
