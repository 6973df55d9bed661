"""Refuses a configuration that names what no benchmark has: a typo there would judge nothing.

A benchmark or a metric that one side still has is no typo. So a change cannot cause this error by
removing one, and what it removed is missing in the verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.config.resolved import matches
from benchgate.errors import did_you_mean
from benchgate.gate.scenario_rows import with_scenarios
from benchgate.model.metrics import ERROR_RATIO, MEASURED, OWN, TIME
from benchgate.model.run import Status, Tier
from benchgate.tables.document import Problem, config_error

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from benchgate.config import Config
    from benchgate.config.tables import Limit, Rule
    from benchgate.model.result import Result
    from benchgate.model.run import BenchmarkResult, Run
    from benchgate.tables.document import KeyPath

_MEANT: Final = "; did you mean "
_NOBODY: Final = "no benchmark has this metric"
_UNIT: Final = "write the limit in this unit, or name the metric that you mean"
_HINT: Final = "correct it, or delete what has no effect"


def require_effect(config: Config, results: Iterable[Result], *, is_whole: bool) -> None:
    """Check what the head's own configuration names against all that was measured.

    Args:
        results: of the head, and all that it is compared with.
        is_whole: whether they are the whole suite. Of a part, or of a result that may be one, only
            names of metrics are refused that look like a typo.

    Raises:
        ConfigError: a rule, a limit or `metrics` names what nothing has.
    """
    own = config.sides.head if config.sides else config
    known = _Known.of(run for one in results for run in _runs(one))
    problems = [*_rules(own.rules, known), *_limits(own.limits, known), *_metrics(own, known)]
    if not is_whole:
        problems = [one for one in problems if _is_sure(one)]
    if problems:
        raise config_error(problems, own.origin.place)


def is_of_other_tools(results: Iterable[Result]) -> bool:
    """Whether all was read from files of other tools, of which nobody chose a part."""
    return all(
        benchmark.tier is Tier.STORED
        for result in results
        for run in _runs(result)
        for benchmark in run.of_project
    )


def _is_sure(problem: Problem) -> bool:
    """Whether what was not measured cannot make it right."""
    is_typo = str(problem.path[-1]).startswith("metric") and _MEANT in problem.message
    return is_typo or problem.hint is _UNIT


def untested_metrics(config: Config, base: Run | None, known: Run | None) -> tuple[str, ...]:
    """The metrics that must decide, or that have a limit, but that a run left out.

    Args:
        base: the run's own base, which could have left out anything.
        known: a run of the same suite that left out nothing; None if there is none.
    """
    expected = {one.id: _metrics_of(one) for one in known.of_project} if known else {}
    anywhere = {name for names in expected.values() for name in names} | OWN.keys()
    missing: dict[str, None] = {}
    for one in base.of_project if base else ():
        wanted = {*config.effective(one.id).metrics, *config.limited(one.id)}
        expects = expected.get(one.id, {}).keys() | (wanted - anywhere)
        wanted |= {ERROR_RATIO.name} if TIME.name in wanted else set()
        if has := _metrics_of(one):
            missing |= dict.fromkeys(sorted((wanted & expects) - has.keys()))
    return tuple(missing)


def _metrics_of(benchmark: BenchmarkResult) -> dict[str, str]:
    """The unit of each metric that it has values of."""
    return {one.metric.name: one.metric.unit for one in benchmark.series if one.launches}


def _runs(result: Result) -> Iterator[Run]:
    yield result.head
    if result.base:
        yield result.base
    if result.screening:
        yield from (one.run for one in result.screening.earlier)
        if result.screening.head:
            yield result.screening.head


def _benchmarks(run: Run) -> Iterator[BenchmarkResult]:
    """Those of a run, and the scenarios to which a throughput belongs."""
    yield from run.of_project
    yield from with_scenarios(run.of_project, run.of_project)[1]


@dataclass(frozen=True, slots=True)
class _Known:
    """What was measured.

    Attributes:
        metrics: of each benchmark, with their units, and those that could not be measured; of one
            that failed everywhere, or was measured nowhere, nothing is known.
        is_whole: whether there are no files or suites that could not be read.
    """

    metrics: Mapping[str, Mapping[str, str]]
    is_whole: bool

    @classmethod
    def of(cls, runs: Iterable[Run]) -> _Known:
        metrics: dict[str, dict[str, str]] = {}
        failed: set[str] = set()
        for one in (one for run in runs for one in _benchmarks(run)):
            has = metrics.setdefault(one.id, {})
            has |= _metrics_of(one)
            unmeasured = {note.partition(": ")[0] for note in one.notes} & OWN.keys()
            has |= {name: OWN[name].unit for name in unmeasured}
            failed |= {one.id} if one.status is Status.FAILED else set()
        return cls(metrics, all(metrics[id_] for id_ in failed))

    @property
    def names(self) -> set[str]:
        """Every metric that some benchmark has."""
        return {name for names in self.metrics.values() for name in names}

    @property
    def has_all_metrics(self) -> bool:
        """Whether everything was measured: what was not may have any metric."""
        return all(self.metrics.values())

    def having(self, glob: str) -> list[str]:
        return [id_ for id_ in self.metrics if matches(glob, id_)]


def _rules(rules: Iterable[Rule], known: _Known) -> Iterator[Problem]:
    for index, rule in enumerate(rules):
        yield from _unmatched(("rule", index), rule.benchmark, known)
        names = {*known.names, *OWN}
        is_known = known.is_whole and known.has_all_metrics
        if rule.metric and is_known and not any(matches(rule.metric, one) for one in names):
            meant = did_you_mean(rule.metric.strip("*"), names)
            yield Problem(("rule", index, "metric"), f"{_NOBODY}{meant}", _HINT, rule.metric)


def _limits(limits: Iterable[Limit], known: _Known) -> Iterator[Problem]:
    for index, limit in enumerate(limits):
        yield from _unmatched(("limit", index), limit.benchmark, known)
        having = known.having(limit.benchmark)
        found = [known.metrics[id_] for id_ in having]
        if having and all(names and limit.metric not in names for names in found):
            meant = _meant(limit.metric, {name for names in found for name in names})
            why = f'no benchmark that "{limit.benchmark}" matches has this metric{meant}'
            yield Problem(("limit", index, "metric"), why, _HINT, limit.metric)
        units = {names[limit.metric] for names in found if limit.metric in names}
        if limit.bound.unit and units and limit.bound.unit not in units:
            which = " or ".join(sorted(unit or "none" for unit in units))
            why = f"{limit.metric} has another unit: {which}"
            yield Problem(("limit", index, limit.key), why, _UNIT, limit.bound.text)


def _unmatched(path: tuple[str, int], glob: str, known: _Known) -> Iterator[Problem]:
    if known.is_whole and not known.having(glob):
        meant = did_you_mean(glob.strip("*"), known.metrics)
        yield Problem((*path, "benchmark"), f"matches no benchmark{meant}", _HINT, glob)


def _metrics(config: Config, known: _Known) -> Iterator[Problem]:
    if not known.has_all_metrics:
        return
    tables: list[tuple[KeyPath, Sequence[str]]] = [(("gate", "metrics"), config.gate.metrics)]
    tables += [(("rule", i, "metrics"), rule.metrics or ()) for i, rule in enumerate(config.rules)]
    every = {*known.names, *MEASURED}
    for path, names in tables:
        for name in names:
            if name not in every:
                yield Problem(path, f'"{name}": {_NOBODY}{_meant(name, every)}', _HINT, names)


def _meant(name: str, metrics: Collection[str]) -> str:
    """A suggestion, unless the name is that of another metric of benchgate's own."""
    return "" if name in OWN else did_you_mean(name, metrics)
