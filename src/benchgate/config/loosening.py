"""Whose configuration counts, and in which ways the head's is laxer than the base's.

A change must not be judged by rules that it brings along, nor choose who judges it. Its own rules
apply once it is merged.
"""

from __future__ import annotations

import posixpath
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from benchgate.config.benchmarks import ScenarioBenchmark
from benchgate.config.keys import Side, said_of
from benchgate.config.live_benchmarks import FunctionBenchmarks
from benchgate.config.resolved import Sides, concerns_metric, covers, matcher, overridden, validated
from benchgate.config.tables import DECIDED_BY, RULE_SETTINGS, Measure, Settings
from benchgate.model.policy import OVERRIDES, PolicyChange
from benchgate.tables.document import dotted
from benchgate.tables.fields import field_of
from benchgate.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from benchgate.config.benchmarks import Benchmark
    from benchgate.config.resolved import Config, RowPolicy
    from benchgate.config.tables import Waive
    from benchgate.model.policy import Acceptance
    from benchgate.tables.document import KeyPath
    from benchgate.tables.fields import Table


_OF_OPTIONS = frozenset(one.table for one in OVERRIDES.values())


def policy_from(base: Config, head: Config) -> Config:
    """Judge by the base's configuration; the head's says what to measure in the head.

    Options of the command line are not part of the change, and override both.

    Args:
        head: with the options of the command line; the result accepts no further options.
    """
    base = with_options(base, head)
    policy = {
        name: getattr(base, name)
        for name, info in Settings.model_fields.items()
        if DECIDED_BY[info.alias or name] is Side.BASE
    }
    policy["measure"] = _at_least_as_careful(base.measure, head.measure)
    return replace(head, **policy, sides=Sides(base, head), base=base)


def _at_least_as_careful(base: Measure, head: Measure) -> Measure:
    """The base's settings, plus the head's additions that cannot weaken the gate.

    The head may allow more time, and it may turn on what removes noise. It may not ask for more
    samples or rounds: these leave less of the same time for everything else.
    """
    added: dict[str, Any] = {
        "pin": base.pin or head.pin,
        "canary": base.canary or head.canary,
        "timeout_s": max(base.timeout_s, head.timeout_s),
    }
    if "budget_s" in head.model_fields_set and head.budget_s > base.limit_s:
        added["budget_s"] = head.budget_s
    return base.model_copy(update={k: v for k, v in added.items() if v != getattr(base, k)})


def with_options(base: Config, head: Config) -> Config:
    """The base's configuration, overridden by the options that override the head's.

    Settings of the base that contradict an option are dropped, as in the head, without an error.
    """
    origin = replace(base.origin, options=head.origin.options)
    settings = validated(origin)
    tables = {table: getattr(settings, table) for table in _OF_OPTIONS}
    return replace(base, **tables, origin=origin)


def with_accepted(config: Config, accepted: Acceptance | None) -> Config:
    """The base's policy, with the head's waivers added if they were accepted.

    A configuration that is not judged by a base has no other waivers, and stays as it is.
    """
    if accepted is None or config.sides is None:
        return config
    return replace(config, sides=replace(config.sides, accepted=accepted))


def old_ids(base: Config, head: Config) -> Mapping[str, str]:
    """The old id of each benchmark that the head renamed, by the new id."""
    return {new: old for old, new in head.aliases.items() if base.aliases.get(old) != new}


if TYPE_CHECKING:
    Where: TypeAlias = tuple[str, str | None]
    """A benchmark and a metric of it; None for what is said of all."""

_NOTHING = "none"

# Only the glob `*` matches it: it stands for the benchmarks to which no rule applies.
_ANY = ""
_KEYS = sorted({*RULE_SETTINGS} - {"metrics"})
_NAMES_SHOWN = 3

MOST_STEPS: Final = 10**10
"""Most comparisons of characters, for the ids of benchmarks with the globs of rules."""


