"""The tables of the configuration: their keys, defaults and meaning.

A field's alias is the key that people write. The field's own name carries the unit of the parsed
value: durations are in seconds, percentages are fractions, and None means that the key is not set.
docs/configuration.md, the JSON schema and the hints of errors are made from the descriptions.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, ValidationInfo, field_validator

from benchgate.config.benchmarks import KINDS, TaggedBenchmark
from benchgate.config.keys import (
    Side,
    added,
    classical,
    counts_less,
    dropped,
    elsewhere,
    fewer_rounds,
    key,
    less,
    named,
    neutral,
    off,
    on,
    other,
    said_of,
    shorter,
    stored,
)
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

    # Neutral is what concerns discarded samples, failed launches, the random choices that a seed
    # repeats, and what is measured at the same time.

    budget_s: fields.Duration = key(
        shorter,
        "10m",
        "Time limit for measuring. [What hangs](glossary.md#budget) is ended soon after it,"
        " whatever its `timeout`.",
    )
    screen_rounds: int = key(
        less, 5, "Rounds of everything, to find suspects; fewer than 4 cannot find any.", ge=4
    )
    confirm_rounds: int = key(
        less,
        12,
        "The fewest fresh rounds of each suspect. It gets more if"
        " [its test needs more](how-it-decides.md#confirm).",
        ge=1,
    )
    max_rounds: int = key(
        less,
        30,
        "The most rounds of a benchmark. One that looks changed may get"
        " [twice as many](how-it-decides.md#the-late-look), or what its test needs.",
        ge=5,
    )
    rounds: int | None = key(
        fewer_rounds,
        None,
        "Measure exactly this many rounds of everything, without screening.",
        ge=1,
    )
    until_decided: bool = key(
        off,
        False,
        "Measure every benchmark, and its tail, until it is decided or cannot be;"
        " without `max_rounds`, and without a `budget` unless you set it.",
    )
    seed: int | None = key(
        neutral, None, "Repeats the random choices of the run with this seed.", ge=0, lt=2**63
    )
    samples: int = key(less, 45, "Samples per launch.", ge=1, le=100_000)
    launch_time_s: fields.Duration = key(
        less,
        "15ms",
        "Time for the samples of one launch; slow work gets fewer samples.",
    )
    warmup: fields.CountOrAuto = key(
        neutral, 3, 'Samples to discard first in each launch; `"auto"`: until they are steady.'
    )
    timeout_s: fields.Duration = key(
        neutral,
        "60s",
        "Time limit for each execution of a command, and for each call of a function,"
        " its setup and its teardown.",
    )
    pin: bool = key(off, True, "Keep both sides of a function or a command on one CPU.")
    lanes: fields.LanesOrAuto = key(
        neutral,
        "auto",
        "How many Python benchmarks are measured"
        " [at the same time](commands.md#several-benchmarks-at-the-same-time).",
    )
    canary: bool = key(
        off, True, "Measure fixed workloads beside the benchmarks, to notice a disturbance."
    )
    explain: bool = key(
        neutral,
        True,
        "Say [where to look](reading-a-verdict.md#where-to-look) if something got slower or"
        " faster.",
    )
    counter: Literal["auto", "perf", "valgrind", "none"] = key(
        counts_less,
        "auto",
        "What [counts instructions](noisy-machines.md#count-with-valgrind). `auto` is"
        " `perf`; where that does not work, it is `valgrind` for what `metrics` judges by"
        " instructions.",
    )
    only_affected: bool = key(
        on,
        True,
        "Of a pull request, measure only what [runs or reads anything that"
        " changed](how-it-decides.md#what-the-change-can-reach).",
    )
    ignore: fields.Several[fields.Text] = key(
        added,
        (),
        'Files on which no benchmark depends, such as `["docs/**", "*.md"]`: globs over paths'
        " from the root of the repository.",
    )
    executions: int = key(less, 6, "Executions of a command per side and round.", ge=1, le=10_000)
    command_warmup: int = key(
        neutral, 1, "Executions of a command to discard before its first round.", ge=0, le=10_000
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

    # Each side is built by its own settings, and the verdict says where they differ.

    shell: bool = key(neutral, False, "Let `/bin/sh` read the command.")
    commands: fields.Commands = key(
        neutral,
        (),
        "One command, or several that run one after the other.",
        alias="command",
    )
    timeout_s: fields.Duration = key(
        neutral,
        "10m",
        "Time limit for each command.",
    )
    env: fields.Environment = key(neutral, dict, "Variables added to its environment.")
    cache: bool = key(
        neutral,
        True,
        "Use [what the same build left](commands.md#builds-are-kept-for-a-day) less"
        " than a day ago; not in CI.",
    )
    toolchains: Mapping[Tool, fields.Command] = key(
        neutral,
        dict,
        "For each tool that decides how fast the code is, such as a compiler, the"
        " command whose first line is its version.",
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

    rule: Literal["launch", "classical"] = key(
        classical,
        "launch",
        "Which rule decides: tests over launches, or the textbook rule"
        " (Mann-Whitney p < 0.05 and a p95 ratio beyond 5 %).",
    )
    # Neither of the two always finds less.
    unit: Literal["launch", "sample"] = key(
        neutral, "launch", "What the classical rule compares: values of launches, or raw samples."
    )
    # The lower the false-alarm rate, the more evidence it takes to call a change one.
    alpha: float = key(
        less,
        0.01,
        "False-alarm rate of the whole suite: with 0.01, of 100 pull requests that change nothing,"
        " at most 1 fails.",
        gt=0,
        lt=0.5,
    )
    margin: fields.Margin = key(
        elsewhere, "2%", "The smallest change of location (p25, median, mean, min) that matters."
    )
    tail_margin: fields.Margin = key(
        elsewhere, "5%", "The same for a tail (p95 and above, and high percentiles of latencies)."
    )
    statistics: fields.Statistics = key(
        elsewhere,
        ("p25", "p95"),
        "The statistics that are compared. Tails need enough `samples`: 40 for p95 and"
        " max, 200 for p99, 2000 for p99.9.",
    )
    settle: fields.Statistics | None = key(
        elsewhere,
        None,
        "The statistics that are measured until they are decided; by default all of"
        " `statistics` except the tail.",
    )
    metrics: fields.Metrics = key(
        elsewhere, ("time",), "The metrics that decide; the others are only shown."
    )
    tolerance: fields.Tolerance | None = key(
        elsewhere,
        None,
        "How much an exact metric (a count or a size) may change; by default 1 % for"
        " `instructions` and what other tools count, and 0 for the others.",
    )
    confidence: float = key(
        less,
        CONFIDENCE,
        "Confidence of each row's interval, and so of each *unchanged*.",
        ge=LEAST_CONFIDENCE,
        lt=1,
    )
    fail_on: fields.FailOns = key(
        dropped,
        ("regressed", "failed"),
        "The outcomes that fail the build; with an empty list benchgate only reports."
        ' `"inconclusive"` and `"incomparable"` give no verdict, with exit code 4; `"new"` is a'
        " benchmark that only the head has and that crashes.",
    )
    min_compared: fields.CountOrAll | None = key(
        less,
        "all",
        "How many benchmarks must have been compared for a pass;"
        ' `"all"`: all of the base, except those that'
        " [changed together](glossary.md#changed-together) with the code.",
    )


class Baseline(Table):
    """The base with which the head is compared."""

    source: Literal["auto", "artifact", "git", "directory", "file"] = key(
        stored,
        "auto",
        "Where the baseline comes from: the base commit, measured beside the head"
        " (`git`), result files (`directory`, `file`), or artifacts of earlier runs on GitHub"
        " (`artifact`). `auto` is `git`, except for what artifacts show to be unchanged.",
    )
    against: fields.Text | None = key(
        other, None, "The base commit; by default the merge base with the default branch."
    )
    path: fields.Text | None = key(
        other, None, "The folder or file with results; the default folder is `.benchgate`."
    )
    # Benchmarks that too few runs cannot decide are measured.
    runs: int = key(
        neutral,
        10,
        "How many artifacts of earlier runs are read; fewer than 10 settle nothing.",
        ge=1,
        le=30,
    )
    required: bool = key(off, False, "A missing baseline is an error.")
    advisory_fails: bool = key(
        off, False, "Let stored results fail a build even if there are too few to calibrate."
    )


class HistoryTable(Table):
    """Where `benchgate history` keeps the runs of the project."""

    store: fields.Text | None = key(
        neutral,
        None,
        "A folder, relative to this file, or an address such as"
        " `s3://bucket/folder`; by default `.benchgate/history`.",
    )


class _Selection(Table):
    """The rows that an entry is about."""

    benchmark: fields.Text = key(elsewhere, ..., "Benchmark-id glob; only `*` and `?` are special.")
    metric: fields.Text | None = key(elsewhere, None, "Glob over metrics; all by default.")


class Rule(_Selection):
    """Other margins, statistics or metrics for some benchmarks."""

    margin: fields.Margin | None = key(elsewhere, None, "As in `[gate]`.")
    tail_margin: fields.Margin | None = key(elsewhere, None, "As in `[gate]`.")
    statistics: fields.Statistics | None = key(elsewhere, None, "As in `[gate]`.")
    settle: fields.Statistics | None = key(elsewhere, None, "As in `[gate]`.")
    metrics: fields.Metrics | None = key(elsewhere, None, "As in `[gate]`.")
    tolerance: fields.Tolerance | None = key(elsewhere, None, "As in `[gate]`.")


RULE_SETTINGS = tuple(name for name in Rule.model_fields if name not in _Selection.model_fields)


class Limit(_Selection):
    """What a metric of some benchmarks must not exceed, whatever the base measures."""

    metric: fields.Text = key(elsewhere, "time", "The metric's name.")
    statistic: fields.Statistic = key(
        elsewhere, "median", "The statistic that is compared with the limit."
    )
    max: fields.Bound | None = key(
        elsewhere,
        None,
        'The largest value: `"20ms"`, `"64 MiB"`, `"1 %"`, or a number in the unit of the metric.',
    )
    min: fields.Bound | None = key(
        elsewhere, None, 'The smallest value, such as `"1000/s"` for a throughput.'
    )

    @property
    def bound(self) -> Quantity:
        """The one value that it has."""
        found = self.max or self.min
        if found is None:
            raise ValueError("a limit has a `max` or a `min`")
        return found

    @property
    def key(self) -> str:
        """The key of its value."""
        return "max" if self.max else "min"

    @property
    def words(self) -> str:
        return f"{'at most' if self.max else 'at least'} {self.bound.text}"


class Accept(Table):
    """Ways to make the waivers of a pull request count before they are merged."""

    review: bool = key(
        on,
        True,
        "Accept by an approving review of exactly this commit, by somebody else with write access.",
    )
    label: fields.Text | None = key(
        named,
        None,
        "Accept by a label of this name that somebody with write access set after the last push.",
    )
    forks: bool = key(on, False, "Whether this also applies to pull requests from forks.")


class Waive(_Selection):
    """A permission for one benchmark to regress, be missing, or do other work for some time."""

    ceiling: fields.Margin | None = key(
        elsewhere, None, 'The largest estimated change that is waived; required for `"regressed"`.'
    )
    outcome: fields.Waivable = key(
        elsewhere,
        "regressed",
        'What is waived: `"regressed"`, a change for the worse; `"missing"`, a removal;'
        ' `"incomparable"`, different work.',
    )
    until: fields.Day = key(elsewhere, ..., "The last day on which the waiver is valid, in UTC.")
    reason: fields.Reason = key(elsewhere, ..., "Why this is accepted; shown with every row.")

    @property
    def granted(self) -> str:
        """The permission in words."""
        what = self.outcome if self.ceiling is None else f"up to {format_percent(self.ceiling)}"
        return f"{what} until {self.until}"


class Settings(Table):
    """A whole configuration."""

    gate: Gate = key(Side.BASE, Gate, "How launches are judged.")
    # Except for what makes the measurement more careful: see `loosening.policy_from`.
    measure: Measure = key(Side.BASE, Measure, "How much is measured.")
    # Each commit is built by its own configuration. What the base has is measured on both sides as
    # the base's says, and the head's adds what only the head has.
    build: Build = key(Side.EACH, Build, "What prepares each side.")
    baseline: Baseline = key(Side.BASE, Baseline, "What the head is compared with.")
    benchmarks: fields.Several[TaggedBenchmark] = key(
        Side.EACH,
        (),
        "What is measured; each is a command, Python code, a suite of another tool, or a scenario.",
        alias="benchmark",
    )
    rules: fields.Several[Rule] = key(
        Side.BASE,
        (),
        "Exceptions to `[gate]`; later ones win, key by key.",
        max_length=MOST_RULES,
        alias="rule",
    )
    limits: fields.Several[Limit] = key(
        Side.BASE,
        (),
        "What metrics must not exceed, whatever the base measures; of several for one"
        " statistic, the last one counts.",
        max_length=MOST_RULES,
        alias="limit",
    )
    waivers: fields.Several[Waive] = key(
        Side.BASE,
        (),
        "What is accepted until a day, such as regressions up to a ceiling.",
        max_length=MOST_RULES,
        alias="waive",
    )
    accept: Accept = key(
        Side.BASE, Accept, "What makes the waivers of a pull request count before they are merged."
    )
    # It judges nothing.
    history: HistoryTable = key(
        Side.HEAD, HistoryTable, "Where the history of the project is kept."
    )
    # Only the head knows what it renamed. An alias joins only a benchmark that the base alone has
    # with one that the head alone has, and the base's version of it decides. So it cannot hide a
    # regression, and a new one is shown.
    aliases: Mapping[fields.Identifier, fields.Identifier] = key(
        Side.HEAD, dict, 'Renamed benchmarks: `"old/id" = "new/id"`.'
    )


DECIDED_BY: Mapping[str, Side] = {
    info.alias or name: said_of(info) for name, info in Settings.model_fields.items()
}
"""Every table of the configuration."""

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
