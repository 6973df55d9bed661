"""Instructions are asked for; whether this machine can count them or not, there is a verdict."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchgate.measure.machine.perf import USER_INSTRUCTIONS, why_not_counted
from benchgate.model.codec import decode_result

if TYPE_CHECKING:
    from tests.e2e.conftest import Program, Project

pytestmark = pytest.mark.xdist_group("cpu")

OBSTACLE = why_not_counted(USER_INSTRUCTIONS)
TWO_KINDS = """\
[[benchmark]]
python = "benchmarks"

[[benchmark]]
name = "cli/version"
command = "python3 -c 'import toy'"
"""
GATED = """\
[[rule]]
benchmark = "*"
metrics = ["time", "instructions"]
margin = "900%"
"""


def test_rows_of_instructions_are_decided_or_say_why_not(benchgate: Program, toy: Project) -> None:
    toy.configure(GATED, benchmarks=TWO_KINDS)
    toy.commit()
    done = benchgate(
        toy.root,
        "check",
        "--against",
        "HEAD",
        "--rounds",
        "9",
        "--counter",
        "perf",
        "--json",
        "-",
        "--output",
        "../result.json",
    )
    done.check(0)
    rows = [row for row in json.loads(done.out)["rows"] if row["metric"] == "instructions"]
    assert {row["benchmark"] for row in rows} == {"toy/work", "cli/version"}
    result = decode_result((toy.root.parent / "result.json").read_bytes(), "result.json")
    for benchmark in result.head.benchmarks:
        metrics = {series.metric.name for series in benchmark.series}
        notes = [note for note in benchmark.notes if note.startswith("instructions: ")]
        if benchmark.id.startswith("benchgate/"):
            assert (metrics & {"instructions"}, notes) == (set(), [])
        elif OBSTACLE is None:
            assert ("instructions" in metrics, notes) == (True, [])
        else:
            assert ("instructions" in metrics, notes) == (False, [f"instructions: {OBSTACLE}"])
    for row in rows:
        if OBSTACLE is None:
            assert row["outcome"] == "unchanged"
        else:
            assert row["outcome"] == "not tested"
            assert row["notes"] == [f"instructions was not measured: {OBSTACLE}"]


@pytest.mark.skipif(OBSTACLE is None, reason="instructions are counted here")
def test_nobody_hears_of_counters_who_did_not_ask(benchgate: Program, toy: Project) -> None:
    done = benchgate(toy.root, "check", "--rounds", "1", "-v")
    assert "instructions" not in done.out + done.err