def loosening(
    base: Config, head: Config, ids: Sequence[str] = (), accepted: Acceptance | None = None
) -> tuple[PolicyChange, ...]:
    """Compare two configurations; report only what is laxer in the head.

    Args:
        head: of the change, without options of the command line.
        ids: of the benchmarks that are known. The effect of rules is compared for them, and for the
            globs of the rules themselves.
        accepted: why the head's waivers count already, if they do.
    """
    base = with_options(base, head)
    return (
        *_table(base, head, "gate"),
        *_rows(base, head, ids),
        *_limits(base, head),
        *_waivers(base, head, accepted),
        *_table(base, head, "accept"),
        *_table(base, head, "baseline"),
        *_table(base, head, "measure"),
        *_benchmarks(base, head),
        *_aliases(base, head),
    )


def _table(base: Config, head: Config, table: str) -> Iterator[PolicyChange]:
    before, after = getattr(base, table), getattr(head, table)
    for key in _laxer_keys(before, after):
        was, now = _written(base, (table, key), before), _written(head, (table, key), after)
        yield _loosened(head, (table, key), was, now)


def _laxer_keys(before: Table, after: Table) -> Iterator[str]:
    for name, info in type(before).model_fields.items():
        if said_of(info)(before, after, name):
            yield info.alias or name


def _written(config: Config, path: KeyPath, table: Table) -> str:
    """A value as people write it, or the value that applies if they write none."""
    value: Any = config.origin.document
    for part in path:
        value = value[part] if isinstance(part, int) else value.get(part)
        if value is None:
            key = str(path[-1])
            value = type(table).model_fields[field_of(type(table), key)].default
            break
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or _NOTHING
    if isinstance(value, bool):
        return str(value).lower()
    return _NOTHING if value is None else str(value)


def _loosened(
    head: Config, path: KeyPath, before: str, after: str, *, about: str = ""
) -> PolicyChange:
    return PolicyChange(
        key=dotted(path),
        about=about,
        before=before,
        after=after,
        place=head.origin.file_and_line(path),
        in_force=DECIDED_BY[str(path[0])] is Side.HEAD,
    )


def _limits(base: Config, head: Config) -> Iterator[PolicyChange]:
    """Find limits of the base that the head lacks, or sets less strictly."""
    renamed = old_ids(base, head)
    kept = {
        (renamed.get(one.benchmark, one.benchmark), one.metric, one.statistic, one.max is None): (
            index,
            one,
        )
        for index, one in enumerate(head.limits)
    }
    for was in base.limits:
        is_min = was.max is None
        key = (was.benchmark, was.metric, was.statistic, is_min)
        index, now = kept.get(key, (None, None))
        sign = -1 if is_min else 1
        if now and sign * now.bound.value <= sign * was.bound.value:
            continue
        path = ("limit",) if index is None else ("limit", index)
        about = f"{was.benchmark} ({was.metric})"
        yield _loosened(head, path, was.words, now.words if now else _NOTHING, about=about)


def brings_waivers(base: Config, head: Config) -> bool:
    """Find waivers of the head for what the base does not waive."""
    return next(_waivers(base, head, None), None) is not None


def _waivers(base: Config, head: Config, accepted: Acceptance | None) -> Iterator[PolicyChange]:
    """Find the part of a waiver that the base waives less, or for less time."""
    renamed = old_ids(base, head)
    for index, waiver in enumerate(head.waivers):
        name = renamed.get(waiver.benchmark, waiver.benchmark)
        if any(_grants(known, waiver, name) for known in base.waivers):
            continue
        same = (k for k in base.waivers if (k.benchmark, k.metric) == (name, waiver.metric))
        before = next((one.granted for one in same), _NOTHING)
        about = waiver.benchmark + (f" ({waiver.metric})" if waiver.metric else "")
        change = _loosened(head, ("waive", index), before, waiver.granted, about=about)
        yield replace(change, in_force=accepted is not None)


