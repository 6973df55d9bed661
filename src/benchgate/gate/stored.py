"""Chooses the stored results that count as earlier runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from benchgate.gate.same_work import work_in_files
from benchgate.model.metrics import TIME
from benchgate.model.notes import unlike_machines
from benchgate.model.result import SkippedResult
from benchgate.model.run import Status, Tier
from benchgate.model.verdict import RUNS_NEEDED
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchgate.model.result import Result
    from benchgate.model.run import BenchmarkResult, Run


EXPIRED = "it has expired"
OWN_COMMIT = "it measured the head's own commit"
FROM_ELSEWHERE = "its commit came from another repository, such as a fork"
OF_PULL_REQUEST = "its run was for a pull request"
OFF_BRANCH = "its commit is not part of the default branch, even if its run names that branch"
"""Reasons to skip a result that say nothing against the source: anybody can leave such ones."""

_NAMED = 3


@dataclass(frozen=True, slots=True, eq=False)
class EarlierResult:
    """A result that was measured before, with its name in messages.

    Attributes:
        why: why it is the base, in words, if its source has preferences.
    """

    name: str
    result: Result
    why: str = ""

    @property
    def run(self) -> Run:
        return self.result.head


@dataclass(frozen=True, slots=True, eq=False)
class StoredResults:
    """The content of a source of stored results.

    Attributes:
        source: "file", "directory" or "artifact".
        earlier: in order of preference.
        skipped: the results that cannot be used.
        warnings: warnings that a reader of the verdict must see.
    """

    source: str
    earlier: tuple[EarlierResult, ...] = ()
    skipped: tuple[SkippedResult, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def is_first(self) -> bool:
        """Whether there is no baseline yet: all results have expired, or cannot be a baseline."""
        harmless = {EXPIRED, OWN_COMMIT, FROM_ELSEWHERE, OF_PULL_REQUEST, OFF_BRANCH}
        reasons = {one.reason for one in self.skipped}
        return not self.earlier and not self.warnings and reasons <= harmless

    @property
    def is_empty(self) -> bool:
        """Whether there is no result at all, as before the first run."""
        return not self.earlier and not self.skipped


@dataclass(frozen=True, slots=True, eq=False)
class StoredBaseline:
    """The stored baseline of a head.

    Attributes:
        base: the result that the head is compared with.
        runs: runs that show how much runs differ, the base first; none if the base is from
            another machine.
        skipped: the results that were left out.
        warnings: a short form of `skipped`, and limits of the remaining results.
    """

    base: Result
    runs: tuple[Run, ...]
    skipped: tuple[SkippedResult, ...] = ()
    warnings: tuple[str, ...] = ()


def newest_first(earlier: Iterable[EarlierResult]) -> tuple[EarlierResult, ...]:
    """Order results by their recorded time of measurement."""
    return tuple(sorted(earlier, key=_started, reverse=True))


def fit_for(found: StoredResults, head: Run, aliases: Mapping[str, str]) -> StoredResults:
    """Leave out results that cannot be a baseline of this head, whatever their machine.

    Args:
        aliases: old id to new id.
    """
    kept: list[EarlierResult] = []
    skipped: list[SkippedResult] = []
    for one in found.earlier:
        if why := _why_unfit(one.run, head, kept, aliases):
            skipped.append(SkippedResult(one.name, why))
        else:
            kept.append(one)
    return replace(
        found,
        earlier=tuple(kept),
        skipped=(*found.skipped, *skipped),
        warnings=(*found.warnings, *in_short(skipped, len(found.earlier))),
    )


def of_machine(found: StoredResults, head: Run) -> StoredResults:
    """Leave out results from a machine other than the head's."""
    elsewhere = [one for one in found.earlier if differences(one.run, head)]
    skipped = tuple(
        SkippedResult(one.name, f"another machine: {'; '.join(differences(one.run, head))}")
        for one in elsewhere
    )
    return replace(
        found,
        earlier=tuple(one for one in found.earlier if one not in elsewhere),
        skipped=(*found.skipped, *skipped),
    )


def choose_stored(
    earlier: Sequence[EarlierResult], head: Run, aliases: Mapping[str, str] | None = None
) -> StoredBaseline:
    """Choose the first result that can be compared with the head as its base.

    A single result is always compared. If there are several, only complete runs of the same suite
    on the head's machine count, each of them once.

    Args:
        earlier: at least one, in order of preference.
        aliases: old id to new id.
    """
    if len(earlier) == 1:
        return _alone(earlier[0], head)
    found = fit_for(StoredResults("", tuple(earlier)), head, aliases or {})
    here = [one for one in found.earlier if not differences(one.run, head)]
    elsewhere = [one for one in found.earlier if differences(one.run, head)]
    other_machine = (
        SkippedResult(one.name, f"another machine: {'; '.join(differences(one.run, head))}")
        for one in elsewhere
    )
    skipped = (*found.skipped, *other_machine)
    if not here:
        return _none_counts((elsewhere or earlier)[0], len(earlier), skipped, head)
    warnings = in_short(skipped, len(earlier))
    if len(here) < RUNS_NEEDED:
        known = f"{len(here)} of the {RUNS_NEEDED} earlier runs that show how much runs differ"
        warnings = (*warnings, f"advisory: only {known}; slower times alone do not fail the build")
    why = f"{here[0].why}, and one of" if here[0].why else "the newest of"
    base = _because(here[0], f"{why} {counted(len(here), 'earlier run')}")
    return StoredBaseline(base, tuple(one.run for one in here), skipped, warnings)


