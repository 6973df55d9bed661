"""Makes the engines that measure what the configuration describes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.config import (
    CommandBenchmark,
    LiveBenchmarks,
    ScenarioBenchmark,
    SuiteBenchmark,
)
from benchgate.errors import ConfigError
from benchgate.measure.arm import ArmName
from benchgate.measure.contract import EngineSettings, StartingEnvironment
from benchgate.measure.functions import (
    FunctionEngine,
    canary_engine,
    default_interpreter,
    with_environment,
)
from benchgate.measure.languages import build_variables
from benchgate.measure.programs import CommandEngine
from benchgate.measure.sources import find_folders, search_of
from benchgate.session.choice import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from benchgate.config import Build, Config
    from benchgate.measure.arm import Arm
    from benchgate.measure.contract import Engine
    from benchgate.measure.machine import Place
    from benchgate.measure.processes import Guardian
    from benchgate.session.choice import Choice


@dataclass(frozen=True, slots=True)
class EngineMaker:
    """Makes the engines of arms.

    Attributes:
        environ: what the environment of every program starts from.
        choice: what is measured; a suite that has none of it does not run.
    """

    place: Place
    guardian: Guardian
    environ: Mapping[str, str]
    choice: Choice = EVERYTHING

    def make(self, config: Config, arms: Sequence[Arm], settings: EngineSettings) -> list[Engine]:
        """Make one engine for each kind of benchmark, for each suite, and for the canary.

        Args:
            settings: what neither the configuration nor the place nor the environment tells.
        """
        functions = {arm.name: _python_benchmarks(config, arm, arms) for arm in arms}
        commands = {arm.name: _command_benchmarks(config, arm, settings.unable) for arm in arms}
        settings = self._completed(config, arms, settings)
        engines: list[Engine] = []
        if any(functions.values()):
            engines.append(FunctionEngine(functions, arms, settings, self.guardian))
        if any(commands.values()):
            engines.append(CommandEngine(commands, arms, self.guardian, settings))
        of_suites = replace(settings, cpu=self.place.suite_cpu)
        engines += _suite_engines(config, arms, self.guardian, of_suites, self.choice)
        engines += _scenario_engines(config, arms, self.guardian, settings)
        if config.measure.canary and settings.has_canary and len(arms) > 1:
            engines.append(canary_engine(arms, settings, self.guardian, in_trees=True))
        return engines

    def _completed(
        self, config: Config, arms: Sequence[Arm], settings: EngineSettings
    ) -> EngineSettings:
        place = self.place
        checkout = place.checkout or arms[-1].root
        environ = with_environment(self.environ, checkout / config.folder, checkout)
        return replace(
            settings,
            measure=config.measure,
            aliases=config.aliases,
            lead=ArmName.BASE if config.sides else ArmName.HEAD,
            cpu=place.cpu,
            all_cpus=place.cpus,
            unpinned=place.unpinned,
            outside=StartingEnvironment(environ, place.checkout),
            interpreter=default_interpreter(checkout, environ),
            build_timeout_s=config.build.timeout_s,
            # By an alias, a benchmark may be chosen that has another id here.
            may_want=settings.may_want if config.aliases else self.choice.may_want_of,
        )


def _suite_engines(
    config: Config,
    arms: Sequence[Arm],
    guardian: Guardian,
    settings: EngineSettings,
    choice: Choice,
) -> list[Engine]:
    suites = _wanted_suites(config, arms, settings.unable, choice)
    if not suites:
        return []
    # The formats of all tools take long to load.
    from benchgate.measure.suites import SuiteEngine  # noqa: PLC0415

    return [SuiteEngine(one, arms, guardian, settings) for one in suites]


def _scenario_engines(
    config: Config,
    arms: Sequence[Arm],
    guardian: Guardian,
    settings: EngineSettings,
) -> list[Engine]:
    scenarios = {arm.name: _scenarios(config, arm) for arm in arms}
    if not any(scenarios.values()):
        return []
    from benchgate.measure.scenarios import ScenarioEngine  # noqa: PLC0415 - slow to load

    return [ScenarioEngine(scenarios, arms, guardian, settings)]


def config_in(arm: ArmName, config: Config) -> Config:
    """Get the configuration that says what is built and measured in an arm."""
    return config.base or config if arm is ArmName.BASE else config


def build_of(arm: ArmName, config: Config) -> Build:
    """What builds an arm, with the variables that adapters of its benchmarks need."""
    own = config_in(arm, config)
    added = build_variables(own.benchmarks, own.build.env)
    return own.build.model_copy(update={"env": {**own.build.env, **added}}) if added else own.build


def _python_benchmarks(config: Config, arm: Arm, arms: Sequence[Arm]) -> list[LiveBenchmarks]:
    """Get what an arm's configuration looks for; without any [[benchmark]], all bench_*.py files.

    If both arms are searched, the same folders are searched: ids are relative to them.
    """
    own = config_in(arm.name, config)
    if not arm.folder.is_dir():
        return []
    if own.searches:
        searched = [one for one in arms if config_in(one.name, config).searches]
        return [search_of(find_folders(searched))]
    return [one for one in own.benchmarks if isinstance(one, LiveBenchmarks)]


def _command_benchmarks(
    config: Config, arm: Arm, unable: Collection[str]
) -> list[CommandBenchmark]:
    if not arm.folder.is_dir():
        return []
    commands = (
        one for one in config_in(arm.name, config).benchmarks if isinstance(one, CommandBenchmark)
    )
    left_out = unable if arm.name is ArmName.BASE else ()
    return [one for one in commands if one.name not in left_out]


def _scenarios(config: Config, arm: Arm) -> list[ScenarioBenchmark]:
    own = config_in(arm.name, config).benchmarks if arm.folder.is_dir() else ()
    return [one for one in own if isinstance(one, ScenarioBenchmark)]


def _suites(
    config: Config, arms: Sequence[Arm], unable: Collection[str]
) -> list[dict[ArmName, SuiteBenchmark]]:
    """Join the suites of the arms by their titles, in the head's order."""
    joined: dict[tuple[str, int], dict[ArmName, SuiteBenchmark]] = {}
    for arm in sorted(arms, key=lambda one: one.name is not ArmName.HEAD):
        own = config_in(arm.name, config)
        seen: Counter[str] = Counter()
        for index, one in enumerate(own.benchmarks if arm.folder.is_dir() else ()):
            if not isinstance(one, SuiteBenchmark):
                continue
            _require_format(own, index, one)
            _require_filter(own, index, one)
            if arm.name is ArmName.HEAD or one.title not in unable:
                joined.setdefault((one.title, seen[one.title]), {})[arm.name] = one
            seen[one.title] += 1
    return list(joined.values())


