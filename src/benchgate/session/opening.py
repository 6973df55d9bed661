"""Opens a session: builds the arms, pins CPUs, and finds the benchmarks."""

from __future__ import annotations

import math
import os
import random
import time
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING

from benchgate.config import ScenarioBenchmark, SuiteBenchmark
from benchgate.errors import NoBenchmarksError, UsageError
from benchgate.gate.evidence import files_of
from benchgate.git.repository import clean_environ
from benchgate.measure.arm import ArmName
from benchgate.measure.contract import EngineSettings
from benchgate.measure.machine import available_cpus, kept_off
from benchgate.measure.processes import Guardian
from benchgate.measure.workers import describe_runtimes
from benchgate.model.metrics import ALLOC_BLOCKS, ALLOC_PEAK, INSTRUCTIONS
from benchgate.model.result import Phase
from benchgate.model.run import BenchmarkFiles, Status
from benchgate.session.arm_build import ArmBuild, are_alike, cache_for
from benchgate.session.benchmark_sets import Attempt, SetFinder, found_by
from benchgate.session.choice import keep_share, leave_out_unwanted
from benchgate.session.engines import Place, build_of, choose_place, config_in, make_engines
from benchgate.session.explainer import Explainer
from benchgate.session.instructions import about_cost, choose_counting, wants
from benchgate.session.recorder import UNTRIED, BaseTrial, Lesson
from benchgate.session.session import Session
from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from benchgate.config import Config
    from benchgate.measure.arm import Arm
    from benchgate.measure.contract import Described, Engine
    from benchgate.measure.trees import Ground, Laying
    from benchgate.session.benchmark_sets import FoundSet, Tables
    from benchgate.session.choice import Choice
    from benchgate.session.effects import Effects


_LARGEST_SHARE = 0.05
# Others may write to the same disks without end.
_WRITE_OUT_S = 20.0
# A launch of each benchmark, as short as possible.
_ONCE = {
    "samples": 1,
    "launch_time_s": 0.001,
    "warmup": 0,
    "canary": False,
    "executions": 1,
    "command_warmup": 0,
}


