"""The verdict on a pull request from this repository, decided by the job that comments.

It is the one that the measuring job came to. Whoever can push a branch here can have that job
measure what he likes, so its numbers count as they do there, stored runs among them. The rules are
those of the base commit all the same, and who accepted what is asked of GitHub.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from benchgate.baselines.base_config import require_few
from benchgate.ci.acceptance import AcceptanceAnswer, ask_about
from benchgate.config import loads, policy_from, with_accepted
from benchgate.errors import UsageError
from benchgate.gate.judging import judge_result, make_verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from benchgate.ci.job import Job
    from benchgate.config import Config
    from benchgate.github.events import WorkflowRunEvent
    from benchgate.github.models import PullRequest
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
        configuration: gives what a commit is configured by, in a file of it or the usual one.
        today: the day on which waivers must hold, in UTC.

    Raises:
        UsageError: it is of no use alone: a part of a suite, or one arm and no stored runs.
        BaselineError: the base commit cannot be had.
        ConfigError: a configuration, or an input of the job that measured, is not valid.
    """
    if result.shard and result.shard.count > 1:
        raise UsageError("the run left only a part of a suite")
    file = _file(result)
    base, head = (configuration(sha, file) for sha in (pull.base.sha, run.head_sha))
    config = _config(result, base, head)
    asked = confirmed(result, run, pull, config, job)
    config = with_accepted(config, asked.accepted)
    known = replace(result, warnings=(*asked.warnings, *result.warnings), policy=None)
    return make_verdict(judge_result(known, config), config, day=today)


def confirmed(
    result: Result, run: WorkflowRunEvent, pull: PullRequest, config: Config, job: Job
) -> AcceptanceAnswer:
    """Ask GitHub whether somebody accepted the waivers, if the job that measured says so.

    If it knew of nobody it was red, and an approval that came later turns only the next one.
    """
    if result.policy is None or result.policy.accepted is None or config.sides is None:
        return AcceptanceAnswer()
    return ask_about(pull.number, run.head_sha, run.id, config.accept, job)


def _file(result: Result) -> str | None:
    """Where the job that measured found the base's rules; their text is read from the commit."""
    if result.policy is None or result.policy.base is None:
        return None
    path = PurePosixPath(result.policy.base.name.partition(":")[2])
    return None if path.is_absolute() or ".." in path.parts or not path.name else path.as_posix()


def _config(result: Result, base: Config | None, head: Config | None) -> Config:
    """Put the rules together as the measuring job does, with the inputs that it was given."""
    head = head or loads("", "defaults")
    require_few(head)
    if result.policy is not None:
        head = head.with_overrides(result.policy.options)
    return head if base is None else policy_from(base, head)
