"""Makes the engines that measure with the benchmark files of one side, on both sides."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from benchgate.measure.arm import ArmName
from benchgate.measure.contract import EngineSettings
from benchgate.model.run import BenchmarkFiles
from benchgate.session.benchmark_sets import Attempt, SetFinder
from benchgate.session.engines import config_in

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from benchgate.config import Config
    from benchgate.measure.arm import Arm
    from benchgate.measure.contract import Described, Engine
    from benchgate.measure.trees import Ground
    from benchgate.session.benchmark_sets import FoundSet, Tables
    from benchgate.session.building import Builder
    from benchgate.session.explainer import Explainer

_SIDES = {BenchmarkFiles.BASE: ArmName.BASE, BenchmarkFiles.HEAD: ArmName.HEAD}
_LENT_TO = {BenchmarkFiles.BASE: ArmName.HEAD, BenchmarkFiles.HEAD: ArmName.BASE}


@dataclass(frozen=True, slots=True)
class SetEngines:
    """Makes engines for each set of benchmark files.

    Attributes:
        settings: of the engines that measure.
        make: makes engines, and sees that they are closed.
    """

    config: Config
    arms: Sequence[Arm]
    builder: Builder
    settings: EngineSettings
    make: Callable[[Config, Sequence[Arm], EngineSettings], list[Engine]]
    # What is known about a file is known about its version.
    _described: dict[BenchmarkFiles, dict[tuple[str, ...], Described]] = field(init=False)

    def __post_init__(self) -> None:
        known: dict[BenchmarkFiles, dict[tuple[str, ...], Described]]
        known = {one: {} for one in BenchmarkFiles}
        known[BenchmarkFiles.BASE] = self.settings.described
        object.__setattr__(self, "_described", known)

    def finder(
        self, files: BenchmarkFiles, ground: Ground, explain: Explainer
    ) -> Callable[[], list[FoundSet]]:
        """Return what finds the benchmarks of two sides.

        Args:
            files: whose benchmarks decide.
            ground: can lay the benchmark files of one side over the other.
            explain: words what the engines say.
        """
        if ground.laying is None:
            raise ValueError("the ground cannot lay files")
        finder = SetFinder(
            ground.laying,
            ground.lay,
            self._make_for,
            self._attempt,
            self.config.aliases,
            explain,
            self.builder.effects.progress.message,
        )
        return finder.find_by_base if files is BenchmarkFiles.BASE else finder.find_by_head

    def _make_for(self, tables: Tables, unable: Collection[str]) -> list[Engine]:
        settings = self._settings_for(tables, self.settings)
        return self.make(*self._view(tables), replace(settings, unable=unable))

    def _attempt(self, name: ArmName, tables: Tables, ids: Collection[str]) -> Attempt:
        of_tables, among = self._view(tables)
        [arm] = (one for one in among if one.name is name)
        own = self._settings_for(tables, EngineSettings(self.config.measure))
        return self.builder.attempt(arm, of_tables, own, ids)

    def _view(self, tables: Tables) -> tuple[Config, list[Arm]]:
        """The configuration that has only these tables, and the arms as they are then."""
        config = self.config
        base = replace(
            config.base or config, benchmarks=tuple(tables.base), is_empty=not tables.base
        )
        of_tables = replace(
            config, benchmarks=tuple(tables.head), is_empty=not tables.head, base=base
        )
        return of_tables, [
            replace(
                arm,
                inside=config_in(_SIDES.get(tables.files, arm.name), config).folder,
                is_lent=arm.name is _LENT_TO.get(tables.files),
            )
            for arm in self.arms
        ]

    def _settings_for(self, tables: Tables, settings: EngineSettings) -> EngineSettings:
        return replace(
            settings,
            described=self._described[tables.files],
            has_canary=tables.has_canary,
            # Where the base's files lie, the head lacks what only its own configuration names.
            requires_files=tables.files is not BenchmarkFiles.BASE or tables.has_canary,
        )
