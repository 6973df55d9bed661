"""What hangs is ended when the budget is used up, long before its own time limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.e2e.conftest import Program, Project

HANGS = "import time\n\n\ndef work():\n    time.sleep(1000)\n"
SUITE = """\
[[benchmark]]
suite = "python3 speed.py"
format = "hyperfine"
"""
SPEED = """\
import json, toy
toy.work()
print(json.dumps({"results": [{"command": "a", "times": [1.0, 1.1]}]}))
"""


@pytest.mark.parametrize("is_suite", [False, True])
def test_a_head_that_hangs_is_ended(benchgate: Program, toy: Project, *, is_suite: bool) -> None:
    if is_suite:
        toy.configure("", benchmarks=SUITE)
        toy.write({"speed.py": SPEED})
        toy.commit()
    toy.write({"src/toy/__init__.py": HANGS})
    done = benchgate(toy.root, "check", "--budget", "2s")
    done.check(5)
    assert "crashed on the base" not in done.out
    assert "timed out: benchgate ended it after " in done.out
    assert "because the budget of 2.0 s was used up" in done.out