@dataclass(frozen=True, slots=True)
class Built:
    """What building all arms has shown.

    Attributes:
        tried: what trying the base has shown.
        toolchains: the versions of the tools that each arm's [build] names.
        described: see `EngineSettings`; of the base, if it was tried here.
        warnings: what each arm's [build] warned of.
    """

    tried: BaseTrial
    toolchains: Mapping[ArmName, Mapping[str, str]]
    described: dict[tuple[str, ...], Described]
    warnings: Mapping[ArmName, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Builder:
    """Builds the arms, each as its own configuration describes, and tries the base."""

    config: Config
    choice: Choice
    effects: Effects
    guardian: Guardian
    checkout: Path | None

    def build(self, drawn: Sequence[Arm], ground: Ground | None, tried: BaseTrial | None) -> Built:
        """Build all arms, and try the base if that was not done.

        The base is built and tried before the head's own commands run, because these could change
        what it needs. On a developer's machine, the head is built first if only the base has a
        build that was kept.
        """
        is_tried_here = tried is None
        order = sorted(drawn, key=lambda arm: is_tried_here and arm.name is ArmName.HEAD)
        toolchains: dict[ArmName, dict[str, str]] = {}
        described: dict[tuple[str, ...], Described] = {}
        warnings: dict[ArmName, tuple[str, ...]] = {}
        cache = cache_for(self.config, self.effects, self.checkout)
        builds = {
            arm.name: ArmBuild(arm, build_of(arm.name, self.config), cache, self.guardian)
            for arm in drawn
        }
        # What is built now shows which packages there are now.
        order = sorted(order, key=lambda arm: builds[arm.name].kept is not None)
        for count, arm in enumerate(order, start=1):
            if builds[arm.name].kept and not are_alike(builds.values()):
                for one in builds.values():
                    one.forget()
            toolchains[arm.name] = self._prepare(builds[arm.name])
            warnings[arm.name] = builds[arm.name].warnings
            if is_tried_here and arm.name is ArmName.BASE:
                self.effects.phases.begin(Phase.FIND)
                tried = self._try_alone(Explainer([arm], warnings), arm, described, ground)
                self.effects.phases.begin(Phase.BUILD)
                note_shared(ground, described)
            if ground and any(builds[other.name].build.commands for other in order[count:]):
                ground.built(arm.name)
        self._tell(builds.values())
        if any(one.build.commands for one in builds.values()):
            _write_out()
        if ground:
            ground.settle()
        return Built(tried or BaseTrial(), toolchains, described, warnings)

    def _prepare(self, one: ArmBuild) -> dict[str, str]:
        """Build an arm, unless what was left before can be used; return its tools' versions."""
        if not one.arm.folder.is_dir():
            return {}
        if one.build.commands and not one.put():
            self._run(one)
        return one.toolchains()

    def _run(self, one: ArmBuild) -> None:
        self.effects.progress.building(one.arm.name)
        why_not = one.run()
        if why_not:
            self.effects.progress.message(
                f"the build of the {one.arm.name} is not kept for the next time: {why_not}"
            )

    def _tell(self, builds: Iterable[ArmBuild]) -> None:
        kept = [one for one in builds if one.kept]
        if not kept:
            return
        whose = " and ".join(sorted(one.arm.name for one in kept))
        oldest_s = max(time.time() - one.kept.built_s for one in kept if one.kept)
        self.effects.progress.message(
            f"used an earlier build of the {whose} ({format_duration(oldest_s)} old); "
            "--no-cache builds again"
        )

    def _try_alone(
        self,
        explain: Explainer,
        arm: Arm,
        described: dict[tuple[str, ...], Described],
        ground: Ground | None,
    ) -> BaseTrial:
        """Run each benchmark of the base once, as briefly as possible, before the head runs."""
        config, effects = self.config, self.effects
        new_ids = config.aliases
        settings = EngineSettings(config.measure, described=described)
        with self.trying(arm, config, settings, explain) as session:
            found = session.definitions(arm.name)
            ids = [d.id for d in found if self.choice.wants(new_ids.get(d.id, d.id), d.tags)]
            # Code of a pull request must not get around it; else it is not worth much of the time.
            share = math.inf if config.sides else _LARGEST_SHARE
            end_s = effects.clock() + share * config.measure.limit_s
            before = ground.state() if ground else {}
            session.measure_round(0, ids, lambda _: None, is_over=lambda: effects.clock() >= end_s)
            written = tuple(ground.written_since(before)) if ground else ()
            results, untried = session.results()[arm.name], frozenset(session.left_out)
            pair_bytes = 2 * session.peak_bytes
        failed = {one.id: one.error or "" for one in results if one.status is Status.FAILED}
        ran = frozenset(one.id for one in results).intersection(ids) - failed.keys() - untried
        return BaseTrial(failed, untried, lesson=Lesson(ran, written, pair_bytes))

    def attempt(
        self, arm: Arm, config: Config, settings: EngineSettings, ids: Collection[str]
    ) -> Attempt:
        """Run some benchmarks of one side once; those that there is no time for count as able."""
        if not ids:
            return Attempt({}, ())
        with self.trying(arm, config, settings, Explainer([arm])) as session:
            end_s = self.effects.clock() + _LARGEST_SHARE * config.measure.limit_s
            session.measure_round(
                0,
                [id_ for id_ in session.ids if id_ in ids],
                lambda _: None,
                is_over=lambda: self.effects.clock() >= end_s,
            )
            results = session.results()[arm.name]
        failed = {one.id: one.error or "" for one in results if one.status is Status.FAILED}
        places = {id_: (id_, *files_of(id_)) for id_ in ids}
        errors = {
            id_: failed[place] for id_ in ids for place in places[id_][::-1] if place in failed
        }
        return Attempt(errors, session.without_own_code)

    @contextmanager
    def trying(
        self, arm: Arm, config: Config, settings: EngineSettings, explain: Explainer
    ) -> Iterator[Session]:
        """Open a session that runs benchmarks of one side, each as briefly as possible."""
        effects = self.effects
        light = replace(config, measure=config.measure.model_copy(update=_ONCE))
        place = Place(self.checkout, available_cpus(), None, "")
        environ = clean_environ(effects.environ)
        brief = replace(settings, brief=True, tell=effects.progress.message)
        engines = make_engines(
            light, [arm], place, self.guardian, environ, settings=brief, choice=self.choice
        )
        find = partial(found_by, engines, explain)
        with closing(Session(find, [arm.name], effects.draw_seed(), effects.clock)) as session:
            session.discover()
            yield session


def _write_out() -> None:
    """Let the OS write what builds have left in memory: else it does so while it is measured."""
    writing = Thread(target=os.sync, daemon=True)
    writing.start()
    writing.join(_WRITE_OUT_S)


def note_shared(ground: Ground | None, described: Mapping[tuple[str, ...], Described]) -> None:
    """Note what workers may import outside of the trees, before the head can change it."""
    if ground:
        for one in described.values():
            if "folders" in one.hello:  # other languages do not say what they import
                ground.shared.add(one.hello)


def open_session(
    stack: ExitStack,
    arms: Iterable[Arm],
    config: Config,
    effects: Effects,
    *,
    checkout: Path | None,
    choice: Choice,
    tried: BaseTrial | None = None,
    ground: Ground | None = None,
    files: BenchmarkFiles = BenchmarkFiles.OWN,
    runs_suites: bool = True,
    introspect: bool = False,
    beside: Thread | None = None,
) -> Session:
    """Build the arms and find their benchmarks.

    Args:
        stack: closes what is opened here.
        checkout: the user's tree, which benchmarks must not import from; None if it is an arm.
        tried: what trying the base before the head ran has shown; None to try it here.
        ground: keeps the trees unchanged; None if the user's own tree is measured.
        files: whose benchmarks decide; the ground must be able to lay these.
        runs_suites: whether suites are run to find their benchmarks; if not, each is one entry.
        introspect: ask the targets of scenarios for their versions and settings.
        beside: works at the same time, and must have ended before the idlest CPU is chosen.
    """
    counting = choose_counting(config, effects.environ)
    guardian = stack.enter_context(Guardian.start())
    guardian.budget.offer(config.measure.limit_s)
    ready = _readied(arms, config, guardian)
    seed = effects.draw_seed() if config.measure.seed is None else config.measure.seed
    drawn = _drawn(ready, seed)
    effects.phases.begin(Phase.BUILD)
    if files is BenchmarkFiles.HEAD and tried is None:
        tried = UNTRIED  # nothing of its own is measured
    builder = Builder(config, choice, effects, guardian, checkout)
    built = builder.build(drawn, ground, tried)
    tried = built.tried
    effects.phases.begin(Phase.FIND)
    if beside:
        beside.join()
    place = choose_place(config, checkout)
    several = len(ready) > 1
    if several and (why := place.why_fewer_lanes(config.measure.lanes)):
        effects.progress.message(why)
    stack.enter_context(kept_off(place.cpu))
    settings = EngineSettings(
        config.measure,
        event=counting.event,
        valgrind=counting.valgrind,
        traces=partial(wants, config, metrics=(ALLOC_PEAK.name, ALLOC_BLOCKS.name)),
        runs_suites=runs_suites,
        introspect=introspect,
        described=built.described,
        tell=effects.progress.message,
        starting=partial(effects.phases.beside, Phase.START_WORKERS),
    )
    environ = clean_environ(effects.environ)

    def make(config: Config, arms: Sequence[Arm], settings: EngineSettings) -> list[Engine]:
        engines = make_engines(
            config, arms, place, guardian, environ, settings=settings, choice=choice
        )
        for engine in engines:
            stack.callback(engine.close)
        return engines

    explain = Explainer(drawn, built.warnings)
    session = Session(
        _finder(
            files,
            ground.laying,
            ground.lay,
            config=config,
            arms=drawn,
            builder=builder,
            settings=settings,
            make=make,
            explain=explain,
        )
        if ground and ground.laying
        else partial(found_by, make(config, drawn, settings), explain),
        [arm.name for arm in ready],
        seed,
        effects.clock,
        cpus=place.cpus,
        tried=tried,
        ground=ground,
        # Numbers of one arm are compared with those of other runs, which may have other lanes.
        lane_cpus=place.lane_cpus if several else place.lane_cpus[:1],
        tell=effects.progress.message,
        toolchains=built.toolchains,
        files=files,
        budget=guardian.budget,
    )
    stack.enter_context(closing(session))
    _discover(session, config, effects, counting.obstacle)
    note_shared(ground, built.described)
    _keep_chosen(session, config, choice)
    if said := about_cost(counting, session.ids):
        effects.progress.message(said)
        stack.callback(_tell_what_it_took, session, effects)
    return session


def _tell_what_it_took(session: Session, effects: Effects) -> None:
    took = format_duration(session.counting.total_s)
    effects.progress.message(f"counting with valgrind took {took}")


def _drawn(arms: Sequence[Arm], seed: int) -> list[Arm]:
    """Draw the order in which the arms are built and started.

    A benchmark must not be able to find out which arm it is in, for example from who runs first:
    so no process is told the seed.
    """
    return random.Random(f"{seed}/arms").sample(arms, len(arms))  # noqa: S311 - repeatable on purpose


def _finder(
    files: BenchmarkFiles,
    laying: Laying,
    lay: Callable[[BenchmarkFiles], None],
    *,
    config: Config,
    arms: Sequence[Arm],
    builder: Builder,
    settings: EngineSettings,
    make: Callable[[Config, Sequence[Arm], EngineSettings], list[Engine]],
    explain: Explainer,
) -> Callable[[], list[FoundSet]]:
    """Return what finds the benchmarks of two sides.

    Args:
        files: whose benchmarks decide.
        laying, lay: see `SetFinder`.
        make: makes engines, and sees that they are closed.
        explain: words what they say.
    """
    # What is known about a file is known about its version.
    described: dict[BenchmarkFiles, dict[tuple[str, ...], Described]]
    described = {one: {} for one in BenchmarkFiles} | {BenchmarkFiles.BASE: settings.described}

    def inside(name: ArmName, tables: Tables) -> str:
        of = {BenchmarkFiles.BASE: ArmName.BASE, BenchmarkFiles.HEAD: ArmName.HEAD}
        return config_in(of.get(tables.files, name), config).folder

    def view(tables: Tables) -> tuple[Config, list[Arm]]:
        base = replace(
            config.base or config, benchmarks=tuple(tables.base), is_empty=not tables.base
        )
        of_tables = replace(
            config, benchmarks=tuple(tables.head), is_empty=not tables.head, base=base
        )
        lent = {BenchmarkFiles.BASE: ArmName.HEAD, BenchmarkFiles.HEAD: ArmName.BASE}
        return of_tables, [
            replace(
                arm,
                inside=inside(arm.name, tables),
                is_lent=arm.name is lent.get(tables.files),
            )
            for arm in arms
        ]

    def settings_for(tables: Tables, settings: EngineSettings) -> EngineSettings:
        return replace(
            settings,
            described=described[tables.files],
            has_canary=tables.has_canary,
            # Where the base's files lie, the head lacks what only its own configuration names.
            requires_files=tables.files is not BenchmarkFiles.BASE or tables.has_canary,
        )

    def make_for(tables: Tables, unable: Collection[str]) -> list[Engine]:
        return make(*view(tables), replace(settings_for(tables, settings), unable=unable))

    def attempt(name: ArmName, tables: Tables, ids: Collection[str]) -> Attempt:
        of_tables, among = view(tables)
        [arm] = (one for one in among if one.name is name)
        own = settings_for(tables, EngineSettings(config.measure))
        return builder.attempt(arm, of_tables, own, ids)

    finder = SetFinder(
        laying, lay, make_for, attempt, config.aliases, explain, builder.effects.progress.message
    )
    return finder.find_by_base if files is BenchmarkFiles.BASE else finder.find_by_head


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
