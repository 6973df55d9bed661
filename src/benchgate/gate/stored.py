"""Chooses the stored results that count as earlier runs, and what they decide before measuring.

With stored runs only one arm must be measured, but a shift of a whole run looks like a change of
the code, or hides one. They settle a benchmark only if enough of them are known and hardly differ,
and if they show that it is unchanged. Everything else is measured here against the base by the
usual procedure, on rounds that played no part in the selection.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from benchgate.gate.estimates import by_lengths
from benchgate.gate.rows import open_outcome, work_in_files
from benchgate.gate.single_runs import is_steady
from benchgate.gate.suite import gather_rows, judge
from benchgate.gate.waves import SUSPECT_MARGIN_SHARE, SUSPECT_P, SUSPECT_TAIL_P
from benchgate.model.notes import unlike_machines
from benchgate.model.policy import MOVED, Outcome
from benchgate.model.result import MOST_RECENT, Course, SkippedResult
from benchgate.model.run import TIME, Tier
from benchgate.model.verdict import RUNS_NEEDED
from benchgate.stats.rank_tests import least_p_mann_whitney, mann_whitney, two_sample_shift
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from benchgate.config import Config
    from benchgate.gate.evidence import Evidence
    from benchgate.gate.suite import Judgment
    from benchgate.model.result import Result
    from benchgate.model.run import BenchmarkResult, Run
    from benchgate.model.verdict import Row


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


def _work(run: Run, aliases: Mapping[str, str]) -> set[tuple[str, str]]:
    """Return what was measured: ids, under their new names if renamed, with definitions."""
    measured = run.of_project
    names = {one.id for one in measured}
    renamed = {(aliases[one.id], one.workload) for one in measured if one.id in aliases}
    return {(one.id, one.workload) for one in measured} | {x for x in renamed if x[0] not in names}


def _work_in_files(head: Run) -> set[tuple[str, str]]:
    works = ((one.id, work_in_files(one)) for one in head.of_project)
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


def can_settle(earlier: Sequence[Run], config: Config) -> frozenset[str]:
    """Return the benchmarks that stored runs would probably settle if the head were unchanged.

    For the others, measuring only the head is useless, because it would be measured again.

    Args:
        earlier: earlier runs on the head's machine, the base first.
    """
    if not earlier:
        return frozenset()
    known = judge(earlier[0], earlier[0], config, paired=False, waves=None, earlier=earlier)
    confidence = config.gate.confidence
    tested = {e.key: is_steady(e, confidence=confidence) for e in known.evidence if e.settles}
    asides = _asides(known)
    hopeless = {
        row.benchmark for row in known.rows if not tested.get(_key(row), _is_settled(row, asides))
    }
    return frozenset({row.benchmark for row in known.rows} - hopeless)


def to_measure(stored: Judgment) -> frozenset[str]:
    """Return the benchmarks that stored runs have not settled, or that look changed.

    Benchmarks that only the base has are left out.
    """
    asides = _asides(stored)
    unsettled = {row.benchmark for row in stored.rows if not _is_settled(row, asides)}
    return frozenset(unsettled | _suspects([e for e in stored.evidence if e.obstacle is None]))


def joined(stored: Judgment, measured: Judgment) -> Judgment:
    """Replace rows from stored runs by the rows that were measured here.

    Settled rows stay as they are. A row that is not settled and was not measured here claims
    nothing, and says so.
    """
    here = {row.benchmark for row in measured.rows}
    changed = {row.benchmark for row in stored.rows if row.outcome in MOVED}
    changed |= _suspects([e for e in stored.evidence if e.obstacle is None])
    unsettled = to_measure(stored)
    asides = _asides(stored)
    kept = [
        _unsettled(row, looks_changed=row.benchmark in changed, settles=_key(row) not in asides)
        if row.benchmark in unsettled and row.tier is Tier.STORED
        else row
        for row in stored.rows
        if row.benchmark not in here
    ]
    return replace(
        measured,
        rows=(*measured.rows, *kept),
        warnings=(*stored.warnings, *measured.warnings),
        base_benchmarks=stored.base_benchmarks,
        evidence=(*measured.evidence, *(e for e in stored.evidence if e.pair.id not in here)),
    )


def _is_settled(row: Row, asides: Collection[tuple[str, str, str]]) -> bool:
    """Whether measuring it here would add nothing that must be known.

    Args:
        asides: see `_asides`.
    """
    if row.outcome is Outcome.MISSING:
        return True
    if _key(row) in asides:
        return row.outcome not in MOVED
    if row.outcome is Outcome.NOT_TESTED and not row.statistic:
        return True  # a metric that cannot be measured here
    return row.outcome is Outcome.UNCHANGED and not row.advisory


def _asides(judgment: Judgment) -> frozenset[tuple[str, str, str]]:
    """The rows that get no rounds unless they look changed, such as tails."""
    return frozenset(e.key for e in judgment.evidence if not e.settles)


def _key(row: Row) -> tuple[str, str, str]:
    return row.benchmark, row.metric, row.statistic


def _suspects(evidences: Sequence[Evidence]) -> set[str]:
    """Find suspects like the screen of rounds, but from launches that share no rounds."""
    base, head = [np.log(e.base) for e in evidences], [np.log(e.head) for e in evidences]
    suspects: set[str] = set()
    for indices, x, y in by_lengths(base, head):
        chosen = [evidences[i] for i in indices]
        estimate = two_sample_shift(x, y, 0.5).estimate
        test = mann_whitney(x, y)
        p = np.where(estimate > 0, test.p_greater, test.p_less)
        # Launches that do not overlap are sufficient, however few they are.
        at_least = least_p_mann_whitney(x.shape[1], y.shape[1])
        limit = [max(SUSPECT_TAIL_P if e.is_tail else SUSPECT_P, at_least) for e in chosen]
        half_margin = np.log1p([e.margin * SUSPECT_MARGIN_SHARE for e in chosen])
        suspected = (np.abs(estimate) > half_margin) & (p <= limit)
        suspects |= {e.pair.id for e, is_one in zip(chosen, suspected, strict=True) if is_one}
    return suspects


def _unsettled(row: Row, *, looks_changed: bool, settles: bool) -> Row:
    """Make a row that claims nothing, because it should have been measured here."""
    if looks_changed:
        note = "not measured in this run, although its benchmark looks changed"
    else:
        note = "no change found against stored launches, but they can hide one"
    outcome = row.outcome
    if outcome is Outcome.UNCHANGED and row.advisory:
        outcome = open_outcome(settles=settles)
    return replace(row, outcome=outcome, notes=(note, *row.notes))


_Key: TypeAlias = tuple[str, str, str]


def courses(earlier: Iterable[Run], head: Run, config: Config) -> tuple[Course, ...]:
    """Collect the values of the newest earlier runs, for each row of the head that they have.

    Args:
        earlier: runs on the head's machine, in any order.
    """
    newest = sorted(earlier, key=_started_at)[-MOST_RECENT:]
    found: dict[_Key, list[float]] = {}
    for run in newest:
        for key, value in _values(run, head, config):
            if math.isfinite(value):
                found.setdefault(key, []).append(value)
    return tuple(Course(*key, tuple(values)) for key, values in found.items())


def courses_of(rows: Iterable[Row]) -> tuple[Course, ...]:
    """The values that rows have already."""
    return tuple(
        Course(row.benchmark, row.metric, row.statistic, row.recent) for row in rows if row.recent
    )


def with_courses(judgment: Judgment, known: Iterable[Course]) -> Judgment:
    """Add to each row what earlier runs measured, if that is known."""
    recent = {(one.benchmark, one.metric, one.statistic): one.values for one in known}
    rows = (
        replace(row, recent=recent.get((row.benchmark, row.metric, row.statistic), row.recent))
        for row in judgment.rows
    )
    return replace(judgment, rows=tuple(rows))


def _values(run: Run, head: Run, config: Config) -> Iterator[tuple[_Key, float]]:
    """The value of a run for each row of the head whose work it measured."""
    rows, evidences = gather_rows(run, head, config, paired=False)
    for row in rows:
        if row.test == "exact" and row.base_median is not None:
            yield (row.benchmark, row.metric, row.statistic), row.base_median
    for one in evidences:
        if one.obstacle is None:
            yield one.key, float(np.median(one.base))


def _started_at(run: Run) -> datetime:
    return datetime.fromisoformat(run.started)
