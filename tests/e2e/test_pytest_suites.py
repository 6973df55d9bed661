"""Suites of pytest through the whole program."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.e2e.conftest import CODE

from benchgate.session.benchmark_sets import EDITED

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Program, Project

pytestmark = pytest.mark.slow

SUITE = '[[benchmark]]\npytest = "checks"\n'
FEW = "rounds = 2\n"
TESTS = """\
import pytest
import toy


def test_work(benchmark):
    benchmark(toy.work)


def test_fixed(benchmark):
    benchmark(sorted, range(500))


def test_wrong(benchmark):
    assert benchmark(toy.answer) == 42


def test_elsewhere(benchmark):
    if toy.IS_SKIPPED:
        pytest.skip("no elsewhere here")
    benchmark(len, "")


@pytest.mark.skip(reason="later")
def test_later(benchmark):
    benchmark(len, "")


def test_plain():
    assert toy.answer() == 42
"""
MORE = "IS_SKIPPED = {skipped}\n\n\ndef answer():\n    return {answer}\n"


@pytest.fixture
def suite(toy: Project) -> Project:
    toy.git.run("rm", "--quiet", "-r", "benchmarks")
    toy.configure(FEW, benchmarks=SUITE)
    toy.write(
        {
            "checks/test_toy.py": TESTS,
            "src/toy/__init__.py": CODE + MORE.format(skipped=False, answer=42),
        }
    )
    toy.commit()
    return toy


def test_tests_are_benchmarks(suite: Project, benchgate: Program) -> None:
    listed = benchgate(suite.root, "list")
    assert listed.code == 0, listed.err
    assert "checks/test_toy.py::test_work" in listed.out
    assert "test_plain" not in listed.out
    valid = benchgate(suite.root, "validate")
    assert valid.code == 0, valid.err
    assert "checks: known once it runs (see benchgate list)" in valid.out


def test_each_change_has_its_row(suite: Project, benchgate: Program, tmp_path: Path) -> None:
    changed = CODE.replace("3000", "9000") + MORE.format(skipped=True, answer=41)
    more = f"{TESTS}\n\ndef test_new(benchmark):\n    benchmark(len, '')\n"
    suite.write({"src/toy/__init__.py": changed, "checks/test_toy.py": more})
    done = benchgate(suite.root, "check", "--json", tmp_path / "verdict.json")
    assert done.code == 5, done.err + done.out
    verdict = json.loads((tmp_path / "verdict.json").read_text())
    rows = {row["benchmark"].rpartition("::")[2]: row for row in verdict["rows"]}
    assert {name: row["outcome"] for name, row in rows.items()} == {
        "test_work": "not tested",
        "test_fixed": "not tested",
        "test_wrong": "failed",
        "test_elsewhere": "missing",
        "test_new": "new",
    }
    assert rows["test_work"]["ratio"] > 2
    assert "AssertionError: assert benchmark(toy.answer) == 42" in rows["test_wrong"]["error"]
    assert "skipped on the head: no elsewhere here" in rows["test_elsewhere"]["notes"]
    assert "1 benchmark skipped, checks/test_toy.py::test_later: later" in verdict["warnings"]


def test_one_version_of_the_tests_runs_on_both_sides(suite: Project, benchgate: Program) -> None:
    suite.write({"checks/test_toy.py": TESTS.replace("range(500)", "range(400)")})
    suite.write({"conftest.py": "def pytest_configure(config):\n    config.mark = 1\n"})
    check = ("check", "--rounds", "1", "--filter", "*::test_work", "--filter", "*::test_fixed")
    of_base = benchgate(suite.root, *check)
    assert "cannot be compared" not in of_base.out
    assert EDITED in of_base.out
    own = benchgate(suite.root, *check, "--benchmarks", "own")
    assert "cannot be compared" in own.out
    lent = benchgate(suite.root, *check, "--benchmarks", "head")
    assert "both sides were measured with the benchmarks of the head" in lent.out
    assert "cannot be compared" not in lent.out


@pytest.mark.parametrize(
    ("configured", "expected"),
    [
        ('pytest = "nowhere"', '[[benchmark]] pytest = "nowhere" does not exist'),
        (
            'pytest = "checks"\narguments = "-k nothing_has_this_name"',
            "were removed",
        ),
        ('pytest = "checks"\narguments = "--bad-option"', "unrecognized arguments: --bad-option"),
    ],
)
def test_what_is_wrong_is_said(
    suite: Project, benchgate: Program, configured: str, expected: str
) -> None:
    suite.configure("rounds = 1\n", benchmarks=f"[[benchmark]]\n{configured}\n")
    suite.commit()
    done = benchgate(suite.root, "check")
    assert done.code != 0
    assert expected in done.out + done.err
    assert "Traceback" not in done.err
