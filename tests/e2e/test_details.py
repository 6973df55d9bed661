"""`show --detail` and `compare --detail` on what was really measured."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import jsonschema
from tests.e2e.test_streams import on_terminal

from benchgate.model.statistics import STATISTICS

if TYPE_CHECKING:
    from tests.e2e.conftest import Program, Project

BENCHMARK = """\
import toy


def bench_work(n):
    for _ in range(n):
        toy.work()


bench_work.params = {"n": [1, 3]}
"""


def test_all_that_is_known_of_a_check(benchgate: Program, toy: Project) -> None:
    toy.write({"benchmarks/bench_toy.py": BENCHMARK})
    toy.commit()
    toy.slow_down()
    assert benchgate(toy.root, "check", "--rounds", "2", "-q").code in {0, 4}

    shown = benchgate(toy.root, "show", "--detail")
    shown.check(0)
    assert shown.err == ""
    for id_ in (r"toy/work\[n=1\]", r"toy/work\[n=3\]"):  # on head and base
        block = re.compile(rf"^{id_}, time\n2 launches x \d+ sample", re.MULTILINE)
        assert len(block.findall(shown.out)) == 2
    assert shown.out.count("toy/work, time, by its parameters\n") == 2
    assert len(re.findall(r"^timer +reading the clock takes ", shown.out, re.MULTILINE)) == 4

    written = benchgate(toy.root, "show", "--detail", "--json", "-")
    written.check(0)
    assert written.err == ""
    statistics = json.loads(written.out)
    jsonschema.validate(statistics, STATISTICS.json_schema())
    ids = [{series["benchmark"] for series in run["series"]} for run in statistics["runs"]]
    assert ids == [{"toy/work[n=1]", "toy/work[n=3]"}] * 2

    benchgate.variables["COLUMNS"] = "60"
    compared = re.sub(
        r"\x1b\[[0-9;]*m", "", on_terminal(benchgate, toy.root, "compare", "--detail")
    )
    assert compared.count("typical (p25)\r\nchange by") == 2
    assert "a rank interval needs 6 rounds, not 2" in compared
    assert max(map(len, compared.splitlines())) <= 60
