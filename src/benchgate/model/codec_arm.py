"""One arm of a result file: what was measured of one commit."""

from typing import Any, Self

from benchgate.model.codec_benchmarks import Benchmarks, benchmark_records
from benchgate.model.codec_environment import EnvironmentRecord
from benchgate.model.codec_types import Count, Record, Redact, Text, Timestamp
from benchgate.model.result import Run, Source


class RunRecord(Record):
    """The code that was measured, and how."""

    sha: Text | None
    ref: Text | None
    dirty: bool
    why: Text
    untracked: Count = 0
    started: Timestamp
    suite: Text
    seed: int
    complete: bool
    screen_rounds: Count
    until_decided: bool

    @classmethod
    def of(cls, run: Run) -> Self:
        """What is written of a run, apart from its environment and benchmarks."""
        return cls(
            sha=run.source.sha,
            ref=run.source.ref,
            dirty=run.source.dirty,
            why=run.source.why,
            untracked=run.source.untracked,
            started=run.started,
            suite=run.suite,
            seed=run.seed,
            complete=run.complete,
            screen_rounds=run.screen_rounds,
            until_decided=run.until_decided,
        )


class ArmRecord(Record):
    """Everything measured for one commit in one job."""

    run: RunRecord
    environment: EnvironmentRecord
    benchmarks: Benchmarks

    def arm(self) -> Run:
        """What was read."""
        return run_of(self.run, self.environment, self.benchmarks)


def arm_fields(run: Run, redact: Redact) -> dict[str, Any]:
    """The fields of an ArmRecord."""
    return {
        "run": RunRecord.of(run),
        "environment": EnvironmentRecord.of(run.environment),
        "benchmarks": benchmark_records(run.benchmarks, redact),
    }


def run_of(run: RunRecord, environment: EnvironmentRecord, benchmarks: Benchmarks) -> Run:
    """What was read of an arm."""
    return Run(
        source=Source(run.sha, run.ref, run.dirty, run.why, run.untracked),
        started=run.started,
        environment=environment.environment(),
        benchmarks=tuple(benchmark.benchmark() for benchmark in benchmarks),
        suite=run.suite,
        seed=run.seed,
        complete=run.complete,
        screen_rounds=run.screen_rounds,
        until_decided=run.until_decided,
    )
