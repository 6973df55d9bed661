from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.patience import limited

from benchgate.errors import BaselineError, BenchgateError, MeasureError
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.processes.build_commands import (
    TAIL_LINES,
    build,
    build_environment,
    versions,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.measure.processes.guardian import Guardian

SHELL = ("/bin/sh", "-c")
SHA = "0123456789abcdef0123456789abcdef01234567"
NOTHING: dict[str, str] = {}


@pytest.fixture
def make_arm(tmp_path: Path) -> Callable[[ArmName], Arm]:
    def make(name: ArmName, variables: Mapping[str, str] = NOTHING) -> Arm:
        root = tmp_path / name / "my project"
        root.mkdir(parents=True)
        return Arm(name, root=root, env=tmp_path / f"{name}-env", sha=SHA, variables=variables)

    return make


@pytest.fixture
def head(make_arm: Callable[[ArmName], Arm]) -> Arm:
    return make_arm(ArmName.HEAD)


@pytest.fixture
def run(guardian: Guardian) -> Callable[..., None]:
    """Build with shell commands."""

    def run_all(arm: Arm, *commands: str, timeout_s: float = 60) -> None:
        argvs = [(*SHELL, command) for command in commands]
        build(arm, argvs, timeout_s=timeout_s, variables={}, guardian=guardian)

    return run_all


def test_commands_run_in_the_tree_one_after_the_other(head: Arm, run: Callable[..., None]) -> None:
    run(head, "echo one >log", "echo two >>log; pwd >>log", "cat log >copy")
    assert (head.root / "copy").read_text().split("\n") == ["one", "two", str(head.root), ""]


def test_words_and_variables_are_substituted_whole(head: Arm, guardian: Guardian) -> None:
    program = "import os, sys; open('seen', 'w').write('|'.join([*sys.argv[1:], os.environ['X']]))"
    build(
        head,
        [(sys.executable, "-c", program, "{root}/a", "--prefix={env}", "{sha}", "{other}")],
        timeout_s=20,
        variables={"X": "{env}/lib"},
        guardian=guardian,
    )
    seen = (head.root / "seen").read_text().split("|")
    assert seen == [
        f"{head.root}/a",
        f"--prefix={head.env}",
        SHA,
        "{other}",
        f"{head.env}/lib",
    ]
    assert not head.env.exists()


def test_program_of_the_tree_itself(head: Arm, guardian: Guardian) -> None:
    (head.root / "configure").write_text("#!/bin/sh\ntouch configured\n")
    (head.root / "configure").chmod(0o755)
    build(head, [("./configure",)], timeout_s=20, variables={}, guardian=guardian)
    assert (head.root / "configured").exists()


def test_the_users_environment_is_left_behind(
    make_arm: Callable[..., Arm], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VIRTUAL_ENV", "PYTHONHOME", "GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.setenv(name, "the user's")
    arm = make_arm(ArmName.HEAD, {"CFLAGS": "-O2", "LEVEL": "arm"})
    environment = build_environment(arm, {"LEVEL": "build", "CACHE": "{env}/cache"})
    expected = {
        "CFLAGS": "-O2",
        "LEVEL": "build",
        "CACHE": f"{arm.env}/cache",
        "PATH": os.environ["PATH"],
    }
    assert environment.items() >= expected.items()
    assert "the user's" not in environment.values()


def test_an_environment_of_its_own(head: Arm, guardian: Guardian) -> None:
    create = (sys.executable, "-m", "venv", "--without-pip", "{env}")
    use = ("{env}/bin/python", "-c", "import sys; open('prefix', 'w').write(sys.prefix)")
    build(head, [create, use], timeout_s=60, variables={}, guardian=guardian)
    assert Path((head.root / "prefix").read_text()).resolve() == head.env.resolve()


@pytest.mark.parametrize(
    ("name", "error", "exit_code"),
    [(ArmName.HEAD, MeasureError, 5), (ArmName.BASE, BaselineError, 6)],
)
def test_failure_names_command_code_arm_and_commit(
    make_arm: Callable[[ArmName], Arm],
    run: Callable[..., None],
    name: ArmName,
    error: type[BenchgateError],
    exit_code: int,
) -> None:
    arm = make_arm(name)
    with pytest.raises(error) as raised:
        run(arm, "echo fine", "echo out; echo err >&2; exit 7", "touch not-reached")
    assert raised.value.exit_code == exit_code
    assert raised.value.message == (
        f"building the {name} (0123456789ab): "
        "/bin/sh -c 'echo out; echo err >&2; exit 7' exited with code 7"
    )
    assert raised.value.details == "out\nerr"
    assert ("--against" in raised.value.hint) == (name is ArmName.BASE)
    assert not (arm.root / "not-reached").exists()


def test_details_are_the_end_of_the_output(head: Arm, run: Callable[..., None]) -> None:
    with pytest.raises(MeasureError) as raised:
        run(head, "seq 100000; printf 'no end of line \\377'; exit 1")
    lines = raised.value.details.split("\n")
    assert len(lines) == TAIL_LINES == 40
    assert lines[-2:] == ["100000", "no end of line \N{REPLACEMENT CHARACTER}"]


@pytest.mark.parametrize(
    "error",
    ["npm error code EUSAGE", "a.cc:3:1: error: no", "ValueError: boom", "make: *** [all] Error 2"],
)
def test_the_first_errors_are_in_the_details(
    head: Arm, run: Callable[..., None], error: str
) -> None:
    with pytest.raises(MeasureError) as raised:
        run(head, f"seq 9; echo '{error}'; echo '{error}'; seq 100; exit 1")
    lines = raised.value.details.split("\n")
    assert lines[:2] == [error, "[...]"]
    assert len(lines) == TAIL_LINES + 2
    with pytest.raises(MeasureError) as raised:
        run(head, f"echo '{error}'; seq 9; exit 1")
    assert raised.value.details.split("\n")[:2] == [error, "1"]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("no-such-program", "-x"), "no-such-program -x cannot be started: No such file"),
        (("{env}/bin/python",), ": {env}/bin/python cannot be started: No such file"),
        (("./data",), "./data cannot be started: Permission denied"),
        ((*SHELL, "kill -SEGV $$"), "was killed by SIGSEGV"),
    ],
)
def test_command_that_does_not_run_to_its_end(
    head: Arm, guardian: Guardian, argv: tuple[str, ...], said: str
) -> None:
    (head.root / "data").write_text("no program")
    with pytest.raises(MeasureError) as raised:
        build(head, [argv], timeout_s=20, variables={}, guardian=guardian)
    assert said in raised.value.message


