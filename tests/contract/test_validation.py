"""Requests that GitHub would refuse, or ignore without a word, fail the test."""

from __future__ import annotations

import http.client
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from tests.contract.conftest import HEADERS
from tests.contract.scene import CHECKS_TOKEN, HEAD_SHA, PULL, TOKEN
from tests.contract.views import Views

if TYPE_CHECKING:
    from tests.contract.conftest import Client
    from tests.contract.server import GitHubServer

COMMENTS = f"/issues/{PULL.number}/comments"
CHECK = {"name": "bench", "head_sha": HEAD_SHA}


def only_violation(github: GitHubServer) -> str:
    (found,) = github.violations
    github.violations.clear()
    return found


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/actions/artifacts?nmae=x", "no query parameter of this operation: nmae"),
        ("/actions/artifacts?name=x&name=y", "given 2 times: name"),
        ("/actions/artifacts?per_page=101", "per_page is not within 1 to 100"),
        ("/actions/artifacts?per_page=0", "per_page is not within 1 to 100"),
        ("/actions/artifacts?page=0", "page is less than 1"),
        ("/actions/artifacts?page=two", "does not match GitHub's API"),
        ("/actions/runs?status=done", "'done' is not one of"),
        ("/actions/runs?actor=octocat", "has no effect in this server: actor"),
        ("/pulls?head=faster", "head is not owner:branch"),
        ("/pulls?state=merged", "'merged' is not one of"),
    ],
)
def test_wrong_queries(ask: Client, github: GitHubServer, path: str, said: str) -> None:
    assert ask.hello("GET", path).status_code == 422
    assert said in only_violation(github)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"body": "x", "titel": "y"}, "no key of this operation's body: titel"),
        ({"body": 7}, "7 is not of type 'string'"),
        ({}, "'body' is a required property"),
        ({"body": "x" * 65_537}, "Body is too long (maximum is 65536 characters)"),
    ],
)
def test_wrong_comments(ask: Client, github: GitHubServer, body: Any, said: str) -> None:  # noqa: ANN401
    assert ask.hello("POST", COMMENTS, json=body).status_code == 422
    assert said in only_violation(github)


def test_a_too_long_comment_is_refused_in_githubs_words(ask: Client, github: GitHubServer) -> None:
    said = ask.hello("PATCH", "/issues/comments/1", json={"body": "x" * 65_537}).json()
    assert said["message"] == "Validation Failed"
    assert [error["field"] for error in said["errors"]] == ["data"]
    only_violation(github)


def test_the_longest_comment_is_accepted(ask: Client) -> None:
    assert ask.hello("POST", COMMENTS, json={"body": "é" * 65_536}).status_code == 201


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"output": {"title": "t", "summary": "s", "detail": ""}}, "body: output.detail"),
        ({"output": {"title": "t", "summary": "s" * 65_536}}, "is too long"),
        ({"output": {"title": "t", "summary": "", "annotations": [{"line": 1}]}}, "line"),
        ({"conclusion": "bad"}, "'bad' is not one of"),
    ],
)
def test_wrong_check_runs(ask: Client, github: GitHubServer, body: Any, said: str) -> None:  # noqa: ANN401
    response = ask.hello("POST", "/check-runs", json={**CHECK, **body}, token=CHECKS_TOKEN)
    assert response.status_code == 422
    assert any(said in violation for violation in github.violations)
    github.violations.clear()


@pytest.mark.parametrize(
    ("headers", "status", "said"),
    [
        ({"Accept": "*/*"}, 415, "Unsupported 'Accept' header"),
        ({"Accept": None}, 415, "Unsupported 'Accept' header"),
        ({"X-GitHub-Api-Version": None}, 400, "X-GitHub-Api-Version is none"),
        ({"X-GitHub-Api-Version": "2021-01-01"}, 400, "X-GitHub-Api-Version is 2021-01-01"),
    ],
)
def test_wrong_headers(
    ask: Client, github: GitHubServer, headers: dict[str, str | None], status: int, said: str
) -> None:
    assert ask.hello("GET", "/pulls", headers=headers).status_code == status
    assert said in only_violation(github)


def test_a_request_without_a_user_agent(github: GitHubServer) -> None:
    connection = http.client.HTTPConnection(urlsplit(github.api_url).netloc, timeout=20)
    headers = {**HEADERS, "Authorization": f"Bearer {TOKEN.secret}"}
    connection.request("GET", "/repos/octo-org/hello", headers=headers)
    with connection.getresponse() as response:
        assert response.status == 403
    connection.close()
    assert "no User-Agent" in only_violation(github)


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/branches/main"), ("PUT", "/pulls"), ("GET", "/compare/main...a/b"), ("GET", "/")],
)
def test_unexpected_paths(ask: Client, github: GitHubServer, method: str, path: str) -> None:
    assert ask.hello(method, path).status_code == 404
    assert only_violation(github).endswith("no operation that is known here")


def test_a_number_that_is_none(ask: Client, github: GitHubServer) -> None:
    assert ask.hello("GET", "/pulls/seven").status_code == 422
    assert "does not match GitHub's API" in only_violation(github)


@pytest.mark.parametrize(
    ("method", "path", "data"), [("POST", COMMENTS, b"{"), ("GET", "/pulls", b"{}")]
)
def test_bodies_that_cannot_be_read(
    ask: Client, github: GitHubServer, method: str, path: str, data: bytes
) -> None:
    response = ask.hello(method, path, data=data, headers={"Content-Type": "application/json"})
    assert response.status_code == 400
    assert github.violations
    github.violations.clear()


def test_a_body_of_another_type(ask: Client, github: GitHubServer) -> None:
    response = ask.hello("POST", COMMENTS, data=b'{"body": "x"}')
    assert response.status_code == 422
    assert "does not match GitHub's API" in only_violation(github)


def test_an_answer_that_github_would_not_give(
    ask: Client, github: GitHubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Views, "comment", lambda *_: {"id": "one"})
    ask.hello("GET", COMMENTS)
    assert "this server's answer" in only_violation(github)
