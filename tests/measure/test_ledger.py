from __future__ import annotations

from collections import UserDict
from typing import TYPE_CHECKING

from benchgate.measure.arm import ArmName
from benchgate.measure.suites.ledger import SuiteLedger
from benchgate.measure.suites.run import SuiteRun
from benchgate.model.run import BenchmarkResult, Status, Tier

if TYPE_CHECKING:
    from collections.abc import ItemsView

HEAD = ArmName.HEAD
IDS = [f"b{number}" for number in range(50)]


class Counted(UserDict[str, BenchmarkResult]):
    """Counts how often somebody goes through all of it."""

    times = 0

    def items(self) -> ItemsView[str, BenchmarkResult]:
        self.times += 1
        return super().items()


def suite_run(trouble: str = "") -> tuple[SuiteRun, Counted]:
    found = Counted({id_: BenchmarkResult(id_, "", Tier.SUITE) for id_ in IDS})
    return SuiteRun("go", "", found, (), trouble, (), 0.0), found


def test_a_run_is_looked_through_once_and_not_for_each_of_its_benchmarks() -> None:
    first, _ = suite_run()
    ledger = SuiteLedger({HEAD: {id_: id_ for id_ in IDS}}, {HEAD: first})
    good, of_good = suite_run()
    bad, of_bad = suite_run("it exited with code 1")
    for run, counted, error in (
        (good, of_good, None),
        (bad, of_bad, "its suite failed: it exited with code 1"),
        (good, of_good, None),
    ):
        counted.times = 0
        assert {ledger.observe(HEAD, id_, 0, run).error for id_ in IDS} == {error}
        assert counted.times == 1


def test_a_failed_benchmark_that_has_a_row_explains_a_doubtful_run() -> None:
    first, _ = suite_run()
    ledger = SuiteLedger({HEAD: {id_: id_ for id_ in IDS}}, {HEAD: first})
    doubtful, found = suite_run("it exited with code 1")
    found["b0"] = BenchmarkResult("b0", "", Tier.SUITE, status=Status.FAILED, error="broken")
    assert ledger.observe(HEAD, "b0", 0, doubtful).error == "broken"
    assert ledger.observe(HEAD, "b1", 0, doubtful).error is None
