"""The server as a whole: many at once, its rate, what it remembers, and its end."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from tests.contract.conftest import Client
from tests.contract.records import Artifact, Comment
from tests.contract.scene import PULL, SCENE
from tests.contract.server import GitHubServer

if TYPE_CHECKING:
    import requests

COMMENTS = f"/issues/{PULL.number}/comments"


def test_many_at_once(ask: Client, github: GitHubServer) -> None:
    def post(number: int) -> requests.Response:
        return ask.hello("POST", COMMENTS, json={"body": str(number)})

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(post, range(24)))
    assert {response.status_code for response in made} == {201}
    comments = github.state.all(Comment)[1:]
    assert len({comment.id for comment in comments}) == 24
    assert {comment.body for comment in comments} == {str(number) for number in range(24)}
    assert github.rate.remaining == github.rate.limit - 24


def test_the_rate_is_used_up_and_comes_back(ask: Client, github: GitHubServer) -> None:
    github.rate.remaining = 1
    first, second = (ask.hello("GET", "/pulls") for _ in range(2))
    assert (first.status_code, first.headers["x-ratelimit-remaining"]) == (200, "0")
    assert (second.status_code, second.headers["x-ratelimit-remaining"]) == (403, "0")
    assert "API rate limit exceeded" in second.json()["message"]
    assert ask("GET", "/rate_limit").json()["rate"]["remaining"] == 0
    github.clock.advance(int(second.headers["x-ratelimit-reset"]) - github.clock.time())
    assert ask.hello("GET", "/pulls").status_code == 200


def test_what_was_asked(ask: Client, github: GitHubServer) -> None:
    ask.hello("GET", "/pulls?state=all")
    ask.hello("POST", COMMENTS, json={"body": "Slower."})
    (listed,) = github.asked("GET *")
    (posted,) = github.asked("POST /repos/*/comments")
    assert (listed.path, listed.query) == ("/repos/octo-org/hello/pulls", {"state": "all"})
    assert posted.body == {"body": "Slower."}
    assert posted.headers["x-github-api-version"] == "2022-11-28"


def test_leaving_fails_where_a_request_was_wrong() -> None:
    def leave() -> None:
        with GitHubServer(*SCENE) as github, Client(github).session as session:
            session.get(f"{github.api_url}/nowhere", timeout=20)

    with pytest.raises(AssertionError, match="GET /nowhere: no operation that is known here"):
        leave()


def test_leaving_lets_an_error_through_and_says_what_was_wrong() -> None:
    def leave() -> None:
        with GitHubServer(*SCENE) as github, Client(github).session as session:
            session.get(f"{github.api_url}/nowhere", timeout=20)
            raise RuntimeError

    with pytest.raises(RuntimeError) as caught:
        leave()
    assert any("GET /nowhere" in note for note in caught.value.__notes__)


def test_a_mistake_of_the_server_is_seen(
    ask: Client, github: GitHubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.contract.api.problems_of_request", None)
    assert ask.hello("GET", "/pulls").status_code == 500
    assert "'NoneType' object is not callable" in github.violations[0]
    github.violations.clear()


def test_a_mistake_of_the_test_is_seen(ask: Client, github: GitHubServer) -> None:
    github.state.add(Artifact(id=99, run_id=404, name="x", data=b""))
    assert ask.hello("GET", "/actions/artifacts").status_code == 500
    assert "no Run 404 was added" in github.violations[0]
    github.violations.clear()
