"""A configured command as each arm runs it: its words, environment and files."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.errors import MeasureError
from benchgate.measure.programs.variables import environ_of, with_equal_names
from benchgate.model.redact import Redactor

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchgate.config.program_benchmarks import ProgramBenchmark
    from benchgate.measure.arm import Arm, ArmName
    from benchgate.measure.contract import StartingEnvironment


PADDING = "BENCHGATE_PADDING"
HASH_SEED = "PYTHONHASHSEED"


@dataclass(frozen=True, slots=True, eq=False)
class ArmCommand:
    """A command in one arm, with every placeholder replaced.

    Attributes:
        names_its_arm: whether the command line itself names the arm's files, so that it runs
            the arm's own code whichever files it opens.
        texts: the texts that say what runs, with their placeholders.
        stdout: a file for its standard output; None if nobody reads that.
    """

    arm: ArmName
    command: tuple[str, ...]
    prepare: tuple[str, ...] | None
    cleanup: tuple[str, ...] | None
    cwd: Path
    env: Mapping[str, str]
    names_its_arm: bool
    ok_exit_codes: frozenset[int]
    texts: tuple[str, ...] = ()
    stdout: Path | None = None


def arm_commands(
    benchmarks: Mapping[ArmName, ProgramBenchmark],
    arms: Sequence[Arm],
    outside: StartingEnvironment,
) -> tuple[ArmCommand, ...]:
    """The command to run in each arm that has it, under conditions as equal as possible.

    All arms get the same variable names. Arguments and environment also take the same space
    at the top of the stack, because that space shifts everything below it and so affects speed.
    """
    require_equal_variables(arms)
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
    return padded(commands)


def with_hash_seed(commands: tuple[ArmCommand, ...], rng: random.Random) -> tuple[ArmCommand, ...]:
    """Let Python put sets into the same order in all arms, unless the user chose the order."""
    if any(HASH_SEED in one.env for one in commands):
        return commands
    seed = str(rng.randrange(1, 2**32))
    return tuple(replace(one, env={**one.env, HASH_SEED: seed}) for one in commands)


def require_equal_variables(arms: Sequence[Arm]) -> None:
    """Refuse arms that would be measured under different conditions."""
    names = {frozenset(arm.variables) for arm in arms}
    if len(names) > 1:
        different = sorted(frozenset.union(*names) - frozenset.intersection(*names))
        raise MeasureError(
            "base and head would be measured differently: only one of them sets "
            f"{', '.join(different)}"
        )


def padded(commands: Sequence[ArmCommand]) -> tuple[ArmCommand, ...]:
    """Let the strings of all commands take the same space, by a variable that fills it up."""
    largest = max(_stack_bytes(one) for one in commands)
    return tuple(
        replace(one, env={**one.env, PADDING: "x" * (largest - _stack_bytes(one))})
        for one in commands
    )


def _arm_command(benchmark: ProgramBenchmark, arm: Arm, environ: Mapping[str, str]) -> ArmCommand:
    cwd = arm.folder / arm.substitute(benchmark.cwd)
    variables = {name: arm.substitute(value) for name, value in benchmark.env.items()}

    def words(command: tuple[str, ...]) -> tuple[str, ...]:
        # Word by word, so that a folder's name with a space in it stays one word.
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
        texts=(*said, *(benchmark.prepare or ()), *(benchmark.cleanup or ())),
    )


def _stack_bytes(one: ArmCommand) -> int:
    """Bytes of the strings that a new process finds on its stack: path, arguments, variables."""
    strings = [*one.command, *(f"{name}={value}" for name, value in one.env.items())]
    if "/" in one.command[0]:
        strings.append(one.command[0])
    return sum(len(string.encode(errors="surrogateescape")) + 1 for string in strings)


def workload_hash(benchmark: ProgramBenchmark, *, pin: bool, inside: str = ".") -> str:
    """16 hex digits that change if the work changes, but not with secrets or repetitions.

    Args:
        inside: the folder that `cwd` starts from, relative to the root of the tree.
    """
    definition = json.dumps(
        {
            "command": benchmark.command,
            "prepare": benchmark.prepare,
            "cleanup": benchmark.cleanup,
            "cwd": os.path.normpath(f"{inside}/{benchmark.cwd}"),
            "ok_exit_codes": sorted(benchmark.ok_exit_codes),
            "variables": dict(benchmark.env),
            "pythonpath": benchmark.pythonpath,
            "pin": pin,
        },
        sort_keys=True,
    )
    text = Redactor(benchmark.env)(definition)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
