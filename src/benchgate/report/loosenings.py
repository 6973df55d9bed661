"""Says what a change to the configuration loosens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.escape import plain_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.model.policy import PolicyChange


JUDGED = (
    "this change makes its own check less strict: the configuration of the base has judged it, and "
    "the following takes effect once it is merged"
)
RENAMED = "this change compares benchmarks under new names, and this verdict already does so"
ACCEPTED = (
    "this change brings waivers, somebody accepted them, and this verdict already applies them"
)
# The JSON verdict has all of them.
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class LooseningView:
    """What is loosened, under a title: "gate.margin: 2 % -> 10 % (benchgate.toml:3)"."""

    title: str
    changes: tuple[str, ...]


def view_loosening(changes: Iterable[PolicyChange]) -> tuple[LooseningView, ...]:
    """First the loosenings that did not affect the verdict, then those that did."""
    by_title: dict[str, list[str]] = {JUDGED: [], ACCEPTED: [], RENAMED: []}
    for one in changes:
        by_title[_title(one)].append(_line(one))
    return tuple(LooseningView(title, _first(lines)) for title, lines in by_title.items() if lines)


def _title(change: PolicyChange) -> str:
    if not change.in_force:
        return JUDGED
    return ACCEPTED if change.key.startswith("waive[") else RENAMED


def _line(change: PolicyChange) -> str:
    about = f", {plain_line(change.about)}" if change.about else ""
    place = f" ({plain_line(change.place)})" if change.place else ""
    before, after = plain_line(change.before), plain_line(change.after)
    return f"{plain_line(change.key)}{about}: {before} -> {after}{place}"


def _first(lines: list[str]) -> tuple[str, ...]:
    rest = len(lines) - _SHOWN
    return (*lines[:_SHOWN], *((f"and {rest} more",) if rest > 0 else ()))
