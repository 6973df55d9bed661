"""A program that knows nothing but the JSON of a check finds out what to do, and does it."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.done import Done
    from tests.e2e.conftest import Program, Project

pytestmark = pytest.mark.slow

FILE = "src/toy/__init__.py"
Follow: TypeAlias = "Callable[[dict[str, Any]], Done]"
QUICKLY = ("--rounds", "8", "--json", "-")


def steps_of(done: Done) -> dict[str, dict[str, Any]]:
    """The first step of each kind."""
    verdict = json.loads(done.out)
    assert verdict["exit_code"] == done.code
    steps: dict[str, dict[str, Any]] = {}
    for step in verdict["next"]:
        steps.setdefault(step["kind"], step)
    return steps


@pytest.fixture
def follow(benchgate: Program, toy: Project) -> Follow:
    """Run the command of a step."""

    def run(step: dict[str, Any]) -> Done:
        program, *arguments = shlex.split(step["command"])
        assert program == "benchgate"
        return benchgate(toy.root, *arguments)

    return run


def test_what_got_slower_is_found_repaired_and_checked_again(
    benchgate: Program, toy: Project, follow: Follow
) -> None:
    before = (toy.root / FILE).read_text()
    toy.slow_down()
    done = benchgate(toy.root, "check", *QUICKLY)
    done.check(3)
    steps = steps_of(done)
    path, _, line = steps["fix"]["edit"].partition(":")
    assert path == FILE
    assert (toy.root / FILE).read_text().splitlines()[int(line) - 1].startswith("def work")
    shown = toy.git.run(*shlex.split(steps["look"]["command"])[1:])
    assert "+" in shown
    assert "9000" in shown

    # A person accepts it; the numbers are the same.
    config = toy.root / steps["accept"]["edit"]
    text = config.read_text()
    accepted = steps["accept"]["text"].replace('""', '"it does more"')
    config.write_text(f"{text}\n{accepted}\n")
    benchgate(toy.root, "compare", "--json", "-").check(0)
    config.write_text(text)

    (toy.root / FILE).write_text(before)
    toy.write({"README": "changed"})
    again = follow(steps["measure"])
    assert "fix" not in steps_of(again), again.out
    assert again.code != 3


def test_a_crash_is_found_and_repaired(benchgate: Program, toy: Project, follow: Follow) -> None:
    before = (toy.root / FILE).read_text()
    toy.write({FILE: "def work():\n    x = 1\n    raise ValueError(x)\n"})
    done = benchgate(toy.root, "check", *QUICKLY)
    done.check(5)
    steps = steps_of(done)
    assert steps["fix"]["edit"] == f"{FILE}:3"
    assert "ValueError: 1" in steps["fix"]["why"]
    (toy.root / FILE).write_text(before)
    toy.write({"README": "changed"})
    assert follow(steps["measure"]).code in {0, 4}


def test_what_is_open_is_decided(benchgate: Program, toy: Project, follow: Follow) -> None:
    toy.slow_down()
    done = benchgate(toy.root, "check", "--rounds", "2", "--json", "-", "--no-explain")
    done.check(4)
    follow(steps_of(done)["measure"]).check(3)


def test_a_removed_benchmark_is_accepted(benchgate: Program, toy: Project) -> None:
    toy.write({"benchmarks/bench_toy.py": "def bench_other():\n    sum(range(500))\n"})
    done = benchgate(toy.root, "check", "--rounds", "2", "--json", "-")
    done.check(4)
    steps = steps_of(done)
    assert '"toy/work" = "toy/other"' in steps["fix"]["why"]
    config = toy.root / steps["accept"]["edit"]
    accepted = steps["accept"]["text"].replace('""', '"nobody needs it"')
    config.write_text(f"{config.read_text()}\n{accepted}\n")
    benchgate(toy.root, "compare").check(0)


@pytest.mark.parametrize(
    ("code", "options", "configuration"),
    [
        (2, (), "[gate]\nmagrin = '2%'\n"),
        (2, ("--filter", "nothing"), ""),
        (2, ("--jsn",), ""),
        (5, (), '[build]\ncommand = "false"\n'),
        (6, ("--against", "nothing"), ""),
    ],
)
def test_without_a_verdict_only_standard_error_has_something(
    benchgate: Program, toy: Project, code: int, options: tuple[str, ...], configuration: str
) -> None:
    toy.configure(configuration)
    toy.write({"README": "changed"})
    done = benchgate(toy.root, "check", *QUICKLY, *options)
    done.check(code, "error: ")
    assert done.out == ""
