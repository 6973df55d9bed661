"""The first run of a suite in every arm, which shows its benchmarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.gate.same_work import TOOL, VERSION
from benchgate.measure.arm import ArmName
from benchgate.measure.contract import (
    DataFiles,
    DataFilesError,
    Definition,
    Discovery,
    DiscoveryFailure,
    workload_of,
)
from benchgate.measure.programs import (
    RunFailedError,
    workload_hash,
)
from benchgate.measure.suites.run import notes_of, version_of
from benchgate.model.run import Status, Tier, renamed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.config import SuiteBenchmark
    from benchgate.measure.arm import Arm
    from benchgate.measure.suites.run import SuiteRun


_SKIPPED_SHOWN = 3
_WITHOUT_ERROR = "its tool reported that it failed"


@dataclass(frozen=True, slots=True)
class FirstRuns:
    """The first run of a suite in every arm.

    Attributes:
        title: what people call the suite.
        arms, suites: all of them; the suite as the arm's own configuration defines it.
        runs: those that could be read.
        failed: why the others could not.
        aliases: old id to new id.
    """

    title: str
    arms: Mapping[ArmName, Arm]
    suites: Mapping[ArmName, SuiteBenchmark]
    runs: Mapping[ArmName, SuiteRun]
    failed: Mapping[ArmName, RunFailedError]
    aliases: Mapping[str, str]

    @property
    def new_ids(self) -> Mapping[str, str]:
        """The new id of each benchmark that the head renamed, by its old id."""
        base, head = (self._reported(arm) for arm in (ArmName.BASE, ArmName.HEAD))
        return renamed(base, head, self.aliases)

    def discovery(self, data: DataFiles, notes: tuple[str, ...], *, pin: bool) -> Discovery:
        """Describe the benchmarks that ran, and report the others.

        Args:
            data: reads the data files that the suite names.
            notes: on every benchmark.
            pin: whether the suite is kept on one CPU.
        """
        found: dict[ArmName, tuple[Definition, ...]] = dict.fromkeys(self.arms, ())
        if any(error.of_all for error in self.failed.values()):
            return Discovery(
                found,
                tuple(
                    DiscoveryFailure(arm, self.title, str(error), of_all=error.of_all)
                    for arm, error in self.failed.items()
                ),
            )
        failures = [*self._failed_suites(), *self._failed_benchmarks()]
        for arm in self.runs:
            try:
                found[arm] = tuple(self._definitions(arm, data, notes, pin=pin))
            except DataFilesError as error:
                failures.append(DiscoveryFailure(arm, self.title, str(error)))
        toolchains = {arm: _toolchain(run.tool) for arm, run in self.runs.items()}
        return Discovery(found, tuple(failures), toolchains)

    def _reported(self, arm: ArmName) -> tuple[str, ...]:
        run = self.runs.get(arm)
        return tuple(run.benchmarks) if run else ()

    def _definitions(
        self, arm: ArmName, data: DataFiles, notes: tuple[str, ...], *, pin: bool
    ) -> Iterator[Definition]:
        run, suite = self.runs[arm], self.suites[arm]
        notes = (*notes, *run.notes, *_skipped_in(run))
        if trouble := self._trouble_of(arm):
            notes = (*notes, f"its suite on the {arm}: {trouble.partition(chr(10))[0]}")
        parts = {
            "its definition": workload_hash(suite, pin=pin, inside=self.arms[arm].inside),
            TOOL: run.format,
            **data.parts(arm, suite.data),
        }
        new_ids = self.new_ids if arm is ArmName.BASE else {}
        for own_id, one in run.benchmarks.items():
            if one.status is Status.FAILED:
                continue
            version = version_of(run.format, one)
            own_parts = parts | ({VERSION: version} if version else {})
            yield Definition(
                id=new_ids.get(own_id, own_id),
                workload=workload_of(own_parts),
                tier=Tier.SUITE,
                kind=suite.KIND,
                tags=suite.tags,
                notes=(*notes, *notes_of(one)),
                renamed_from=own_id if own_id in new_ids else None,
                parts=own_parts,
                suite=self.title,
            )

    def _failed_suites(self) -> Iterator[DiscoveryFailure]:
        """Report the arms whose run failed or is doubtful.

        If the run of another arm shows which benchmarks there are, each of them failed.
        """
        for arm, error in self.failed.items():
            others = {id_ for other in self.runs for id_ in self._reported(other)}
            first, *rest = sorted(others) or [self.title]
            whose = "its suite failed: " if others else ""
            yield DiscoveryFailure(arm, first, f"{whose}{error}", suite=self.title)
            line = str(error).partition("\n")[0]
            for id_ in rest:
                short = f"its suite failed: {line}\n{first} has the details"
                yield DiscoveryFailure(arm, id_, short, suite=self.title)
        if self._trouble_of(ArmName.HEAD):
            for arm in self.runs:
                if trouble := self._trouble_of(arm):
                    yield DiscoveryFailure(arm, self.title, trouble)

    def _trouble_of(self, arm: ArmName) -> str:
        run = self.runs.get(arm)
        return run.trouble_beside(run.benchmarks) if run else ""

    def _failed_benchmarks(self) -> Iterator[DiscoveryFailure]:
        for arm, run in self.runs.items():
            new_ids = self.new_ids if arm is ArmName.BASE else {}
            for own_id, one in run.benchmarks.items():
                if one.status is Status.FAILED:
                    why = one.error or _WITHOUT_ERROR
                    yield DiscoveryFailure(arm, new_ids.get(own_id, own_id), why)


def _skipped_in(run: SuiteRun) -> list[str]:
    """Notes on what could not be read; the last one only counts if there is much of it."""
    shown = [f"its suite: not read: {one}" for one in run.skipped[:_SKIPPED_SHOWN]]
    rest = len(run.skipped) - len(shown)
    return [*shown, f"its suite: not read: {rest} more"] if rest else shown


def _toolchain(tool: str) -> dict[str, str]:
    """The tool and its version, if it tells one: "pytest-benchmark 5.1.0"."""
    name, _, version = tool.rpartition(" ")
    return {name: version} if name else {}
