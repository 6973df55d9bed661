"""Turns each run of a suite into observations; a benchmark may be missing in some runs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from benchgate.measure.contract import (
    Observation,
)
from benchgate.measure.suites.run import values_of
from benchgate.model.run import Series, Status

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from benchgate.measure.arm import ArmName
    from benchgate.measure.suites.run import SuiteRun
    from benchgate.model.metrics import Metric


_MOST_MISSING = 3


class SuiteLedger:
    """Turns each run into observations; a benchmark may be missing in some runs.

    Args:
        own_ids: for each arm the benchmarks that its first run reported: the arm's own id of each,
            by the id that both arms share.
        first_runs: the first run of each arm.
    """

    def __init__(
        self,
        own_ids: Mapping[ArmName, Mapping[str, str]],
        first_runs: Mapping[ArmName, SuiteRun],
    ) -> None:
        self._own_ids = own_ids
        self._first_ids = {arm: frozenset(run.benchmarks) for arm, run in first_runs.items()}
        self._troubled = frozenset(
            arm for arm, run in first_runs.items() if run.trouble_beside(run.benchmarks)
        )
        self._last: dict[ArmName, tuple[SuiteRun, str]] = {}
        self._metrics: dict[tuple[ArmName, str, str], Metric] = {}
        self._reported: Counter[tuple[ArmName, str]] = Counter()
        self._missing: Counter[tuple[ArmName, str]] = Counter()

    def has(self, arm: ArmName, id_: str) -> bool:
        """Whether the first run of an arm reported a benchmark."""
        return id_ in self._own_ids.get(arm, {})

    def own_ids(self, ids: Collection[str] | None = None) -> frozenset[str]:
        """The ids that the arms themselves have for some benchmarks; by default for all."""
        return frozenset(
            own_id
            for known in self._own_ids.values()
            for id_, own_id in known.items()
            if ids is None or id_ in ids
        )

    def lacks(self, arm: ArmName, ids: Collection[str], run: SuiteRun) -> bool:
        """Whether a run says nothing about one of these benchmarks of its arm."""
        known = self._own_ids.get(arm, {})
        return any(id_ in known and known[id_] not in run.benchmarks for id_ in ids)

    def observe(self, arm: ArmName, id_: str, order: int, run: SuiteRun) -> Observation:
        """Say what a run of an arm shows about one of its benchmarks."""
        trouble = self._trouble_of(arm, run)
        if trouble and arm not in self._troubled:
            return Observation(arm, id_, order, error=f"its suite failed: {trouble}")
        found = run.benchmarks.get(self._own_ids[arm][id_])
        if found is None:
            return self._absent(arm, id_, order)
        self._reported[arm, id_] += 1
        if found.status is Status.FAILED:
            return Observation(arm, id_, order, error=found.error or "it failed under its tool")
        metrics = values_of(found)
        unlike = (each.metric.name for each in metrics if not self._is_known(arm, id_, each))
        wrong = next(unlike, None)
        if wrong is not None:
            why = f"{wrong} changed its unit, direction or kind between two runs"
            return Observation(arm, id_, order, error=why)
        return Observation(arm, id_, order, metrics=metrics)

    def _trouble_of(self, arm: ArmName, run: SuiteRun) -> str:
        """What is wrong with a run, which is asked for each of its benchmarks."""
        known = self._last.get(arm)
        if known is None or known[0] is not run:
            known = self._last[arm] = run, run.trouble_beside(self._first_ids[arm])
        return known[1]

    def _absent(self, arm: ArmName, id_: str, order: int) -> Observation:
        """No value: too many of these are a failure, because rounds are spent for nothing."""
        self._missing[arm, id_] += 1
        missing, reported = self._missing[arm, id_], self._reported[arm, id_]
        if missing >= _MOST_MISSING and missing > reported:
            why = f"its suite reported it in only {reported} of {missing + reported} runs"
            return Observation(arm, id_, order, error=f"{why}, although the first run had it")
        note = "its suite did not report it in every run: these rounds are left out"
        return Observation(arm, id_, order, notes=(note,))

    def _is_known(self, arm: ArmName, id_: str, measured: Series) -> bool:
        metric = measured.metric
        return self._metrics.setdefault((arm, id_, metric.name), metric) == metric
