"""How a change loosens its own gate, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.report.escape import plain_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.model.waiver import Loosened

JUDGED = (
    "this change loosens its own gate: it was judged by the base's configuration, and the "
    "following takes effect once it is merged"
)
IN_FORCE = "this change compares benchmarks under new names, and this verdict already does so"
# The JSON verdict has all of them.
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class LooseningView:
    """What is loosened, under a title: "gate.margin: 2 % -> 10 % (benchgate.toml:3)"."""

    title: str
    changes: tuple[str, ...]


def view_loosening(changes: Iterable[Loosened]) -> tuple[LooseningView, ...]:
    """First the changes that did not affect the verdict, then those that did."""
    by_title: dict[str, list[str]] = {JUDGED: [], IN_FORCE: []}
    for change in changes:
        by_title[IN_FORCE if change.in_force else JUDGED].append(_line(change))
    return tuple(LooseningView(title, _first(lines)) for title, lines in by_title.items() if lines)


def _line(change: Loosened) -> str:
    about = f", {plain_line(change.about)}" if change.about else ""
    place = f" ({plain_line(change.place)})" if change.place else ""
    before, after = plain_line(change.before), plain_line(change.after)
    return f"{plain_line(change.key)}{about}: {before} -> {after}{place}"


def _first(lines: list[str]) -> tuple[str, ...]:
    rest = len(lines) - _SHOWN
    return (*lines[:_SHOWN], *((f"and {rest} more",) if rest > 0 else ()))
