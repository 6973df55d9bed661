"""One run of a suite of another tool, and what it says about each benchmark."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from benchgate.formats.parsed import SORTED, failed
from benchgate.measure.arm_runner import CommandFailedError
from benchgate.measure.engine import MetricSamples
from benchgate.measure.execution import trouble_with
from benchgate.measure.suite_output import RunOutput, Scratch, UnreadableError
from benchgate.model.run import CANARY_IDS, CHANGED_FILES_ID, Kind, Status

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from benchgate.config import SuiteBenchmark
    from benchgate.formats.parsed import Reading
    from benchgate.measure.arm_runner import ArmRunner
    from benchgate.measure.armcommand import ArmCommand, RunSettings
    from benchgate.measure.engine import Arm, ArmName
    from benchgate.measure.execution import Execution
    from benchgate.model.run import BenchmarkResult, Series

_LINES_SHOWN = 10
_CHARACTERS_SHOWN = 200
_ANY_EXIT_CODE = frozenset(range(256))
_RESERVED = CANARY_IDS | {CHANGED_FILES_ID}


class SuiteFailedError(Exception):
    """A run failed as a whole; the message is one line, then details.

    Args:
        of_all: the failure counts for every arm, because no arm's numbers would be meaningful.
    """

    def __init__(self, error: str, *, of_all: bool = False) -> None:
        super().__init__(error)
        self.of_all = of_all


@dataclass(frozen=True, slots=True, eq=False)
class SuiteRun:
    """What one run reported.

    Attributes:
        format: NAME of the format.
        tool: name and version of the tool, as far as it tells them.
        benchmarks: by id, with the group; some may have failed.
        skipped: what could not be read, one sentence each.
        trouble: why the run as a whole is doubtful although it could be read: it exited with a
            code that is not allowed, and none of its benchmarks failed; "" if it is not.
        notes: what a reader of its numbers must see.
        took_s: how long it ran.
    """

    format: str
    tool: str
    benchmarks: Mapping[str, BenchmarkResult]
    skipped: tuple[str, ...]
    trouble: str
    notes: tuple[str, ...]
    took_s: float

    def trouble_beside(self, known: Container[str]) -> str:
        """What is wrong with the run, unless a failed benchmark that has a row explains it.

        Args:
            known: the benchmarks that have a row.
        """
        failures = (id_ for id_, one in self.benchmarks.items() if one.status is Status.FAILED)
        return "" if any(id_ in known for id_ in failures) else self.trouble


class SuiteRunner:
    """Runs a suite in its arms.

    Args:
        scratch: for the outputs of the runs.
    """

    def __init__(
        self,
        runner: ArmRunner,
        settings: RunSettings,
        scratch: Scratch,
        arms: Mapping[ArmName, Arm],
    ) -> None:
        self._runner = runner
        self._settings = settings
        self._scratch = scratch
        self._arms = arms

    def run(
        self, command: ArmCommand, suite: SuiteBenchmark, format_name: str | None, *, check: bool
    ) -> SuiteRun:
        """Run the suite once in one arm, and read what it reports.

        Args:
            format_name: the format of the results; None to recognize it.
            check: whether to check that it runs the code of its own arm, which costs a little.

        Raises:
            SuiteFailedError: it did not end well, and reported nothing that can be read.
        """
        any_code = replace(command, ok_exit_codes=_ANY_EXIT_CODE)
        started_s = time.perf_counter()
        try:
            fresh = self._scratch.fresh()
            output = RunOutput(
                fresh,
                any_code,
                suite.output,
                max_mib=suite.max_mib,
                ok_exit_codes=command.ok_exit_codes,
            )
            execution, notes = self._execute(output.command, check=check)
        except CommandFailedError as failure:
            raise SuiteFailedError(failure.error, of_all=failure.of_all) from failure
        except OSError as error:
            raise SuiteFailedError(f"no room for its output: {error.strerror}") from error
        took_s = time.perf_counter() - started_s
        trouble = trouble_with(execution, command.ok_exit_codes, self._settings.timeout_s) or ""
        try:
            name, reading = output.read(format_name)
        except UnreadableError as error:
            why = f"{trouble}\n{error}" if trouble else _with_tail(str(error), execution)
            raise SuiteFailedError(why) from error
        finally:
            output.remove()
        found = self._named(name, reading, command, suite)
        return SuiteRun(name, reading.tool, found, reading.skipped, trouble, notes, took_s)

    def _execute(self, command: ArmCommand, *, check: bool) -> tuple[Execution, tuple[str, ...]]:
        if check:
            execution, notes = self._runner.check(self._settings, command)
            if execution:
                return execution, notes
        return self._runner.prepare_and_time(self._settings, command), ()

    def _named(
        self, tool: str, reading: Reading, command: ArmCommand, suite: SuiteBenchmark
    ) -> dict[str, BenchmarkResult]:
        """The benchmarks by ids that are the same in both arms, and under the group."""
        arm = self._arms[command.arm]
        prefix = "" if suite.group is None else f"{suite.group}/"
        found: dict[str, BenchmarkResult] = {}
        for one in reading.benchmarks:
            own = arm.generalize(one.id)
            id_ = f"{prefix}{own}"
            if id_ in found:
                found[id_] = failed(tool, id_, "the suite reported two benchmarks of this name")
            elif id_ in _RESERVED:
                why = "benchgate uses this name itself: set `group`"
                found[f"{tool}/{id_}"] = failed(tool, id_, why)
            else:
                found[id_] = one
        return found


def version_of(tool: str, one: BenchmarkResult) -> str:
    """The tool's own hash of what a benchmark does; "" if it has none."""
    return one.workload.removeprefix(f"{tool}:").removeprefix(one.id).removeprefix("@")


def values_of(one: BenchmarkResult) -> tuple[MetricSamples, ...]:
    """One value of each metric: a run is one launch, however many samples it took.

    The value is the median of the samples, or the number that the tool reports. If the tool itself
    starts several processes, it is the median of theirs.
    """
    return tuple(_value(series) for series in one.series if series.launches)


def notes_of(one: BenchmarkResult) -> tuple[str, ...]:
    """The notes on its numbers, except for what does not matter to a median."""
    return tuple(note for note in one.notes if note != SORTED)


def _value(series: Series) -> MetricSamples:
    medians = [np.median(launch.samples) for launch in series.launches]
    metric = series.metric
    if metric.kind is Kind.SUMMARY:  # there are several runs, and so several of these
        metric = replace(metric, kind=Kind.SAMPLED)
    return MetricSamples(metric, 1, np.array([np.median(medians)]), np.empty(0))


def _with_tail(error: str, execution: Execution) -> str:
    """Add the last lines that it printed, unless the error shows them already."""
    lines = execution.output_tail.strip().splitlines()[-_LINES_SHOWN:]
    tail = "\n".join(line[:_CHARACTERS_SHOWN] for line in lines)
    return f"{error}\nit printed:\n{tail}" if tail and tail not in error else error
