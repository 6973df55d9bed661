"""Which of the stored results count as earlier runs of the head, and which of them is the base."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from benchgate.model.verdict import RUNS_NEEDED
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchgate.model.result import Result, Run


@dataclass(frozen=True, slots=True, eq=False)
class Earlier:
    """A result that was measured before, under the name by which messages call it."""

    name: str
    result: Result

    @property
    def run(self) -> Run:
        """What is compared of it."""
        return self.result.head


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """The stored baseline of a head.

    Attributes:
        base: what the head is compared with.
        runs: those that tell how far runs differ, the newest first, which is the base; none
            where the base is of another machine.
        warnings: what was left out and why, and what the rest cannot do.
    """

    base: Result
    runs: tuple[Run, ...]
    warnings: tuple[str, ...] = ()


def choose_stored(earlier: Sequence[Earlier], head: Run) -> Stored:
    """Take the newest that can be compared with the head as its base.

    A single result is compared whatever it is. Of several, only complete runs of the same suite
    on the head's machine count, each of them once.

    Args:
        earlier: at least one, in any order.
    """
    if len(earlier) == 1:
        return _alone(earlier[0], head)
    newest_first = sorted(earlier, key=_started, reverse=True)
    kept: list[Earlier] = []
    warnings: list[str] = []
    for one in newest_first:
        if why := _why_not(one.run, head, kept):
            warnings.append(f"{one.name} is left out: {why}")
        else:
            kept.append(one)
    if not kept:
        newest = newest_first[0]
        warnings.append(f"no earlier run counts: compared with {newest.name}, the newest, alone")
        return Stored(newest.result, (), tuple(warnings))
    if len(kept) < RUNS_NEEDED:
        known = f"{len(kept)} of the {RUNS_NEEDED} earlier runs that tell how far runs differ"
        warnings.append(f"advisory: {known}; slower times alone fail nothing")
    return Stored(_as_newest(kept), tuple(one.run for one in kept), tuple(warnings))


def _alone(one: Earlier, head: Run) -> Stored:
    differences = one.run.environment.differences(head.environment)
    warnings = tuple(f"measured on different machines: {d}" for d in differences)
    return Stored(one.result, () if differences else (one.run,), warnings)


def _as_newest(kept: Sequence[Earlier]) -> Result:
    """Give the newest run as the base, with the reason in words."""
    result = kept[0].result
    why = f"the newest of {counted(len(kept), 'earlier run')}"
    return replace(result, head=replace(result.head, source=replace(result.head.source, why=why)))


def _why_not(run: Run, head: Run, kept: Iterable[Earlier]) -> str | None:
    """Say why a run tells nothing of how far runs differ, None when it does."""
    if _is_same(run, head):
        return "it is the head's own run"
    twin = next((one.name for one in kept if _is_same(one.run, run)), None)
    if twin:
        return f"it is the same run as {twin}"
    if not run.complete:
        return "it was interrupted"
    if run.suite != head.suite:
        return f"it measured the suite {run.suite!r}, and the head {head.suite!r}"
    differences = run.environment.differences(head.environment)
    return f"another machine: {'; '.join(differences)}" if differences else None


def _is_same(one: Run, other: Run) -> bool:
    return (one.started, one.seed, one.source.sha) == (other.started, other.seed, other.source.sha)


def _started(one: Earlier) -> datetime:
    return datetime.fromisoformat(one.run.started)
