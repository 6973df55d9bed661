"""Every way in which the head's configuration is laxer than the base's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from benchgate.config.benchmarks import CommandBenchmark, PythonBenchmark
from benchgate.config.laxer import LAXER
from benchgate.config.models import field_of
from benchgate.config.places import dotted
from benchgate.config.policy import DECIDED_BY, Side, old_ids, with_options
from benchgate.config.row_loosening import loosened_rows
from benchgate.config.rules import covers
from benchgate.model.waiver import Loosened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.config.benchmarks import Benchmark
    from benchgate.config.laxer import Place
    from benchgate.config.models import Waive
    from benchgate.config.places import KeyPath
    from benchgate.config.resolved import Config
    from benchgate.config.table import Table
    from benchgate.model.waiver import Acceptance

_NOTHING = "none"
_PLACES = {CommandBenchmark: ("benchmark", "command"), PythonBenchmark: ("benchmark", "python")}


def loosening(
    base: Config, head: Config, ids: Sequence[str] = (), accepted: Acceptance | None = None
) -> tuple[Loosened, ...]:
    """Compare two configurations; what is stricter in the head, or the same, is left out.

    Args:
        base: of the base commit.
        head: of the change; options of the command line are no part of it.
        ids: of the benchmarks that are known. The effect of rules is compared on them, and on
            the globs of the rules themselves.
        accepted: what makes the head's waivers count already.
    """
    base = with_options(base, head)
    return (
        *_table(base, head, "gate"),
        *loosened_rows(base, head, ids),
        *_waivers(base, head, accepted),
        *_table(base, head, "accept"),
        *_table(base, head, "baseline"),
        *_table(base, head, "measure"),
        *_benchmarks(base, head),
        *_aliases(base, head),
    )


def _table(base: Config, head: Config, table: str) -> Iterator[Loosened]:
    before, after = getattr(base, table), getattr(head, table)
    for key in _laxer_keys((table,), before, after):
        was, now = _written(base, (table, key), before), _written(head, (table, key), after)
        yield _loosened(head, (table, key), was, now)


def _laxer_keys(place: Place, before: Table, after: Table) -> Iterator[str]:
    for key, laxer in LAXER[place].items():
        if laxer(before, after, field_of(type(before), key)):
            yield key


def _written(config: Config, path: KeyPath, table: Table) -> str:
    """A value as people write it, or what holds where they do not."""
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


def _loosened(head: Config, path: KeyPath, before: str, after: str, *, about: str = "") -> Loosened:
    return Loosened(
        key=dotted(path),
        about=about,
        before=before,
        after=after,
        place=head.origin.file_and_line(path),
        in_force=DECIDED_BY[str(path[0])] is Side.HEAD,
    )


def brings_waivers(base: Config, head: Config) -> bool:
    """Whether the head waives what the base does not."""
    return next(_waivers(base, head, None), None) is not None


def _waivers(base: Config, head: Config, accepted: Acceptance | None) -> Iterator[Loosened]:
    """What the base waives neither so far nor so long."""
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
    """Whether a waiver allows all that another one does, of benchmarks known as `name`."""
    metrics = known.metric is None or (
        waiver.metric is not None and covers(known.metric, waiver.metric)
    )
    if known.ceiling is None or waiver.ceiling is None:
        enough = known.outcome == waiver.outcome
    else:
        enough = known.ceiling >= waiver.ceiling
    return enough and known.until >= waiver.until and metrics and covers(known.benchmark, name)


def _benchmarks(base: Config, head: Config) -> Iterator[Loosened]:
    for index, was in enumerate(base.benchmarks):
        for name in _names(was):
            at, now = _found(was, name, head)
            if now is None:
                yield _loosened(head, ("benchmark",), "measured", "left out", about=name)
                continue
            before, after = (_with_executions(one, base) for one in (was, now))
            for key in _laxer_keys(_PLACES[type(was)], before, after):
                path = ("benchmark", at, key)
                values = _written(base, ("benchmark", index, key), was), _written(head, path, now)
                yield _loosened(head, path, *values, about=name)


def _names(benchmark: Benchmark) -> tuple[str, ...]:
    """The name of a command, or where Python functions are looked for."""
    return (benchmark.name,) if isinstance(benchmark, CommandBenchmark) else benchmark.paths


def _found(was: Benchmark, name: str, head: Config) -> tuple[int, Benchmark | None]:
    """The entry of the head that measures it, renamed or in a larger folder, after its index."""
    same_kind = ((i, now) for i, now in enumerate(head.benchmarks) if type(now) is type(was))
    for index, now in same_kind:
        if isinstance(now, CommandBenchmark):
            found = now.name in {name, head.aliases.get(name)}
        else:
            found = any(PurePosixPath(name).is_relative_to(path) for path in now.paths)
        if found:
            return index, now
    return -1, None


def _with_executions(benchmark: Benchmark, base: Config) -> Benchmark:
    """Fill in what a command leaves to [measure], of which the change is told there."""
    if isinstance(benchmark, PythonBenchmark) or benchmark.executions is not None:
        return benchmark
    return benchmark.model_copy(update={"executions": base.measure.executions})


def _aliases(base: Config, head: Config) -> Iterator[Loosened]:
    for old, new in head.aliases.items():
        if base.aliases.get(old) != new:
            before = base.aliases.get(old, _NOTHING)
            yield _loosened(head, ("aliases", old), before, new)
