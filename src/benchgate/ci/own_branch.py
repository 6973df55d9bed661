"""The verdict on a pull request from this repository, decided by the job that comments.

It equals the verdict of the job that measured. Whoever can push a branch to this repository can
make that job measure anything, so the numbers count here as they do there, stored runs included.
But the rules are always those of the base commit, and GitHub is asked who accepted what.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from benchgate.baselines.base_config import require_few
from benchgate.ci.acceptance import AcceptanceAnswer, ask_about
from benchgate.config import loads, policy_from, with_accepted
from benchgate.errors import UsageError
from benchgate.gate.judging import judge_result
from benchgate.gate.make_verdict import make_verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from benchgate.ci.job import Job
    from benchgate.config import Config
    from benchgate.github.events import WorkflowRunEvent
    from benchgate.github.objects import PullRequest
    from benchgate.model.result import Result
    from benchgate.model.verdict import Verdict


def judge_own(
    result: Result,
    run: WorkflowRunEvent,
    pull: PullRequest,
    job: Job,
    *,
    configuration: Callable[[str, str | None], Config | None],
    today: date,
) -> Verdict:
    """Decide as the job that measured has decided.

    Args:
        configuration: reads the configuration of a commit, from the file named or the usual one.
        today: the day in UTC on which waivers must be valid.

    Raises:
        UsageError: the result cannot be judged alone: a shard, or one arm without stored runs.
        BaselineError: the base commit cannot be found or fetched.
        ConfigError: a configuration, or an input of the job that measured, is not valid.
    """
    if result.shard and result.shard.count > 1:
        raise UsageError("the run left the result of one shard, not of the whole suite")
    file = _file(result)
    base = configuration(pull.base.sha, file)
    if base is None and file is not None:
        # The result names the file, so it must not choose one that only the head has.
        file = None
        base = configuration(pull.base.sha, file)
    config = _config(result, base, configuration(run.head_sha, file))
    asked = confirmed(result, run, pull, config, job)
    config = with_accepted(config, asked.accepted)
    known = replace(result, warnings=(*asked.warnings, *result.warnings), policy=None)
    return make_verdict(judge_result(known, config), config, day=today)


def confirmed(
    result: Result, run: WorkflowRunEvent, pull: PullRequest, config: Config, job: Job
) -> AcceptanceAnswer:
    """Ask GitHub whether somebody accepted the waivers, if the job that measured says so.

    If that job found nobody, it failed; a later approval counts only from the next job on.
    """
    if result.policy is None or result.policy.accepted is None or config.sides is None:
        return AcceptanceAnswer()
    return ask_about(pull.number, run.head_sha, run.id, config.accept, job)


def _file(result: Result) -> str | None:
    """Return where the job that measured says it read the base's rules; None for the usual file."""
    if result.policy is None or result.policy.base is None:
        return None
    name = result.policy.base.name.partition(":")[2]
    path = PurePosixPath(name)
    is_inside = path.name and not path.is_absolute() and ".." not in path.parts
    return path.as_posix() if is_inside and name.isprintable() else None


def _config(result: Result, base: Config | None, head: Config | None) -> Config:
    """Combine the rules as the measuring job does, with the inputs that it was given."""
    head = head or loads("", "defaults")
    require_few(head)
    if result.policy is not None:
        head = head.with_overrides(result.policy.options)
    return head if base is None else policy_from(base, head)
