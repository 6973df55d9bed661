"""The job on GitHub that benchgate runs in, and records of octo-org/hello as its events name it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.contract.client import client_of
from tests.contract.records import Pull, Run
from tests.contract.scene import FORK, HELLO, TOKEN

from benchgate.ci.base import Job
from benchgate.github.runner import (
    Context,
    EventRepository,
    MergeGroupEvent,
    PullRequestEvent,
    PushEvent,
    WorkflowRunEvent,
)
from benchgate.model.environment import Environment

if TYPE_CHECKING:
    from tests.contract.records import Token
    from tests.contract.server import GitHubServer

    from benchgate.git.repository import Git
    from benchgate.github.runner import Event

OWN, FORKS = (EventRepository(one.id, one.full_name) for one in (HELLO, FORK))
RUN = 30433700
NAMES: dict[type, str] = {
    PullRequestEvent: "pull_request",
    PushEvent: "push",
    MergeGroupEvent: "merge_group",
    WorkflowRunEvent: "workflow_run",
}
HERE = Environment(machine="x86_64")


def job_of(
    server: GitHubServer,
    git: Git,
    event: Event,
    *,
    token: Token = TOKEN,
    here: Environment = HERE,
    **more: Any,  # noqa: ANN401 - any field of the context
) -> Job:
    """A job on an event; of a pull request on its merge commit, of others on main."""
    number = event.number if isinstance(event, PullRequestEvent) else None
    fields: dict[str, Any] = {
        "event": event,
        "event_name": NAMES[type(event)],
        "repository": OWN,
        "default_branch": "main",
        "sha": "5" * 40,
        "ref": f"refs/pull/{number}/merge" if number else "refs/heads/main",
        "run_id": RUN,
        "run_attempt": 1,
        "workflow": "benchgate",
        "job": "benchgate",
        "actor": "octocat",
        "api_url": server.api_url,
        "server_url": "https://github.com",
        "runner_os": "Linux",
    }
    return Job(Context(**(fields | more)), client_of(server, token), git, here)


def pull_request(
    head: str, base: str, number: int = 7, repository: EventRepository = OWN
) -> PullRequestEvent:
    return PullRequestEvent(
        number=number,
        is_open=True,
        head_sha=head,
        head_repository=repository,
        base_sha=base,
        base_ref="main",
    )


def push(before: str, ref: str = "refs/heads/main") -> PushEvent:
    return PushEvent(ref=ref, before=before, forced=False, deleted=False)


def known_run(head: str, **more: Any) -> Run:  # noqa: ANN401 - any field of a run
    """A run as GitHub knows it, of a push to main if nothing else is said."""
    fields: dict[str, Any] = {
        "id": RUN,
        "repository": HELLO.full_name,
        "head_repository": HELLO.full_name,
        "event": "push",
        "head_branch": "main",
        "head_sha": head,
    }
    return Run(**(fields | more))


def known_pull(head: str, base: str, **more: Any) -> Pull:  # noqa: ANN401 - any field of a pull
    fields: dict[str, Any] = {
        "number": 9,
        "repository": HELLO.full_name,
        "head_repository": HELLO.full_name,
        "head_branch": "topic",
        "head_sha": head,
        "base_sha": base,
    }
    return Pull(**(fields | more))