def _wanted_suites(
    config: Config, arms: Sequence[Arm], unable: Collection[str], choice: Choice
) -> list[Mapping[ArmName, SuiteBenchmark]]:
    """Leave out the suites that have none of what is chosen: they need not run."""
    return [
        suites
        for suites in _suites(config, arms, unable)
        if choice.may_want_of_suite(
            next(iter(suites.values())).group,
            [tag for suite in suites.values() for tag in suite.tags],
        )
    ]


def _require_format(config: Config, index: int, suite: SuiteBenchmark) -> None:
    from benchgate.formats import NAMES  # noqa: PLC0415 - slow to load
    from benchgate.measure.suites import why_no_format  # noqa: PLC0415 - as above

    if why := why_no_format(suite.format):
        place = config.origin.place(("benchmark", index, "format"))
        raise ConfigError(
            f'{place} = "{suite.format}": {why}',
            hint=f"formats: {', '.join(NAMES)}; without `format`, benchgate recognizes it",
        )


def _require_filter(config: Config, index: int, suite: SuiteBenchmark) -> None:
    from benchgate.measure.suites import why_no_filter  # noqa: PLC0415 - as above

    if why := why_no_filter(suite):
        raise ConfigError(f"{config.origin.place(('benchmark', index, 'suite'))}: {why}")
