"""The configuration that the rest of benchgate uses: checked, complete, with its origins."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from benchgate.config.benchmarks import KINDS, ScenarioBenchmark
from benchgate.config.keys import Side
from benchgate.config.program_benchmarks import OUTPUT, SuiteBenchmark
from benchgate.config.tables import DECIDED_BY, RULE_SETTINGS, TABLES, Settings
from benchgate.errors import did_you_mean
from benchgate.model.metrics import INSTRUCTIONS, OWN
from benchgate.model.row import TAIL_STATISTICS
from benchgate.tables.document import DocumentLayout, Kinds, Problem, config_error, from_validation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import date
    from pathlib import Path

    from benchgate.config.benchmarks import Benchmark
    from benchgate.config.origin import Origin
    from benchgate.config.tables import (
        Accept,
        Baseline,
        Build,
        Gate,
        HistoryTable,
        Limit,
        Measure,
        Rule,
        Waive,
    )
    from benchgate.errors import ConfigError
    from benchgate.model.policy import Acceptance, Options
    from benchgate.tables.document import KeyPath


def conflicts(settings: Settings) -> tuple[Problem, ...]:
    """Find all contradictions, each with the key that must change."""
    return (
        *_rounds(settings.measure),
        *_until_decided(settings),
        *_settle(settings),
        *_baseline(settings.baseline),
        *_benchmarks(settings.benchmarks),
        *_rules(settings.rules),
        *_limits(settings.limits),
        *_waivers(settings.waivers),
        *_aliases(dict(settings.aliases)),
    )


def _rounds(measure: Measure) -> Iterator[Problem]:
    needed = measure.screen_rounds + measure.confirm_rounds
    if measure.max_rounds < needed:
        why = f"must be at least screen_rounds + confirm_rounds, here {needed}"
        hint = f"raise it to {needed}, or lower one of the others"
        yield Problem(("measure", "max_rounds"), why, hint, measure.max_rounds)


def _until_decided(settings: Settings) -> Iterator[Problem]:
    if not settings.measure.until_decided:
        return
    place = ("measure", "until_decided")
    if settings.measure.rounds is not None:
        why = "contradicts `rounds`, which measures so many whatever they show"
        yield Problem(place, why, "leave one of the two out")
    if settings.gate.rule == "classical":
        why = 'needs rule = "launch": the classical rule is for a fixed number of rounds'
        yield Problem(place, why, "leave one of the two out")


def _settle(settings: Settings) -> Iterator[Problem]:
    """What is settled must be compared, at least for some benchmarks."""
    places: list[tuple[KeyPath, Gate | Rule]] = [(("gate", "settle"), settings.gate)]
    places += [(("rule", index, "settle"), rule) for index, rule in enumerate(settings.rules)]
    compared = {one for _, table in places for one in table.statistics or ()}
    for path, table in places:
        if table.settle is None:
            continue
        if settings.gate.rule == "classical":
            why = 'needs rule = "launch": the classical rule leaves no row open'
            yield Problem(path, why, "leave one of the two out", table.settle)
        for name in table.settle:
            if name not in compared:
                why = f'names "{name}", which `statistics` does not compare'
                yield Problem(path, why, "add it there, or leave it out here", table.settle)


def _baseline(baseline: Baseline) -> Iterator[Problem]:
    is_stored = baseline.source in {"directory", "file"}
    unused = f'is not used by source = "{baseline.source}"'
    if baseline.source == "file" and baseline.path is None:
        why = 'is missing: source = "file" needs the file'
        yield Problem(("baseline", "path"), why, 'write path = "baseline.json"')
    if baseline.path is not None and not is_stored:
        hint = 'delete it, or write source = "directory" or "file"'
        yield Problem(("baseline", "path"), unused, hint, baseline.path)
    if baseline.against is not None and is_stored:
        hint = 'delete it, or write source = "git"'
        yield Problem(("baseline", "against"), unused, hint, baseline.against)


def _benchmarks(benchmarks: tuple[Benchmark, ...]) -> Iterator[Problem]:
    first_with: dict[str | PurePosixPath, int] = {}
    for index, one in enumerate(benchmarks):
        if isinstance(one, ScenarioBenchmark):
            first = first_with.setdefault(PurePosixPath(one.scenario), index)
            if first != index:
                why = f"benchmark[{first}] has the same file"
                yield Problem(("benchmark", index, "scenario"), why, "write it once", one.scenario)
        for name in one.ids:
            first = first_with.setdefault(name, index)
            if first != index:
                why = f"benchmark[{first}] has the same name"
                hint = "give each benchmark a name of its own"
                yield Problem(("benchmark", index, "name"), why, hint, name)
        if isinstance(one, SuiteBenchmark) and one.output and OUTPUT in " ".join(one.command):
            why = f"contradicts {OUTPUT} in `suite`, which is the path that benchgate reads"
            yield Problem(("benchmark", index, "output"), why, "keep one of the two", one.output)


def _rules(rules: tuple[Rule, ...]) -> Iterator[Problem]:
    for index, rule in enumerate(rules):
        if all(getattr(rule, key) is None for key in RULE_SETTINGS):
            why = f"sets nothing: it may set {', '.join(RULE_SETTINGS)}"
            hint = 'add what is different there, for example margin = "5%", or delete the rule'
            yield Problem(("rule", index), why, hint)
        if rule.metric is not None and rule.metrics is not None:
            why = "a rule for some metrics cannot also choose which metrics decide"
            hint = "delete `metric`, or write two rules"
            yield Problem(("rule", index, "metrics"), why, hint, rule.metrics)


def _limits(limits: tuple[Limit, ...]) -> Iterator[Problem]:
    for index, limit in enumerate(limits):
        if limit.max is None and limit.min is None:
            why = "sets no limit: `max` or `min` is missing"
            yield Problem(("limit", index), why, 'write for example max = "20ms"')
        if limit.max is not None and limit.min is not None:
            why = "contradicts `max`: a limit is one value"
            yield Problem(("limit", index, "min"), why, "write two limits")


def _waivers(waivers: tuple[Waive, ...]) -> Iterator[Problem]:
    for index, waiver in enumerate(waivers):
        path, contradicts = ("waive", index), f'contradicts `outcome = "{waiver.outcome}"`'
        is_regression = waiver.outcome == "regressed"
        if is_regression and waiver.ceiling is None:
            hint = (
                'write for example ceiling = "20%", or outcome = "missing" if the benchmark was'
                " removed"
            )
            yield Problem(path, "`ceiling` is missing", hint)
        if not is_regression and waiver.ceiling is not None:
            why = f"{contradicts}: nothing is compared that could be too slow"
            yield Problem((*path, "ceiling"), why, "delete `ceiling`, or write two waivers")
        if not is_regression and waiver.metric is not None:
            why = f"{contradicts}: this concerns all metrics of the benchmark"
            yield Problem((*path, "metric"), why, "delete `metric`", waiver.metric)


def _aliases(aliases: dict[str, str]) -> Iterator[Problem]:
    first_to: dict[str, str] = {}
    ends = _ends(aliases)
    for old, new in aliases.items():
        first = first_to.setdefault(new, old)
        if old == new:
            yield Problem(("aliases", old), "is an alias of itself", "delete the line", new)
        elif new in aliases:
            why, hint = _chained(ends[old])
            yield Problem(("aliases", old), why, hint, new)
        elif first != old:
            why = f"{first!r} already became this one, and two benchmarks cannot become one"
            hint = "keep only the line of the benchmark that the new one continues"
            yield Problem(("aliases", old), why, hint, new)


def _ends(aliases: dict[str, str]) -> dict[str, str | None]:
    """The final name that each alias leads to; None if it leads into a circle."""
    ends: dict[str, str | None] = {}
    for old in aliases:
        path: dict[str, None] = {}
        name = old
        while name in aliases and name not in ends and name not in path:
            path[name] = None
            name = aliases[name]
        end = None if name in path else ends.get(name, name)
        ends |= dict.fromkeys(path, end)
    return ends


def _chained(end: str | None) -> tuple[str, str]:
    """Describe an alias that leads to another one: to the final name, or into a circle."""
    if end is None:
        hint = "keep only the lines that lead from an old name to one that exists now"
        return "leads round in a circle", hint
    return "is itself renamed further on: name the final id", f"write {end!r} here"


_BENCHMARK: Final = "benchmark"

LAYOUT: Final = DocumentLayout(
    TABLES,
    frozenset({_BENCHMARK, "rule", "limit", "waive"}),
    "docs/configuration.md",
    kinds=Kinds(
        _BENCHMARK,
        tuple(KINDS),
        'write `command = "..."` for a program, `python = "benchmarks/"` for functions, '
        '`suite = "..."` for a suite of another tool, or `scenario = "..."` for a scenario file',
    ),
)


TOLERANCE = 0.01
"""How far an exact metric may change by default.