def _grants(known: Waive, waiver: Waive, name: str) -> bool:
    """Whether a waiver permits all that another one does, for benchmarks known as `name`."""
    metrics = known.metric is None or (
        waiver.metric is not None and covers(known.metric, waiver.metric)
    )
    if known.ceiling is None or waiver.ceiling is None:
        enough = known.outcome == waiver.outcome
    else:
        enough = known.ceiling >= waiver.ceiling
    return enough and known.until >= waiver.until and metrics and covers(known.benchmark, name)


def _benchmarks(base: Config, head: Config) -> Iterator[PolicyChange]:
    for index, was in enumerate(base.benchmarks):
        for name in was.subjects:
            at, now = _found(was, _as_in(head, base, was, name), head)
            if now is None:
                yield _loosened(head, ("benchmark",), "measured", "left out", about=name)
                continue
            before, after = (_completed(one, base) for one in (was, now))
            for key in _laxer_keys(before, after):
                path = ("benchmark", at, key)
                values = _written(base, ("benchmark", index, key), was), _written(head, path, now)
                yield _loosened(head, path, *values, about=name)


def _as_in(head: Config, base: Config, was: Benchmark, name: str) -> str:
    """What the base's entry measures, as the head's file would name it: paths start elsewhere."""
    if not isinstance(was, FunctionBenchmarks | ScenarioBenchmark):
        return name
    return posixpath.relpath(posixpath.join(base.folder, name), head.folder)


def _found(was: Benchmark, name: str, head: Config) -> tuple[int, Benchmark | None]:
    """Find the head's entry that measures it, maybe under a new name, and its index."""
    names = {name, head.aliases.get(name, name)} if was.ids else {name}
    for index, now in enumerate(head.benchmarks):
        if type(now) is type(was) and any(map(now.covers, names)):
            return index, now
    return -1, None


def _completed(benchmark: Benchmark, base: Config) -> Benchmark:
    """Fill in the keys that are taken from [measure], where their change is reported."""
    shared = type(benchmark).model_fields.keys() & Measure.model_fields.keys()
    unset = [key for key in shared if getattr(benchmark, key) is None]
    return benchmark.model_copy(update={key: getattr(base.measure, key) for key in unset})


def _aliases(base: Config, head: Config) -> Iterator[PolicyChange]:
    for old, new in head.aliases.items():
        if base.aliases.get(old) != new:
            before = base.aliases.get(old, _NOTHING)
            yield _loosened(head, ("aliases", old), before, new)


def _rows(base: Config, head: Config, ids: Sequence[str]) -> Iterator[PolicyChange]:
    """Compare margins, statistics and metrics; report equal differences once.

    Rules cannot be compared one by one, because a later one wins and globs overlap. So the
    resulting settings are compared, for every benchmark that is known, and for the globs of the
    rules as if these were ids.
    """
    if (base.gate, base.rules, base.aliases) == (head.gate, head.rules, head.aliases):
        return
    renamed = old_ids(base, head)
    found: dict[tuple[str, str, str], tuple[tuple[str, ...], list[Where]]] = {}
    policies = cache(partial(_policies, base, head))
    of_base, of_head = _applying(base), _applying(head)
    for name in _names_of_rows(base, head, renamed, ids):
        compared = policies(of_base(renamed.get(name, name)), of_head(name))
        metrics = compared[0][1].metrics
        for metric, was, now in compared:
            for key in ("metrics",) if metric is None else _KEYS:
                before, after = _compared(was, now, key)
                if _is_laxer(before, after):
                    kind = (key, _words(before), _words(after))
                    found.setdefault(kind, (metrics, []))[1].append((name, metric))
    for (key, before, after), (metrics, places) in found.items():
        name, metric = places[0]
        path = _set_by(head, name, metric, key)
        yield PolicyChange(
            key=dotted(path),
            about=_about(places, metrics),
            before=before,
            after=after,
            place=head.origin.file_and_line(path),
        )


def _names_of_rows(
    base: Config, head: Config, renamed: Mapping[str, str], ids: Sequence[str]
) -> Sequence[str]:
    """The ids to compare. One that the head renamed appears under its new name only."""
    globs = [rule.benchmark for config in (head, base) for rule in config.rules]
    gone = set(renamed.values())
    names = dict.fromkeys((_ANY, *globs, *renamed, *_affordable(ids, sum(map(len, globs)))))
    return [name for name in names if name not in gone]


