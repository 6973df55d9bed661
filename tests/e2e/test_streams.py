"""What happens when the output goes nowhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.e2e.conftest import Program, Project


@pytest.mark.parametrize(
    "arguments", [("schema", "result"), ("show", "../result.json"), ("--help",)]
)
def test_a_reader_that_has_seen_enough(
    benchgate: Program, toy: Project, arguments: tuple[str, ...]
) -> None:
    if arguments[0] == "show":
        benchgate(toy.root, "run", "--rounds", "1", "--output", "../result.json").check(0)
    process = benchgate.start(toy.root, *arguments)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    # Not 0: whoever pipes a verdict away must not be told that it passed.
    assert process.wait() == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_no_bug(benchgate: Program, tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "benchgate", "schema", "config"],
            cwd=tmp_path,
            env=benchgate.environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 2
