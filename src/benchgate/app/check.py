"""`benchgate check`: measure base and head in turn, decide."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.app.choice import Choice, leave_out_unwanted
from benchgate.app.engines import choose_place, make_engines
from benchgate.app.judging import judge_result, make_verdict
from benchgate.app.records import Record, environments_of
from benchgate.app.rounds import FixedRounds, ScreenAndConfirm, measure_rounds
from benchgate.baselines.git import choose_base
from benchgate.errors import Interrupted, UsageError
from benchgate.git.branches import current_branch
from benchgate.git.changes import read_changes
from benchgate.measure.affinity import kept_off
from benchgate.measure.build import build
from benchgate.measure.engine import ArmName
from benchgate.measure.guardian import Guardian
from benchgate.measure.session import Session
from benchgate.measure.worktree import same_arms, sweep, two_arms
from benchgate.model.redact import Redactor
from benchgate.model.result import Source
from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchgate.app.effects import Effects
    from benchgate.app.rounds import Planner
    from benchgate.config import Config
    from benchgate.gate.suite import Need
    from benchgate.git.repository import Git
    from benchgate.measure.engine import Arm
    from benchgate.measure.worktree import Trees
    from benchgate.model.result import Result
    from benchgate.model.verdict import Verdict

_CLASSICAL_ROUNDS = 10


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """What the user asked for, beside the configuration.

    Attributes:
        output: the result file; saved after every round.
        self_check: measure the working tree on both arms.
    """

    choice: Choice = Choice()
    output: Path | None = None
    self_check: bool = False


def check(
    request: CheckRequest, config: Config, git: Git, effects: Effects
) -> tuple[Verdict, Result]:
    """Measure the base commit and the working tree side by side and decide.

    Raises:
        BaselineError: no base, or it cannot be checked out or built.
        MeasureError: the head cannot be built.
        UsageError: no benchmarks.
        Interrupted: Ctrl-C or SIGTERM; what was measured is saved.
    """
    began_s, started = effects.clock(), effects.now()
    warnings = list(sweep(git))
    head = Source(sha=git.head_sha(), ref=current_branch(git), dirty=read_changes(git).dirty)
    if request.self_check:
        base = replace(head, why="the working tree itself: every difference is noise")
    else:
        base = choose_base(git, config.baseline.against)
    with ExitStack() as stack:
        trees = stack.enter_context(
            same_arms(git) if request.self_check else two_arms(git, base.sha or "")
        )
        warnings += trees.notes
        guardian = stack.enter_context(Guardian.start())
        arms = _built(trees, config, guardian, effects)
        place = choose_place(config, git.root)
        stack.enter_context(kept_off(place.cpu))
        engines = make_engines(config, arms, place, guardian, effects.environ)
        seed = config.measure.seed if config.measure.seed is not None else effects.draw_seed()
        session = stack.enter_context(
            closing(Session(engines, [arm.name for arm in arms], seed, effects.clock))
        )
        session.discover()
        leave_out_unwanted(request.choice, session)
        _require_benchmarks(session, config)
        record = Record(
            session=session,
            sources={ArmName.BASE: base, ArmName.HEAD: head},
            screen_rounds=0 if _fixed_rounds(config) else config.measure.screen_rounds,
            started=started,
            began_s=began_s,
            clock=effects.clock,
            environments=environments_of(session, effects),
            redact=Redactor(effects.environ),
            output=request.output,
            warnings=tuple(warnings),
        )
        return _measure_and_judge(session, record, config, effects)


def _built(trees: Trees, config: Config, guardian: Guardian, effects: Effects) -> Sequence[Arm]:
    """Prepare both arms with the commands of [build]."""
    arms = [
        replace(arm, variables={**arm.variables, **guardian.variables})
        for arm in trees.arms.values()
    ]
    for arm in arms:
        if config.build.commands:
            effects.progress.building(arm.name)
            build(arm, config.build, effects.environ)
    return arms


def _measure_and_judge(
    session: Session, record: Record, config: Config, effects: Effects
) -> tuple[Verdict, Result]:
    effects.progress.found(len(session.ids))

    def needs() -> Sequence[Need]:
        return judge_result(record.result(complete=False), config).needs

    planner: Planner
    if fixed := _fixed_rounds(config):
        planner = FixedRounds(session, fixed)
    else:
        recorder = session.recorder
        once = frozenset(id_ for id_ in session.ids if not recorder.is_on_all_arms(id_))
        planner = ScreenAndConfirm(session, config.measure, needs, once)
    try:
        still_open = measure_rounds(
            session,
            planner,
            budget_s=config.measure.budget_s,
            clock=effects.clock,
            progress=effects.progress,
            save=record.save,
        )
    except KeyboardInterrupt:
        record.save()
        raise Interrupted(
            "interrupted",
            hint=f"What was measured is in {record.output}." if record.output else "",
        ) from None
    if still_open:
        record.warnings += (
            f"the budget of {format_duration(config.measure.budget_s)} ended while "
            f"{len(still_open)} benchmarks were open: {', '.join(still_open[:5])}",
        )
    record.save(complete=True)
    result = record.result(complete=True)
    if result.base is None:
        raise AssertionError("a check measures both arms")
    judgement = judge_result(result, config)
    verdict = make_verdict(
        result.base,
        result.head,
        judgement,
        config,
        duration_s=result.duration_s,
        warnings=result.warnings,
    )
    return verdict, result


def _fixed_rounds(config: Config) -> int | None:
    """How many rounds are measured regardless of what they show; None for the gate's procedure."""
    if config.measure.rounds is not None:
        return config.measure.rounds
    return _CLASSICAL_ROUNDS if config.gate.rule == "classical" else None


def _require_benchmarks(session: Session, config: Config) -> None:
    """Refuse to judge nothing.

    Raises:
        UsageError: neither a benchmark nor a file that should have had one.
    """
    if session.ids or any(session.recorder.failures(arm) for arm in session.arms):
        return
    where = f"{config.source}" if config.source else "no configuration"
    raise UsageError(
        f"no benchmarks found ({where})",
        hint="A benchmark is a function `bench_*` in a file `bench_*.py`, or a [[benchmark]] with "
        "a command in benchgate.toml; `benchgate init` writes a first one.",
    )
