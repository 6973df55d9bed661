"""Finds the functions of Python benchmarks; each arm imports every file once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from benchgate.config.live_benchmarks import FunctionBenchmarks
from benchgate.errors import UsageError
from benchgate.measure.arm import ArmName
from benchgate.measure.contract import (
    DataFiles,
    DataFilesError,
    Definition,
    Discovery,
    DiscoveryFailure,
    workload_of,
)
from benchgate.measure.functions.asv_matrix import with_matrix
from benchgate.measure.functions.interpreter import scripts_of, settings_of
from benchgate.measure.functions.returned_values import metric_of
from benchgate.measure.languages import parts as parts_of
from benchgate.measure.sources import find_files, find_programs
from benchgate.measure.workers import ForeignModuleError, WorkerFailedError, describe_runtime
from benchgate.model.metrics import PEAK_RSS, TIME
from benchgate.model.run import PYTHON, Tier, renamed
from benchgate.units import TIME_UNITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchgate.config.live_benchmarks import LiveBenchmarks
    from benchgate.measure.arm import Arm
    from benchgate.measure.contract import EngineSettings
    from benchgate.measure.functions.starting import Workers
    from benchgate.measure.sources import BenchFile
    from benchgate.model.metrics import Metric
    from benchgate.stats.timer import Timer


# What a worker of another language need not say of a benchmark.
_OF_ANY_LANGUAGE: Mapping[str, Any] = {
    "parallel": False,
    "data": (),
    "timeout_s": None,
    "measures": TIME.name,
    "of_unit": "",
    "location": None,
    "unit": None,
    "notes": (),
}


@dataclass(frozen=True, slots=True)
class ArmEntry:
    """A benchmark in one arm: its file, its name in the file, and the settings there.

    Attributes:
        workload: identifies its work there.
        timeout_s: limit for one launch.
        measures: what it is measured by; see `metric_of`.
        metric: that of the number that it returns; None if it is timed.
    """

    file: BenchFile
    name: str
    workload: str
    parallel: bool
    timeout_s: float
    measures: str = TIME.name
    metric: Metric | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A benchmark in each arm that has it.

    Attributes:
        lead: the arm that decides how it runs, if both have it.
    """

    sides: Mapping[ArmName, ArmEntry]
    lead: ArmName

    @property
    def is_compared(self) -> bool:
        """Whether both arms do the same work."""
        workloads = [side.workload for side in self.sides.values()]
        return len(workloads) > 1 and len(set(workloads)) == 1

    @property
    def parallel(self) -> bool:
        """Whether it is never pinned."""
        return self._leading.parallel

    @property
    def isolate(self) -> bool:
        """Whether it gets its own processes."""
        return self._leading.file.benchmark.isolate or self._leading.measures == PEAK_RSS.name

    @property
    def is_in_order(self) -> bool:
        """Whether it is measured after those that were listed before it."""
        return not isinstance(self._leading.file.benchmark, FunctionBenchmarks)

    @property
    def in_turn(self) -> bool:
        """Whether both arms never take a sample at the same time."""
        return self._leading.file.benchmark.in_turn

    @property
    def allow_foreign(self) -> bool:
        """Whether it may measure installed code that is the same in both arms."""
        return getattr(self._leading.file.benchmark, "allow_foreign", False)

    @property
    def timeout_s(self) -> float:
        """The longer timeout, so that neither arm can make the other fail."""
        return max(side.timeout_s for side in self.sides.values())

    @property
    def _leading(self) -> ArmEntry:
        return self.sides.get(self.lead) or next(iter(self.sides.values()))

    def place_in(self, arms: Iterable[ArmName]) -> tuple[tuple[object, ...], ...]:
        """Identify its file in each arm, and how it runs there.

        If one arm lacks it, use the same file as the other.
        """
        own = {
            arm: (side.file.path, side.file.group, side.file.benchmark.tool_arguments)
            for arm, side in self.sides.items()
        }
        known = next(iter(own.values()))
        return tuple(own.get(arm, known) for arm in arms)

    def joined(self, other: Entry) -> Entry:
        """Join the entries of two arms into one."""
        return replace(self, sides={**self.sides, **other.sides})


