"""Opens a session: builds the arms, pins CPUs, and finds the benchmarks."""

from __future__ import annotations

import random
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from benchgate.config import ScenarioBenchmark, SuiteBenchmark
from benchgate.errors import NoBenchmarksError, UsageError
from benchgate.git.repository import clean_environ
from benchgate.measure.arm import ArmName
from benchgate.measure.contract import EngineSettings
from benchgate.measure.machine import Place, choose_place, kept_off
from benchgate.measure.processes import Guardian
from benchgate.measure.workers import describe_runtimes
from benchgate.model.metrics import ALLOC_BLOCKS, ALLOC_PEAK, INSTRUCTIONS
from benchgate.model.result import Phase
from benchgate.model.run import BenchmarkFiles
from benchgate.session.benchmark_sets import found_by
from benchgate.session.building import Builder, Built, note_shared
from benchgate.session.choice import keep_share, leave_out_unwanted
from benchgate.session.conditions import Conditions
from benchgate.session.engines import EngineMaker, config_in
from benchgate.session.explainer import Explainer
from benchgate.session.instructions import about_cost, choose_counting, wants
from benchgate.session.recorder import UNTRIED, BaseTrial
from benchgate.session.session import Session
from benchgate.session.set_engines import SetEngines
from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path
    from threading import Thread

    from benchgate.config import Config
    from benchgate.measure.arm import Arm
    from benchgate.measure.contract import Engine
    from benchgate.measure.trees import Ground
    from benchgate.session.benchmark_sets import FoundSet
    from benchgate.session.choice import Choice
    from benchgate.session.effects import Effects


@dataclass(frozen=True, slots=True)
class Opening:
    """What a session is opened for.

    Attributes:
        checkout: the user's tree, which benchmarks must not import from; None if it is an arm.
        tried: what trying the base before the head ran has shown; None to try it here.
        ground: keeps the trees unchanged; None if the user's own tree is measured.
        files: whose benchmarks decide; the ground must be able to lay these.
        runs_suites: whether suites are run to find their benchmarks; if not, each is one entry.
        introspect: ask the targets of scenarios for their versions and settings.
        beside: works at the same time, and must have ended before the idlest CPU is chosen.
    """

    arms: Sequence[Arm]
    config: Config
    effects: Effects
    choice: Choice
    checkout: Path | None
    tried: BaseTrial | None = None
    ground: Ground | None = None
    files: BenchmarkFiles = BenchmarkFiles.OWN
    runs_suites: bool = True
    introspect: bool = False
    beside: Thread | None = None


def open_session(stack: ExitStack, opening: Opening) -> Session:
    """Build the arms and find their benchmarks.

    Args:
        stack: closes what is opened here.
    """
    return _Opener(stack, opening).open()


class _Opener:
    """The steps of opening a session."""

    def __init__(self, stack: ExitStack, opening: Opening) -> None:
        config, effects = opening.config, opening.effects
        self._stack = stack
        self._opening = opening
        self._counting = choose_counting(config, effects.environ)
        self._guardian = stack.enter_context(Guardian.start())
        self._guardian.budget.offer(config.measure.limit_s)
        self._arms = _readied(opening.arms, config, self._guardian)
        self._seed = effects.draw_seed() if config.measure.seed is None else config.measure.seed
        self._drawn = _drawn(self._arms, self._seed)
        self._builder = Builder(config, opening.choice, effects, self._guardian, opening.checkout)

    def open(self) -> Session:
        opening, effects = self._opening, self._opening.effects
        built = self._build()
        effects.phases.begin(Phase.FIND)
        place = self._choose_place()
        session = self._session(built, place)
        self._stack.enter_context(closing(session))
        _discover(session, opening.config, effects, self._counting.obstacle)
        note_shared(opening.ground, built.described)
        _keep_chosen(session, opening.config, opening.choice)
        if said := about_cost(self._counting, session.ids):
            effects.progress.message(said)
            self._stack.callback(_tell_what_it_took, session, effects)
        return session

    def _build(self) -> Built:
        opening = self._opening
        opening.effects.phases.begin(Phase.BUILD)
        tried = opening.tried
        if opening.files is BenchmarkFiles.HEAD and tried is None:
            tried = UNTRIED  # nothing of its own is measured
        return self._builder.build(self._drawn, opening.ground, tried)

    def _choose_place(self) -> Place:
        """Choose the CPUs, and keep everything else off the one that is measured on."""
        opening = self._opening
        if opening.beside:
            opening.beside.join()
        place = choose_place(opening.config, opening.checkout)
        if len(self._arms) > 1 and (why := place.why_fewer_lanes(opening.config.measure.lanes)):
            opening.effects.progress.message(why)
        self._stack.enter_context(kept_off(place.cpu))
        return place

    def _session(self, built: Built, place: Place) -> Session:
        opening, ground = self._opening, self._opening.ground
        settings = self._settings(built)
        explain = Explainer(self._drawn, built.warnings)
        make = partial(self._make, place)
        find: Callable[[], Iterable[FoundSet]]
        if ground and ground.laying:
            sets = SetEngines(opening.config, self._drawn, self._builder, settings, make)
            find = sets.finder(opening.files, ground, explain)
        else:
            engines = make(opening.config, self._drawn, settings)
            find = partial(found_by, engines, explain)
        return Session(
            find,
            [arm.name for arm in self._arms],
            self._seed,
            opening.effects.clock,
            Conditions(
                cpus=place.cpus,
                tried=built.tried,
                ground=ground,
                # Numbers of one arm are compared with those of other runs, which may have others.
                lane_cpus=place.lane_cpus if len(self._arms) > 1 else place.lane_cpus[:1],
                tell=opening.effects.progress.message,
                toolchains=built.toolchains,
                files=opening.files,
                budget=self._guardian.budget,
            ),
        )

    def _settings(self, built: Built) -> EngineSettings:
        opening, effects = self._opening, self._opening.effects
        of_memory = (ALLOC_PEAK.name, ALLOC_BLOCKS.name)
        return EngineSettings(
            opening.config.measure,
            event=self._counting.event,
            valgrind=self._counting.valgrind,
            traces=partial(wants, opening.config, metrics=of_memory),
            runs_suites=opening.runs_suites,
            introspect=opening.introspect,
            described=built.described,
            tell=effects.progress.message,
            starting=partial(effects.phases.beside, Phase.START_WORKERS),
        )

    def _make(
        self, place: Place, config: Config, arms: Sequence[Arm], settings: EngineSettings
    ) -> list[Engine]:
        """Make engines, and see that they are closed."""
        environ = clean_environ(self._opening.effects.environ)
        maker = EngineMaker(place, self._guardian, environ, self._opening.choice)
        engines = maker.make(config, arms, settings)
        for engine in engines:
            self._stack.callback(engine.close)
        return engines


