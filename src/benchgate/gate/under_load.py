"""What is different under load: which metrics decide, and what a reader must know."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from benchgate.model.load import Loop
from benchgate.model.metrics import (
    DECIDE_UNDER_LOAD,
    ERROR_RATIO,
    MEASURED,
    TIME,
    UNDER_LOAD,
)
from benchgate.model.run import BenchmarkResult, Tier
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from benchgate.gate.evidence import Pair
    from benchgate.model.load import LoadLaunch, LoadResult


LOOPS = {
    Loop.CLOSED: "closed loop: service time",
    Loop.OPEN: "open loop: timed from when each operation was due",
}
_FIGURE = re.compile(r"[0-9][0-9.,]*( [nmµ]?s\b)?")
_REASONS_NAMED = 3
_SETTINGS_NAMED = 3


def is_step(result: BenchmarkResult) -> bool:
    """Whether it is a step of a scenario: a launch of it is one value of each metric."""
    # The details of the load are not known of a result that a fork measured, and suites of other
    # tools may have metrics of these names.
    is_own = result.tier is Tier.INTERLEAVED
    return is_own and any(series.metric in UNDER_LOAD for series in result.series)


def has_error_ratio(result: BenchmarkResult) -> bool:
    """Whether it is known how many of its operations failed."""
    return any(series.metric == ERROR_RATIO for series in result.series)


def deciding_under_load(names: Collection[str], known: Collection[str]) -> tuple[str, ...]:
    """Choose the metrics of a step that decide; the time stands for those that usually do.

    Args:
        names: what the configuration names.
        known: what was measured.
    """
    usual = [metric.name for metric in DECIDE_UNDER_LOAD] if TIME.name in names else []
    wanted = dict.fromkeys((*usual, *(name for name in names if name not in MEASURED)))
    return tuple(name for name in wanted if name in known)


def notes_under_load(pair: Pair, metric: str) -> tuple[str, ...]:
    """What a reader of a step's row must know about the load; nothing for other benchmarks."""
    arms = [
        (arm, result.load)
        for arm, result in (("base", pair.base), ("head", pair.head))
        if result and result.load
    ]
    launches = [launch for _, load in arms for launch in load.launches]
    notes = [LOOPS[loop] for loop in dict.fromkeys(load.loop for _, load in arms)]
    notes += [*load_notes(launches), *_servers(arms)]
    if metric == ERROR_RATIO.name:
        notes += [_errors(arm, load.launches) for arm, load in arms if _has_errors(load)]
    return tuple(notes)


def load_notes(launches: Sequence[LoadLaunch]) -> tuple[str, ...]:
    """What was wrong with the load generator itself in some of the launches."""
    return (*_limits(launches), *_unfinished(launches), *_lost(launches))


def _unfinished(launches: Sequence[LoadLaunch]) -> list[str]:
    unfinished = sum(launch.unfinished for launch in launches)
    if not unfinished:
        return []
    total = sum(launch.ops + launch.errors for launch in launches) + unfinished
    left = f"{unfinished:,} of {total:,} operations were due, but found no free worker"
    return [f"{left}: the target is slower than the rate, or needs more workers"]


def _limits(launches: Sequence[LoadLaunch]) -> list[str]:
    """Each kind of limit once, with the figures of the first launch that had it."""
    first: dict[str, str] = {}
    count: Counter[str] = Counter()
    for launch in launches:
        kinds = {_FIGURE.sub("", limit): limit for limit in launch.generator.limits}
        first = kinds | first
        count.update(kinds.keys())
    of = counted(len(launches), "launch")
    return [
        f"in {count[kind]} of {of}, {said[:1].lower()}{said[1:].removesuffix('.')}"
        for kind, said in first.items()
    ]


def _lost(launches: Sequence[LoadLaunch]) -> list[str]:
    lost = [
        [f"{group.place}: {group.lost}" for group in launch.generator.groups if group.lost]
        for launch in launches
    ]
    why = Counter(reason for reasons in lost for reason in reasons)
    share = f"{sum(map(bool, lost))} of {counted(len(launches), 'launch')}"
    return [f"workers were lost in {share}: {_named(why)}"] if why else []


def _servers(arms: Sequence[tuple[str, LoadResult]]) -> list[str]:
    """Name settings of the server that differ between the arms."""
    if len(arms) < 2 or not all(load.server for _, load in arms):
        return []
    before, after = (load.server for _, load in arms)
    names = [n for n in dict.fromkeys((*before, *after)) if before.get(n) != after.get(n)]
    if not names:
        return []
    shown = [f"{n} ({before.get(n, 'none')}, {after.get(n, 'none')})" for n in names]
    more = f" and {len(names) - _SETTINGS_NAMED} more" if len(names) > _SETTINGS_NAMED else ""
    return [f"the servers of base and head differ in {', '.join(shown[:_SETTINGS_NAMED])}{more}"]


def _has_errors(load: LoadResult) -> bool:
    return any(launch.errors for launch in load.launches)


def _errors(arm: str, launches: Iterable[LoadLaunch]) -> str:
    launches = list(launches)
    errors = sum(launch.errors for launch in launches)
    total = errors + sum(launch.ops for launch in launches)
    texts = Counter(kept.text for launch in launches for kept in launch.kept_errors)
    said = f"{errors:,} of {total:,} operations failed on the {arm}"
    return f"{said}: {_named(texts)}" if texts else said


def _named(texts: Counter[str]) -> str:
    """The most frequent ones."""
    named = [text for text, _ in texts.most_common(_REASONS_NAMED)]
    more = len(texts) - len(named)
    return "; ".join(named) + (f"; and {more} more" if more else "")
