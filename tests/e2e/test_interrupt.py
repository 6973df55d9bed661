"""Ctrl-C, a cancelled job, and a kill that nobody can catch."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.patience import eventually

from benchgate.baselines.stored_files import read_result

if TYPE_CHECKING:
    from tests.e2e.conftest import Program, Project

pytestmark = pytest.mark.slow

# Rounds are saved once a second. The sleep keeps them few on a fast machine, too.
SLEEPING_GRANDCHILD = """\
[[benchmark]]
name = "tree"
shell = true
command = "cat README; sleep 300 & sleep 0.3"

[[benchmark]]
python = "benchmarks"
"""
KILL_AT_RANDOM = Path(__file__).parents[2] / "benchmarks" / "kill_at_random.py"


def wait_for(process: subprocess.Popen[str], words: str) -> None:
    """Read what it says until it says this."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if words in line:
            return
    pytest.fail(f"{words!r} was never said in:\n{''.join(said)}")


def wait_for_rounds(benchgate: Program, rounds: int, output: Path | None = None) -> None:
    """Wait until so many rounds are saved."""

    def saved() -> bool:
        found = [output] if output else list(benchgate.state_home.rglob("last.json.gz"))
        known = [one for one in found if one.exists() and one.stat().st_size]
        return any(read_result(one).head.full_rounds >= rounds for one in known)

    assert eventually(saved)