class PythonDiscovery:
    """Finds the benchmark functions of one or two arms.

    Attributes:
        entries: the benchmarks that were found, by id.
    """

    def __init__(
        self,
        benchmarks: Mapping[ArmName, Sequence[LiveBenchmarks]],
        arms: Mapping[ArmName, Arm],
        workers: Workers,
        settings: EngineSettings,
    ) -> None:
        self.entries: dict[str, Entry] = {}
        self._benchmarks = benchmarks
        self._own: dict[ArmName, list[LiveBenchmarks]] = {}
        self._arms = arms
        self._workers = workers
        self._settings = settings
        self._data = DataFiles(arms)

    def discover(self) -> Discovery:
        """Import every benchmark file once in each arm and list its functions."""
        found: dict[ArmName, dict[str, Definition]] = {}
        failures: list[DiscoveryFailure] = []
        toolchains: dict[ArmName, dict[str, str]] = {}
        timers: dict[ArmName, Timer] = {}
        runtimes: dict[ArmName, dict[str, None]] = {}
        warnings: dict[str, None] = {}
        for name, arm in self._arms.items():
            matrices = [
                with_matrix(arm, one) if isinstance(one, FunctionBenchmarks) else (one, ())
                for one in self._benchmarks.get(name, ())
            ]
            self._own[name] = [one for one, _ in matrices]
            warnings |= dict.fromkeys(text for _, texts in matrices for text in texts)
            found[name], toolchains[name], runtimes[name] = {}, {}, {}
        for arm, file, described in self._workers.describe(self._places()):
            definitions = found[arm.name]
            if isinstance(described, WorkerFailedError):
                failures.append(_unread(described, file.label))
                continue
            hello, timer = described
            for tool, version in hello["versions"].items():
                if isinstance(file.benchmark, FunctionBenchmarks):
                    toolchains[arm.name][PYTHON] = f"{tool} {version}"
                    runtimes[arm.name][describe_runtime(arm, hello)] = None
                else:
                    toolchains[arm.name][tool] = version
            other = timers.get(arm.name, timer)
            timers[arm.name] = max(timer, other, key=attrgetter("cost_ns"))
            failures += [
                DiscoveryFailure(arm.name, file.id_of(fault), error)
                for fault, error in hello["faults"].items()
            ]
            failures += self._define_all(arm, file, hello["benchmarks"], definitions, warnings)
        base, head = found.get(ArmName.BASE, {}), found.get(ArmName.HEAD, {})
        self._join(base, head)
        self._add_notes(base, head)
        by_arm = {name: tuple(definitions.values()) for name, definitions in found.items()}
        ran = {name: "; ".join(texts) for name, texts in runtimes.items() if texts}
        failed = (one for one in failures if not self._is_left_out(self._arms[one.arm], one.id))
        warnings |= self._workers.warnings
        return Discovery(by_arm, tuple(failed), toolchains, timers, ran, tuple(warnings))

    def _is_left_out(self, arm: Arm, id_: str) -> bool:
        return arm.name is ArmName.BASE and id_ in self._settings.unable

    def _places(self) -> list[tuple[Arm, BenchFile]]:
        """Every file in each arm, in turn, so that equal files are imported at the same time."""
        files = [[(arm, file) for file in self._files(arm)] for arm in self._arms.values()]
        wanted = [[place for place in of_arm if self._is_wanted(place[1])] for of_arm in files]
        rows = zip_longest(*(wanted if any(wanted) else files))
        return [place for row in rows for place in row if place]

    def _is_wanted(self, file: BenchFile) -> bool:
        """Whether it may have a chosen benchmark; other programs need not be built."""
        if isinstance(file.benchmark, FunctionBenchmarks) or not file.group:
            return True
        return self._settings.may_want(file.group)

    def _files(self, arm: Arm) -> Iterator[BenchFile]:
        for benchmark in self._own[arm.name]:
            if not isinstance(benchmark, FunctionBenchmarks):
                yield from self._programs(arm, benchmark)
                continue
            for path in benchmark.paths:
                # The base may lack files that its own configuration names; only the head is an
                # error.
                is_required = self._settings.requires_files and arm.name is ArmName.HEAD
                if is_required and not any(
                    find_files(other, benchmark, path) for other in self._arms.values()
                ):
                    raise _nothing_at(benchmark, path)
                yield from find_files(arm, benchmark, path)

    def _programs(self, arm: Arm, benchmark: LiveBenchmarks) -> Iterator[BenchFile]:
        """The programs of one table in another language."""
        is_required = self._settings.requires_files and arm.name is ArmName.HEAD
        if is_required and not any(
            find_programs(other, benchmark) for other in self._arms.values()
        ):
            raise _nothing_at(benchmark, '", "'.join(benchmark.paths))
        yield from find_programs(arm, benchmark)

    def _define_all(
        self,
        arm: Arm,
        file: BenchFile,
        described: Iterable[Mapping[str, Any]],
        definitions: dict[str, Definition],
        warnings: dict[str, None],
    ) -> list[DiscoveryFailure]:
        """Add the benchmarks of a file to those of its arm; what cannot be added is no other's."""
        failures: list[DiscoveryFailure] = []
        taken: dict[str, BenchFile] = {}
        for each in described:
            id_ = file.id_of(each["id"])
            if self._is_left_out(arm, id_):
                continue
            if id_ in definitions:
                taken[id_] = self.entries[id_].sides[arm.name].file
                continue
            try:
                definitions[id_] = self._define(arm, file, each)
            except DataFilesError as error:
                failures.append(DiscoveryFailure(arm.name, id_, str(error)))
        own = [id_ for id_, other in taken.items() if other is file]
        if own:
            more = f" and {len(own) - 1} more" if len(own) > 1 else ""
            warnings[_LISTED_TWICE.format(file.label, f"{own[0]}{more}")] = None
        others = ((id_, other) for id_, other in taken.items() if other is not file)
        failures += [_taken(arm, file, *each) for each in islice(others, 1)]
        return failures

    def _define(self, arm: Arm, file: BenchFile, described: Mapping[str, Any]) -> Definition:
        id_ = file.id_of(described["id"])
        if isinstance(file.benchmark, FunctionBenchmarks):
            own = {**described["parts"], **scripts_of(arm, file.benchmark)}
        else:
            own = parts_of(arm, file.benchmark, file.path, described)
            described = {**_OF_ANY_LANGUAGE, **described}
        parallel = file.benchmark.parallel or described["parallel"]
        parts = {
            **own,
            **settings_of(file.benchmark),
            **self._data.parts(arm.name, (*file.benchmark.data, *described["data"])),
        }
        workload = workload_of(parts)
        timeout_s = described["timeout_s"] or self._workers.timeout_s(file)
        measures = described["measures"]
        metric = metric_of(measures, described["of_unit"])
        side = ArmEntry(file, described["id"], workload, parallel, timeout_s, measures, metric)
        entry = Entry({arm.name: side}, self._settings.lead)
        known = self.entries.get(id_)
        self.entries[id_] = known.joined(entry) if known else entry
        return Definition(
            id=id_,
            workload=workload,
            parts=parts,
            tier=Tier.LOCKSTEP,
            kind=file.benchmark.KIND,
            tags=file.benchmark.tags,
            location=described["location"],
            display_unit=unit if (unit := described["unit"]) in TIME_UNITS else None,
            notes=tuple(described["notes"]),
        )

    def _add_notes(self, base: dict[str, Definition], head: dict[str, Definition]) -> None:
        for definitions in (base, head):
            for id_, one in definitions.items():
                definitions[id_] = replace(one, notes=(*one.notes, *self._notes(id_)))

    def _notes(self, id_: str) -> tuple[str, ...]:
        """Say why a benchmark is not pinned, if it is not."""
        parallel = self.entries[id_].parallel
        unpinned = "not pinned: it is marked parallel" if parallel else self._settings.unpinned
        return (unpinned,) if unpinned else ()

    def _join(self, base: dict[str, Definition], head: Mapping[str, Definition]) -> None:
        """Join each benchmark that the head renamed with its old one, under the new id."""
        for old, new in renamed(base, head, self._settings.aliases).items():
            base[new] = replace(base.pop(old), id=new, renamed_from=old)
            self.entries[new] = self.entries.pop(old).joined(self.entries[new])


_LISTED_TWICE = "{} lists {} more than once: only the first of each is measured"


def _nothing_at(benchmark: LiveBenchmarks, path: str) -> UsageError:
    return UsageError(
        f'no benchmarks found: [[benchmark]] {benchmark.KIND} = "{path}" {benchmark.LACKS}',
        hint="The path is relative to the configuration file. benchgate ignores files that git "
        "ignores.",
    )


def _taken(arm: Arm, file: BenchFile, id_: str, other: BenchFile) -> DiscoveryFailure:
    where = f"{file.path} and {other.path}" if file.path != other.path else f"{file.path}, twice"
    return DiscoveryFailure(
        arm.name,
        file.path,
        f"two benchmarks have the id {id_} ({where}): give one [[benchmark]] another `group`",
    )


def _unread(failure: WorkerFailedError, label: str) -> DiscoveryFailure:
    of_all = isinstance(failure, ForeignModuleError)
    return DiscoveryFailure(failure.worker.arm.name, label, failure.error, of_all)
