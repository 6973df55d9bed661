"""Applies every [[rule]] to get the margins, statistics and metrics of a benchmark."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from benchgate.config.conflicts import RULE_SETTINGS
from benchgate.model.metrics import INSTRUCTIONS
from benchgate.model.row import TAIL_STATISTICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from benchgate.config.tables import Gate, Rule, Waive

TOLERANCES = {INSTRUCTIONS.name: 0.01}
"""How far exact metrics may change by default; metrics that are not listed may not change at all.

Instruction counts differ by some thousandths, because most programs get new addresses and hash
seeds in each execution. Half of the margin for time is well above that.
"""
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


def effective_policy(
    gate: Gate, rules: Iterable[Rule], benchmark_id: str, metric: str | None = None
) -> RowPolicy:
    """The gate's settings, overridden by every matching rule, later rules last.

    Args:
        metric: the metric to get the settings of; None ignores rules for some metrics only.
    """
    return overridden(gate, [one for one in rules if matches(one.benchmark, benchmark_id)], metric)


def overridden(gate: Gate, rules: Iterable[Rule], metric: str | None) -> RowPolicy:
    """The gate's settings, overridden by rules that apply to the benchmark.

    Args:
        metric: see `effective_policy`.
    """
    tolerance = TOLERANCES.get(metric or "", 0.0) if gate.tolerance is None else gate.tolerance
    policy = RowPolicy(
        gate.margin, gate.tail_margin, gate.statistics, gate.metrics, tolerance, gate.settle
    )
    changes: dict[str, Any] = {}
    for rule in rules:
        if _concerns_metric(rule, metric):
            changes |= {k: v for k in RULE_SETTINGS if (v := getattr(rule, k)) is not None}
    return replace(policy, **changes) if changes else policy


def concerns(entry: Rule | Waive, benchmark_id: str, metric: str | None) -> bool:
    """Whether a rule or a waiver applies to a metric of a benchmark.

    Args:
        metric: None stands for all metrics of the benchmark.
    """
    return _concerns_metric(entry, metric) and matches(entry.benchmark, benchmark_id)


def _concerns_metric(entry: Rule | Waive, metric: str | None) -> bool:
    return entry.metric is None or (metric is not None and matches(entry.metric, metric))
