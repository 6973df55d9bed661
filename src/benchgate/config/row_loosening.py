"""Margins, statistics and metrics that are laxer in the head, after every [[rule]].

Rules cannot be compared one by one: a later one wins, and globs overlap. So what they come to is
compared, on every benchmark that is known, and on the globs of the rules as if they were ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchgate.config.laxer import BY_ROW
from benchgate.config.places import dotted
from benchgate.config.policy import old_ids
from benchgate.config.rules import concerns, covers
from benchgate.model.waiver import Loosened
from benchgate.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import TypeAlias

    from benchgate.config.places import KeyPath
    from benchgate.config.resolved import Config
    from benchgate.config.rules import RowPolicy

    Where: TypeAlias = tuple[str, str | None]
    """A benchmark and a metric of it; None for what is said of all."""

# No glob but `*` matches it: it stands for the benchmarks that no rule is for.
_ANY = ""
_KEYS = sorted(BY_ROW - {"metrics"})
_NAMES_SHOWN = 3


def loosened_rows(base: Config, head: Config, ids: Sequence[str]) -> Iterator[Loosened]:
    """Compare what holds for each benchmark; equal differences are told once.

    Args:
        ids: of the benchmarks that are known, in either arm.
    """
    if (base.gate, base.rules, base.aliases) == (head.gate, head.rules, head.aliases):
        return
    renamed = old_ids(base, head)
    found: dict[tuple[str, str, str], list[Where]] = {}
    for name in _names(base, head, renamed, ids):
        for metric, was, now in _policies(base, head, renamed.get(name, name), name):
            for key in ("metrics",) if metric is None else _KEYS:
                before, after = getattr(was, key), getattr(now, key)
                if _is_laxer(before, after):
                    kind = (key, _words(before), _words(after))
                    found.setdefault(kind, []).append((name, metric))
    for (key, before, after), places in found.items():
        name, metric = places[0]
        path = _set_by(head, name, metric, key)
        yield Loosened(
            key=dotted(path),
            about=_about(places, base.effective(renamed.get(name, name)).metrics),
            before=before,
            after=after,
            place=head.origin.file_and_line(path),
        )


def _names(
    base: Config, head: Config, renamed: Mapping[str, str], ids: Sequence[str]
) -> Sequence[str]:
    """What is compared. An id that the head renamed is there under its new name alone."""
    globs = [rule.benchmark for config in (head, base) for rule in config.rules]
    gone = set(renamed.values())
    names = dict.fromkeys((_ANY, *globs, *renamed, *ids))
    return [name for name in names if name not in gone]


def _policies(
    base: Config, head: Config, old: str, name: str
) -> Iterator[tuple[str | None, RowPolicy, RowPolicy]]:
    """What holds for a benchmark as a whole, then for each metric that decides in the base."""
    whole = base.effective(old)
    yield None, whole, head.effective(name)
    for metric in whole.metrics:
        yield metric, base.effective(old, metric), head.effective(name, metric)


def _is_laxer(before: Any, after: Any) -> bool:  # noqa: ANN401 - numbers or names
    return not set(before) <= set(after) if isinstance(before, tuple) else bool(after > before)


def _words(value: float | tuple[str, ...]) -> str:
    return ", ".join(value) if isinstance(value, tuple) else format_percent(value)


def _set_by(config: Config, name: str, metric: str | None, key: str) -> KeyPath:
    """The key that has the last word on it."""
    for index, rule in reversed(list(enumerate(config.rules))):
        if getattr(rule, key) is not None and concerns(rule, name, metric):
            return ("rule", index, key)
    return ("gate", key)


def _about(places: Sequence[Where], metrics: Sequence[str]) -> str:
    """The benchmarks, and some of their metrics: "db/*, sort (peak_rss)"; "" for all of both.

    Args:
        places: of one difference.
        metrics: all that decide there in the base.
    """
    names = list(dict.fromkeys(name for name, _ in places))
    shown = [] if _ANY in names else _without_covered(names)
    some = list(dict.fromkeys(metric for _, metric in places if metric))
    more = f" and {len(shown) - _NAMES_SHOWN} more" if len(shown) > _NAMES_SHOWN else ""
    only = f"({', '.join(some)})" if some and set(some) < set(metrics) else ""
    return f"{', '.join(shown[:_NAMES_SHOWN])}{more} {only}".strip()


def _without_covered(names: Sequence[str]) -> list[str]:
    """The names without those that a glob among them speaks for."""
    globs = [name for name in names if "*" in name or "?" in name]
    return [
        name
        for name in names
        if not any(covers(glob, name) and not covers(name, glob) for glob in globs)
    ]
