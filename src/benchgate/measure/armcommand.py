"""A configured command as it is run in each arm, and the hash of what it is."""

from __future__ import annotations

import hashlib
import json
import signal
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.errors import MeasureError
from benchgate.measure.armenviron import environ_of, with_equal_names
from benchgate.model.redact import Redactor
from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchgate.config import CommandBenchmark, Measure
    from benchgate.measure.armenviron import StartingEnvironment
    from benchgate.measure.engine import Arm, ArmName
    from benchgate.measure.process import Execution

PADDING = "BENCHGATE_PADDING"


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How a command is run, in all arms alike.

    Attributes:
        id: of the benchmark.
        executions: per arm and round at most; slow commands get fewer.
        warmup: executions before those of the first round, kept apart.
        pin: run it on one CPU, where the OS can; wrong for what is parallel itself.
        allow_foreign: measure it also if it runs code that is not the arm's own.
        timeout_s: for each execution, and for prepare and cleanup.
    """

    id: str
    executions: int
    warmup: int
    pin: bool
    allow_foreign: bool
    timeout_s: float


@dataclass(frozen=True, slots=True, eq=False)
class ArmCommand:
    """A command in one arm, every placeholder replaced.

    Attributes:
        names_its_arm: what is run depends on the arm, whatever files it opens.
    """

    arm: ArmName
    command: tuple[str, ...]
    prepare: tuple[str, ...] | None
    cleanup: tuple[str, ...] | None
    cwd: Path
    env: Mapping[str, str]
    names_its_arm: bool
    ok_exit_codes: frozenset[int]


def run_settings(
    id_: str, benchmarks: Mapping[ArmName, CommandBenchmark], lead: ArmName, measure: Measure
) -> RunSettings:
    """Let a command that both arms have be run in both in the same way.

    Args:
        benchmarks: of one id, by the arm whose configuration defines it.
        lead: the arm that decides where both have it. The longer timeout holds: neither arm can
            make the other fail.
        measure: what holds where the benchmark does not say.
    """
    leading = benchmarks.get(lead) or next(iter(benchmarks.values()))
    return RunSettings(
        id=id_,
        executions=leading.executions or measure.executions,
        warmup=measure.command_warmup,
        pin=leading.pin,
        allow_foreign=leading.allow_foreign,
        timeout_s=max(one.timeout_s or measure.timeout_s for one in benchmarks.values()),
    )


def arm_commands(
    benchmarks: Mapping[ArmName, CommandBenchmark],
    arms: Sequence[Arm],
    outside: StartingEnvironment,
) -> tuple[ArmCommand, ...]:
    """What to run in each arm that has it, under conditions as equal as they can be made.

    Names of variables are the same in all arms, and so is the room that arguments and
    environment take at the top of the stack: it shifts all below it, and with that the speed.

    Raises:
        MeasureError: the arms set different variables.
    """
    names = {frozenset(arm.variables) for arm in arms}
    if len(names) > 1:
        different = sorted(frozenset.union(*names) - frozenset.intersection(*names))
        raise MeasureError(
            f"the arms are not measured the same way: only one of them sets {', '.join(different)}"
        )
    having = [arm for arm in arms if arm.name in benchmarks]
    environs = with_equal_names(
        [
            environ_of(arm, outside, benchmarks[arm.name].pythonpath, benchmarks[arm.name].command)
            for arm in having
        ]
    )
    commands = [
        _arm_command(benchmarks[arm.name], arm, environ)
        for arm, environ in zip(having, environs, strict=True)
    ]
    largest = max(_stack_bytes(one) for one in commands)
    return tuple(
        replace(one, env={**one.env, PADDING: "x" * (largest - _stack_bytes(one))})
        for one in commands
    )


def _arm_command(benchmark: CommandBenchmark, arm: Arm, environ: Mapping[str, str]) -> ArmCommand:
    cwd = arm.root / arm.substitute(benchmark.cwd)
    variables = {name: arm.substitute(value) for name, value in benchmark.env.items()}

    def words(command: tuple[str, ...]) -> tuple[str, ...]:
        # Word by word: a folder's name with a space in it stays one word.
        return tuple(arm.substitute(word) for word in command)

    said = (*benchmark.command, *benchmark.env.values())
    return ArmCommand(
        arm=arm.name,
        command=words(benchmark.command),
        prepare=None if benchmark.prepare is None else words(benchmark.prepare),
        cleanup=None if benchmark.cleanup is None else words(benchmark.cleanup),
        cwd=cwd,
        # PWD would be right in the arm that benchgate was started in, and wrong in the other.
        env={**environ, **arm.variables, **variables, "PWD": str(cwd)},
        names_its_arm=any(arm.substitute(text) != text for text in said),
        ok_exit_codes=frozenset(benchmark.ok_exit_codes),
    )


def _stack_bytes(one: ArmCommand) -> int:
    """Room for the strings that a new process finds on its stack: path, arguments, variables."""
    strings = [*one.command, *(f"{name}={value}" for name, value in one.env.items())]
    if "/" in one.command[0]:
        strings.append(one.command[0])
    return sum(len(string.encode(errors="surrogateescape")) + 1 for string in strings)


def workload_hash(benchmark: CommandBenchmark, *, pin: bool) -> str:
    """16 hex digits that change with what is measured, not with secrets or with how often."""
    definition = json.dumps(
        {
            "command": benchmark.command,
            "prepare": benchmark.prepare,
            "cleanup": benchmark.cleanup,
            "cwd": benchmark.cwd,
            "ok_exit_codes": sorted(benchmark.ok_exit_codes),
            "variables": dict(benchmark.env),
            "pythonpath": benchmark.pythonpath,
            "pin": pin,
        },
        sort_keys=True,
    )
    text = Redactor(benchmark.env)(definition)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def trouble_with(
    execution: Execution, ok_exit_codes: frozenset[int], timeout_s: float
) -> str | None:
    """What went wrong, one line and the output's tail; None when nothing did."""
    code = execution.returncode
    if execution.timed_out:
        line = f"timed out after {format_duration(timeout_s)}; its process group was killed"
    elif code in ok_exit_codes:
        return None
    elif code < 0:
        line = f"killed by {signal_name(-code)}"
    else:
        allowed = ", ".join(map(str, sorted(ok_exit_codes)))
        line = f"exited with {code} (allowed: {allowed})"
    return f"{line}\n{execution.output_tail}".rstrip()


def signal_name(number: int) -> str:
    """SIGSEGV for 11; real-time signals have no name of their own."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
