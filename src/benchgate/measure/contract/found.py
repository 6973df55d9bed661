"""What an engine finds: the benchmarks of each arm, and the places that it could not read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.model.run import BenchmarkFiles

if TYPE_CHECKING:
    from collections.abc import (
        Mapping,
    )

    from benchgate.measure.arm import ArmName
    from benchgate.model.load import LoadResult
    from benchgate.model.run import Tier
    from benchgate.stats.timer import Timer


@dataclass(frozen=True, slots=True)
class Definition:
    """A benchmark that an engine found in one arm; the other fields are those of BenchmarkResult.

    Attributes:
        id: the same in both arms.
        kind: the key of the table [[benchmark]] that names it.
        renamed_from: its id in the base, if the head renamed it.
        suite: names the suite that is run to measure it; "" if it is measured alone.
        is_unrun_suite: whether it stands for a suite that was not run, and its benchmarks.
        load: the load under which it is measured, without launches; None for no scenario.
        rounds: how many rounds `benchgate run` measures of it; None for as many as of all others.
        files, new_version_of: as in BenchmarkResult.
    """

    id: str
    workload: str
    tier: Tier
    kind: str = ""
    tags: tuple[str, ...] = ()
    location: str | None = None
    display_unit: str | None = None
    notes: tuple[str, ...] = ()
    renamed_from: str | None = None
    parts: Mapping[str, str] = field(default_factory=dict)
    suite: str = ""
    is_unrun_suite: bool = False
    load: LoadResult | None = None
    rounds: int | None = None
    files: BenchmarkFiles = BenchmarkFiles.OWN
    new_version_of: str | None = None

    @property
    def own_id(self) -> str:
        return self.renamed_from or self.id


@dataclass(frozen=True, slots=True)
class DiscoveryFailure:
    """A place where benchmarks were expected but could not be read.

    Attributes:
        id: stands for the benchmarks that were not found, e.g. the group of the file.
        error: one line, then the tail of the output.
        of_all: the failure counts for every arm, because no arm's numbers would be meaningful.
        suite: the suite that failed as a whole, if `id` is one of its benchmarks; else "".
    """

    arm: ArmName
    id: str
    error: str
    of_all: bool = False
    suite: str = ""


@dataclass(frozen=True, slots=True)
class Discovery:
    """The benchmarks that an engine found in each arm.

    Attributes:
        toolchains: versions of the tools that run the benchmarks, by arm and tool.
        timers: by arm, the Python clock that times the benchmarks, if there is one; if there are
            several, the slowest.
        runtimes: by arm, which Python runs its functions, and where it imported its code from.
        warnings: what a reader of the result must know, and what concerns no single benchmark.
    """

    found: Mapping[ArmName, tuple[Definition, ...]]
    failures: tuple[DiscoveryFailure, ...] = ()
    toolchains: Mapping[ArmName, Mapping[str, str]] = field(default_factory=dict)
    timers: Mapping[ArmName, Timer] = field(default_factory=dict)
    runtimes: Mapping[ArmName, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