def in_short(skipped: Sequence[SkippedResult], total: int) -> tuple[str, ...]:
    """Return a warning for each result that was left out; a single one if there are many.

    Args:
        total: the number of results, including those left out.
    """
    if len(skipped) <= _NAMED:
        return tuple(f"{one.what} is left out: {one.reason}" for one in skipped)
    reasons = Counter(one.reason for one in skipped).most_common()
    shown = [f"{count} because {reason}" for reason, count in reasons[:_NAMED]]
    if rest := sum(count for _, count in reasons[_NAMED:]):
        shown.append(f"{rest} for other reasons")
    return (f"{len(skipped)} of {total} stored results are left out: {'; '.join(shown)}",)


def _alone(one: EarlierResult, head: Run) -> StoredBaseline:
    warnings = unlike_machines(one.run, head)
    different = bool(warnings)
    if not one.run.complete:
        warnings = (*warnings, f"{one.name} was interrupted: it may lack rounds and benchmarks")
    base = _because(one, one.why) if one.why else one.result
    return StoredBaseline(base, () if different else (one.run,), (), warnings)


def _none_counts(
    first: EarlierResult, total: int, skipped: Sequence[SkippedResult], head: Run
) -> StoredBaseline:
    alone = _alone(first, head)
    others = tuple(one for one in skipped if one.what != first.name)
    warnings = (
        *in_short(others, total),
        f"no earlier run qualifies: compared only with {first.name}",
        *alone.warnings,
    )
    return StoredBaseline(alone.base, (), others, warnings)


def _because(one: EarlierResult, why: str) -> Result:
    """Return a result as the base, with the reason in words."""
    head = one.result.head
    return replace(one.result, head=replace(head, source=replace(head.source, why=why)))


def _why_unfit(
    run: Run, head: Run, kept: Iterable[EarlierResult], aliases: Mapping[str, str]
) -> str | None:
    """Say why a run cannot be a baseline of the head; None if it can."""
    if is_same_run(run, head):
        return "it is the head's own run"
    twin = next((one.name for one in kept if is_same_run(one.run, run)), None)
    if twin:
        return f"it is the same run as {twin}"
    if not run.complete:
        return "it was interrupted"
    if run.suite != head.suite:
        return f"it measured the suite {run.suite!r}, but the head is {head.suite!r}"
    measured = _work(head, {}) | _work_in_files(head)
    return _why_other_work(run, head) if measured and not measured & _work(run, aliases) else None


def _why_other_work(run: Run, head: Run) -> str:
    if _is_of_another_tool(run) is not _is_of_another_tool(head):
        return "another tool measured it: benchgate and that tool do not measure alike"
    return "it measured none of the head's benchmarks, or different work under the same names"


def _is_of_another_tool(run: Run) -> bool:
    return any(one.tier in {Tier.STORED, Tier.SUITE} for one in run.of_project)


def _measured(run: Run) -> list[BenchmarkResult]:
    return [one for one in run.of_project if one.status is not Status.SAME_CODE]


def _work(run: Run, aliases: Mapping[str, str]) -> set[tuple[str, str]]:
    """Return what was measured: ids, under their new names if renamed, with definitions."""
    measured = _measured(run)
    names = {one.id for one in measured}
    renamed = {(aliases[one.id], one.workload) for one in measured if one.id in aliases}
    return {(one.id, one.workload) for one in measured} | {x for x in renamed if x[0] not in names}


def _work_in_files(head: Run) -> set[tuple[str, str]]:
    works = ((one.id, work_in_files(one)) for one in _measured(head))
    return {(id_, work) for id_, work in works if work is not None}


def differences(run: Run, head: Run) -> tuple[str, ...]:
    """Describe the differences that make two runs' machines incomparable."""
    return run.differences(head)


def is_same_run(one: Run, other: Run) -> bool:
    """Whether two results are of one run: files of other tools with the same contents, too."""
    if one.seed != other.seed:
        return False
    if _is_imported(one) and _is_imported(other):
        return reads_a_clock(one.benchmarks)
    return (one.started, one.source.sha) == (other.started, other.source.sha)


def reads_a_clock(benchmarks: Iterable[BenchmarkResult]) -> bool:
    """Whether anything was measured that two runs never measure alike, to the last digit."""
    units = {series.metric.unit for one in benchmarks for series in one.series}
    return any(unit == TIME.unit or "/s" in unit for unit in units)


def _is_imported(run: Run) -> bool:
    return bool(run.benchmarks) and all(one.tier is Tier.STORED for one in run.benchmarks)


def _started(one: EarlierResult) -> datetime:
    return datetime.fromisoformat(one.run.started)
