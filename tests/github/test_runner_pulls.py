from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.contract.client import client_of
from tests.contract.conftest import github
from tests.contract.records import Pull
from tests.contract.scene import (
    BASE_SHA,
    FORK,
    FORKS_PULL,
    FORKS_RUN,
    FORKS_SHA,
    HEAD_SHA,
    HELLO,
    TOKEN,
)

from benchgate.errors import GitHubError
from benchgate.github.client import find_pull_requests, merge_base
from benchgate.github.runner import EventRepository, WorkflowRunEvent

if TYPE_CHECKING:
    from tests.contract.server import GitHubServer

__all__ = ["github"]

RUN = WorkflowRunEvent(
    id=FORKS_RUN.id,
    attempt=1,
    event="pull_request",
    is_completed=True,
    conclusion="failure",
    head_sha=FORKS_SHA,
    head_branch="main",
    head_repository=EventRepository(FORK.id, FORK.full_name),
)


def found(server: GitHubServer, run: WorkflowRunEvent) -> list[int]:
    pulls = find_pull_requests(client_of(server, TOKEN), HELLO.full_name, run)
    return [pull.number for pull in pulls]


def test_the_pull_request_of_a_fork_is_found_by_its_head(github: GitHubServer) -> None:
    assert found(github, RUN) == [FORKS_PULL.number]
    (asked,) = github.asked("GET /repos/*/pulls")
    assert asked.query["head"] == "octocat:main"
    assert asked.query["state"] == "open"


@pytest.mark.parametrize(
    "run",
    [
        replace(RUN, head_sha=HEAD_SHA),
        replace(RUN, head_branch="other"),
        replace(RUN, head_branch=None),
        replace(RUN, head_repository=None),
        replace(RUN, head_repository=EventRepository(1, FORK.full_name)),
    ],
)
def test_what_is_no_longer_or_never_was_its_head_finds_none(
    github: GitHubServer, run: WorkflowRunEvent
) -> None:
    assert found(github, run) == []


def test_all_of_one_head_are_found(github: GitHubServer) -> None:
    github.state.put(replace(FORKS_PULL, number=FORKS_PULL.number + 50, base_branch="stable"))
    github.state.put(replace(FORKS_PULL, number=FORKS_PULL.number + 51, head_sha=HEAD_SHA))
    assert sorted(found(github, RUN)) == [FORKS_PULL.number, FORKS_PULL.number + 50]


def test_a_closed_one_is_not_found(github: GitHubServer) -> None:
    github.state.put(replace(FORKS_PULL, state="closed"))
    assert github.state.need(Pull, HELLO.full_name, FORKS_PULL.number).state == "closed"
    assert found(github, RUN) == []


def test_the_merge_base_is_asked_for(github: GitHubServer) -> None:
    client = client_of(github, TOKEN)
    assert merge_base(client, HELLO.full_name, BASE_SHA, HEAD_SHA) == BASE_SHA


def test_commits_without_common_history_are_an_error(github: GitHubServer) -> None:
    with pytest.raises(GitHubError, match="404"):
        merge_base(client_of(github, TOKEN), HELLO.full_name, BASE_SHA, "a" * 40)
