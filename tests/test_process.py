"""Trees of real processes, which small Python programs start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.patience import eventually

from benchgate.errors import MeasureError
from benchgate.process import Ending, ProcessTree, Streams, find_program, how_ended

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Protocol

    class Start(Protocol):
        def __call__(self, program: str, *, mark: str = "", own_group: bool = True) -> ProcessTree:
            """Start a program, and wait until it has printed a line."""


MARK = "BENCHGATE_TEST_MARK"
CHILD = """
import subprocess, sys, time
child = subprocess.Popen(["sleep", "300"], start_new_session={leaves})
print(child.pid, flush=True)
{then}
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started = []

    def start_one(program: str, *, mark: str = "", own_group: bool = True) -> ProcessTree:
        argv = [sys.executable, "-c", program]
        pipe = subprocess.PIPE
        started.append(
            ProcessTree(
                argv,
                cwd=tmp_path,
                env=os.environ,
                ending=Ending(mark=mark, own_group=own_group),
                streams=Streams(pipe, pipe),
            )
        )
        return started[-1]

    yield start_one
    for one in started:
        one.end()


def is_alive(pid: int) -> bool:
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)],  # noqa: S607 - the system's own
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return bool(state) and not state.startswith("Z")


@pytest.mark.parametrize("then", ["time.sleep(300)", ""], ids=["it runs", "it has ended"])
@pytest.mark.parametrize("leaves", [False, True], ids=["in its group", "in a session of its own"])
def test_nothing_of_a_marked_tree_is_left(start: Start, then: str, *, leaves: bool) -> None:
    tree = start(CHILD.format(leaves=leaves, then=then), mark=MARK)
    child = int(tree.stdout.readline())
    if not then:
        assert tree.wait(60) == 0
    assert child in [process.pid for process in tree.left()]
    tree.kill()
    assert not is_alive(child)
    assert tree.left() == []


@pytest.mark.parametrize("then", ["time.sleep(300)", ""], ids=["it runs", "it has ended"])
def test_nothing_of_its_group_is_left(start: Start, then: str) -> None:
    tree = start(CHILD.format(leaves=False, then=then))
    child = int(tree.stdout.readline())
    tree.finish(60 if not then else 0)
    assert eventually(lambda: not is_alive(child))


def test_a_marked_tree_leaves_others_alone(start: Start) -> None:
    marked = start("print(1, flush=True); input()", mark=MARK)
    other = start("print(1, flush=True); input()", mark=MARK)
    assert marked.marks.keys() == other.marks.keys() == {MARK}
    assert [process.pid for process in marked.left()] == [marked.pid]
    marked.kill()
    assert other.poll() is None


def test_in_the_group_of_this_process_it_ends_alone(start: Start) -> None:
    tree = start("import os; print(os.getpgid(0), flush=True); input()", own_group=False)
    assert int(tree.stdout.readline()) == os.getpgid(0)
    tree.send(signal.SIGTERM)
    assert tree.wait(60) == -signal.SIGTERM


WAITS = "import signal, time\n{}\nprint(1, flush=True)\n{}"


@pytest.mark.parametrize(
    ("before", "then", "code"),
    [
        ("", "input()", 1),
        ("", "time.sleep(300)", -signal.SIGTERM),
        ("signal.signal(signal.SIGTERM, signal.SIG_IGN)", "time.sleep(300)", -signal.SIGKILL),
    ],
    ids=["without input", "SIGTERM", "SIGKILL"],
)
def test_it_may_end_in_order(start: Start, before: str, then: str, code: int) -> None:
    tree = start(WAITS.format(before, then))
    tree.stdout.readline()
    tree.end(60 if then == "input()" else 0.1, 60 if code == -signal.SIGTERM else 0.1)
    assert tree.poll() == code
    tree.end()
    tree.send(signal.SIGKILL)  # its number may be that of another process by now


class Watching:
    """Notes what a guardian would watch."""

    def __init__(self) -> None:
        self.groups: set[int] = set()

    def watch(self, pgid: int) -> None:
        self.groups.add(pgid)

    def release(self, pgid: int) -> None:
        self.groups.remove(pgid)


def test_it_is_watched_until_nothing_is_left(tmp_path: Path) -> None:
    watching = Watching()
    tree = ProcessTree(["sleep", "300"], cwd=tmp_path, env=os.environ, ending=Ending(watching))
    assert watching.groups == {tree.pid}
    assert tree.finish(0) is None
    assert watching.groups == set()


@pytest.mark.parametrize(
    ("code", "how"),
    [(0, "exited with code 0"), (3, "exited with code 3"), (-9, "was killed by SIGKILL")],
)
def test_it_is_told_how_it_ended(code: int, how: str) -> None:
    assert how_ended(code) == how


def test_programs_are_looked_up_in_the_path_of_the_command(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "tool"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert find_program("tool", tmp_path, f"/nowhere:{program.parent}") == str(program)
    assert find_program("tool", tmp_path, "/nowhere:bin") == str(program)
    assert find_program("bin/tool", tmp_path, "/nowhere") == "bin/tool"
    with pytest.raises(MeasureError, match="command not found"):
        find_program("tool", tmp_path, "/nowhere")
