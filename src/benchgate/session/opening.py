"""Opens a session: builds the arms, pins CPUs, and finds the benchmarks."""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.errors import UsageError
from benchgate.git.repository import clean_environ
from benchgate.measure.affinity import available_cpus, kept_off
from benchgate.measure.build import build
from benchgate.measure.counters import USER_INSTRUCTIONS, find_obstacle
from benchgate.measure.engine import ArmName
from benchgate.measure.guardian import Guardian
from benchgate.model.metrics import INSTRUCTIONS
from benchgate.model.run import Status
from benchgate.session.choice import keep_share, leave_out_unwanted
from benchgate.session.engines import Place, choose_place, config_in, make_engines
from benchgate.session.recorder import BaseTrial
from benchgate.session.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import ExitStack
    from pathlib import Path

    from benchgate.config import Config
    from benchgate.measure.engine import Arm
    from benchgate.measure.ground import Ground
    from benchgate.session.choice import Choice
    from benchgate.session.effects import Effects

# A launch of each benchmark, as short as possible.
_ONCE = {
    "samples": 1,
    "launch_time_s": 0.001,
    "warmup": 0,
    "canary": False,
    "executions": 1,
    "command_warmup": 0,
}


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
) -> Session:
    """Build the arms and find their benchmarks.

    Args:
        stack: closes what is opened here.
        checkout: the user's tree, which benchmarks must not import from; None if it is an arm.
        tried: what trying the base before the head ran has shown; None to try it here.
        ground: keeps the trees unchanged; None if the user's own tree is measured.

    Raises:
        MeasureError: the head cannot be built.
        BaselineError: the base cannot be built.
        UsageError: there are no benchmarks, or none of them was chosen.
    """
    guardian = stack.enter_context(Guardian.start())
    ready = [replace(arm, variables={**arm.variables, **guardian.variables}) for arm in arms]
    seed = effects.draw_seed() if config.measure.seed is None else config.measure.seed
    # A benchmark must not be able to find out which arm it is in, for example from who runs first:
    # so no process is told the seed.
    drawn = random.Random(f"{seed}/arms").sample(ready, len(ready))  # noqa: S311 - repeatable on purpose
    builder = _Builder(config, choice, effects, guardian, checkout)
    tried = builder.build(drawn, ground, tried)
    place = choose_place(config, checkout)
    stack.enter_context(kept_off(place.cpu))
    uncounted = find_obstacle(USER_INSTRUCTIONS)
    event = None if uncounted else USER_INSTRUCTIONS
    environ = clean_environ(effects.environ)
    session = Session(
        make_engines(config, drawn, place, guardian, environ, event=event),
        [arm.name for arm in ready],
        seed,
        effects.clock,
        cpus=place.cpus,
        tried=tried,
        ground=ground,
    )
    stack.enter_context(closing(session))
    session.discover()
    if uncounted:
        note_uncounted(session, config, uncounted)
    leave_out_unwanted(choice, session)
    _require_benchmarks(session, config)
    if choice.shard:
        keep_share(choice.shard, session, config.aliases)
    return session


@dataclass(frozen=True, slots=True)
class _Builder:
    """Builds the arms, each as its own configuration describes, and tries the base."""

    config: Config
    choice: Choice
    effects: Effects
    guardian: Guardian
    checkout: Path | None

    def build(
        self, drawn: Sequence[Arm], ground: Ground | None, tried: BaseTrial | None
    ) -> BaseTrial:
        """Build all arms; return what trying the base has shown.

        If each side has its own configuration, the base is built and tried before the head's own
        commands run, because these could change it.
        """
        sides = bool(self.config.sides)
        order = sorted(drawn, key=lambda arm: arm.name is ArmName.HEAD) if sides else drawn
        is_tried_here = tried is None and sides
        for count, arm in enumerate(order, start=1):
            self._build(arm)
            if is_tried_here and arm.name is ArmName.BASE:
                tried = self._try_alone(arm)
            later = order[count:]
            if ground and any(self._own(other).build.commands for other in later):
                ground.built(arm.name)
        if ground:
            ground.settle()
        return tried or BaseTrial()

    def _own(self, arm: Arm) -> Config:
        return config_in(arm.name, self.config)

    def _build(self, arm: Arm) -> None:
        own = self._own(arm).build
        if not own.commands:
            return
        self.effects.progress.building(arm.name)
        build(
            arm,
            own.commands,
            timeout_s=own.timeout_s,
            variables=own.env,
            guardian=self.guardian,
        )

    def _try_alone(self, arm: Arm) -> BaseTrial:
        """Run each benchmark of the base once, as briefly as possible, before the head runs."""
        config, effects = self.config, self.effects
        light = replace(config, measure=config.measure.model_copy(update=_ONCE))
        place = Place(self.checkout, available_cpus(), None, "")
        environ = clean_environ(effects.environ)
        engines = make_engines(light, [arm], place, self.guardian, environ, event=None)
        with closing(Session(engines, [arm.name], effects.draw_seed(), effects.clock)) as session:
            session.discover()
            found = session.definitions(arm.name)
            new_ids = config.aliases
            ids = [d.id for d in found if self.choice.wants(new_ids.get(d.id, d.id), d.tags)]
            session.measure_round(0, ids, lambda _: None)
            results = session.results()[arm.name]
        return BaseTrial(frozenset(one.id for one in results if one.status is Status.FAILED))


def note_uncounted(session: Session, config: Config, reason: str) -> None:
    """Note on benchmarks that are to be judged by instructions why that is not possible."""
    for id_ in session.known_ids:
        if INSTRUCTIONS.name in config.effective(id_).metrics:
            session.note(id_, f"{INSTRUCTIONS.name}: {reason}")


def _require_benchmarks(session: Session, config: Config) -> None:
    if session.ids or session.failures:
        return
    raise UsageError(
        f"no benchmarks found ({config.source or 'there is no configuration file'})",
        hint="A benchmark is a function `bench_*` in a file `bench_*.py`, or a [[benchmark]] with "
        "a command in benchgate.toml; `benchgate init` writes the first one.",
    )
