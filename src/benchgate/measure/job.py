"""A configured command as it is run in each arm, and the hash of what it is."""

from __future__ import annotations

import hashlib
import json
import signal
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from benchgate.errors import MeasureError
from benchgate.measure.armenviron import environ_of, with_equal_names
from benchgate.model.redact import Redactor
from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchgate.measure.armenviron import Outside
    from benchgate.measure.engine import Arm, ArmName
    from benchgate.measure.process import Execution

PADDING = "BENCHGATE_PADDING"


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """One `[[benchmark]]` with a `command`.

    In command, prepare, cleanup, cwd and the values of variables, {root}, {env} and {sha}
    stand for those of the arm.

    Attributes:
        name: the benchmark's id.
        command: what is measured, as words; the first is the program.
        prepare: runs before each execution, untimed. What it leaves running in its process
            group is killed.
        cleanup: runs once after the executions of a round, untimed, also when they failed.
        cwd: folder to run in, relative to the arm's root.
        ok_exit_codes: of command; any other is a failure.
        timeout_s: for each execution, and for prepare and cleanup.
        variables: added to the environment.
        executions: per arm and round at most; slow commands get fewer.
        warmup: executions before those of the first round, kept apart.
        tags: to choose benchmarks by.
        pin: run it on one CPU, where the OS can; wrong for what is parallel itself.
        pythonpath: folders relative to the root; None for those that the arm's code is in.
        allow_foreign: measure it also if it runs code that is not the arm's own.
        data: globs of the files that the work reads, relative to the arm's root.
    """

    name: str
    command: tuple[str, ...]
    prepare: tuple[str, ...] | None = None
    cleanup: tuple[str, ...] | None = None
    cwd: str = "."
    ok_exit_codes: frozenset[int] = frozenset({0})
    timeout_s: float = 60.0
    variables: Mapping[str, str] = field(default_factory=dict)
    executions: int = 6
    warmup: int = 1
    tags: tuple[str, ...] = ()
    pin: bool = True
    pythonpath: tuple[str, ...] | None = None
    allow_foreign: bool = False
    data: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A command in one arm, every placeholder replaced.

    Attributes:
        names_its_arm: what is run depends on the arm, whatever files it opens.
        allow_foreign: as of the spec.
    """

    arm: ArmName
    command: tuple[str, ...]
    prepare: tuple[str, ...] | None
    cleanup: tuple[str, ...] | None
    cwd: Path
    env: Mapping[str, str]
    names_its_arm: bool
    allow_foreign: bool
    ok_exit_codes: frozenset[int]


def run_alike(specs: Mapping[ArmName, CommandSpec], lead: ArmName) -> Mapping[ArmName, CommandSpec]:
    """Let a command that both arms have be run in both in the same way.

    Args:
        specs: of one benchmark, by the arm whose configuration defines it.
        lead: the arm that decides where both have it. The longer timeout holds: neither arm can
            make the other fail.
    """
    leading = specs.get(lead) or next(iter(specs.values()))
    return {
        arm: replace(
            spec,
            executions=leading.executions,
            warmup=leading.warmup,
            pin=leading.pin,
            allow_foreign=leading.allow_foreign,
            timeout_s=max(one.timeout_s for one in specs.values()),
        )
        for arm, spec in specs.items()
    }


def jobs_of(
    specs: Mapping[ArmName, CommandSpec], arms: Sequence[Arm], outside: Outside
) -> tuple[Job, ...]:
    """What to run in each arm that has a spec, under conditions as equal as they can be made.

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
    having = [arm for arm in arms if arm.name in specs]
    environs = with_equal_names(
        [
            environ_of(arm, outside, specs[arm.name].pythonpath, specs[arm.name].command)
            for arm in having
        ]
    )
    jobs = [
        _job(specs[arm.name], arm, environ) for arm, environ in zip(having, environs, strict=True)
    ]
    largest = max(_stack_bytes(job) for job in jobs)
    return tuple(
        replace(job, env={**job.env, PADDING: "x" * (largest - _stack_bytes(job))}) for job in jobs
    )


def _job(spec: CommandSpec, arm: Arm, environ: Mapping[str, str]) -> Job:
    cwd = arm.root / arm.substitute(spec.cwd)
    variables = {name: arm.substitute(value) for name, value in spec.variables.items()}

    def words(command: tuple[str, ...]) -> tuple[str, ...]:
        # Word by word: a folder's name with a space in it stays one word.
        return tuple(arm.substitute(word) for word in command)

    said = (*spec.command, *spec.variables.values())
    return Job(
        arm=arm.name,
        command=words(spec.command),
        prepare=None if spec.prepare is None else words(spec.prepare),
        cleanup=None if spec.cleanup is None else words(spec.cleanup),
        cwd=cwd,
        # PWD would be right in the arm that benchgate was started in, and wrong in the other.
        env={**environ, **arm.variables, **variables, "PWD": str(cwd)},
        names_its_arm=any(arm.substitute(text) != text for text in said),
        allow_foreign=spec.allow_foreign,
        ok_exit_codes=spec.ok_exit_codes,
    )


def _stack_bytes(job: Job) -> int:
    """Room for the strings that a new process finds on its stack: path, arguments, variables."""
    strings = [*job.command, *(f"{name}={value}" for name, value in job.env.items())]
    if "/" in job.command[0]:
        strings.append(job.command[0])
    return sum(len(string.encode(errors="surrogateescape")) + 1 for string in strings)


def workload_hash(spec: CommandSpec) -> str:
    """16 hex digits that change with what is measured, not with secrets or with how often."""
    definition = json.dumps(
        {
            "command": spec.command,
            "prepare": spec.prepare,
            "cleanup": spec.cleanup,
            "cwd": spec.cwd,
            "ok_exit_codes": sorted(spec.ok_exit_codes),
            "variables": dict(spec.variables),
            "pythonpath": spec.pythonpath,
            "pin": spec.pin,
        },
        sort_keys=True,
    )
    text = Redactor(spec.variables)(definition)
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
