"""Builds the arms of a session, and tries the benchmarks of one side before the head runs."""

from __future__ import annotations

import math
import os
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING

from benchgate.gate.evidence import files_of
from benchgate.git.repository import clean_environ
from benchgate.measure.arm import ArmName
from benchgate.measure.builds import ArmBuild, are_alike
from benchgate.measure.contract import EngineSettings
from benchgate.measure.machine import Place, available_cpus
from benchgate.model.result import Phase
from benchgate.model.run import Status
from benchgate.session.benchmark_sets import Attempt, found_by
from benchgate.session.engines import EngineMaker, build_of, config_in
from benchgate.session.explainer import Explainer
from benchgate.session.recorder import BaseTrial, Lesson
from benchgate.session.session import Session
from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from benchgate.config import Config
    from benchgate.measure.arm import Arm
    from benchgate.measure.builds import BuildCache
    from benchgate.measure.contract import Described
    from benchgate.measure.processes import Guardian
    from benchgate.measure.trees import Ground
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


def cache_for(config: Config, effects: Effects, checkout: Path | None) -> BuildCache | None:
    """Where the builds of a session are kept; None if they are not.

    They are not if the base judges: code of a change could have written them.

    Args:
        checkout: the user's tree; None if it is itself measured.
    """
    cache, builds = effects.builds, [config_in(name, config).build for name in ArmName]
    if cache is None or checkout is None or cache.folder.is_relative_to(checkout) or config.sides:
        return None
    is_wanted = all(one.cache for one in builds) and any(one.commands for one in builds)
    return cache if is_wanted else None


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
        maker = EngineMaker(place, self.guardian, environ, self.choice)
        engines = maker.make(light, [arm], brief)
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
