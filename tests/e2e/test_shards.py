"""A suite of five benchmarks measured in two parts, as by two machines, and joined."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.done import without_load

if TYPE_CHECKING:
    from tests.done import Done
    from tests.e2e.conftest import Program, Project

# Three rows at half of alpha take eleven.
ROUNDS = ("--rounds", "12")
FIVE = """\
import toy


def bench_work():
    toy.work()


def bench_sum():
    sum(range(2000))


def bench_sort():
    sorted(range(2000, 0, -1))


def bench_text():
    "x".join(map(str, range(200)))
"""
PROGRAM = """\
[[benchmark]]
python = "benchmarks"

[[benchmark]]
name = "cli"
command = "cat README"
"""
IDS = {"toy/work", "toy/sum", "toy/sort", "toy/text", "cli"}


@pytest.fixture
def five(toy: Project) -> Project:
    """Five benchmarks, one of which the working tree makes slower."""
    toy.write({"benchmarks/bench_toy.py": FIVE})
    toy.configure("", benchmarks=PROGRAM)
    toy.commit()
    toy.slow_down()
    toy.commit()
    return toy


def verdict_of(done: Done) -> dict[str, Any]:
    verdict: dict[str, Any] = json.loads(done.out)
    return verdict


def test_two_parts_give_one_verdict(benchgate: Program, five: Project) -> None:
    folder = five.root.parent
    found: list[dict[str, str]] = []
    for number in (1, 2):
        done = benchgate(
            *(five.root, "check", "--all", "--against", "HEAD~1", "--json", "-", *ROUNDS),
            *("--shard", f"{number}/2", "--output", f"../shard-{number}.json.gz"),
        )
        assert "Traceback" not in done.err
        part = verdict_of(done)
        found.append({row["benchmark"]: row["outcome"] for row in part["rows"]})
        assert part["warnings"][0].startswith(f"shard {number} of 2: ")
        assert done.code == 3 or "toy/work" not in found[-1]
    assert sorted(map(len, found)) == [2, 3]

    shards = ("../shard-2.json.gz", "../shard-1.json.gz")
    benchgate(five.root, "merge", *shards, "--output", "../suite.json.gz").check(0)
    done = benchgate(five.root, "compare", "../suite.json.gz", "--json", "-")
    done.check(3)
    verdict = verdict_of(done)
    assert verdict["decision"] == "fail"
    assert {row["benchmark"]: row["outcome"] for row in verdict["rows"]} == found[0] | found[1]
    assert found[0].keys() | found[1].keys() == IDS
    regressed = [r["benchmark"] for r in verdict["rows"] if r["outcome"] == "regressed"]
    assert "toy/work" in regressed
    assert without_load(verdict["warnings"]) == []
    shown = benchgate(five.root, "show", folder / "suite.json.gz")
    shown.check(0)
    assert all(id_ in shown.out for id_ in IDS)


def test_more_shards_than_benchmarks(benchgate: Program, toy: Project) -> None:
    toy.slow_down()
    toy.commit()
    for number, code in ((1, 3), (2, 0)):
        done = benchgate(
            *(toy.root, "check", "--against", "HEAD~1", "--json", "-"),
            *("--shard", f"{number}/2", "--output", f"../{number}.json"),
        )
        done.check(code)
    verdict = verdict_of(done)
    assert verdict["decision"] == "no verdict"
    assert verdict["warnings"][0].startswith("shard 2 of 2: 0 of 1 benchmarks")
    done = benchgate(toy.root, "merge", "../2.json", "--output", "../suite.json")
    done.check(2, "there is no result of shard 1")
    done = benchgate(toy.root, "merge", "../1.json", "../2.json", "--output", "../suite.json")
    done.check(0)
    benchgate(toy.root, "compare", "../suite.json").check(3)
