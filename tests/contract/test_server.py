"""The server as a whole: what it remembers, and its end."""

from __future__ import annotations

import pytest
from tests.contract.conftest import Client
from tests.contract.faults import Fault
from tests.contract.records import Artifact
from tests.contract.scene import PULL, SCENE
from tests.contract.server import GitHubServer

COMMENTS = f"/issues/{PULL.number}/comments"


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


def test_a_fault_that_nobody_met_fails_the_test(github: GitHubServer) -> None:
    github.script("GET /repos/*/pull", [Fault(status=500)])
    with pytest.raises(AssertionError, match=r"a fault nobody met: GET /repos/\*/pull"):
        github.check()
    github.faults.take("GET", "/repos/x/pull")
