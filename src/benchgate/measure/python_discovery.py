"""Finding the functions of Python benchmarks: every file is imported once in each arm."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from benchgate.config.benchmarks import PATTERN
from benchgate.errors import UsageError
from benchgate.measure.benchfiles import BenchFile, find_files
from benchgate.measure.datafiles import DataFiles, DataFilesError, workload_of
from benchgate.measure.engine import ArmName, Definition, Discovery, DiscoveryFailure
from benchgate.measure.entry import ArmEntry, Entry
from benchgate.measure.interpreter import scripts_of, settings_of
from benchgate.measure.worker_process import ForeignModuleError, WorkerFailedError
from benchgate.model.renames import renamed
from benchgate.model.run import Tier

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchgate.config import PythonBenchmark
    from benchgate.measure.engine import Arm
    from benchgate.measure.python_workers import Workers
    from benchgate.stats.timer import Timer

_LINES_NAMED = 3


class PythonDiscovery:
    """Finds the functions of one or two arms.

    Args:
        benchmarks: what each arm's own configuration looks for in it.
        aliases: new id of each benchmark that the head renamed, by its old one.
        lead: the arm whose benchmark says how one of both is run: isolated, parallel.
        unpinned: why the arms share no CPU; "" when they do.

    Attributes:
        entries: what was found, by id.
    """

    def __init__(
        self,
        benchmarks: Mapping[ArmName, Sequence[PythonBenchmark]],
        arms: Mapping[ArmName, Arm],
        workers: Workers,
        *,
        aliases: Mapping[str, str],
        lead: ArmName,
        unpinned: str,
    ) -> None:
        self.entries: dict[str, Entry] = {}
        self._benchmarks = benchmarks
        self._arms = arms
        self._workers = workers
        self._aliases = aliases
        self._lead = lead
        self._unpinned = unpinned
        self._data = DataFiles({arm.name: arm.root for arm in arms.values()})

    def discover(self) -> Discovery:
        """Import every benchmark file once in each arm and list its functions.

        Raises:
            UsageError: a place that the head configures holds no benchmark file in any arm.
        """
        found: dict[ArmName, dict[str, Definition]] = {}
        failures: list[DiscoveryFailure] = []
        toolchains: dict[ArmName, dict[str, str]] = {}
        timers: dict[ArmName, Timer] = {}
        for arm in self._arms.values():
            definitions = found[arm.name] = {}
            toolchains[arm.name] = {}
            for file in self._files(arm):
                try:
                    hello, timer = self._workers.describe(arm, file)
                except WorkerFailedError as failure:
                    failures.append(_unread(failure, file.group))
                    continue
                toolchains[arm.name]["python"] = hello["python"]
                other = timers.get(arm.name, timer)
                timers[arm.name] = max(timer, other, key=attrgetter("cost_ns"))
                failures += [
                    DiscoveryFailure(arm.name, file.id_of(name), error)
                    for name, error in hello["faults"].items()
                ]
                for described in hello["benchmarks"]:
                    id_ = file.id_of(described["id"])
                    if id_ in definitions:
                        other_file = self.entries[id_].sides[arm.name].file
                        failures.append(_taken(arm, file, id_, other_file))
                        break
                    try:
                        definitions[id_] = self._define(arm, file, described)
                    except DataFilesError as error:
                        failures.append(DiscoveryFailure(arm.name, id_, str(error)))
        base, head = found.get(ArmName.BASE, {}), found.get(ArmName.HEAD, {})
        self._join(base, head)
        self._add_notes(base, head)
        by_arm = {arm: tuple(definitions.values()) for arm, definitions in found.items()}
        return Discovery(by_arm, tuple(failures), toolchains, timers)

    def _files(self, arm: Arm) -> Iterator[BenchFile]:
        for benchmark in self._benchmarks.get(arm.name, ()):
            for path in benchmark.paths:
                # What the base's configuration names may be gone from it; the head must be told.
                if arm.name is ArmName.HEAD and not any(
                    find_files(other, benchmark, path) for other in self._arms.values()
                ):
                    raise UsageError(
                        "no benchmarks found: "
                        f'[[benchmark]] python = "{path}" has no file {PATTERN}',
                        hint="The path in benchgate.toml or pyproject.toml is relative to the root "
                        "of the repository. A file that git ignores is not measured.",
                    )
                yield from find_files(arm, benchmark, path)

    def _define(self, arm: Arm, file: BenchFile, described: Mapping[str, Any]) -> Definition:
        id_ = file.id_of(described["id"])
        parallel = file.benchmark.parallel or described["parallel"]
        side = ArmEntry(file, described["id"], parallel, self._workers.timeout_s(file))
        entry = Entry({arm.name: side}, self._lead)
        known = self.entries.get(id_)
        self.entries[id_] = known.joined(entry) if known else entry
        parts = {
            **described["parts"],
            **settings_of(file.benchmark),
            **scripts_of(arm, file.benchmark),
            **self._data.parts(arm.name, (*file.benchmark.data, *described["data"])),
        }
        return Definition(
            id=id_,
            workload=workload_of(parts),
            parts=parts,
            also_runs=described["also_runs"],
            tier=Tier.LOCKSTEP,
            tags=file.benchmark.tags,
            location=described["location"],
            display_unit=described["unit"],
        )

    def _add_notes(self, base: dict[str, Definition], head: dict[str, Definition]) -> None:
        for definitions in (base, head):
            for id_, one in definitions.items():
                definitions[id_] = replace(one, notes=self._notes(id_))
        for id_ in base.keys() & head.keys():
            if note := note_on_import(base[id_], head[id_]):
                head[id_] = replace(head[id_], notes=(*head[id_].notes, note))

    def _notes(self, id_: str) -> tuple[str, ...]:
        """Say why a benchmark is not pinned, if it is not."""
        parallel = self.entries[id_].parallel
        unpinned = "not pinned: it is marked parallel" if parallel else self._unpinned
        return (unpinned,) if unpinned else ()

    def _join(self, base: dict[str, Definition], head: Mapping[str, Definition]) -> None:
        """Let what the head renamed be one benchmark, under its new id."""
        for new, old in renamed(base, head, self._aliases).items():
            base[new] = replace(base.pop(old), id=new, renamed_from=old)
            self.entries[new] = self.entries.pop(old).joined(self.entries[new])


def note_on_import(base: Definition, head: Definition) -> str:
    """Say where the files of both arms differ in what they run on import, beside the work."""
    changed = base.also_runs.keys() ^ head.also_runs.keys()
    lines = sorted(line for digest, line in head.also_runs.items() if digest in changed)
    if not changed:
        return ""
    named = ", ".join(map(str, lines[:_LINES_NAMED]))
    places = f" ({'line' if len(lines) == 1 else 'lines'} {named})" if lines else ""
    return (
        "its file runs other code on import in the head than in the base"
        f"{places}, though not for this benchmark"
    )


def _taken(arm: Arm, file: BenchFile, id_: str, other: BenchFile) -> DiscoveryFailure:
    where = f"{file.path} and {other.path}" if file.path != other.path else f"{file.path}, twice"
    return DiscoveryFailure(
        arm.name,
        file.path,
        f"two benchmarks have the id {id_} ({where}): give one [[benchmark]] another `group`",
    )


def _unread(failure: WorkerFailedError, group: str) -> DiscoveryFailure:
    of_all = isinstance(failure, ForeignModuleError)
    return DiscoveryFailure(failure.worker.arm.name, group, failure.error, of_all)
