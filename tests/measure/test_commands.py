from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.measure.benchmarks import program

from benchgate.config import Measure
from benchgate.errors import MeasureError
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract.settings import StartingEnvironment
from benchgate.measure.processes.execution import Execution, trouble_with
from benchgate.measure.programs.commands import PADDING, ArmCommand, arm_commands, workload_hash
from benchgate.measure.programs.run_settings import RunSettings, run_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

BASE = Arm(ArmName.BASE, Path("/tmp/a long path/tree"), Path("/tmp/env"), "0123")  # noqa: S108
HEAD = Arm(ArmName.HEAD, Path("/src"), Path("/src/.env"), "4567")


def arm_command(**fields: Any) -> ArmCommand:  # noqa: ANN401 - of any type
    (only,) = arm_commands({HEAD.name: program("a", **fields)}, [HEAD], StartingEnvironment({}))
    return only


def test_placeholders_are_replaced_everywhere() -> None:
    made = arm_command(
        words=("{env}/bin/run", "{root}", "{sha}", "{other}"),
        prepare=("clean", "{root}"),
        cleanup=("drop", "{sha}"),
        cwd="sub/{sha}",
        env={"DATA": "{root}/data"},
    )
    assert made.command == ("/src/.env/bin/run", "/src", "4567", "{other}")
    assert made.prepare == ("clean", "/src")
    assert made.cleanup == ("drop", "4567")
    assert made.cwd == Path("/src/sub/4567")
    assert made.env["DATA"] == "/src/data"
    assert made.env["PWD"] == str(made.cwd)


def test_a_folder_with_spaces_stays_one_word() -> None:
    spec = program("a", ("{root}/my tool", "{root}"))
    (made,) = arm_commands({BASE.name: spec}, [BASE], StartingEnvironment({}))
    assert made.command == (f"{BASE.root}/my tool", f"{BASE.root}")


def test_variables_of_the_entry_win_over_those_of_the_arm_and_the_surroundings() -> None:
    arm = replace(HEAD, variables={"B": "arm", "C": "arm"})
    environ = {"A": "outside", "B": "outside", "C": "outside"}
    spec = program("a", ("true",), env={"C": "entry"})
    (made,) = arm_commands({arm.name: spec}, [arm], StartingEnvironment(environ))
    assert {name: made.env[name] for name in "ABC"} == {"A": "outside", "B": "arm", "C": "entry"}


def stack_bytes(argv: tuple[str, ...], env: Mapping[str, str]) -> int:
    """Path, arguments and variables, each ended by a zero byte."""
    words = (argv[0], *argv, *(f"{name}={value}" for name, value in env.items()))
    return len("\0".join(words).encode()) + 1


def test_both_arms_get_the_same_names_and_the_same_room() -> None:
    arms = [replace(arm, variables={"PATH": f"{arm.env}/bin"}) for arm in (BASE, HEAD)]
    spec = program("a", ("{root}/run", "{sha}", "é"), env={"X": "{root}:{env}"})
    environ = {"HOME": "/elsewhere", "PWD": "/src"}
    base, head = arm_commands(dict.fromkeys(ArmName, spec), arms, StartingEnvironment(environ))
    assert base.env.keys() == head.env.keys() == {"HOME", "PWD", "PATH", "X", PADDING}
    assert stack_bytes(base.command, base.env) == stack_bytes(head.command, head.env)


def test_arms_of_different_variables_are_refused() -> None:
    arms = [BASE, replace(HEAD, variables={"OPT": "1"})]
    with pytest.raises(MeasureError, match="only one of them sets OPT"):
        arm_commands(dict.fromkeys(ArmName, program("a", ("true",))), arms, StartingEnvironment({}))


SPEC = program("a", ("run", "{root}"), env={"API_TOKEN": "first-secret", "LEVEL": "1"})


@pytest.mark.parametrize(
    "fields",
    [
        {"command": ("run", "{root}", "--more")},
        {"prepare": ("clean",)},
        {"cleanup": ("clean",)},
        {"cwd": "sub"},
        {"ok_exit_codes": (0, 1)},
        {"env": {"API_TOKEN": "first-secret", "LEVEL": "2"}},
        {"env": {"OTHER_TOKEN": "first-secret", "LEVEL": "1"}},
    ],
)
def test_other_work_has_another_hash(fields: dict[str, Any]) -> None:
    other = SPEC.model_copy(update=fields)
    assert workload_hash(other, pin=True) != workload_hash(SPEC, pin=True)


def test_a_pinned_command_is_other_work() -> None:
    assert workload_hash(SPEC, pin=True) != workload_hash(SPEC, pin=False)


@pytest.mark.parametrize(
    "fields",
    [
        {"env": {"LEVEL": "1", "API_TOKEN": "another-secret"}},
        {"name": "b"},
        {"executions": 3, "timeout_s": 1.0, "tags": ("slow",), "parallel": True},
    ],
)
def test_the_same_work_has_the_same_hash(fields: dict[str, Any]) -> None:
    other = SPEC.model_copy(update=fields)
    assert workload_hash(other, pin=True) == workload_hash(SPEC, pin=True)


def test_the_hash_is_the_same_tomorrow() -> None:
    assert workload_hash(program("a", ("true",)), pin=True) == "93f43b9e3220df92"


@pytest.mark.parametrize(
    ("returncode", "timed_out", "line"),
    [
        (0, "", None),
        (2, "", None),
        (3, "", "exited with 3 (allowed: 0, 2)"),
        (-11, "", "killed by SIGSEGV"),
        (-63, "", "killed by signal 63"),
        (-9, "timed out: it took long", "timed out: it took long"),
        (0, "timed out: it took long", "timed out: it took long"),
    ],
)
def test_trouble(returncode: int, timed_out: str, line: str | None) -> None:
    execution = Execution(1, 1, 1, 1, 1, returncode, timed_out, "last words\n")
    trouble = trouble_with(execution, frozenset({2, 0}))
    assert trouble == (None if line is None else f"{line}\nlast words")


@pytest.mark.parametrize("lead", list(ArmName))
def test_both_arms_run_a_command_as_one_of_them_says(lead: ArmName) -> None:
    measure = Measure(command_warmup=2)
    base = program("a", ("old",), executions=9, parallel=True, timeout_s=61.0, allow_foreign=True)
    head = program("a", ("new",), executions=1, in_turn=True, timeout_s=0.001)
    leading = base if lead is ArmName.BASE else head
    found = run_settings("b", {ArmName.BASE: base, ArmName.HEAD: head}, lead, measure)
    assert leading.executions
    assert found == RunSettings(
        "b",
        leading.executions,
        2,
        pin=lead is ArmName.HEAD,
        allow_foreign=leading.allow_foreign,
        timeout_s=61.0,
        in_turn=lead is ArmName.HEAD,
    )


def test_what_one_arm_alone_has_is_run_as_it_says() -> None:
    head = program("a", ("new",), executions=1, timeout_s=0.001)
    found = run_settings("a", {ArmName.HEAD: head}, ArmName.BASE, Measure())
    assert (found.executions, found.timeout_s, found.warmup) == (1, 0.001, 1)


def test_what_a_command_does_not_say_is_the_measures() -> None:
    measure = Measure.model_validate({"executions": 7, "timeout": "2s", "command_warmup": 0})
    both = {ArmName.BASE: program("a", ("a",), timeout_s=1.0), ArmName.HEAD: program("a", ("a",))}
    found = run_settings("a", both, ArmName.HEAD, measure)
    assert (found.executions, found.timeout_s, found.warmup) == (7, 2.0, 0)
