"""Measures one tree."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.machine import require_address_space
from benchgate.measure.trees import one_arm, sweep
from benchgate.model.result import Phase
from benchgate.model.run import Source
from benchgate.session.building import cache_for
from benchgate.session.choice import Choice
from benchgate.session.opening import Opening, open_session
from benchgate.session.outlook import (
    describe_rounds,
    of_fixed_rounds,
    of_left_out,
)
from benchgate.session.result_file import DEFAULT_SUITE, ResultFile, working_tree_source
from benchgate.session.rounds import FixedRounds, RoundLoop
from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.config import Config
    from benchgate.git.repository import Git
    from benchgate.model.result import Result
    from benchgate.session.effects import Effects
    from benchgate.session.session import Session


DEFAULT_ROUNDS = 10


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What the user asked for, in addition to the configuration.

    Attributes:
        output: the result file; saved after rounds, at most once a second.
        must_save: it is an error if the file cannot be written; otherwise that is a warning.
        introspect: ask the targets of scenarios for their versions and settings.
    """

    choice: Choice = field(default_factory=Choice)
    output: Path | None = None
    suite: str = DEFAULT_SUITE
    must_save: bool = True
    introspect: bool = False


def run(request: RunRequest, config: Config, git: Git | None, effects: Effects) -> Result:
    """Measure the working tree, or the current folder if it is not in a repository.

    Raises:
        MeasureError: the build failed.
        UsageError: no benchmarks.
        Interrupted: Ctrl-C, SIGTERM or SIGHUP; what was measured is saved.
    """
    require_address_space()
    began_s, started = effects.clock(), effects.now()
    opened = open_tree(request.choice, config, git, effects, introspect=request.introspect)
    with opened as (session, notes):
        result_file = ResultFile(
            session=session,
            sources={ArmName.HEAD: working_tree_source(git) if git else Source()},
            effects=effects,
            began_s=began_s,
            started=started,
            suite=request.suite,
            output=request.output,
            must_save=request.must_save,
            warnings=notes,
        )
        planner = _planned(session, config)
        numbers = planner.numbers()
        plan = describe_rounds(numbers, config.measure.budget_s)
        effects.progress.found(len(session.ids), plan)
        with result_file.kept_when_interrupted():
            dropped = RoundLoop(
                session,
                planner,
                budget_s=config.measure.budget_s,
                clock=effects.clock,
                phases=effects.phases,
                progress=effects.progress,
                save=result_file.save_sometimes,
                foresee=lambda spending: of_fixed_rounds(spending, min(numbers)),
            ).measure()
        if session.left_out:
            budget_s = config.measure.budget_s
            result_file.warnings += (of_left_out(session.left_out, budget_s),)
        if dropped:
            budget = format_duration(config.measure.budget_s)
            result_file.warnings += (f"the budget of {budget} ended before the last round",)
        result_file.finish(session.conclude())
        return result_file.result()


def _planned(session: Session, config: Config) -> FixedRounds:
    """Plan the rounds: a scenario may say how many it needs, if the user does not."""
    if config.measure.rounds:
        return FixedRounds(session, config.measure.rounds)
    own = {one.id: one.rounds for one in session.definitions(ArmName.HEAD) if one.rounds}
    return FixedRounds(session, DEFAULT_ROUNDS, own)


@contextmanager
def open_tree(
    choice: Choice,
    config: Config,
    git: Git | None,
    effects: Effects,
    *,
    runs_suites: bool = True,
    introspect: bool = False,
) -> Iterator[tuple[Session, tuple[str, ...]]]:
    """Open a session on the working tree alone; return it and notes for its result.

    Args:
        runs_suites, introspect: as in `Opening`.
    """
    effects.phases.begin(Phase.CHECK_OUT)
    with ExitStack() as stack:
        if git is None:
            folder = effects.cwd
            arm = Arm(ArmName.HEAD, folder, folder / ".benchgate-env")
            session = open_session(
                stack,
                Opening(
                    [arm],
                    config,
                    effects,
                    checkout=None,
                    choice=choice,
                    runs_suites=runs_suites,
                    introspect=introspect,
                ),
            )
            yield session, ()
            return
        warnings = sweep(git)
        is_kept = cache_for(config, effects, git.root) is not None
        trees = stack.enter_context(one_arm(git, same_places=is_kept))
        session = open_session(
            stack,
            Opening(
                tuple(trees.arms.values()),
                config,
                effects,
                checkout=git.root,
                choice=choice,
                ground=trees.ground,
                runs_suites=runs_suites,
                introspect=introspect,
            ),
        )
        yield session, (*warnings, *trees.notes)
