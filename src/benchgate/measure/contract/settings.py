"""How engines measure, and the environment that every program starts from."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.measure.arm import ArmName
from benchgate.measure.contract.engine import ignore

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from contextlib import AbstractContextManager

    from benchgate.config import Measure
    from benchgate.measure.contract.described import Described
    from benchgate.measure.machine import Event, Valgrind


@dataclass(frozen=True, slots=True)
class StartingEnvironment:
    """The environment and folders that benchgate was started in.

    Attributes:
        environ: the variables that every command inherits.
        checkout: the user's tree; None if the arm itself is the user's tree.
        cwd: folder that relative entries of PATH and PYTHONPATH start from.
    """

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    checkout: Path | None = None
    cwd: Path = field(default_factory=Path.cwd)


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """How engines measure.

    Attributes:
        measure: the defaults for what a benchmark does not set.
        aliases: for each benchmark that the head renamed, its new id by its old id.
        lead: the arm that decides how a benchmark of both arms runs.
        cpu: the CPU for pinned benchmarks; None if no CPU was chosen.
        all_cpus: the CPUs for everything else; None for the CPUs that are available now, which
            are too few inside `kept_off`.
        unpinned: the reason why no CPU was chosen, for a note; "" if one was.
        outside: the environment that the environment of every program starts from.
        interpreter: path of the Python for functions that name no interpreter.
        event: what is counted as instructions; None to count nothing.
        valgrind: counts instructions in launches of their own; None if it does not.
        traces: whether the allocations of a benchmark of Python are traced.
        unable: ids of benchmarks, files and functions that are left out of the base.
        brief: only try whether functions and scenarios work: none of their launches counts.
        described: what workers have said about files, by what `_described_as` gives; it is added
            to, and spares other sessions with the same trees the question.
        introspect: ask the targets of scenarios for their versions and settings.
        requires_files: whether it is an error if neither side has a file that the head names.
        runs_suites: whether suites are run to find their benchmarks; if not, each is one entry.
        has_canary: whether to make the canary too, if it is wanted.
        tell: tells the user what takes time, and what concerns no single benchmark.
        starting: times how long the workers of a launch take to start.
        build_timeout_s: the time limit for each command that builds a worker.
        may_want: whether a group of ids may have a benchmark that is chosen.
    """

    measure: Measure
    aliases: Mapping[str, str] = field(default_factory=dict)
    lead: ArmName = ArmName.HEAD
    cpu: int | None = None
    all_cpus: frozenset[int] | None = None
    unpinned: str = "not pinned: no CPU was chosen"
    outside: StartingEnvironment = field(default_factory=StartingEnvironment)
    interpreter: str = ""
    event: Event | None = None
    valgrind: Valgrind | None = None
    traces: Callable[[str], bool] = lambda _: True
    unable: Collection[str] = ()
    brief: bool = False
    described: dict[tuple[str, ...], Described] = field(default_factory=dict)
    introspect: bool = False
    requires_files: bool = True
    runs_suites: bool = True
    has_canary: bool = True
    tell: Callable[[str], None] = ignore
    starting: Callable[[], AbstractContextManager[None]] = nullcontext
    build_timeout_s: float = 600.0
    may_want: Callable[[str], bool] = lambda _: True