def has_begun(process: subprocess.Popen[str]) -> bool:
    """Whether it has come so far as to handle signals; before, Python itself does, in its way."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    (caught,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_while_measuring(
    benchgate: Program, toy: Project, number: signal.Signals
) -> None:
    toy.configure("", benchmarks=SLEEPING_GRANDCHILD)
    toy.commit()
    toy.slow_down()
    before = toy.state()
    output = toy.root.parent / "result.json"
    process = benchgate.start(toy.root, "check", "--all", "--rounds", "1000", "--output", output)
    wait_for_rounds(benchgate, 2, output)
    process.send_signal(number)
    done = benchgate.end(process)
    done.check(130, "interrupted", f"`benchgate compare {output}` shows what was measured")
    assert done.out == ""
    result = json.loads(output.read_text())
    assert result["head"]["complete"] is False
    assert result["base"]["complete"] is False
    rounds = [b["series"][0]["launches"]["round"] for b in result["head"]["benchmarks"]]
    assert len(rounds) == 2
    assert all(len(each) >= 2 for each in rounds)
    assert toy.state() == before
    shown = benchgate(toy.root, "show", output)
    shown.check(0)
    assert "interrupted" in shown.out
    for last in ((output,), ()):
        verdict = benchgate(toy.root, "compare", *last)
        verdict.check(4)
        assert verdict.out.startswith(
            "\N{BLACK QUESTION MARK ORNAMENT} No verdict: measuring was interrupted"
        )


def test_interrupted_while_building(benchgate: Program, toy: Project) -> None:
    toy.configure('[build]\ncommand = "sleep 300"\n')
    toy.slow_down()
    before = toy.state()
    process = benchgate.start(toy.root, "check")
    wait_for(process, "building ")
    process.send_signal(signal.SIGINT)
    benchgate.end(process).check(130, "interrupted")
    assert toy.state() == before


def test_interrupted_twice(benchgate: Program, toy: Project) -> None:
    """Somebody impatient must not be left with processes and worktrees."""
    toy.configure("", benchmarks=SLEEPING_GRANDCHILD)
    toy.slow_down()
    before = toy.state()
    output = toy.root.parent / "result.json"
    process = benchgate.start(toy.root, "check", "--all", "--rounds", "1000", "--output", output)
    wait_for_rounds(benchgate, 1, output)
    for _ in range(5):
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)
    benchgate.end(process).check(130)
    assert json.loads(output.read_text())["head"]["complete"] is False
    assert toy.state() == before


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGINT,
        pytest.param(
            signal.SIGHUP,
            marks=pytest.mark.skipif(
                signal.getsignal(signal.SIGHUP) is signal.SIG_IGN,
                reason="under nohup, benchgate ignores it, too",
            ),
        ),
    ],
)
@pytest.mark.parametrize("after_s", [0.15, 0.4, 0.7, 1.0, 1.5, 2.5])
def test_one_request_at_any_moment_is_enough(
    benchgate: Program, toy: Project, after_s: float, number: signal.Signals
) -> None:
    toy.slow_down()
    process = benchgate.start(toy.root, "check", "--all", "--rounds", "1000")
    time.sleep(after_s)
    begun = has_begun(process)
    process.send_signal(number)
    done = benchgate.end(process)
    if not begun and done.code != 130:
        assert done.code in {-number, -signal.SIGINT, 1}
        return
    # CPython ends by SIGINT if code in a string, such as that of a dataclass, was interrupted.
    assert done.code in {130, -signal.SIGINT}
    assert "interrupted" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("next_command", ["list", "validate", "show"])
def test_killed(benchgate: Program, toy: Project, next_command: str) -> None:
    """Its processes end by themselves, its trees go with the next start of any command."""
    toy.configure("", benchmarks=SLEEPING_GRANDCHILD)
    toy.slow_down()
    before = toy.state()
    output = toy.root.parent / "result.json"
    process = benchgate.start(toy.root, "check", "--all", "--rounds", "1000", "--output", output)
    wait_for_rounds(benchgate, 1, output)
    process.kill()
    benchgate.wait(process)
    eventually(lambda: not benchgate.processes())
    assert benchgate.processes() == {}
    assert json.loads(output.read_text())["head"]["complete"] is False
    words = [next_command, str(output)] if next_command == "show" else [next_command]
    benchgate.end(benchgate.start(toy.root, *words))
    assert toy.state() == before


def test_continued_after_a_kill(benchgate: Program, toy: Project) -> None:
    """It is a kill that nobody can catch, so the round that ended last was saved last."""
    toy.configure("", benchmarks=SLEEPING_GRANDCHILD)
    toy.commit()
    toy.slow_down()
    output = toy.root.parent / "result.json"
    options = ("--all", "--rounds", "10", "--output", output)
    process = benchgate.start(toy.root, "check", *options)
    wait_for_rounds(benchgate, 2, output)
    process.kill()
    benchgate.wait(process)
    before = read_result(output).head
    done = benchgate.end(benchgate.start(toy.root, "check", "--continue", output, "--rounds", "10"))
    done.check(3)
    assert "warning: this check was interrupted in round " in done.out
    after = read_result(output).head
    assert (after.complete, after.full_rounds) == (True, 10)
    assert after.seed == before.seed
    assert after.started == before.started
    for then, now in zip(before.benchmarks, after.benchmarks, strict=True):
        kept = then.series[0].launches[: before.full_rounds]
        launches = now.series[0].launches
        assert kept
        assert [one.samples.tolist() for one in launches[: len(kept)]] == [
            one.samples.tolist() for one in kept
        ]
        assert [one.round for one in launches] == list(range(10))
    again = benchgate(toy.root, "check", "--continue", output)
    again.check(2, "was not interrupted, so there is nothing to continue")


def test_the_last_check_goes_on_only_with_the_same_changes(
    benchgate: Program, toy: Project
) -> None:
    toy.slow_down()
    process = benchgate.start(toy.root, "check", "--all", "--rounds", "1000")
    wait_for_rounds(benchgate, 2)
    process.send_signal(signal.SIGINT)
    benchgate.end(process).check(130, "`benchgate check --continue` goes on")
    (toy.root / "new.txt").write_text("new\n")
    refused = benchgate(toy.root, "check", "--continue", "--rounds", "1000")
    refused.check(2, "the uncommitted changes are not those that it measured")
    (toy.root / "new.txt").unlink()
    done = benchgate(toy.root, "check", "--continue", "--rounds", "10")
    done.check(3)
    assert "warning: this check was interrupted in round " in done.out


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_killed_at_random_moments() -> None:
    done = subprocess.run(
        [sys.executable, str(KILL_AT_RANDOM), "3"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 troubles" in done.stdout


@pytest.mark.parametrize("moment_s", [0.02, 0.1, 0.4, 0.8, 1.6, 3.0])
def test_twelve_times_ctrl_c(benchgate: Program, toy: Project, moment_s: float) -> None:
    """In start-up, discovery, warm-up, sampling: it ends, quickly, and leaves nothing.

    Until benchgate has begun, Python itself says how it ends: with 1 if it cannot start, because it
    was interrupted.
    """
    toy.configure("")
    toy.slow_down()
    before = toy.state()
    process = benchgate.start(toy.root, "check", "--all", "--rounds", "1000")
    time.sleep(moment_s)
    begun = has_begun(process)
    for _ in range(12):
        process.send_signal(signal.SIGINT)
        time.sleep(0.08)
    done = benchgate.wait(process)
    assert done.code in {130, -signal.SIGINT} or (done.code == 1 and not begun)
    if begun:
        assert "Traceback" not in done.err, done.err
    benchgate.assert_nothing_left()
    assert toy.state() == before


def test_killed_and_then_the_doctor(benchgate: Program, toy: Project) -> None:
    toy.configure("")
    toy.slow_down()
    before = toy.state()
    process = benchgate.start(toy.root, "check", "--all", "--rounds", "1000")
    wait_for_rounds(benchgate, 1)
    process.kill()
    benchgate.wait(process)
    benchgate.end(benchgate.start(toy.root, "doctor")).check(0)
    assert toy.state() == before
