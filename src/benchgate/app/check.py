"""`benchgate check`: measure base and head in turn, decide."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from benchgate.app.check_stored import STORED_SOURCES, check_stored
from benchgate.app.choice import Choice
from benchgate.app.judging import judge_run, make_verdict
from benchgate.app.opening import open_session
from benchgate.app.records import Record, working_tree_source
from benchgate.app.rounds import FixedRounds, ScreenAndConfirm, measure_rounds
from benchgate.app.run import RunRequest
from benchgate.baselines.git import choose_base
from benchgate.baselines.policy import judged_by_base
from benchgate.gate.waves import WaveSettings
from benchgate.measure.engine import ArmName
from benchgate.measure.worktree import same_arms, sweep, two_arms
from benchgate.units import counted, format_duration

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchgate.app.effects import Effects
    from benchgate.app.rounds import Planner
    from benchgate.config import Config
    from benchgate.gate.suite import Need
    from benchgate.git.repository import Git
    from benchgate.measure.session import Session
    from benchgate.model.result import Result
    from benchgate.model.verdict import Verdict

_CLASSICAL_ROUNDS = 10
_OPEN_NAMED = 5


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """What the user asked for, beside the configuration.

    Attributes:
        output: the result file; saved after every round.
        self_check: measure the working tree on both arms.
        policy: whose configuration decides how it is judged. People tune margins in their working
            tree; a pull request is judged by the base's, where there is one.
    """

    choice: Choice = field(default_factory=Choice)
    output: Path | None = None
    self_check: bool = False
    policy: Literal["base", "head"] = "head"


def check(
    request: CheckRequest, config: Config, git: Git, effects: Effects
) -> tuple[Verdict, Result]:
    """Measure the base commit and the working tree side by side and decide.

    Where the baseline is stored results, the working tree alone is measured.

    Raises:
        BaselineError: no base, or it cannot be checked out or built.
        MeasureError: the head cannot be built.
        UsageError: no benchmarks.
        Interrupted: Ctrl-C or SIGTERM; what was measured is saved.
    """
    if config.baseline.source in STORED_SOURCES and not request.self_check:
        return check_stored(RunRequest(request.choice, request.output), config, git, effects)
    began_s, started = effects.clock(), effects.now()
    warnings = sweep(git)
    head = working_tree_source(git)
    if request.self_check:
        base = replace(head, why="the working tree itself: every difference is noise")
    else:
        base = choose_base(git, config.baseline.against)
    if request.policy == "base" and base.sha:
        config, unread = judged_by_base(git, base.sha, config, effects.cwd)
        warnings = (*warnings, *unread)
    with ExitStack() as stack:
        trees = stack.enter_context(
            same_arms(git) if request.self_check else two_arms(git, base.sha or "")
        )
        session = open_session(
            stack, trees.arms.values(), config, effects, checkout=git.root, choice=request.choice
        )
        record = Record.begin(
            session,
            {ArmName.BASE: base, ArmName.HEAD: head},
            effects,
            began_s=began_s,
            started=started,
            screen_rounds=0 if fixed_rounds(config) else config.measure.screen_rounds,
            until_decided=config.measure.until_decided,
            output=request.output,
            warnings=(*warnings, *trees.notes, *config.unmatched(session.recorder.found())),
        )
        _measure(session, record, config, effects)
    return _decide(record.result(), config)


def _measure(session: Session, record: Record, config: Config, effects: Effects) -> None:
    effects.progress.found(len(session.ids))

    def needs() -> Sequence[Need]:
        return judge_run(record.result(), config).needs

    planner: Planner
    if fixed := fixed_rounds(config):
        planner = FixedRounds(session, fixed)
    else:
        recorder = session.recorder
        once = frozenset(id_ for id_ in session.ids if not recorder.is_on_all_arms(id_))
        planner = ScreenAndConfirm(session, WaveSettings.of(config), needs, once)
    with record.kept_when_interrupted():
        still_open = measure_rounds(
            session,
            planner,
            budget_s=config.measure.limit_s,
            clock=effects.clock,
            progress=effects.progress,
            save=record.save,
        )
    if still_open:
        named = ", ".join(still_open[:_OPEN_NAMED])
        budget = format_duration(config.measure.budget_s)
        how_many = counted(len(still_open), "benchmark")
        record.warnings += (f"the budget of {budget} ended with {how_many} open: {named}",)
    record.finish()


def _decide(result: Result, config: Config) -> tuple[Verdict, Result]:
    return make_verdict(judge_run(result, config), config), result


def fixed_rounds(config: Config) -> int | None:
    """How many rounds are measured regardless of what they show; None for the gate's procedure."""
    if config.measure.rounds is not None:
        return config.measure.rounds
    return _CLASSICAL_ROUNDS if config.gate.rule == "classical" else None