Instruction counts differ by some thousandths, because most programs get new addresses and hash
seeds in each execution; so do the bytes that other tools count. Half of the margin for time is well
above that.
"""
_NEVER_VARY = frozenset({*OWN, "memory", "value"}) - {INSTRUCTIONS.name}
"""Those that may not change at all."""
LEAST_TAIL_SAMPLES: Final[Mapping[str, int]] = {"p95": 40, "p99": 200, "p99.9": 2000, "max": 40}
"""With fewer samples, a launch has too few for a tail: two have to be slower than the quantile."""


@dataclass(frozen=True, slots=True)
class RowPolicy:
    """How the rows of one benchmark, or of one of its metrics, are judged.

    Attributes:
        margin: the smallest change of a location that matters, as a fraction.
        tail_margin: the smallest change of a tail that matters, as a fraction.
        statistics: the statistics of each launch that are compared.
        metrics: names of the metrics that decide.
        tolerance: by how much an exact metric may grow, as a fraction.
        settle: the statistics to settle, if the user names them; see `settled`.
    """

    margin: float
    tail_margin: float
    statistics: tuple[str, ...]
    metrics: tuple[str, ...]
    tolerance: float
    settle: tuple[str, ...] | None = None

    def settled(self, statistics: tuple[str, ...]) -> tuple[str, ...]:
        """Return those of a benchmark's statistics that are settled; at least one.

        By default, a tail is only settled if nothing else is compared.
        """
        named = tuple(one for one in statistics if one in (self.settle or ()))
        return named or _typical(statistics) or statistics

    @property
    def typical(self) -> tuple[str, ...]:
        """The statistics that are no tails."""
        return _typical(self.statistics)

    def margin_of(self, statistic: str) -> float:
        """The margin for a statistic; tails have their own margin."""
        return self.tail_margin if statistic in TAIL_STATISTICS else self.margin


def _typical(statistics: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one for one in statistics if one not in TAIL_STATISTICS)


def matches(glob: str, name: str) -> bool:
    """Whether a name matches, case-sensitively; only `*` (also across `/`) and `?` are special.

    Brackets are ordinary characters: ids such as `sort[n=1000]` contain many.
    """
    return matcher(glob)(name) is not None


@lru_cache(4096)
def matcher(glob: str) -> Callable[[str], object]:
    """A function that returns None for names that do not match; see `matches`."""
    return re.compile(fnmatch.translate(glob.replace("[", "[[]"))).match


def covers(glob: str, other: str) -> bool:
    """Whether a glob matches everything that another glob, or an id, matches."""
    # `*` in the other glob stands for any text, `?` for exactly one character.
    return fnmatch.fnmatchcase(other, glob.replace("[", "[[]").replace("?", "[!*]"))


def overridden(gate: Gate, rules: Iterable[Rule], metric: str | None) -> RowPolicy:
    """The gate's settings, overridden by the rules that apply to a benchmark, later rules last.

    Args:
        metric: the metric to get the settings of; None ignores rules for some metrics only.
    """
    tolerance = gate.tolerance
    if tolerance is None:
        tolerance = TOLERANCE if metric and metric not in _NEVER_VARY else 0.0
    policy = RowPolicy(
        gate.margin, gate.tail_margin, gate.statistics, gate.metrics, tolerance, gate.settle
    )
    changes: dict[str, Any] = {}
    for rule in rules:
        if concerns_metric(rule, metric):
            changes |= {k: v for k in RULE_SETTINGS if (v := getattr(rule, k)) is not None}
    return replace(policy, **changes) if changes else policy


def concerns(entry: Rule | Waive, benchmark_id: str, metric: str | None) -> bool:
    """Whether a rule or a waiver applies to a metric of a benchmark.

    Args:
        metric: None stands for all metrics of the benchmark.
    """
    return concerns_metric(entry, metric) and matches(entry.benchmark, benchmark_id)


def concerns_metric(entry: Rule | Waive, metric: str | None) -> bool:
    return entry.metric is None or (metric is not None and matches(entry.metric, metric))


@dataclass(frozen=True)
class Sides:
    """The two configurations that one was combined from, both with the command-line options.

    Attributes:
        accepted: why the head's waivers count in addition to the base's; None if they do not.
    """

    base: Config
    head: Config
    accepted: Acceptance | None = None


@dataclass(frozen=True)
class Config:
    """A whole configuration, with defaults filled in.

    Attributes:
        benchmarks: in the order in which they are written.
        rules: exceptions from the gate's settings; later ones override earlier ones.
        limits: values that no benchmark may exceed; of several, the last one counts.
        waivers: regressions and removals that are permitted; one that matches a row is enough.
        accept: how the waivers of a pull request can count before they are merged.
        aliases: old id to new id of each renamed benchmark; there are no chains of aliases.
        history: where the history of the project is kept.
        sides: what it was combined from, if the base commit's configuration judges.
        base: how the base commit is built and measured; None if this configuration applies to it,
            too.
        is_empty: whether nothing is measured, because the commit does not use benchgate yet.
    """

    gate: Gate
    measure: Measure
    build: Build
    baseline: Baseline
    benchmarks: tuple[Benchmark, ...]
    rules: tuple[Rule, ...]
    limits: tuple[Limit, ...]
    waivers: tuple[Waive, ...]
    accept: Accept
    aliases: Mapping[str, str]
    history: HistoryTable
    origin: Origin
    sides: Sides | None = None
    base: Config | None = None
    is_empty: bool = False

    @property
    def source(self) -> Path | None:
        """The file it was read from; None for defaults, and for text from elsewhere."""
        return self.origin.path

    @property
    def folder(self) -> str:
        """The folder that its paths are relative to, relative to the root of the tree."""
        return self.origin.folder

    @property
    def searches(self) -> bool:
        """Whether all benchmark files are measured, because the configuration names none."""
        return not self.benchmarks and not self.is_empty

    def where(self, key: str) -> str:
        """The place that set a key: file, line and key, or the option, or "(default)".

        Args:
            key: dotted, e.g. `gate.margin` or `benchmark[2].timeout`.
        """
        return self._origin_of(key).where(key)

    def effective(self, benchmark_id: str, metric: str | None = None) -> RowPolicy:
        """The margins, statistics and metrics of one benchmark, or of one metric of it.

        Args:
            benchmark_id: its id, `group/name[param=value]`.
            metric: name of a metric; None ignores rules that apply only to some metrics.
        """
        rules = [one for one in self.rules if matches(one.benchmark, benchmark_id)]
        return overridden(self.gate, rules, metric)

    def limited(self, benchmark_id: str) -> frozenset[str]:
        """The metrics of one benchmark that have a limit."""
        return frozenset(one.metric for one in self.limits if matches(one.benchmark, benchmark_id))

    def name_in_policy(self, benchmark_id: str, renamed_from: str | None) -> str:
        """The id by which rules and waivers refer to a benchmark.

        Those of the base refer to a benchmark that the head renamed by its old id.

        Args:
            benchmark_id: in the head.
            renamed_from: its id in the base, if an alias joined the two.
        """
        if renamed_from is None or self.sides is None:
            return benchmark_id
        known_to_base = self.sides.base.aliases.get(renamed_from) == benchmark_id
        return benchmark_id if known_to_base else renamed_from

    def unmatched(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Warn of each waiver that matches no existing benchmark.

        Args:
            ids: of all benchmarks, of both arms.
        """
        return tuple(
            f"{self._origin_of('waive').place(('waive', index, 'benchmark'))} = "
            f'"{waiver.benchmark}": matches no benchmark'
            f"{did_you_mean(waiver.benchmark.strip('*'), ids)}"
            for index, waiver in enumerate(self.waivers)
            # Once a removal is merged, there is nothing left that its waiver could match.
            if waiver.outcome != "missing"
            and not any(matches(waiver.benchmark, name) for name in ids)
        )

    def expired(self, day: date) -> tuple[str, ...]:
        """Warn of each waiver that has expired.

        Args:
            day: the day to compare with, in UTC.
        """
        return tuple(
            f"{self._origin_of('waive').place(('waive', index))}: the waiver of "
            f'"{waiver.benchmark}" expired on {waiver.until}: delete it, or repair the benchmark'
            for index, waiver in enumerate(self.waivers)
            if waiver.until < day and waiver.ceiling is not None
        )

    def _origin_of(self, key: str) -> Origin:
        """The origin of the table that contains a key."""
        table = re.split(r"[.[]", key, maxsplit=1)[0]
        if self.sides and DECIDED_BY.get(table) is Side.BASE:
            return self.sides.base.origin
        return self.origin

    def with_overrides(self, options: Options) -> Config:
        """This configuration, overridden by the options of the command line.

        A [[rule]] that sets a margin keeps it.
        """
        if self.sides:
            raise ValueError("options must be applied before the policy of the base commit")
        every = options.over(self.origin.options)
        is_same = every == self.origin.options
        return self if is_same else resolve(replace(self.origin, options=every))


def resolve(origin: Origin) -> Config:
    """Check a document and fill in the defaults."""
    settings = validated(origin)
    if problems := conflicts(settings):
        raise _error(problems, origin)
    tables = {name: getattr(settings, name) for name in Settings.model_fields}
    return Config(**tables, origin=origin)


def validated(origin: Origin) -> Settings:
    """Check every key of a document separately, but not whether keys contradict each other."""
    document = dict(origin.document)
    try:
        return Settings.model_validate(document)
    except ValidationError as error:
        raise _error(from_validation(error, LAYOUT), origin) from None


def _error(problems: Sequence[Problem], origin: Origin) -> ConfigError:
    in_order = sorted(problems, key=lambda problem: origin.line(problem.path) or 0)
    return config_error(in_order, origin.place)
