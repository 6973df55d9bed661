from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.workers.conformance import Conformance

if TYPE_CHECKING:
    from benchgate.measure.processes.guardian import Guardian
    from benchgate.measure.workers.conformance import ConformanceResult

WORKER = Path(__file__).with_name("adapters") / "worker.py"


def found(guardian: Guardian, fault: str = "") -> dict[str, ConformanceResult]:
    variables = {**os.environ, **guardian.variables, "FAULT": fault}
    arm = Arm(ArmName.HEAD, WORKER.parent, WORKER.parent)
    all_ = Conformance(arm, [sys.executable, str(WORKER)], variables, guardian).run()
    return {finding.test: finding for finding in all_}


def test_a_worker_that_does_all_that_it_should(guardian: Guardian) -> None:
    findings = found(guardian)
    assert {test: one.problem for test, one in findings.items() if one.problem} == {}
    assert all(one.was_tried for one in findings.values())
    assert len(findings) == 11
    first = findings["says hello and lists its benchmarks"].detail
    assert first.startswith("Test, test 1; 6 benchmarks; clock ")
    failed = findings["survives a benchmark that fails"].detail
    assert failed == "it says: ValueError: it is broken"
    assert findings["loses little time between samples"].detail.startswith("median ")


def test_the_small_worker_of_the_documentation(tmp_path: Path, guardian: Guardian) -> None:
    page = Path(__file__).parents[2] / "docs" / "worker-protocol.md"
    (program,) = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert len(program.splitlines()) < 50
    (tmp_path / "worker.py").write_text(program)
    arm = Arm(ArmName.HEAD, tmp_path, tmp_path)
    command = [sys.executable, "worker.py"]
    variables = {**os.environ, **guardian.variables}
    findings = list(Conformance(arm, command, variables, guardian).run())
    assert [one for one in findings if one.problem] == []
    assert sum(one.was_tried for one in findings) == 6


@pytest.mark.parametrize(
    ("fault", "test", "problem"),
    [
        (
            "is newer",
            "says hello and lists its benchmarks",
            "it speaks the worker protocol 2, and benchgate speaks 1",
        ),
        ("has none", "says hello and lists its benchmarks", "it lists no benchmarks"),
        ("twice", "says hello and lists its benchmarks", "two benchmarks have the same id"),
        (
            "accepts all",
            "answers each step that it cannot carry out with an error",
            'with nothing open, it answers `s` with "0 0", `loops 3` with "{}", `close` with "{}"',
        ),
        (
            "ignores loops",
            "measures every benchmark, one after the other",
            "100,000,000 calls of all/quick take only ",
        ),
        (
            "lies",
            "measures every benchmark, one after the other",
            "a sample of all/quick lasted longer than benchgate waited",
        ),
        ("leaves", "ends with `bye` when benchgate closes its side", "it says nothing"),
    ],
)
def test_what_a_worker_does_wrong_is_named(
    guardian: Guardian, fault: str, test: str, problem: str
) -> None:
    assert found(guardian, fault)[test].problem.startswith(problem)


def test_a_program_that_is_no_worker(guardian: Guardian) -> None:
    arm = Arm(ArmName.HEAD, WORKER.parent, WORKER.parent)
    command = [sys.executable, "-c", "print('hello')"]
    (only,) = Conformance(arm, command, {**os.environ, **guardian.variables}, guardian).run()
    assert only.problem == "it does not speak the worker protocol\nhello"