def _affordable(ids: Sequence[str], glob_characters: int) -> Iterator[str]:
    """The first ids, as many as can be compared with all globs in some seconds.

    In the worst case, every character of an id is compared with every character of a glob. A suite
    of 10,000 benchmarks and a hundred rules stays far below that.
    """
    left = MOST_STEPS // max(1, glob_characters)
    for id_ in ids:
        left -= len(id_)
        if left < 0:
            return
        yield id_


def _policies(
    base: Config, head: Config, rules_of_base: tuple[int, ...], rules_of_head: tuple[int, ...]
) -> Sequence[tuple[str | None, RowPolicy, RowPolicy]]:
    """The settings of a benchmark as a whole, then of each metric that decides in the base.

    Args:
        rules_of_base, rules_of_head: that apply to it, by their indices.
    """
    before, after = (
        partial(overridden, config.gate, [config.rules[index] for index in rules])
        for config, rules in ((base, rules_of_base), (head, rules_of_head))
    )
    whole = before(None)
    return [
        (None, whole, after(None)),
        *((metric, before(metric), after(metric)) for metric in whole.metrics),
    ]


def _applying(config: Config) -> Callable[[str], tuple[int, ...]]:
    """Find the rules that apply to some metric of a benchmark, or of all that a glob matches.

    There may be many rules and very many names, so that every pair must cost little.
    """
    matchers = [matcher(rule.benchmark) for rule in config.rules]

    def find(name: str) -> tuple[int, ...]:
        found = [index for index, match in enumerate(matchers) if match(name)]
        if _is_glob(name):
            found = [index for index in found if covers(config.rules[index].benchmark, name)]
        return tuple(found)

    return find


def _is_glob(name: str) -> bool:
    return "*" in name or "?" in name


def _compared(was: RowPolicy, now: RowPolicy, key: str) -> tuple[Any, Any]:
    """The values of a key on both sides; of what the base settles, only what the head compares.

    Without `settle`, a tail that is compared alone is settled too, but nobody asked for that.
    """
    if key != "settle":
        return getattr(was, key), getattr(now, key)
    asked = was.settle or was.typical
    before = (one for one in was.settled(was.statistics) if one in asked and one in now.statistics)
    return tuple(before), now.settled(now.statistics)


def _is_laxer(before: Any, after: Any) -> bool:  # noqa: ANN401 - numbers or names
    return not set(before) <= set(after) if isinstance(before, tuple) else bool(after > before)


def _words(value: float | tuple[str, ...]) -> str:
    return ", ".join(value) if isinstance(value, tuple) else format_percent(value)


def _set_by(config: Config, name: str, metric: str | None, key: str) -> KeyPath:
    """The key that determines the setting."""
    for index in reversed(_applying(config)(name)):
        rule = config.rules[index]
        if getattr(rule, key) is not None and concerns_metric(rule, metric):
            return ("rule", index, key)
    return ("gate", key)


def _about(places: Sequence[Where], metrics: Sequence[str]) -> str:
    """Name benchmarks and some of their metrics: "db/*, sort (peak_rss)"; "" for all of both."""
    names = list(dict.fromkeys(name for name, _ in places))
    shown = [] if _ANY in names else _without_covered(names)
    some = list(dict.fromkeys(metric for _, metric in places if metric))
    more = f" and {len(shown) - _NAMES_SHOWN} more" if len(shown) > _NAMES_SHOWN else ""
    only = f"({', '.join(some)})" if some and set(some) < set(metrics) else ""
    return f"{', '.join(shown[:_NAMES_SHOWN])}{more} {only}".strip()


def _without_covered(names: Sequence[str]) -> list[str]:
    """Leave out names that a glob among them matches."""
    globs = [name for name in names if _is_glob(name)]
    return [
        name
        for name in names
        if not any(covers(glob, name) and not covers(name, glob) for glob in globs)
    ]
