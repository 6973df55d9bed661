"""Where the output goes: to a terminal, to a reader that leaves, to a full disk."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

if TYPE_CHECKING:
    from tests.e2e.conftest import Program, Project

COLOUR = re.compile(r"\x1b\[[0-9;]*(?:3[0-7]|9[0-7])m")


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


def test_a_log_of_both_streams_has_each_warning_once(benchgate: Program, toy: Project) -> None:
    toy.slow_down()
    done = subprocess.run(
        [sys.executable, "-m", "benchgate", "check", "--rounds", "1"],
        cwd=toy.root,
        env=benchgate.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.stdout.count("too few rounds to decide: 1 round, and it takes") == 1
    apart = benchgate(toy.root, "check", "--rounds", "1")
    assert "too few rounds to decide: 1 round, and it takes" in apart.out
    assert "too few rounds to decide: 1 round, and it takes" in apart.err


def on_terminal(benchgate: Program, cwd: Path, *arguments: str) -> str:
    """Call it with a terminal as its standard output."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "benchgate", *arguments],
        cwd=cwd,
        env={**benchgate.environment(), "TERM": "xterm-256color"},
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    said = b""
    with suppress(OSError):  # as a terminal says that nobody will write to it any more
        while chunk := os.read(ours, 4096):
            said += chunk
    os.close(ours)
    process.wait()
    return said.decode()


WIDE = """\
def bench_漢字の名前():
    sum(range(100))


def bench_naïve():
    sum(range(100))
"""
# No column of `list` may move because of what an encoding lacks.
LISTED = {
    "utf-8": ["漢字の名前  python", "naïve       python"],
    "latin-1": [r"\u6f22\u5b57\u306e\u540d\u524d  python", f"naïve{' ' * 27}python"],
    "ascii": [r"\u6f22\u5b57\u306e\u540d\u524d  python", rf"na\xefve{' ' * 24}python"],
}


@pytest.mark.parametrize("encoding", LISTED)
def test_names_that_an_encoding_lacks(benchgate: Program, toy: Project, encoding: str) -> None:
    (toy.root / "benchmarks" / "bench_wide.py").write_text(WIDE, encoding="utf-8")
    benchgate.variables["PYTHONIOENCODING"] = encoding

    def said(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "benchgate", *arguments],
            cwd=toy.root,
            env=benchgate.environment(),
            capture_output=True,
            check=True,
        )
        assert b"Traceback" not in done.stderr
        done.stderr.decode(encoding)
        return done.stdout.decode(encoding)

    for row in LISTED[encoding]:
        assert f"wide/{row}  benchmarks/" in said("list")
    name = "漢字の名前" if encoding == "utf-8" else r"\u6f22\u5b57\u306e\u540d\u524d"
    assert f"bench_{name}" in said("validate")
    measured = said("run", "--rounds", "1", "--output", "../wide.json", "--filter", "wide/*")
    assert ("µs" in measured or "ns" in measured) if encoding == "utf-8" else "µ" not in measured
    assert f"wide/{name}" in said("show", "../wide.json")


def assert_fits(text: str, columns: int) -> None:
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).replace("\r", "").splitlines()
    assert [line for line in lines if cell_len(line) > columns] == []
    assert [line for line in lines if line != line.rstrip()] == []


def test_a_verdict_on_a_terminal_and_to_a_reader_that_leaves(
    benchgate: Program, toy: Project
) -> None:
    (toy.root / "benchmarks" / "bench_wide.py").write_text(WIDE, encoding="utf-8")
    toy.slow_down()
    benchgate(toy.root, "check", "--rounds", "8").check(3)

    # Color is for terminals, and can be refused.
    assert COLOUR.search(on_terminal(benchgate, toy.root, "compare"))
    benchgate.variables["NO_COLOR"] = "1"
    plain = on_terminal(benchgate, toy.root, "compare")
    assert "slower" in plain
    assert not COLOUR.search(plain)

    # Nothing is wider than the terminal.
    for columns in (40, 60, 80, 200):
        benchgate.variables["COLUMNS"] = str(columns)
        for command in (("list",), ("compare", "-v"), ("show",), ("show", "--detail")):
            assert_fits(on_terminal(benchgate, toy.root, *command), columns)

    # The exit code is the verdict's even if the reader leaves.
    for form in ((), ("--json", "-", "--markdown", "../verdict.md")):
        process = benchgate.start(toy.root, "compare", *form)
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        process.stderr.close()
        assert process.wait() == 3
        assert (toy.root.parent / "verdict.md").exists() is bool(form)


def test_the_time_of_each_phase_is_on_standard_error_only(benchgate: Program, toy: Project) -> None:
    result = toy.root.parent / "result.json"
    done = benchgate(
        toy.root, "run", "--rounds", "2", "--timing", "--quiet", "--output", str(result)
    )
    done.check(0)
    lines = done.err.splitlines()
    assert lines[0].split() == ["phase", "times", "took", "share"]
    phases = {line[:18].strip(): line[18:].split() for line in lines[1:] if line[:18].strip()}
    assert phases["first round"][0] == phases["later rounds"][0] == "1"
    assert phases["start workers"][0] == "2"
    assert "first round" not in done.out
    for detail, is_shown in (((), False), (("--detail",), True)):
        shown = benchgate(toy.root, "show", str(result), *detail)
        shown.check(0)
        assert ("first round" in shown.out) is is_shown
