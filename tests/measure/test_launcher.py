from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from tests.patience import limited

from benchgate.errors import MeasureError
from benchgate.measure.machine.cpus import available_cpus, supports_pinning
from benchgate.measure.processes import _launcher
from benchgate.measure.processes.execution import AllowedTime, Execution, trouble_with
from benchgate.measure.processes.launcher import CommandLauncher

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.measure.processes.guardian import Guardian

MIB = 2**20

Alive = Callable[[int], bool]
Eventually = Callable[[Callable[[], bool]], bool]
Run = Callable[..., Execution]


@pytest.fixture(scope="module")
def launcher(guardian: Guardian) -> Iterator[CommandLauncher]:
    with closing(CommandLauncher(guardian)) as launcher:
        yield launcher


@pytest.fixture
def run(launcher: CommandLauncher, tmp_path: Path) -> Run:
    """Execute words, or Python source, in an empty folder."""

    def execute(
        *argv: str,
        python: str | None = None,
        env: Mapping[str, str] = os.environ,
        timeout_s: float = 60,
        cpus: frozenset[int] | None = None,
    ) -> Execution:
        command = argv if python is None else (sys.executable, "-c", python)
        return launcher.execute(
            command, cwd=tmp_path, env=env, allowed=AllowedTime(timeout_s), cpus=cpus
        )

    return execute


def shell(run: Run, text: str, **options: Any) -> Execution:  # noqa: ANN401 - those of execute
    return run("sh", "-c", text, **options)


@pytest.mark.parametrize(
    ("text", "returncode"),
    [("exit 0", 0), ("exit 3", 3), ("exit 255", 255), ("kill -SEGV $$", -signal.SIGSEGV)],
)
def test_the_way_it_ended(run: Run, text: str, returncode: int) -> None:
    execution = shell(run, text)
    assert execution.returncode == returncode
    assert not execution.timed_out


def test_wall_time_is_that_of_the_command(run: Run) -> None:
    started_ns = time.perf_counter_ns()
    execution = run("sleep", "0.2")
    elapsed_ns = time.perf_counter_ns() - started_ns
    assert 200_000_000 <= execution.wall_ns <= elapsed_ns
    assert execution.user_ns + execution.system_ns < 100_000_000


def test_cpu_time_counts_children_that_were_waited_for(run: Run) -> None:
    burn = "import time\nwhile time.process_time() < .2: pass"
    alone = run(python=burn)
    child = run(python=f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}])")
    assert alone.user_ns + alone.system_ns >= 200_000_000
    assert child.user_ns + child.system_ns >= 200_000_000


def test_peak_memory_is_the_childs_and_not_ours(run: Run) -> None:
    ours = bytearray(b"x") * (200 * MIB)
    small = run("true")
    large = run(python=f"bytearray(b'x') * {100 * MIB}")
    assert small.peak_rss_bytes < 40 * MIB < len(ours)
    assert 100 * MIB <= large.peak_rss_bytes < 160 * MIB
    if sys.platform == "linux":
        assert 0 < small.peak_rss_floor_bytes < 40 * MIB


def test_output_and_errors_are_one_text_in_order(run: Run) -> None:
    assert shell(run, "echo a; echo b >&2; echo c").output_tail == "a\nb\nc\n"


def test_output_that_is_not_text_is_shown_as_far_as_it_is(run: Run) -> None:
    assert run("printf", r"a\377\000b").output_tail == "a\ufffd\0b"


def test_a_flood_of_output_is_drained_and_its_tail_kept(run: Run) -> None:
    execution = shell(run, f"yes 0123456789 | head -c {200 * MIB}; echo end")
    assert execution.returncode == 0
    assert len(execution.output_tail) == _launcher.TAIL_BYTES
    assert execution.output_tail.endswith("end\n")
    if sys.platform == "linux":
        assert run("true").peak_rss_floor_bytes < 40 * MIB


def test_standard_input_is_empty(run: Run) -> None:
    assert run("cat", timeout_s=30).returncode == 0


def test_the_whole_environment_is_given_with_the_sessions_token(
    run: Run, guardian: Guardian
) -> None:
    program = "import json, os; print(json.dumps(dict(os.environ)))"
    execution = run(python=program, env={"WORD": "two words\n", "LC_ALL": "C.UTF-8"})
    given = json.loads(execution.output_tail)
    assert given == {"WORD": "two words\n", "LC_ALL": "C.UTF-8", **guardian.variables}


def test_bytes_that_are_no_text_reach_the_environment(run: Run) -> None:
    odd = os.fsdecode(b"caf\xe9")
    program = "import os; print(os.environb[b'ODD'])"
    assert run(python=program, env={"ODD": odd}).output_tail == "b'caf\\xe9'\n"


def test_it_runs_in_its_folder_and_its_own_session(run: Run, tmp_path: Path) -> None:
    program = "import os; print(os.getcwd(), os.getpid() == os.getpgid(0) == os.getsid(0))"
    assert run(python=program).output_tail == f"{tmp_path.resolve()} True\n"


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE"])
def test_signals_have_their_default_effect(run: Run, name: str) -> None:
    execution = shell(run, f"kill -{name.removeprefix('SIG')} $$; exit 7")
    assert execution.returncode == -signal.Signals[name]


