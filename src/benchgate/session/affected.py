"""Leaves out the benchmarks that run and read nothing that differs between base and head."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.measure.arm import ArmName
from benchgate.measure.reach import Differences, ReachingEngine
from benchgate.model.result import Phase
from benchgate.model.run import Status
from benchgate.report.words import not_measured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.config import Config
    from benchgate.measure.arm import Arm
    from benchgate.model.run import BenchmarkFiles, Run
    from benchgate.session.choice import Choice
    from benchgate.session.effects import Effects
    from benchgate.session.session import Session

_NOT_SEEN = "benchgate cannot see what it runs and reads"
_OTHER_TOOLS = "runs with another {}: {} on the base, {} on the head"
_ALONE = "only one side has it"
# Nobody has run the new version yet, and people want to see how the two compare.
_EDITED = "is edited itself"
_NEW = "is new"
_OTHER_WORK = "does other work on each side"


def leave_unaffected(
    session: Session,
    arms: Mapping[ArmName, Arm],
    config: Config,
    choice: Choice,
    effects: Effects,
) -> bool:
    """Measure only what is affected, named exactly on the command line, or has a limit.

    Returns:
        Whether that leaves nothing to measure.
    """
    effects.phases.begin(Phase.FIND)
    reasons = why_affected(session, arms, config)
    named = set(choice.globs)
    left = {
        id_
        for id_, why in reasons.items()
        if not why and id_ not in named and not config.limited(id_)
    }
    session.leave_unmeasured(left)
    if left:
        effects.progress.message(
            f"{not_measured(len(left), len(reasons))} --all measures everything."
        )
    return bool(left) and not session.ids


def leave_as_before(session: Session, earlier: Run) -> bool:
    """Leave out what the interrupted check has left out, which goes on; as `leave_unaffected`."""
    left = {one.id for one in earlier.benchmarks if one.status is Status.SAME_CODE}
    session.leave_unmeasured(left)
    return bool(left) and not session.ids


def every_reason(
    session: Session, arms: Mapping[ArmName, Arm], config: Config
) -> Mapping[str, str]:
    """What `why_affected` says, and which files cannot be read."""
    unread = {
        one.id: f"cannot be read: {(one.error or '').partition(chr(10))[0]}"
        for one in session.failures
    }
    return {**why_affected(session, arms, config), **unread}


def why_affected(
    session: Session, arms: Mapping[ArmName, Arm], config: Config
) -> Mapping[str, str]:
    """Say of each benchmark why it is affected, in words that follow its name; "" if it is not."""
    ids = [id_ for id_ in session.ids if id_ not in session.new_versions]
    base_work, head_work = (
        {one.id: one.workload for one in session.definitions(name)} for name in ArmName
    )
    common = [id_ for id_ in ids if base_work.get(id_) == head_work.get(id_)]
    found = {id_: _OTHER_WORK if session.is_on_all_arms(id_) else _ALONE for id_ in ids}
    found |= dict.fromkeys(common, _NOT_SEEN)
    base, head = (session.toolchains[name] for name in (ArmName.BASE, ArmName.HEAD))
    for tool in sorted(base.keys() & head.keys()):
        if base[tool] != head[tool]:
            return dict.fromkeys(ids, _OTHER_TOOLS.format(tool, base[tool], head[tool]))
    compared: dict[BenchmarkFiles, Differences] = {}
    for one, own in session.laid_out(common):
        if one.files not in compared:
            compared[one.files] = Differences.between(arms, config.measure.ignore)
        differences = compared[one.files]
        if differences.why_unknown:
            found |= dict.fromkeys(own, differences.why_unknown)
        elif isinstance(one.engine, ReachingEngine):
            names = one.own(own)
            reasons = one.engine.reach(names, differences) if differences else {}
            found |= {id_: reasons.get(name, "") for id_, name in zip(own, names, strict=True)}
    found |= {id_: found[id_] or _EDITED for id_ in session.new_versions.values() if id_ in found}
    found |= {id_: found[id_] or _NEW for id_ in session.shown if id_ in found}
    return found