def _tell_what_it_took(session: Session, effects: Effects) -> None:
    took = format_duration(session.counting.total_s)
    effects.progress.message(f"counting with valgrind took {took}")


def _drawn(arms: Sequence[Arm], seed: int) -> list[Arm]:
    """Draw the order in which the arms are built and started.

    A benchmark must not be able to find out which arm it is in, for example from who runs first:
    so no process is told the seed.
    """
    return random.Random(f"{seed}/arms").sample(arms, len(arms))  # noqa: S311 - repeatable on purpose


def _discover(session: Session, config: Config, effects: Effects, uncounted: str) -> None:
    """Find the benchmarks, and say which runtimes there are and what cannot be measured.

    Args:
        uncounted: why instructions cannot be counted; "" if they can.
    """
    session.discover()
    for line in describe_runtimes(session.runtimes):
        effects.progress.message(line)
    if uncounted:
        note_uncounted(session, config, uncounted)


def _keep_chosen(session: Session, config: Config, choice: Choice) -> None:
    """Leave out what is not to be measured."""
    suites = {one.title: one.tags for one in config.benchmarks if isinstance(one, SuiteBenchmark)}
    unread = {failure.id for failure in session.unread}
    suites |= {
        one.scenario: one.tags
        for one in config.benchmarks
        if isinstance(one, ScenarioBenchmark) and one.scenario in unread
    }
    leave_out_unwanted(choice, session, suites)
    _require_benchmarks(session, config)
    if choice.shard:
        keep_share(choice.shard, session, config.aliases)


def note_uncounted(session: Session, config: Config, reason: str) -> None:
    """Note on benchmarks that are to be judged by instructions why that is not possible."""
    for id_ in session.known_ids:
        if wants(config, id_, (INSTRUCTIONS.name,)):
            session.note(id_, f"{INSTRUCTIONS.name}: {reason}")


def _readied(arms: Iterable[Arm], config: Config, guardian: Guardian) -> list[Arm]:
    """Give each arm the guardian's variables, and the folder of its configuration."""
    ready = [
        replace(
            arm,
            variables={**arm.variables, **guardian.variables},
            inside=config_in(arm.name, config).folder,
        )
        for arm in arms
    ]
    if any(arm.name is ArmName.HEAD and not arm.folder.is_dir() for arm in ready):
        raise UsageError(
            f"{config.source} is in a folder that git ignores, so its paths lead nowhere",
            hint="benchgate measures copies of the tree without ignored files: move the file.",
        )
    return ready


def _require_benchmarks(session: Session, config: Config) -> None:
    if not (session.ids or session.failures):
        raise no_benchmarks(config)


def no_benchmarks(config: Config) -> NoBenchmarksError:
    """Make the error for a project in which nothing is found to measure."""
    return NoBenchmarksError(
        f"no benchmarks found ({config.source or 'there is no configuration file'})",
        hint="A benchmark is a function `bench_*` in a file `bench_*.py`, or a [[benchmark]] with "
        "a command or suite in benchgate.toml; `benchgate init` writes the first one.",
    )