def test_a_timeout_kills_grandchildren_too(
    run: Run, tmp_path: Path, alive: Alive, eventually: Eventually
) -> None:
    execution = limited(
        lambda limit_s: shell(
            run, "sleep 300 & echo $! $$; : > said; sleep 300", timeout_s=limit_s
        ),
        (tmp_path / "said").exists,
    )
    assert execution.timed_out
    assert execution.returncode == -signal.SIGKILL
    assert execution.wall_ns >= 500_000_000
    pids = [int(pid) for pid in execution.output_tail.split()]
    assert len(pids) == 2
    assert eventually(lambda: not any(map(alive, pids)))


def test_a_timeout_ends_a_flood(run: Run, tmp_path: Path) -> None:
    execution = limited(
        lambda limit_s: shell(run, "echo y; : > said; exec yes", timeout_s=limit_s),
        (tmp_path / "said").exists,
    )
    assert execution.timed_out
    assert execution.output_tail.endswith("y\n")


def test_a_command_that_ignores_signals_is_killed_by_the_timeout(run: Run) -> None:
    assert shell(run, "trap '' TERM INT HUP; sleep 300", timeout_s=0.5).timed_out


def test_a_command_that_closes_its_output_is_waited_for(run: Run) -> None:
    execution = shell(run, "exec >&- 2>&-; sleep 0.3; exit 4")
    assert execution.returncode == 4
    assert execution.wall_ns >= 300_000_000


def test_a_background_child_that_holds_the_output_delays_nothing_and_is_killed(
    run: Run, alive: Alive, eventually: Eventually
) -> None:
    execution = shell(run, "sleep 300 & echo $!", timeout_s=200)
    assert not execution.timed_out
    assert eventually(lambda: not alive(int(execution.output_tail)))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux finds it by its environment")
