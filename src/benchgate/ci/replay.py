"""Decides again on a result of an earlier run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.ci.stored_artifacts import (
    read_result_of,
)
from benchgate.config import from_kept, policy_from, with_accepted
from benchgate.errors import UsageError
from benchgate.gate.verdict import judge
from benchgate.github.artifact_names import ArtifactKind, artifact_prefix
from benchgate.github.artifacts import list_artifacts
from benchgate.github.client import read_run

if TYPE_CHECKING:
    from benchgate.config import Config
    from benchgate.github.client import Client, RunUrl
    from benchgate.github.objects import Artifact
    from benchgate.model.policy import Policy
    from benchgate.model.result import Result
    from benchgate.model.verdict import Verdict


def replay(run: RunUrl, client: Client, *, name: str | None) -> tuple[Verdict, Result]:
    """Decide again about what a run of `benchgate ci` has measured."""
    _require_newest(client, run)
    artifact = _choose(client, run, name)
    result = read_result_of(client, run.repository, artifact)
    config = config_of(result.policy)
    return judge(result, config), result


def config_of(policy: Policy | None) -> Config:
    """Get the configuration that judged a result."""
    if policy is None:
        return from_kept(None)
    head = from_kept(policy.head).with_overrides(policy.options)
    if policy.base is None:
        return head
    return with_accepted(policy_from(from_kept(policy.base), head), policy.accepted)


def _require_newest(client: Client, run: RunUrl) -> None:
    """Refuse to present the newest attempt's result as that of another attempt."""
    if run.attempt is None:
        return
    newest = read_run(client, run.repository, run.run_id).run_attempt
    if run.attempt != newest:
        raise UsageError(
            f"attempt {run.attempt} of run {run.run_id} cannot be decided again: attempt "
            f"{newest} is newer, and has replaced its artifacts",
            hint=f"Leave out /attempts/{run.attempt} to use the artifacts that the run has now.",
        )


def _choose(client: Client, run: RunUrl, name: str | None) -> Artifact:
    prefix = artifact_prefix(ArtifactKind.RESULT)
    found = [
        one
        for one in list_artifacts(client, run.repository, name=name, run_id=run.run_id)
        if one.name.startswith(prefix)
    ]
    if not found:
        what = f"no artifact named {name!r}" if name else "no benchgate result"
        raise UsageError(
            f"run {run.run_id} of {run.repository} left {what}",
            hint="Check the URL (https://github.com/OWNER/NAME/actions/runs/ID); the run's "
            "artifacts may also have expired.",
        )
    names = sorted({one.name for one in found})
    if len(names) > 1:
        raise UsageError(
            f"run {run.run_id} of {run.repository} left {len(names)} results",
            hint=f"Name one of them with --artifact: {', '.join(names)}",
        )
    return found[0]
