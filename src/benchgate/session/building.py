"""Builds the arms of a session, or takes what the same build left before, and tries the base."""

from __future__ import annotations

import math
import time
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from benchgate.gate.evidence import files_of
from benchgate.git.repository import clean_environ
from benchgate.measure.affinity import available_cpus
from benchgate.measure.engine import ArmName
from benchgate.model.result import Phase
from benchgate.model.run import Status
from benchgate.session.arm_build import ArmBuild, are_alike
from benchgate.session.benchmark_sets import Attempt, found_by
from benchgate.session.engines import EngineOptions, Place, config_in, make_engines
from benchgate.session.explained import Explainer
from benchgate.session.recorder import BaseTrial
from benchgate.session.session import Session
from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from benchgate.config import Config
    from benchgate.measure.engine import Arm
    from benchgate.measure.ground import Ground
    from benchgate.measure.guardian import Guardian
    from benchgate.measure.python_workers import Described
    from benchgate.session.choice import Choice
    from benchgate.session.effects import Effects

_LARGEST_SHARE = 0.05
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
        described: see `PythonSettings`; of the base, if it was tried here.
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
        with self._opened_builds(drawn) as builds:
            # What is built now shows which packages there are now.
            order = sorted(order, key=lambda arm: builds[arm.name].kept is not None)
            for count, arm in enumerate(order, start=1):
                with builds[arm.name].alone(partial(self._wait, arm)):
                    if builds[arm.name].kept and not are_alike(builds.values()):
                        for one in builds.values():
                            one.forget()
                    toolchains[arm.name] = self._prepare(builds[arm.name])
                    warnings[arm.name] = builds[arm.name].warnings
                if is_tried_here and arm.name is ArmName.BASE:
                    self.effects.phases.begin(Phase.FIND)
                    tried = self._try_alone(Explainer([arm], warnings), arm, described)
                    self.effects.phases.begin(Phase.BUILD)
                    note_shared(ground, described)
                if ground and any(builds[other.name].build.commands for other in order[count:]):
                    ground.built(arm.name)
            self._tell(builds.values())
        if ground:
            ground.settle()
        return Built(tried or BaseTrial(), toolchains, described, warnings)

    @contextmanager
    def _opened_builds(self, arms: Sequence[Arm]) -> Iterator[dict[ArmName, ArmBuild]]:
        """Look for what the builds of all arms left before, if it may be used.

        It is not if the base judges: code of a change could have written it.
        """
        wanted = {arm.name: config_in(arm.name, self.config).build for arm in arms}
        is_wanted = not self.config.sides and all(one.cache for one in wanted.values())
        cache = self.effects.builds if is_wanted else None
        if self.checkout is None or (cache and cache.folder.is_relative_to(self.checkout)):
            cache = None
        with ExitStack() as stack:
            builds = {}
            for arm in arms:
                one = builds[arm.name] = ArmBuild(arm, wanted[arm.name], cache, self.guardian)
                stack.callback(one.close)
            yield builds

    def _wait(self, arm: Arm, other: str) -> None:
        self.effects.progress.message(
            f"waiting for another benchgate ({other or 'which begins'}): it builds the same "
            f"{arm.name}, and this check uses what it builds"
        )

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
        oldest_s = max(time.time() - one.kept.about.built_s for one in kept if one.kept)
        self.effects.progress.message(
            f"used an earlier build of the {whose} ({format_duration(oldest_s)} old); "
            "--no-cache builds again"
        )

    def _try_alone(
        self, explain: Explainer, arm: Arm, described: dict[tuple[str, ...], Described]
    ) -> BaseTrial:
        """Run each benchmark of the base once, as briefly as possible, before the head runs."""
        config, effects = self.config, self.effects
        new_ids = config.aliases
        options = EngineOptions(choice=self.choice, described=described)
        with self.trying(arm, config, options, explain) as session:
            found = session.definitions(arm.name)
            ids = [d.id for d in found if self.choice.wants(new_ids.get(d.id, d.id), d.tags)]
            # Code of a pull request must not get around it; else it is not worth much of the time.
            share = math.inf if config.sides else _LARGEST_SHARE
            end_s = effects.clock() + share * config.measure.limit_s
            session.measure_round(0, ids, lambda _: None, is_over=lambda: effects.clock() >= end_s)
            results, untried = session.results()[arm.name], session.left_out
        failed = (one for one in results if one.status is Status.FAILED)
        return BaseTrial({one.id: one.error or "" for one in failed}, frozenset(untried))

    def attempt(
        self, arm: Arm, config: Config, options: EngineOptions, ids: Collection[str]
    ) -> Attempt:
        """Run some benchmarks of one side once; those that there is no time for count as able."""
        if not ids:
            return Attempt({}, ())
        with self.trying(arm, config, options, Explainer([arm])) as session:
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
        self, arm: Arm, config: Config, options: EngineOptions, explain: Explainer
    ) -> Iterator[Session]:
        """Open a session that runs benchmarks of one side, each as briefly as possible."""
        effects = self.effects
        light = replace(config, measure=config.measure.model_copy(update=_ONCE))
        place = Place(self.checkout, available_cpus(), None, "")
        environ = clean_environ(effects.environ)
        brief = replace(options, brief=True, tell=effects.progress.message)
        engines = make_engines(light, [arm], place, self.guardian, environ, options=brief)
        find = partial(found_by, engines, explain)
        with closing(Session(find, [arm.name], effects.draw_seed(), effects.clock)) as session:
            session.discover()
            yield session


def note_shared(ground: Ground | None, described: Mapping[tuple[str, ...], Described]) -> None:
    """Note what workers may import outside of the trees, before the head can change it."""
    if ground:
        for one in described.values():
            ground.shared.add(one.hello)