def test_an_error_names_the_folders_as_the_configuration_does(
    head: Arm, run: Callable[..., None]
) -> None:
    with pytest.raises(MeasureError) as raised:
        run(head, 'echo "no $PWD/a"; {env}/bin/pip')
    assert raised.value.message.endswith(
        "/bin/sh -c 'echo \"no $PWD/a\"; {env}/bin/pip' exited with code 127"
    )
    assert raised.value.details.startswith("no {root}/a\n/bin/sh: ")
    assert "{env}/bin/pip" in raised.value.details


@pytest.mark.parametrize(
    ("printed", "warnings"),
    [
        (["WARNING: no extra", "fine", "WARNING: no extra"], ("WARNING: no extra",)),
        (["  WARNING: in {env}/lib"], ("WARNING: in {env}/lib",)),
        (["\\033[1m\\033[33mwarning\\033[0m: no extra"], ("warning: no extra",)),
        (["npm warn deprecated a", "npm WARN old b"], ("npm warn deprecated a", "npm WARN old b")),
        (["a.c:1:2: warning: unused", "warnings: 0", "no warning: here"], ()),
        (
            ["warning: a", "warning: b", "warning: c", "warning: d"],
            ("warning: b", "warning: c", "warning: d"),
        ),
    ],
)
def test_the_last_warnings_are_returned(
    head: Arm, guardian: Guardian, printed: list[str], warnings: tuple[str, ...]
) -> None:
    commands = [(*SHELL, f"printf '{line}\\n' >&2; seq 100") for line in printed]
    found = build(head, commands, timeout_s=20, variables={}, guardian=guardian)
    assert found == warnings


def test_input_is_empty(head: Arm, run: Callable[..., None]) -> None:
    run(head, "cat >input")
    assert (head.root / "input").read_text() == ""


