from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchgate.errors import UsageError
from benchgate.measure.processes.guardian import Guardian, require_processes

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows environments")

# Starts a guardian and a child in a watched group, and says which processes there are.
SESSION = """
import subprocess, sys, time
from benchgate.measure.processes import Guardian
guardian = Guardian.start()
child = subprocess.Popen(
    [sys.executable, "-c", sys.argv[1]], start_new_session=True,
    env=guardian.variables, stdout=subprocess.PIPE, text=True,
)
if sys.argv[2] == "watch":
    guardian.watch(child.pid)
print(guardian.pid, child.pid, child.stdout.readline().strip(), flush=True)
time.sleep(300)
"""

SAME_GROUP = """
import subprocess, time
print(subprocess.Popen(["sleep", "300"], env={}).pid, flush=True)
time.sleep(300)
"""

OWN_SESSION = """
import subprocess, time
print(subprocess.Popen(["sleep", "300"], start_new_session=True).pid, flush=True)
time.sleep(300)
"""

# Replaces itself by a child in a session of its own again and again; ends by itself after 60 s.
MOVES_ON = """
import os, sys, time
deadline = time.monotonic() + 60
while time.monotonic() < deadline:
    with open(sys.argv[1], "a") as log:
        log.write("x")
    time.sleep(.1)
    if os.fork():
        os._exit(0)
    os.setsid()
"""


@pytest.fixture
def guardian() -> Iterator[Guardian]:
    """One for each test, which may end it."""
    with Guardian.start() as guardian:
        yield guardian


Alive = Callable[[int], bool]
Eventually = Callable[[Callable[[], bool]], bool]


def start_sleep(env: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["sleep", "300"],  # noqa: S607 - the system's own
        env={"PATH": os.environ["PATH"], **env},
        start_new_session=True,
    )


@pytest.mark.parametrize(
    ("program", "watched"),
    [
        (SAME_GROUP, "watch"),
        pytest.param(OWN_SESSION, "watch", marks=linux),
        pytest.param(OWN_SESSION, "do not", marks=linux),
    ],
    ids=["group", "own session", "only the token"],
)
def test_nothing_survives_a_killed_session(
    program: str, watched: str, alive: Alive, eventually: Eventually
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SESSION, program, watched], stdout=subprocess.PIPE, text=True
    ) as session:
        assert session.stdout is not None
        pids = [int(pid) for pid in session.stdout.readline().split()]
        assert len(pids) == 3
        assert all(map(alive, pids))
        session.send_signal(signal.SIGKILL)
    assert eventually(lambda: not any(map(alive, pids)))


@linux
def test_a_process_that_moves_from_session_to_session_is_caught(
    guardian: Guardian, tmp_path: Path, eventually: Eventually
) -> None:
    log = tmp_path / "log"
    subprocess.run(
        [sys.executable, "-c", MOVES_ON, str(log)], env=guardian.variables, timeout=60, check=True
    )
    assert eventually(lambda: log.stat().st_size > 3)
    guardian.close()
    steps = log.stat().st_size
    time.sleep(0.5)
    assert log.stat().st_size == steps


def test_closing_kills_what_is_watched_and_ends_the_guardian(alive: Alive) -> None:
    guardian = Guardian.start()
    child = start_sleep({})
    guardian.watch(child.pid)
    guardian.close()
    assert child.wait(10) == -signal.SIGKILL
    assert not alive(guardian.pid)
    guardian.close()


def test_what_is_released_is_left_alone() -> None:
    guardian = Guardian.start()
    children = [start_sleep({}) for _ in range(3)]
    for child in children:
        guardian.watch(child.pid)
    guardian.release(children[1].pid)
    guardian.release(children[1].pid)
    guardian.close()
    assert children[0].wait(10) == children[2].wait(10) == -signal.SIGKILL
    assert children[1].poll() is None
    children[1].kill()
    children[1].wait()


def test_a_released_place_is_used_again(guardian: Guardian) -> None:
    for _ in range(3):
        child = start_sleep({})
        guardian.watch(child.pid)
        guardian.release(child.pid)
        child.kill()
        child.wait()
    last = start_sleep({})
    guardian.watch(last.pid)
    guardian.close()
    assert last.wait(10) == -signal.SIGKILL


def test_the_token_is_the_sessions_for_all_its_length() -> None:
    with Guardian.start("a-token") as one, Guardian.start() as other:
        assert one.variables == {"BENCHGATE_SESSION": "a-token"}
        assert other.variables == other.variables
        assert other.variables != one.variables


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_do_not_end_it(
    guardian: Guardian, name: signal.Signals, eventually: Eventually
) -> None:
    child = start_sleep({})
    guardian.watch(child.pid)
    assert os.getpgid(guardian.pid) == guardian.pid != os.getpgid(0)
    assert eventually(lambda: ignores(guardian.pid, name))
    os.kill(guardian.pid, name)
    guardian.close()
    assert child.wait(10) == -signal.SIGKILL


def ignores(pid: int, name: signal.Signals) -> bool:
    """Whether the process has come so far as to ignore the signal; where that can be seen."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        time.sleep(1)
        return True
    (line,) = [line for line in status.read_text().splitlines() if line.startswith("SigIgn:")]
    return bool(int(line.split()[1], 16) >> (name - 1) & 1)


@linux
def test_a_session_inside_another_is_not_known_by_the_outer_token(
    monkeypatch: pytest.MonkeyPatch, eventually: Eventually
) -> None:
    monkeypatch.setenv("BENCHGATE_SESSION", "outer")
    with Guardian.start() as guardian:
        # Empty for a moment, while the process is being started.
        assert eventually(lambda: b"PATH" in variables_of(guardian.pid))
        assert b"BENCHGATE_SESSION" not in variables_of(guardian.pid)


def variables_of(pid: int) -> set[bytes]:
    environment = Path(f"/proc/{pid}/environ").read_bytes()
    return {variable.partition(b"=")[0] for variable in environment.split(b"\0")}


@linux
def test_an_empty_proc_is_refused(tmp_path: Path) -> None:
    require_processes()
    with pytest.raises(UsageError, match="is empty, so benchgate cannot see the processes"):
        require_processes(tmp_path)
