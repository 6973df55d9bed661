"""One run of a suite of another tool."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from benchgate.formats.rows import SORTED, failed
from benchgate.measure.processes import trouble_with
from benchgate.measure.programs import RunFailedError
from benchgate.measure.suites.output import CHARACTERS_SHOWN, RunOutput, UnreadableError
from benchgate.model.metrics import Kind
from benchgate.model.run import CANARY_IDS, CHANGED_FILES_ID, Series, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping
    from pathlib import Path

    from benchgate.config import SuiteBenchmark
    from benchgate.formats.rows import Reading
    from benchgate.measure.arm import Arm
    from benchgate.measure.processes import Execution
    from benchgate.measure.programs import ArmCommand
    from benchgate.model.run import BenchmarkResult


_LINES_SHOWN = 10
_ANY_EXIT_CODE = frozenset(range(256))
_RESERVED = CANARY_IDS | {CHANGED_FILES_ID}


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


def run_suite(
    suite: SuiteBenchmark,
    arm: Arm,
    command: ArmCommand,
    format_name: str | None,
    execute: Callable[[ArmCommand], tuple[Execution, tuple[str, ...]]],
    *,
    folder: Path,
) -> SuiteRun:
    """Run a suite once in one arm, and read what it reports.

    Args:
        format_name: the format of the results; None to recognize it.
        execute: runs a command; returns also notes that a reader of the numbers must see.
        folder: an empty folder for its output; it is removed.

    Raises:
        RunFailedError: it did not end well, and reported nothing that can be read.
    """
    ok_codes = command.ok_exit_codes
    command = replace(command, ok_exit_codes=_ANY_EXIT_CODE)
    output = RunOutput(folder, command, suite.output, max_mib=suite.max_mib, ok_exit_codes=ok_codes)
    try:
        started_s = time.perf_counter()
        execution, notes = execute(output.command)
        took_s = time.perf_counter() - started_s
        trouble = trouble_with(execution, ok_codes) or ""
        try:
            name, reading = output.read(format_name)
        except UnreadableError as error:
            why = f"{trouble}\n{error}" if trouble else _with_tail(str(error), execution)
            raise RunFailedError(why) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    found = _named(name, reading, arm, suite.group)
    return SuiteRun(name, reading.tool, found, reading.skipped, trouble, notes, took_s)


def _named(tool: str, reading: Reading, arm: Arm, group: str | None) -> dict[str, BenchmarkResult]:
    """The benchmarks by ids that are the same in both arms, and under the group."""
    prefix = "" if group is None else f"{group}/"
    found: dict[str, BenchmarkResult] = {}
    for one in reading.benchmarks:
        id_ = f"{prefix}{arm.generalize(one.id)}"
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


def values_of(one: BenchmarkResult) -> tuple[Series, ...]:
    """One value of each metric: a run is one launch, however many samples it took.

    The value is the median of the samples, or the number that the tool reports. If the tool itself
    starts several processes, it is the median of theirs.
    """
    return tuple(_value(series) for series in one.series if series.launches)


def notes_of(one: BenchmarkResult) -> tuple[str, ...]:
    """The notes on its numbers, except for what does not matter to a median."""
    return tuple(note for note in one.notes if note != SORTED)


def _value(series: Series) -> Series:
    medians = [np.median(launch.samples) for launch in series.launches]
    metric = series.metric
    if metric.kind is Kind.SUMMARY:  # there are several runs, and so several of these
        metric = replace(metric, kind=Kind.SAMPLED)
    return Series.single(metric, float(np.median(medians)))


def _with_tail(error: str, execution: Execution) -> str:
    """Add the last lines that it printed, unless the error shows them already."""
    lines = execution.output_tail.strip().splitlines()[-_LINES_SHOWN:]
    tail = "\n".join(line[:CHARACTERS_SHOWN] for line in lines)
    return f"{error}\nit printed:\n{tail}" if tail and tail not in error else error
