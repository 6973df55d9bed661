"""A token may do what its permissions say, and a refusal says which one is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.contract.records import Token
from tests.contract.scene import FORKS_TOKEN, PULL, TOKEN

if TYPE_CHECKING:
    from tests.contract.conftest import Client
    from tests.contract.records import Level
    from tests.contract.server import GitHubServer

COMMENTS = f"/issues/{PULL.number}/comments"


@pytest.mark.parametrize(
    ("authorization", "message"),
    [
        (None, "Requires authentication"),
        ("Bearer ghs_other", "Bad credentials"),
        ("Basic ghs_hello", "Bad credentials"),
    ],
)
def test_without_a_known_token(ask: Client, authorization: str | None, message: str) -> None:
    response = ask.hello("GET", "/pulls", headers={"Authorization": authorization})
    assert (response.status_code, response.json()["message"]) == (401, message)


def test_a_forks_token_reads_and_does_not_write(ask: Client) -> None:
    assert ask.hello("GET", COMMENTS, token=FORKS_TOKEN).status_code == 200
    refused = ask.hello("POST", COMMENTS, json={"body": "Slower."}, token=FORKS_TOKEN)
    assert refused.status_code == 403
    assert refused.json()["message"] == "Resource not accessible by integration"
    accepted = refused.headers["x-accepted-github-permissions"]
    assert accepted == "issues=write; pull_requests=write"


@pytest.mark.parametrize(
    ("permissions", "path", "status"),
    [
        ({}, "", 200),
        ({}, "/actions/artifacts", 403),
        ({"actions": "read"}, "/actions/artifacts", 200),
        ({"actions": "write"}, "/actions/artifacts", 200),
        ({"issues": "read"}, COMMENTS, 200),
        ({"contents": "read"}, COMMENTS, 403),
        ({"contents": "read"}, "/actions/runs", 403),
    ],
)
def test_permissions(
    ask: Client, github: GitHubServer, permissions: dict[str, Level], path: str, status: int
) -> None:
    token = Token("ghs_other", permissions)
    github.state.add(token)
    assert ask.hello("GET", path, token=token).status_code == status


def test_a_token_is_not_shown(ask: Client, github: GitHubServer) -> None:
    ask.hello("GET", "/pulls")
    (asked,) = github.requests
    assert asked.headers["authorization"] == "Bearer ***"
    assert TOKEN.secret not in repr(TOKEN) + repr(asked)
