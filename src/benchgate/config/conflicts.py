"""Finds keys that contradict each other although each of them is valid alone."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from benchgate.config.scenario_benchmark import ScenarioBenchmark
from benchgate.config.suite_benchmark import OUTPUT, SuiteBenchmark
from benchgate.tables.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.config.benchmarks import Benchmark
    from benchgate.config.measurement import Measure
    from benchgate.config.tables import Baseline, Gate, Limit, Rule, Settings, Waive
    from benchgate.tables.document import KeyPath

RULE_SETTINGS = ("margin", "tail_margin", "statistics", "settle", "metrics", "tolerance")


def conflicts(settings: Settings) -> tuple[Problem, ...]:
    """Find all contradictions, each with the key that must change."""
    return (
        *_rounds(settings.measure),
        *_until_decided(settings),
        *_settle(settings),
        *_baseline(settings.baseline),
        *_benchmarks(settings.benchmarks),
        *_scenarios(settings.benchmarks),
        *_outputs(settings.benchmarks),
        *_rules(settings.rules),
        *_limits(settings.limits),
        *_waivers(settings.waivers),
        *_aliases(dict(settings.aliases)),
    )


def _rounds(measure: Measure) -> Iterator[Problem]:
    needed = measure.screen_rounds + measure.confirm_rounds
    if measure.max_rounds < needed:
        yield Problem(
            ("measure", "max_rounds"),
            f"must be at least screen_rounds + confirm_rounds, here {needed}",
            f"raise it to {needed}, or lower one of the others",
            measure.max_rounds,
        )


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
    stored = baseline.source in {"directory", "file"}
    if baseline.source == "file" and baseline.path is None:
        yield Problem(
            ("baseline", "path"),
            'is missing: source = "file" needs the file',
            'write path = "baseline.json"',
        )
    if baseline.path is not None and not stored:
        yield Problem(
            ("baseline", "path"),
            f'is not used by source = "{baseline.source}"',
            'delete it, or write source = "directory" or "file"',
            baseline.path,
        )
    if baseline.against is not None and stored:
        yield Problem(
            ("baseline", "against"),
            f'is not used by source = "{baseline.source}"',
            'delete it, or write source = "git"',
            baseline.against,
        )


def _benchmarks(benchmarks: tuple[Benchmark, ...]) -> Iterator[Problem]:
    first_with: dict[str, int] = {}
    for index, benchmark in enumerate(benchmarks):
        for id_ in benchmark.ids:
            first = first_with.setdefault(id_, index)
            if first != index:
                yield Problem(
                    ("benchmark", index, "name"),
                    f"benchmark[{first}] has the same name",
                    "give each benchmark a name of its own",
                    id_,
                )


def _scenarios(benchmarks: tuple[Benchmark, ...]) -> Iterator[Problem]:
    first_with: dict[PurePosixPath, int] = {}
    for index, benchmark in enumerate(benchmarks):
        if not isinstance(benchmark, ScenarioBenchmark):
            continue
        first = first_with.setdefault(PurePosixPath(benchmark.scenario), index)
        if first != index:
            yield Problem(
                ("benchmark", index, "scenario"),
                f"benchmark[{first}] has the same file",
                "write it once",
                benchmark.scenario,
            )


def _outputs(benchmarks: tuple[Benchmark, ...]) -> Iterator[Problem]:
    for index, benchmark in enumerate(benchmarks):
        if not isinstance(benchmark, SuiteBenchmark) or benchmark.output is None:
            continue
        if any(OUTPUT in word for word in benchmark.command):
            yield Problem(
                ("benchmark", index, "output"),
                f"contradicts {OUTPUT} in `suite`, which is the path that benchgate reads",
                "keep one of the two",
                benchmark.output,
            )


def _rules(rules: tuple[Rule, ...]) -> Iterator[Problem]:
    for index, rule in enumerate(rules):
        if all(getattr(rule, key) is None for key in RULE_SETTINGS):
            yield Problem(
                ("rule", index),
                f"sets nothing: it may set {', '.join(RULE_SETTINGS)}",
                'add what is different there, for example margin = "5%", or delete the rule',
            )
        if rule.metric is not None and rule.metrics is not None:
            yield Problem(
                ("rule", index, "metrics"),
                "a rule for some metrics cannot also choose which metrics decide",
                "delete `metric`, or write two rules",
                rule.metrics,
            )


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
        outcome = f'`outcome = "{waiver.outcome}"`'
        if waiver.outcome == "regressed":
            if waiver.ceiling is None:
                yield Problem(
                    ("waive", index),
                    "`ceiling` is missing",
                    'write for example ceiling = "20%", or outcome = "missing" if the benchmark'
                    " was removed",
                )
            continue
        if waiver.ceiling is not None:
            yield Problem(
                ("waive", index, "ceiling"),
                f"contradicts {outcome}: nothing is compared that could be too slow",
                "delete `ceiling`, or write two waivers",
            )
        if waiver.metric is not None:
            yield Problem(
                ("waive", index, "metric"),
                f"contradicts {outcome}: this concerns all metrics of the benchmark",
                "delete `metric`",
                waiver.metric,
            )


def _aliases(aliases: dict[str, str]) -> Iterator[Problem]:
    first_to: dict[str, str] = {}
    ends = _ends(aliases)
    for old, new in aliases.items():
        first = first_to.setdefault(new, old)
        if old == new:
            yield Problem(("aliases", old), "is an alias of itself", "delete the line", new)
        elif new in aliases:
            yield _chained(old, new, ends[old])
        elif first != old:
            yield Problem(
                ("aliases", old),
                f"{first!r} already became this one, and two benchmarks cannot become one",
                "keep only the line of the benchmark that the new one continues",
                new,
            )


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


def _chained(old: str, new: str, end: str | None) -> Problem:
    """Describe an alias that leads to another one: to the final name, or into a circle."""
    if end is None:
        hint = "keep only the lines that lead from an old name to one that exists now"
        return Problem(("aliases", old), "leads round in a circle", hint, new)
    return Problem(
        ("aliases", old),
        "is itself renamed further on: name the final id",
        f"write {end!r} here",
        new,
    )
