"""Sees what functions of Python run and read, in a launch that measures nothing."""

from __future__ import annotations

import json
from contextlib import contextmanager
from random import Random
from typing import TYPE_CHECKING, Any

from benchgate.config.live_benchmarks import FunctionBenchmarks
from benchgate.measure.machine import draw_layouts
from benchgate.measure.reach import CannotWatchError, OpenedBesides, why_affected
from benchgate.measure.workers import WorkerFailedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchgate.measure.arm import ArmName
    from benchgate.measure.functions.discovery import Entry
    from benchgate.measure.functions.starting import Workers
    from benchgate.measure.reach import Differences
    from benchgate.measure.workers import Worker

    Reports = Mapping[ArmName, Mapping[str, Any]]

_OTHER_LANGUAGE = "is no function of Python, and benchgate cannot see what it runs"
_OTHER_WORK = "does other work on each side"


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
        first = self._entries[ids[0]]
        if not isinstance(next(iter(first.sides.values())).file.benchmark, FunctionBenchmarks):
            return dict.fromkeys(ids, _OTHER_LANGUAGE)
        found = dict.fromkeys(
            [id_ for id_ in ids if not self._entries[id_].is_compared], _OTHER_WORK
        )
        left = [id_ for id_ in ids if id_ not in found]
        if not left:
            return found
        try:
            with OpenedBesides(self._differences) as besides:
                return {**found, **self._reasons(left, besides)}
        except (WorkerFailedError, CannotWatchError) as error:
            why = error.error if isinstance(error, WorkerFailedError) else str(error)
            line = why.partition("\n")[0]
            return {**found, **dict.fromkeys(left, f"cannot be seen: {line}")}

    def _reasons(self, ids: Sequence[str], besides: OpenedBesides) -> dict[str, str]:
        """Why the import of a file affects all, or else what each benchmark itself reaches."""
        with self._started(ids[0]) as workers:

            def why(names: Mapping[ArmName, str], step: str) -> str:
                reports = _asked(workers, names, step)
                opened = besides.why(reports)
                return why_affected(self._differences, reports) or opened

            if why_all := why({w.arm.name: "" for w in workers}, "s"):
                return dict.fromkeys(ids, why_all)
            reasons = {}
            for id_ in ids:
                entry = self._entries[id_]
                for worker in workers:
                    worker.allow(entry.timeout_s)
                names = {arm: side.name for arm, side in entry.sides.items()}
                is_timed = all(side.metric is None for side in entry.sides.values())
                reasons[id_] = why(names, "s" if is_timed else "value")
            return reasons

    @contextmanager
    def _started(self, id_: str) -> Iterator[list[Worker]]:
        entry = self._entries[id_]
        files = {arm: side.file for arm, side in entry.sides.items()}
        self._workers.resume()
        # The same for both: what they generate may depend on the hash seed.
        layout = draw_layouts(Random(0), 1)[0]  # noqa: S311 - repeatable on purpose
        asked = {arm: self._differences.asked(arm) for arm in files}
        workers = self._workers.start(files, [layout] * len(files), None, reach=asked)
        try:
            yield workers
        finally:
            for worker in workers:
                self._workers.kill(worker)


def _asked(workers: Sequence[Worker], names: Mapping[ArmName, str], step: str) -> Reports:
    """Ask all workers at the same time."""
    for worker in workers:
        asked = {"id": names[worker.arm.name], "step": step}
        worker.begin_step("reach", json.dumps(asked))
    return {worker.arm.name: worker.end_step("reach") for worker in workers}
