"""Counts the instructions of functions under valgrind, in launches of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.measure.contract import Observation, starting_order
from benchgate.measure.functions.sample_plan import SamplePlan
from benchgate.measure.functions.starting import Watched
from benchgate.measure.machine import (
    LIMIT_S,
    CounterError,
    count_between_marks,
    layout_of_round,
)
from benchgate.measure.observing import CountLedger, folder_for_counts
from benchgate.measure.workers import COUNTS_SETUPS, WorkerFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from benchgate.measure.arm import ArmName
    from benchgate.measure.functions.discovery import Entry
    from benchgate.measure.functions.starting import Workers
    from benchgate.measure.machine import Valgrind
    from benchgate.measure.sources import BenchFile
    from benchgate.measure.workers import Worker


# The least of two counts: filling a cache, or growing a table, only ever adds to a count.
_SAMPLES = 2


class FunctionCounter:
    """Counts the functions that have been timed.

    Args:
        workers: starts the workers.
        entries: the benchmarks, by id.
        plans: how they are timed, by id; anything else than a `SamplePlan` is not counted.
    """

    def __init__(
        self,
        valgrind: Valgrind,
        workers: Workers,
        entries: Mapping[str, Entry],
        plans: Mapping[str, object],
    ) -> None:
        self._valgrind = valgrind
        self._workers = workers
        self._entries = entries
        self._plans = plans
        self._ledger = CountLedger(valgrind.wants)

    def due(self, ids: Iterable[str]) -> list[str]:
        """The functions that are still to be counted; one that returns a number never is."""
        return self._ledger.due(id_ for id_ in ids if isinstance(self._plans[id_], SamplePlan))

    def count(
        self, group: Sequence[str], round_index: int, starting: Callable[[str], None]
    ) -> Iterator[list[Observation]]:
        """Count benchmarks that share their processes, in every arm.

        Those that fail under valgrind get notes that say why.
        """
        pending = list(group)
        while pending:
            with folder_for_counts() as folder:
                yield from self._count_in_workers(pending, folder, round_index, starting)

    def _count_in_workers(
        self,
        pending: list[str],
        folder: Path,
        round_index: int,
        starting: Callable[[str], None],
    ) -> Iterator[list[Observation]]:
        """Count pending benchmarks until one fails or leaves its process changed."""
        starting(pending[0])  # its file is imported first, which may take long
        sides = [self._entries[id_].sides for id_ in pending]
        files = {arm: side.file for each in sides for arm, side in each.items()}
        arms = starting_order(tuple(sorted(files)), pending[0], round_index)
        workers: list[Worker] = []
        id_ = ""
        try:
            workers = self._start({arm: files[arm] for arm in arms}, folder, round_index)
            is_clean = True
            while pending and is_clean:
                id_ = pending.pop(0)
                starting(id_)
                loops, counts, is_clean = self._count_one(id_, workers, folder)
                yield self._ledger.counted(id_, counts, loops)
        except (WorkerFailedError, CounterError) as failure:
            # Without a worker, nothing can be counted.
            failed = [id_] if workers else [pending.pop() for _ in tuple(pending)]
            why = failure.error if isinstance(failure, WorkerFailedError) else str(failure)
            for each in failed:
                yield self._ledger.given_up(each, self._entries[each].sides, why)
        finally:
            for worker in workers:
                self._workers.end(worker)

    def _start(
        self, files: Mapping[ArmName, BenchFile], folder: Path, round_index: int
    ) -> list[Worker]:
        under = {}
        for arm in files:
            own = folder / arm
            own.mkdir()
            under[arm] = Watched(self._valgrind.under_callgrind(own))
        layouts = [layout_of_round(round_index)] * len(files)
        return self._workers.start(files, layouts, None, watched=under)

    def _count_one(
        self, id_: str, workers: Sequence[Worker], folder: Path
    ) -> tuple[int, dict[ArmName, float], bool]:
        """Count a benchmark.

        Returns:
            Calls in a sample; the count of a call, by arm; whether no process was left changed.
        """
        entry, plan = self._entries[id_], self._plans[id_]
        if not isinstance(plan, SamplePlan):
            raise CounterError("it returns a number")
        # The loops of slow calls average the noise of their time, which a count does not have.
        loops = 1 if plan.together else plan.loops
        counts: dict[ArmName, float] = {}
        is_clean = True
        for worker in workers:
            arm = worker.arm.name
            if arm not in entry.sides:
                continue
            worker.allow(min(entry.timeout_s, LIMIT_S))
            opened = worker.ask("open", entry.sides[arm].name)
            if not opened["is_inside"]:
                raise CounterError("it works in processes that benchgate does not see")
            if opened["times_each"]:
                raise CounterError(COUNTS_SETUPS)
            counts[arm] = _count_per_call(worker, plan.samples, loops, folder / arm)
            is_clean &= not worker.ask("close")["changed"]
            worker.forget_output()
        return loops, counts, is_clean


def _count_per_call(worker: Worker, timed: int, loops: int, folder: Path) -> float:
    """Count a sample of no calls, which is overhead, and one of all.

    The first is a warm-up, unless the work is so slow that a launch takes a single sample.

    Args:
        timed: number of samples in a launch.
        loops: calls in a sample that is counted.
    """
    samples = _SAMPLES if timed > 1 else 1
    worker.ask("loops", loops)
    if timed > 1:
        worker.sample()
    worker.ask("begin")
    of_all = min(_count_sample(worker, folder) for _ in range(samples))
    worker.ask("loops", 0)
    of_none = min(_count_sample(worker, folder) for _ in range(samples))
    worker.ask("end")
    if of_all <= of_none:
        raise CounterError("calls did not add to the count")
    return (of_all - of_none) / loops


def _count_sample(worker: Worker, folder: Path) -> int:
    before = set(folder.iterdir())
    worker.ask("count")
    return count_between_marks(set(folder.iterdir()) - before, worker.pid)
