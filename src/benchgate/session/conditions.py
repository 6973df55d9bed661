"""The conditions under which a session measures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.measure.contract import ignore
from benchgate.measure.processes import Budget
from benchgate.model.run import BenchmarkFiles
from benchgate.session.recorder import UNTRIED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchgate.measure.arm import ArmName
    from benchgate.measure.trees import Ground
    from benchgate.session.recorder import BaseTrial


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a session has to measure with.

    Attributes:
        cpus: those that the benchmarks may use; none if unknown.
        tried: what trying the base has shown.
        ground: moves the trees before each round and checks that they stay unchanged; None if the
            user's own folder is measured.
        lane_cpus: the CPUs on which parts of a round are measured at the same time; before it is
            known what may be shared, only the first one is used. None: any CPU.
        tell: tells the user why fewer parts are measured at the same time.
        toolchains: for each arm the versions of tools that its configuration asks for.
        files: whose benchmark files those benchmarks run with that decide.
        budget: bounds how long a step of an engine may take.
    """

    cpus: frozenset[int] = frozenset()
    tried: BaseTrial = UNTRIED
    ground: Ground | None = None
    lane_cpus: Sequence[int | None] = (None,)
    tell: Callable[[str], None] = ignore
    toolchains: Mapping[ArmName, Mapping[str, str]] = field(default_factory=dict)
    files: BenchmarkFiles = BenchmarkFiles.OWN
    budget: Budget = field(default_factory=Budget)
