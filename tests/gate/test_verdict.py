from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from tests.gate.arms import bench, judged
from tests.results import series_of

from benchgate.config import loads
from benchgate.gate.verdict import about_machine, with_steadier_metrics
from benchgate.model.environment import Environment
from benchgate.model.metrics import CPU_TIME
from benchgate.model.policy import Outcome
from benchgate.model.row import Row

if TYPE_CHECKING:
    from benchgate.model.run import BenchmarkResult

P25 = 'gate.statistics = ["p25"]'
BUSY = Environment(cpu_count=2, load_average=3.0, busy_elsewhere=1.5)


def test_a_noisy_time_names_the_cpu_time_that_is_steadier() -> None:
    rng = np.random.default_rng(3)

    def made(name: str, cpu_spread: float) -> BenchmarkResult:
        walls, cpus = np.exp(rng.normal(0, 0.2, 20)), np.exp(rng.normal(0, cpu_spread, 20)) / 2
        cpu_time = series_of(cpus.tolist(), metric=CPU_TIME)
        made = bench(name, walls.tolist())
        return replace(made, series=(*made.series, cpu_time))

    base, head = ([made("waits", 0.002), made("works", 0.2)] for _ in range(2))
    judgment = judged(base, head, P25)
    assert {row.outcome for row in judgment.rows} == {Outcome.INCONCLUSIVE}
    rows = with_steadier_metrics(judgment.rows, judgment.evidence, loads(P25, "test.toml"))
    notes = {row.benchmark: row.notes for row in rows}
    (note,) = notes["waits"]
    assert note.startswith("its CPU time is much steadier than its wall-clock time (it waits for ")
    assert note.endswith('compare it instead: metrics = ["cpu_time"] in a [[rule]]')
    assert notes["works"] == ()


def test_a_busy_machine_matters_only_if_something_stayed_open() -> None:
    still_open, done = Row("a", Outcome.INCONCLUSIVE), Row("a", Outcome.UNCHANGED)
    tail = Row("a", Outcome.NOT_SETTLED, statistic="p95")
    few = replace(tail, outcome=Outcome.NOT_TESTED)
    assert about_machine([done, tail, few], BUSY) == ()
    assert about_machine([done, replace(tail, outcome=Outcome.INCONCLUSIVE)], BUSY)
    (warning,) = about_machine([done, still_open], BUSY)
    assert warning == (
        "other programs kept 1.5 of 2 CPUs busy while benchgate measured, and the load before was "
        "3.0: close other programs, or wait"
    )
    assert about_machine([still_open], Environment(cpu_count=2, load_average=0.5)) == ()
