"""What a check says about the cause of a change, in real processes."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from tests.e2e.conftest import DECISIVE, PYTHON

if TYPE_CHECKING:
    from tests.e2e.conftest import Program, Project

pytestmark = pytest.mark.slow

CODE = """\
import re

WORD = re.compile("[a-z]+")


def words(text):
    return WORD.findall(text)


def work():
    return [words("a b c") for _ in range(20)]
"""
COMPILES = CODE.replace("WORD.findall", "re.compile('[a-z]+').findall")
BENCHMARK = "import toy\n\n\ndef bench_work():\n    toy.work()\n"
WAITS = """\
import sys
import time

import toy


def bench_work():
    if sys.getprofile():
        raise OSError("not while somebody looks")
    toy.work()
"""


def check(benchgate: Program, toy: Project, code: str, *options: str) -> tuple[Any, str]:
    """Check a change of the code; return the row, and what was printed."""
    toy.write({"src/toy/__init__.py": code})
    done = benchgate(toy.root, "check", "--json", "../v.json", *options)
    done.check(3)
    (row,) = json.loads((toy.root.parent / "v.json").read_text())["rows"]
    assert row["outcome"] == "regressed"
    return row, done.out


@pytest.fixture
def project(toy: Project) -> Project:
    toy.write({"src/toy/__init__.py": CODE, "benchmarks/bench_toy.py": BENCHMARK})
    toy.write({"benchgate.toml": f"{DECISIVE}{PYTHON}"})
    toy.commit()
    return toy


def test_the_edited_function_is_named(benchgate: Program, project: Project) -> None:
    row, out = check(benchgate, project, COMPILES)
    (cause, *_) = row["explanation"]["causes"]
    assert (cause["function"], cause["location"]) == ("words", "src/toy/__init__.py:6")
    assert (cause["callee"], cause["calls"]) == ("re.compile", [0.0, 20.0])
    assert (
        "words (edited, src/toy/__init__.py:6) now calls re.compile 20 times per iteration: " in out
    )


def test_who_allocates_is_named_if_memory_decides(benchgate: Program, project: Project) -> None:
    decides = DECISIVE.replace("[gate]", '[gate]\nmetrics = ["time", "alloc_peak", "alloc_blocks"]')
    assert decides != DECISIVE
    project.write({"benchgate.toml": f"{decides}{PYTHON}"})
    project.commit()
    project.write({"src/toy/__init__.py": CODE.replace("(text)\n", "(text) + [bytes(100)]\n", 1)})
    done = benchgate(project.root, "check", "--json", "../v.json")
    done.check(3)
    rows = json.loads((project.root.parent / "v.json").read_text())["rows"]
    for row in rows:
        if row["metric"].startswith("alloc_"):
            assert row["outcome"] == "regressed"
            (cause, *_) = row["explanation"]["causes"]
            assert cause["function"] == "words"
            assert cause["amount"] == pytest.approx(row["head"] - row["base"], rel=0.1)
    assert " % of the change of alloc_" in done.out
    looks = "explain", "toy/work", "--against", "HEAD", "--speedscope", "-"
    profiles = json.loads(benchgate(project.root, *looks).out)["profiles"]
    assert [one["name"] for one in profiles] == ["toy/work, base", "toy/work, head"]


def test_a_fresh_look_shows_the_calls_of_what_is_unchanged(
    benchgate: Program, project: Project
) -> None:
    looks = "explain", "toy/work", "--against", "HEAD"
    done = benchgate(project.root, *looks)
    done.check(0)
    assert "unchanged" in done.out
    assert "both sides make the same calls equally often" in done.out
    code = CODE.replace("WORD.findall(text)", "WORD.findall(text.strip())")
    project.write({"src/toy/__init__.py": code})
    done = benchgate(project.root, *looks, "--speedscope", "../calls.json")
    done.check(0)
    assert re.search(r"^str.strip +0 → 20 +0 → [\d.]+ [nµ]s$", done.out, re.MULTILINE)
    profiles = json.loads((project.root.parent / "calls.json").read_text())["profiles"]
    assert [one["name"][-4:] for one in profiles] == ["base", "head"]
    benchgate(project.root, "explain", "--against", "HEAD").check(2, "give it a BENCHMARK")
    crashes = CODE.replace("    return [", "    raise OSError('no')\n    return [")
    project.write({"src/toy/__init__.py": crashes})
    done = benchgate(project.root, *looks)
    assert done.code == 2
    assert "error: what toy/work calls was not observed\n  | OSError: no\n" in done.err


def test_nothing_is_observed_if_that_is_not_wanted(benchgate: Program, project: Project) -> None:
    row, out = check(benchgate, project, COMPILES, "--no-explain")
    assert row["explanation"] is None
    assert "where to look" not in out


def test_a_benchmark_that_fails_while_it_is_observed_keeps_its_verdict(
    benchgate: Program, project: Project
) -> None:
    project.write({"benchmarks/bench_toy.py": WAITS})
    project.commit()
    row, out = check(benchgate, project, COMPILES)
    assert row["explanation"] is None
    assert "what it calls is not known: OSError: not while somebody looks" in out


def test_a_program_is_observed(benchgate: Program, project: Project) -> None:
    table = '[[benchmark]]\nname = "add"\ncommand = "python -m toy"\npythonpath = ["src"]\n'
    main = "import toy\n\n\nfor _ in range(1000):\n    toy.work()\n"
    project.write({"benchgate.toml": f"{DECISIVE}{table}", "src/toy/__main__.py": main})
    code = "def add():\n    return sum(range(20_000))\n\n\ndef work():\n    return [add()]\n"
    project.write({"src/toy/__init__.py": code})
    project.commit()
    row, out = check(benchgate, project, code.replace("[add()]", "[add() for _ in range(4)]"))
    (cause, *_) = row["explanation"]["causes"]
    assert (cause["function"], cause["location"]) == ("work", "src/toy/__init__.py:5")
    assert (cause["callee"], cause["calls"]) == ("add", [1000.0, 4000.0])
    assert "now calls add 4,000 times per iteration instead of 1,000 times: " in out