def test_a_child_that_floods_from_another_session_delays_nothing(
    run: Run, tmp_path: Path, guardian: Guardian, alive: Alive, eventually: Eventually
) -> None:
    program = (
        "import subprocess, time\n"
        "child = subprocess.Popen(['yes'], start_new_session=True)\n"
        "open('pid', 'w').write(str(child.pid))\n"
        "time.sleep(.2)"
    )
    assert not run(python=program).timed_out
    pid = int((tmp_path / "pid").read_text())
    guardian.close()
    assert eventually(lambda: not alive(pid))


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["no-such-command-here"], "command not found: 'no-such-command-here'"),
        (["./missing"], "command not found: there is no file {cwd}/missing"),
        (["./plain"], "not executable: {cwd}/plain"),
        (["./folder"], "not executable: {cwd}/folder"),
        (["./headless"], "cannot run './headless': Exec format error: ./headless"),
        (["./astray"], "cannot run './astray': No such file or directory: ./astray"),
        ([""], "the command is empty"),
        (["true", "a\0b"], "cannot run 'true': embedded null byte"),
    ],
)
def test_what_cannot_be_started_is_named(
    run: Run, tmp_path: Path, argv: list[str], message: str
) -> None:
    (tmp_path / "plain").write_text("exit 0\n")
    (tmp_path / "folder").mkdir()
    for name, text in (("headless", "exit 0\n"), ("astray", "#!/no/such/interpreter\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    with pytest.raises(MeasureError) as caught:
        run(*argv)
    assert caught.value.message == message.format(cwd=tmp_path)
    assert run("true").returncode == 0, "the launcher goes on"


def test_a_missing_folder_is_named(launcher: CommandLauncher, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(MeasureError, match=f"cannot run 'true': there is no folder {missing}"):
        launcher.execute(["true"], cwd=missing, env=os.environ, allowed=AllowedTime(60))


@pytest.mark.skipif(not supports_pinning(), reason="needs pinning")
def test_a_pinned_command_never_runs_elsewhere(run: Run) -> None:
    program = "import os; print(sorted(os.sched_getaffinity(0)))"
    for cpu in sorted(available_cpus()):
        assert run(python=program, cpus=frozenset({cpu})).output_tail == f"[{cpu}]\n"
        everywhere = f"{sorted(available_cpus())}\n"
        assert run(python=program).output_tail == everywhere, "others are free again"


@pytest.mark.skipif(not supports_pinning(), reason="needs pinning")
def test_a_cpu_that_does_not_exist_is_an_error(run: Run) -> None:
    with pytest.raises(MeasureError, match=r"does not bind it to the CPUs \[1000\]"):
        run("true", cpus=frozenset({1000}))
    assert run("true").returncode == 0


def test_a_negative_time_is_an_error() -> None:
    with pytest.raises(MeasureError, match="a clock went backwards: wall_ns is -1"):
        Execution(
            wall_ns=-1,
            user_ns=0,
            system_ns=0,
            peak_rss_bytes=0,
            peak_rss_floor_bytes=0,
            returncode=0,
            timed_out="",
            output_tail="",
        )


def test_an_interruption_kills_the_group_and_goes_on_its_way(
    run: Run, tmp_path: Path, alive: Alive, eventually: Eventually
) -> None:
    pids = tmp_path / "pids"

    def interrupt() -> None:
        eventually(lambda: pids.exists() and len(pids.read_text().split()) == 2)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        shell(run, f"sleep 300 & echo $! $$ > {shlex.quote(str(pids))}; sleep 300")
    thread.join()
    assert eventually(lambda: not any(alive(int(pid)) for pid in pids.read_text().split()))
    assert run("true").returncode == 0, "what comes after runs again"


KILLED_SESSION = """
import os, sys
from pathlib import Path
from benchgate.measure.processes import Guardian
from benchgate.measure.processes import AllowedTime, CommandLauncher
text = "sleep 300 & echo $! $$ > pids; sleep 300"
CommandLauncher(Guardian.start()).execute(
    ["sh", "-c", text], cwd=Path(sys.argv[1]), env=os.environ, allowed=AllowedTime(300)
)
"""


def test_nothing_survives_when_benchgate_is_killed(
    tmp_path: Path, alive: Alive, eventually: Eventually
) -> None:
    pids = tmp_path / "pids"
    with subprocess.Popen([sys.executable, "-c", KILLED_SESSION, str(tmp_path)]) as session:
        assert eventually(lambda: pids.exists() and len(pids.read_text().split()) == 2)
        session.kill()
    assert eventually(lambda: not any(alive(int(pid)) for pid in pids.read_text().split()))


def test_a_standard_output_can_be_kept(launcher: CommandLauncher, tmp_path: Path) -> None:
    file = tmp_path / "stdout"
    for text in ("first run, with more to say", "second"):
        argv = ["/bin/sh", "-c", f"echo '{text}'; echo oops >&2; exit 3"]
        execution = launcher.execute(
            argv, cwd=tmp_path, env=os.environ, allowed=AllowedTime(60), stdout=file
        )
        assert (execution.returncode, execution.overflowed) == (3, False)
        assert file.read_text() == f"{text}\n"
        assert execution.output_tail == f"{text}\noops\n"


def test_an_endless_output_ends_the_command(
    launcher: CommandLauncher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchgate.measure.processes.launcher.MOST_OUTPUT_BYTES", 100_000)
    text = "yes | head -c 200000; exec sleep 300"
    argv, file = ["/bin/sh", "-c", text], tmp_path / "stdout"
    execution = launcher.execute(
        argv, cwd=tmp_path, env=os.environ, allowed=AllowedTime(200), stdout=file
    )
    assert (execution.overflowed, execution.timed_out) == (True, "")
    trouble = trouble_with(execution, frozenset({0})) or ""
    assert trouble.startswith("printed more than 256.0 MiB\ny\n")


def test_a_file_that_cannot_be_made_is_an_error(launcher: CommandLauncher, tmp_path: Path) -> None:
    missing = tmp_path / "missing/file"
    with pytest.raises(MeasureError, match="No such file or directory"):
        launcher.execute(
            ["yes"], cwd=tmp_path, env=os.environ, allowed=AllowedTime(60), stdout=missing
        )
    assert (
        launcher.execute(["true"], cwd=tmp_path, env=os.environ, allowed=AllowedTime(60)).returncode
        == 0
    )


def test_what_the_system_refuses_is_an_answer() -> None:
    without_files = (
        "import resource\n"
        "from benchgate.measure.processes import _launcher\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))\n"
        "_launcher.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", without_files],
        input="{}\n{}\n",
        capture_output=True,
        text=True,
        check=True,
    )
    refused = {"refused": "Too many open files"}
    assert [json.loads(line) for line in done.stdout.splitlines()] == [refused, refused]


def test_without_a_pidfd_a_thread_waits(
    tmp_path: Path, alive: Alive, eventually: Eventually
) -> None:
    portable = (
        "import os\n"
        "from benchgate.measure.processes import _launcher\n"
        "_launcher.watch_exit = _launcher.WaitingThread\n"
        "_launcher.main()"
    )

    def ask(text: str, timeout_s: float) -> dict[str, Any]:
        request = {
            "program": "/bin/sh",
            "argv": ["sh", "-c", text],
            "cwd": str(tmp_path),
            "env": dict(os.environ),
            "timeout_s": timeout_s,
            "cpus": None,
            "stdout": None,
            "stdout_limit_bytes": 0,
            "grace_s": 0.0,
        }
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        usage: dict[str, Any] = json.loads(process.stdout.readline())["usage"]
        return usage

    with subprocess.Popen(
        [sys.executable, "-c", portable],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        ended = ask("sleep 0.1; sleep 300 & echo $!; exit 3", 200)
        late = limited(
            lambda limit_s: ask("sleep 300 & echo $!; : > said; sleep 300", limit_s),
            (tmp_path / "said").exists,
        )
    assert (ended["returncode"], ended["timed_out"]) == (3, False)
    assert ended["wall_ns"] >= 100_000_000
    assert late["timed_out"]
    pids = [int(usage["output_tail"]) for usage in (ended, late)]
    assert eventually(lambda: not any(map(alive, pids)))
