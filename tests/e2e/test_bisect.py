"""The search for a commit in real processes."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
from tests.e2e.conftest import CODE, DECISIVE, PYTHON
from tests.patience import eventually

if TYPE_CHECKING:
    from tests.e2e.conftest import Program, Project

pytestmark = pytest.mark.slow

BENCHMARK = "import toy\n\n\ndef bench_later():\n    toy.work()\n"


@pytest.fixture
def history(toy: Project) -> list[str]:
    """Six commits: the fourth cannot be imported, the fifth does three times the work."""
    contents = [
        "\nZ = 1\n",
        "\nA = 1\n",
        "\nB = 1\n",
        "\nthis is not Python\n",
        "\nC = 1\n",
        "\nD = 1\n",
    ]
    shas = []
    for number, more in enumerate(contents):
        code = CODE.replace("3000", "9000") if number >= 4 else CODE
        toy.write({"src/toy/__init__.py": code + more})
        shas.append(toy.commit())
    # Nothing old has this benchmark, and no commit.
    toy.write({"benchmarks/bench_later.py": BENCHMARK, "benchgate.toml": f"{DECISIVE}{PYTHON}"})
    return shas


def test_a_new_benchmark_finds_an_old_commit(
    benchgate: Program, toy: Project, history: list[str]
) -> None:
    done = benchgate(toy.root, "bisect", "later/later", "--good", history[0])
    done.check(4)
    first, second = history[3][:7], history[4][:7]
    title, *lines = done.out.splitlines()
    assert title == "later/later got slower with one of 2 commits"
    assert lines[0].startswith(f"  {first}  ")
    assert "could not be measured: NameError" in lines[1]
    assert lines[2].startswith(f"  {second}  ")
    assert f"against {history[2][:7]}" in done.out
    assert "where to look: work (edited, src/toy/__init__.py:1) takes more time" in done.out
    assert f"{first}  skipped: NameError" in done.err
    assert f"{second}  like HEAD" in done.err
    explained = benchgate(toy.root, "explain", "later/later")
    explained.check(0)
    assert "work (edited" in explained.out


def test_after_an_interruption_the_same_command_goes_on(
    benchgate: Program, toy: Project, history: list[str]
) -> None:
    words = ("bisect", "later/later", "--good", history[0], "--bad", history[4])
    process = benchgate.start(toy.root, *words)
    state = benchgate.state_home / "benchgate"
    eventually(lambda: any(state.rglob("bisect.json")))
    process.send_signal(signal.SIGINT)
    done = benchgate.end(process)
    done.check(130)
    assert "Run the same command again, and it goes on." in done.err
    done = benchgate(toy.root, *words)
    done.check(4)
    assert "this search was interrupted: " in done.err
    assert "kept" in done.err
    assert not any(state.rglob("bisect.json"))