def test_timeout_ends_the_whole_group(
    head: Arm,
    run: Callable[..., None],
    alive: Callable[[int], bool],
    eventually: Callable[[Callable[[], bool]], bool],
) -> None:
    child = head.root / "child"

    def stopped(limit_s: float) -> MeasureError:
        with pytest.raises(MeasureError) as raised:
            run(
                head,
                "echo waiting; sleep 300 & echo $! >begun; mv begun child; wait",
                timeout_s=limit_s,
            )
        return raised.value

    error = limited(stopped, child.exists)
    assert " was stopped after " in error.message
    assert error.message.endswith(" s; `timeout` of [build] sets the limit")
    assert error.details == "waiting"
    assert eventually(lambda: not alive(int(child.read_text())))


def test_nothing_runs_on_after_a_command_that_succeeded(
    head: Arm,
    run: Callable[..., None],
    alive: Callable[[int], bool],
    eventually: Callable[[Callable[[], bool]], bool],
) -> None:
    run(head, "sleep 300 & echo $! >child")
    assert eventually(lambda: not alive(int((head.root / "child").read_text())))


def test_interrupt_ends_the_whole_group(
    head: Arm,
    run: Callable[..., None],
    alive: Callable[[int], bool],
    eventually: Callable[[Callable[[], bool]], bool],
) -> None:
    child = head.root / "child"

    def interrupt() -> None:
        eventually(child.exists)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run(head, "sleep 300 & echo $! >begun; mv begun child; wait", timeout_s=200)
    thread.join()
    assert eventually(lambda: not alive(int(child.read_text())))


def test_no_build_outlives_benchgate_when_that_is_killed(
    head: Arm, alive: Callable[[int], bool], eventually: Callable[[Callable[[], bool]], bool]
) -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from benchgate.measure.processes import build\n"
        "from benchgate.measure.arm import Arm, ArmName\n"
        "from benchgate.measure.processes import Guardian\n"
        "arm = Arm(ArmName.HEAD, Path(sys.argv[1]), Path(sys.argv[1]) / 'env')\n"
        "command = ('/bin/sh', '-c', 'sleep 300 & echo $! >started; mv started child; wait')\n"
        "with Guardian.start() as guardian:\n"
        "    build(arm, [command], timeout_s=300, variables={}, guardian=guardian)\n"
    )
    child = head.root / "child"
    with subprocess.Popen([sys.executable, "-c", program, str(head.root)]) as process:
        assert eventually(child.exists)
        process.kill()
    assert eventually(lambda: not alive(int(child.read_text())))


def asked(arm: Arm, guardian: Guardian, **commands: str) -> dict[str, str]:
    """Ask with shell commands."""
    argvs = {name: (*SHELL, command) for name, command in commands.items()}
    return versions(arm, argvs, timeout_s=20, variables={"V": "5 in {root}"}, guardian=guardian)


def test_a_version_is_the_first_line_that_a_tool_prints(head: Arm, guardian: Guardian) -> None:
    (head.root / "tool").write_text("4")
    found = asked(
        head,
        guardian,
        cc="echo; echo ' cc 12.2 '; echo 'There is NO warranty'",
        java="echo 17 >&2",
        own="cat tool",
        variable='echo "$V"',
        long="seq 900",
    )
    assert found == {
        "cc": "cc 12.2",
        "java": "17",
        "own": "4",
        "variable": "5 in {root}",
        "long": "1",
    }


@pytest.mark.parametrize(
    ("name", "error"), [(ArmName.HEAD, MeasureError), (ArmName.BASE, BaselineError)]
)
def test_a_tool_without_a_version_is_an_error(
    make_arm: Callable[[ArmName], Arm],
    guardian: Guardian,
    name: ArmName,
    error: type[BenchgateError],
) -> None:
    arm = make_arm(name)
    whose = f"asking the {name} (0123456789ab) for the version of cc: /bin/sh -c"
    with pytest.raises(error) as failed:
        asked(arm, guardian, cc="echo no; exit 3")
    assert failed.value.message == f"{whose} 'echo no; exit 3' exited with code 3"
    assert failed.value.details == "no"
    with pytest.raises(error) as silent:
        asked(arm, guardian, cc="echo")
    assert silent.value.message == f"{whose} echo printed nothing"
