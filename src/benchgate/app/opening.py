"""From arms to an open session: built, pinned, and with its benchmarks found."""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.app.choice import leave_out_unwanted
from benchgate.app.engines import choose_place, make_engines
from benchgate.app.sharding import keep_share
from benchgate.errors import UsageError
from benchgate.git.repository import clean_environ
from benchgate.measure.affinity import kept_off
from benchgate.measure.build import build
from benchgate.measure.counters import USER_INSTRUCTIONS, find_obstacle
from benchgate.measure.guardian import Guardian
from benchgate.measure.session import Session
from benchgate.model.metrics import INSTRUCTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import ExitStack
    from pathlib import Path

    from benchgate.app.choice import Choice
    from benchgate.app.effects import Effects
    from benchgate.config import Config
    from benchgate.measure.engine import Arm
    from benchgate.measure.ground import Ground


def open_session(
    stack: ExitStack,
    arms: Iterable[Arm],
    config: Config,
    effects: Effects,
    *,
    checkout: Path | None,
    choice: Choice,
    ground: Ground | None = None,
) -> Session:
    """Build the arms and find their benchmarks.

    Args:
        stack: closes what is opened here.
        checkout: the user's tree, from which nothing may be imported; None where it is an arm.
        ground: what keeps the trees what they are; None where the user's own is measured.

    Raises:
        MeasureError: the head cannot be built.
        BaselineError: the base cannot be built.
        UsageError: there are no benchmarks, or none that was asked for.
    """
    guardian = stack.enter_context(Guardian.start())
    ready = [replace(arm, variables={**arm.variables, **guardian.variables}) for arm in arms]
    # Nothing that an arm can see, such as who was first, may tell which it is.
    drawn = random.Random(effects.draw_seed()).sample(ready, len(ready))  # noqa: S311 - a secret seed
    _build(drawn, config, guardian, effects)
    if ground:
        ground.settle()
    place = choose_place(config, checkout)
    stack.enter_context(kept_off(place.cpu))
    environ = clean_environ(effects.environ)
    seed = config.measure.seed
    uncounted = find_obstacle(USER_INSTRUCTIONS)
    event = None if uncounted else USER_INSTRUCTIONS
    session = stack.enter_context(
        closing(
            Session(
                make_engines(config, drawn, place, guardian, environ, event=event),
                [arm.name for arm in ready],
                effects.draw_seed() if seed is None else seed,
                effects.clock,
                cpu_count=len(place.cpus),
                ground=ground,
            )
        )
    )
    session.discover()
    if uncounted:
        note_uncounted(session, config, uncounted)
    leave_out_unwanted(choice, session)
    _require_benchmarks(session, config)
    if choice.shard:
        keep_share(choice.shard, session, config.aliases)
    return session


def note_uncounted(session: Session, config: Config, reason: str) -> None:
    """Tell those benchmarks that are to be judged by instructions why they cannot be."""
    for id_ in session.recorder.found():
        if INSTRUCTIONS.name in config.effective(id_).metrics:
            session.recorder.note(id_, f"{INSTRUCTIONS.name}: {reason}")


def _build(arms: Iterable[Arm], config: Config, guardian: Guardian, effects: Effects) -> None:
    if not config.build.commands:
        return
    for arm in arms:
        effects.progress.building(arm.name)
        build(
            arm,
            config.build.commands,
            timeout_s=config.build.timeout_s,
            variables=config.build.env,
            guardian=guardian,
        )


def _require_benchmarks(session: Session, config: Config) -> None:
    if session.ids or session.failures:
        return
    raise UsageError(
        f"no benchmarks found ({config.source or 'there is no configuration'})",
        hint="A benchmark is a function `bench_*` in a file `bench_*.py`, or a [[benchmark]] with "
        "a command in benchgate.toml; `benchgate init` writes a first one.",
    )
