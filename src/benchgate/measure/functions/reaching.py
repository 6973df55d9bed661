"""Sees what functions run and read, in a launch that measures nothing.

Of Python, it is known which functions run; of other languages, only what their programs open.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from benchgate.config.live_benchmarks import FunctionBenchmarks
from benchgate.measure.functions.starting import Watched
from benchgate.measure.machine import Layout
from benchgate.measure.reach import CannotWatchError, OpenedBesides, why_affected, why_hidden
from benchgate.measure.workers import WorkerFailedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchgate.measure.arm import ArmName
    from benchgate.measure.functions.discovery import Entry
    from benchgate.measure.functions.starting import Workers
    from benchgate.measure.reach import Differences
    from benchgate.measure.workers import Worker

    Reports = Mapping[ArmName, Mapping[str, Any]]

_SAMPLE: Final = "s"
_TIMES: Final = 2


class FunctionReach:
    """Says which functions are affected.

    Args:
        entries: those that were found, by id.
    """

    def __init__(
        self, workers: Workers, entries: Mapping[str, Entry], differences: Differences
    ) -> None:
        self._workers = workers
        self._entries = entries
        self._differences = differences

    def of_group(self, ids: Sequence[str]) -> dict[str, str]:
        """Say it of benchmarks that share their processes; see `ReachingEngine.reach`."""
        sides = self._entries[ids[0]].sides.values()
        if hidden := why_hidden(text for one in sides for text in one.file.benchmark.env.values()):
            return dict.fromkeys(ids, hidden)
        try:
            if not self._is_python(ids[0]) and self._differ(ids[0]):
                return dict.fromkeys(ids, "runs a program that differs")
            with OpenedBesides(self._differences) as besides, self._started(ids[0]) as workers:
                if self._is_python(ids[0]):
                    return self._of_python(workers, ids, besides)
                for id_ in ids:
                    for worker, name in self._named(workers, id_):
                        _run(worker, name, self._step(id_))
                return dict.fromkeys(ids, besides.why())
        except (WorkerFailedError, CannotWatchError) as error:
            why = error.error if isinstance(error, WorkerFailedError) else str(error)
            line = why.partition("\n")[0]
            return dict.fromkeys(ids, f"cannot be seen: {line}")

    def _of_python(
        self, workers: Sequence[Worker], ids: Sequence[str], besides: OpenedBesides
    ) -> dict[str, str]:
        """Why the import of a file affects all, or else what each benchmark itself reaches."""

        def why(named: Sequence[tuple[Worker, str]], step: str) -> str:
            reports = _asked(named, step)
            opened = besides.why(reports)
            return why_affected(self._differences, reports) or opened

        if why_all := why([(worker, "") for worker in workers], _SAMPLE):
            return dict.fromkeys(ids, why_all)
        return {id_: why(self._named(workers, id_), self._step(id_)) for id_ in ids}

    def _is_python(self, id_: str) -> bool:
        sides = self._entries[id_].sides.values()
        return all(isinstance(side.file.benchmark, FunctionBenchmarks) for side in sides)

    def _differ(self, id_: str) -> bool:
        """Whether the programs of another language differ; if not, nothing builds them later."""
        files = {arm: side.file for arm, side in self._entries[id_].sides.items()}
        programs = self._workers.built(files)
        are_own = all(path.is_absolute() for path in programs.values())
        return are_own and not self._differences.is_same_program(programs)

    def _named(self, workers: Sequence[Worker], id_: str) -> list[tuple[Worker, str]]:
        """The name of a benchmark in each worker, which gets its time limit."""
        entry = self._entries[id_]
        for worker in workers:
            worker.allow(entry.timeout_s)
        return [(worker, entry.sides[worker.arm.name].name) for worker in workers]

    def _step(self, id_: str) -> str:
        """The step that runs a benchmark."""
        is_timed = all(side.metric is None for side in self._entries[id_].sides.values())
        return _SAMPLE if is_timed else "value"

    @contextmanager
    def _started(self, id_: str) -> Iterator[list[Worker]]:
        entry = self._entries[id_]
        files = {arm: side.file for arm, side in entry.sides.items()}
        self._workers.resume()
        asked = {arm: Watched(reach=self._differences.asked(arm)) for arm in files}
        # The same layout for both: what they generate may depend on the hash seed.
        workers = self._workers.start(files, [Layout()] * len(files), None, watched=asked)
        try:
            yield workers
        finally:
            for worker in workers:
                self._workers.kill(worker)


def _asked(named: Sequence[tuple[Worker, str]], step: str) -> Reports:
    """Ask all workers at the same time."""
    for worker, name in named:
        worker.begin_step("reach", json.dumps({"id": name, "step": step}))
    return {worker.arm.name: worker.end_step("reach") for worker, _ in named}


def _run(worker: Worker, name: str, step: str) -> None:
    """Run a benchmark of another language, more than once."""
    worker.ask("open", name)
    worker.ask("loops", 1)
    for _ in range(_TIMES):
        if step == _SAMPLE:
            worker.sample()
        else:
            worker.ask(step)
    worker.ask("close")
