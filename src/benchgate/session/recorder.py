"""Records what was measured, round by round, and which arm caused a failure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from benchgate.measure.arm import ArmName
from benchgate.measure.contract import DiscoveryFailure, Observation
from benchgate.model.metrics import CPU_TIME, INSTRUCTIONS, TIME, VALGRIND
from benchgate.model.run import (
    CHANGED_FILES_ID,
    BenchmarkFiles,
    BenchmarkResult,
    Series,
    Status,
    Tier,
)
from benchgate.session.outlook import some_of
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from benchgate.measure.contract import Definition, Discovery
    from benchgate.model.calls import CallTree
    from benchgate.model.launch_table import Launch
    from benchgate.model.load import LoadLaunch
    from benchgate.model.metrics import Metric


_CHANGES_NAMED = 5
_WHAT_TO_DO = (
    "A benchmark, code that it calls, or [build] did this, so the measured code may not be the "
    "code of the commits. Write to a temporary folder instead, or to new files that git ignores. "
    "Files that [build] made must not change. Let [build] install into {env}, not into what both "
    "sides use."
)

_Failure = TypeVar("_Failure", DiscoveryFailure, Observation)
_WHY = "the base fails now, but did not fail before the head was built or run"


@dataclass(frozen=True, slots=True)
class Lesson:
    """What trying the base taught about measuring side by side.

    Attributes:
        ran: the base's ids of benchmarks that ran without failure.
        written: what was written into the tree meanwhile, as a reader knows it.
        pair_bytes: the most memory that both sides of one of them are expected to use.
    """

    ran: frozenset[str]
    written: tuple[str, ...]
    pair_bytes: int


@dataclass(frozen=True, slots=True)
class BaseTrial:
    """How the base behaved before anything of the head was built or run.

    The head can make the base fail, but only afterwards.

    Attributes:
        failed: the error by the base's id of each benchmark that failed then; None if it was not
            tried, so that every failure counts as its own.
        untried: the ids of benchmarks that there was no time for; they fail for their own sake.
        is_same: whether both arms have the same code, so that what fails on one fails on both.
        lesson: None if nothing was run here.
    """

    failed: Mapping[str, str] | None = None
    untried: frozenset[str] = frozenset()
    is_same: bool = False
    lesson: Lesson | None = None

    def blame(self, failure: _Failure, own_id: str) -> _Failure:
        """Attribute a failure to the arm that caused it.

        Args:
            own_id: id in the arm that failed.
        """
        if self.is_same:
            return replace(failure, of_all=True)
        if failure.arm is ArmName.HEAD or self.failed is None:
            return failure
        if own_id in self.failed or own_id in self.untried:
            return failure
        return replace(failure, arm=ArmName.HEAD, error=f"{_WHY}: {failure.error}")


UNTRIED = BaseTrial()
SAME_CODE = BaseTrial(is_same=True)


@dataclass(slots=True)
class _BenchmarkRecord:
    """One benchmark of one arm."""

    definition: Definition
    series: dict[Metric, Series] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    error: str | None = None
    of_all: bool = False
    round_s: float | None = None
    load: list[LoadLaunch] = field(default_factory=list)
    server: Mapping[str, str] = field(default_factory=dict)
    calls: dict[str, CallTree] = field(default_factory=dict)
    uses_files: bool | None = None
    is_same_code: bool = False

    def restore(self, earlier: BenchmarkResult) -> None:
        """Go on with what an earlier session measured."""
        self.series = {series.metric: series for series in earlier.series}
        self.notes = dict.fromkeys(
            note for note in earlier.notes if note not in self.definition.notes
        )
        self.error, self.of_all = earlier.error, earlier.of_all
        self.round_s = earlier.round_s
        self.uses_files = earlier.uses_files
        if earlier.load is not None:
            self.load, self.server = list(earlier.load.launches), earlier.load.server

    def launches(self, metric: Metric) -> tuple[Launch, ...]:
        return self.series[metric].launches if metric in self.series else ()

    @property
    def _status(self) -> Status:
        if self.is_same_code:
            return Status.SAME_CODE
        return Status.OK if self.error is None else Status.FAILED

    def result(self) -> BenchmarkResult:
        about = self.definition
        return BenchmarkResult(
            id=about.own_id,
            workload=about.workload,
            tier=about.tier,
            series=tuple(self.series.values()),
            status=self._status,
            error=self.error,
            of_all=self.of_all,
            notes=(*about.notes, *self.notes),
            location=about.location,
            display_unit=about.display_unit,
            parts=dict(about.parts),
            round_s=self.round_s,
            load=about.load
            and replace(about.load, launches=tuple(self.load), server=dict(self.server)),
            files=about.files,
            new_version_of=about.new_version_of,
            calls=self.calls,
            uses_files=self.uses_files is not False,
        )


class Recorder:
    """Collects observations and turns them into results.

    Args:
        tried: what trying the base has shown.

    Attributes:
        is_spoiled: whether protected files were changed: nothing more may be measured.
        skipped: why benchmarks do not run in an arm, by id, as their authors want it.
    """

    def __init__(self, arms: Iterable[ArmName], tried: BaseTrial = UNTRIED) -> None:
        self._records: dict[ArmName, dict[str, _BenchmarkRecord]] = {arm: {} for arm in arms}
        self._failures: dict[ArmName, list[BenchmarkResult]] = {arm: [] for arm in self._records}
        self._tried = tried
        self.is_spoiled = False
        self.skipped: dict[str, str] = {}

    def define(self, discovery: Discovery) -> None:
        """Record the benchmarks that an engine found, and what it could not read."""
        for arm, definitions in discovery.found.items():
            for definition in definitions:
                self._records[arm][definition.id] = _BenchmarkRecord(definition)
        for found in discovery.failures:
            failure = self._tried.blame(found, found.suite or found.id)
            result = _unread(failure.id, failure.error, of_all=failure.of_all)
            for arm in self._records if failure.of_all else (failure.arm,):
                self._failures[arm].append(result)

    def restore(self, arm: ArmName, results: Iterable[BenchmarkResult]) -> None:
        """Go on with what an earlier session measured of the benchmarks that were found.

        Args:
            results: of one arm; what was not found is left out.
        """
        earlier = {one.id: one for one in results}
        for record in self._records[arm].values():
            if one := earlier.get(record.definition.own_id):
                record.restore(one)

    def add(self, observation: Observation, round_index: int) -> None:
        """Append one launch; if a benchmark fails, its first error is kept."""
        if observation.benchmark not in self._records[observation.arm]:
            return  # its file defines it here too, but it is not to be measured on this side
        if observation.skipped:
            self._skip(observation)
            return
        if observation.error is not None and self.is_on_all_arms(observation.benchmark):
            definition = self._records[observation.arm][observation.benchmark].definition
            # Only the base's own benchmarks were tried before the head.
            if definition.files is not BenchmarkFiles.HEAD:
                observation = self._tried.blame(observation, definition.own_id)
        record = self._records[observation.arm][observation.benchmark]
        record.notes.update(dict.fromkeys(observation.notes))
        if observation.error is not None:
            having = (one.get(observation.benchmark) for one in self._records.values())
            for one in filter(None, having) if observation.of_all else (record,):
                one.error = one.error or observation.error
                one.of_all = one.of_all or observation.of_all
            self._fail_base(observation.benchmark)
        record.calls.update(observation.calls)
        if observation.metrics:
            record.uses_files = bool(record.uses_files) or observation.uses_files
        if observation.load is not None:
            record.load.append(observation.load)
            record.server = observation.server or record.server
        for measured in observation.metrics:
            (launch,) = measured.launches
            launch = replace(
                launch, round=round_index, order=observation.order, lane=observation.lane
            )
            launches = (*record.launches(measured.metric), launch)
            record.series[measured.metric] = replace(measured, launches=launches)

    def _fail_base(self, id_: str) -> None:
        """Let a benchmark that failed fail on the base too if it did before the head ran.

        If the head was the first to fail, the base was not run again.
        """
        record = self._records.get(ArmName.BASE, {}).get(id_)
        if record:
            before = (self._tried.failed or {}).get(record.definition.own_id)
            record.error = record.error or before

    def _skip(self, observation: Observation) -> None:
        """Act as if an arm did not have the benchmark."""
        self._records[observation.arm].pop(observation.benchmark)
        reason = (observation.error or "").partition("\n")[0]
        self.skipped[observation.benchmark] = reason
        self.note(observation.benchmark, f"skipped on the {observation.arm}: {reason}")

    def spoil(self, changes: Sequence[str]) -> None:
        """Record that a benchmark or build changed the files that are being measured."""
        self.is_spoiled = True
        lines = [*changes[:_CHANGES_NAMED], _WHAT_TO_DO]
        if more := len(changes) - len(lines) + 1:
            lines.insert(-1, f"and {more} more")
        result = _unread(CHANGED_FILES_ID, "\n".join(lines), of_all=True)
        for failures in self._failures.values():
            failures.append(result)

    def took(self, id_: str, round_s: float) -> None:
        """Record how long a round of a benchmark took, on all arms together.

        Args:
            round_s: of a suite, its share.
        """
        for records in self._records.values():
            if id_ in records:
                records[id_].round_s = round_s

    def note(self, id_: str, note: str) -> None:
        """Add a note to a benchmark, in every arm that has it."""
        for records in self._records.values():
            if id_ in records:
                records[id_].notes[note] = None

    def leave_unmeasured(self, ids: Collection[str]) -> None:
        """Record that these benchmarks run the same code on both sides."""
        for records in self._records.values():
            for id_ in records.keys() & set(ids):
                records[id_].is_same_code = True

    def ids(self) -> tuple[str, ...]:
        """Every benchmark to measure that has not failed and is not skipped, as in the head."""
        head_first = sorted(self._records, key=lambda arm: arm is not ArmName.HEAD)
        found = {id_: one for arm in head_first for id_, one in self._records[arm].items()}
        left = (id_ for id_, one in found.items() if not one.is_same_code)
        return tuple(id_ for id_ in left if not self.has_failed(id_) and id_ not in self.skipped)

    def found(self) -> tuple[str, ...]:
        """Every benchmark that was found in any arm, chosen or not, under all of its names."""
        definitions = [d for arm in self._records for d in self.definitions(arm)]
        names = (name for d in definitions for name in (d.id, d.renamed_from) if name)
        return tuple(dict.fromkeys(names))

    def has_failed(self, id_: str) -> bool:
        """Whether a benchmark failed on any arm."""
        return any(id_ in r and r[id_].error is not None for r in self._records.values())

    def is_on_all_arms(self, id_: str) -> bool:
        """Whether every arm has the benchmark."""
        return all(id_ in records for records in self._records.values())

    def was_tried(self, id_: str) -> bool:
        """Whether a benchmark has run on the base, before the head, without failure."""
        record = self._records.get(ArmName.BASE, {}).get(id_)
        if record is None or self._tried.lesson is None:
            return False
        about = record.definition
        # Only the base's own benchmarks were tried.
        return about.files is not BenchmarkFiles.HEAD and about.own_id in self._tried.lesson.ran

    def definitions(self, arm: ArmName) -> tuple[Definition, ...]:
        """The benchmarks that were found in one arm."""
        return tuple(record.definition for record in self._records[arm].values())

    def times(self) -> Mapping[str, tuple[Sequence[Launch], Sequence[Launch]]]:
        """The launches of the time of each benchmark that both arms have, the base's first."""
        base, head = (self._records.get(arm, {}) for arm in (ArmName.BASE, ArmName.HEAD))
        return {
            id_: (base[id_].launches(TIME), head[id_].launches(TIME))
            for id_ in base.keys() & head.keys()
        }

    def sample_cpu_s(self, id_: str) -> float:
        """The least CPU time that a sample of a benchmark took in any arm; 0 if unknown."""
        found = [
            float(launch.samples.min()) * records[id_].series[CPU_TIME].loops
            for records in self._records.values()
            if id_ in records
            for launch in records[id_].launches(CPU_TIME)
        ]
        return min(found, default=0.0)

    def rounds_counted(self, id_: str) -> int:
        """In how many rounds the instructions of a benchmark were counted by valgrind."""
        counted = (
            len(series.launches)
            for records in self._records.values()
            if id_ in records and (series := records[id_].series.get(INSTRUCTIONS))
            if series.counter == VALGRIND
        )
        return max(counted, default=0)

    def failures(self, arm: ArmName) -> tuple[BenchmarkResult, ...]:
        """The files and functions of one arm that could not be read."""
        return tuple(self._failures[arm])

    def results(
        self, arm: ArmName, without: Collection[str] = frozenset()
    ) -> tuple[BenchmarkResult, ...]:
        """Everything measured in one arm so far, failures included.

        Args:
            without: ids to leave out.
        """
        kept = [record for id_, record in self._records[arm].items() if id_ not in without]
        failures = (one for one in self._failures[arm] if one.id not in without)
        return (*(record.result() for record in kept), *failures)


def _unread(id_: str, error: str, *, of_all: bool) -> BenchmarkResult:
    """The failure of something that has no benchmarks to record it."""
    return BenchmarkResult(id_, "", Tier.LOCKSTEP, status=Status.FAILED, error=error, of_all=of_all)


def warnings_of_skipped(skipped: Mapping[str, str]) -> tuple[str, ...]:
    """Name the benchmarks that are skipped, together if it is for the same reason.

    Args:
        skipped: the reason by id.
    """
    by_reason: dict[str, list[str]] = {}
    for id_, reason in skipped.items():
        by_reason.setdefault(reason, []).append(id_)
    found = []
    for reason, ids in by_reason.items():
        found.append(f"{counted(len(ids), 'benchmark')} skipped, {some_of(ids)}: {reason}")
    return tuple(found)
