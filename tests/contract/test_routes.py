"""Every operation of the description is answered as the description says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.contract import description, routes
from tests.contract.conftest import Client
from tests.contract.records import CheckRun, Repository
from tests.contract.scene import (
    BASE_SHA,
    BASELINE,
    CHECKS_TOKEN,
    FORKS_PULL,
    FORKS_RUN,
    HEAD_SHA,
    HELLO,
    MAIN_RUN,
    PERSONAL_TOKEN,
    PULL,
    PULL_RUN,
    SCENE,
    TOKEN,
)
from tests.contract.server import GitHubServer

if TYPE_CHECKING:
    from tests.contract.records import Token

REPO = "/repos/octo-org/hello"
Case = tuple[str, str, "Token", dict[str, Any], int]
CASES: tuple[Case, ...] = (
    ("GET", "/user", PERSONAL_TOKEN, {}, 200),
    ("GET", REPO, TOKEN, {}, 200),
    ("GET", "/repos/octocat/hello", TOKEN, {}, 200),
    ("GET", f"{REPO}/actions/artifacts", TOKEN, {}, 200),
    ("GET", f"{REPO}/actions/artifacts/{BASELINE.id}/zip", TOKEN, {}, 302),
    ("GET", f"{REPO}/actions/runs", TOKEN, {}, 200),
    ("GET", f"{REPO}/actions/runs/{PULL_RUN.id}", TOKEN, {}, 200),
    ("GET", f"{REPO}/actions/runs/{MAIN_RUN.id}/artifacts", TOKEN, {}, 200),
    ("GET", f"{REPO}/collaborators/maintainer/permission", TOKEN, {}, 200),
    ("GET", f"{REPO}/issues/{PULL.number}/events", TOKEN, {}, 200),
    ("GET", f"{REPO}/pulls/{PULL.number}/reviews", TOKEN, {}, 200),
    ("POST", f"{REPO}/check-runs", CHECKS_TOKEN, {"name": "bench", "head_sha": HEAD_SHA}, 201),
    ("PATCH", f"{REPO}/check-runs/4", CHECKS_TOKEN, {"conclusion": "failure"}, 200),
    ("GET", f"{REPO}/commits/{HEAD_SHA}", TOKEN, {}, 200),
    ("GET", f"{REPO}/compare/{BASE_SHA}...{HEAD_SHA}", TOKEN, {}, 200),
    ("PATCH", f"{REPO}/issues/comments/1", TOKEN, {"body": "edited"}, 200),
    ("DELETE", f"{REPO}/issues/comments/1", TOKEN, {}, 204),
    ("GET", f"{REPO}/issues/{PULL.number}/comments", TOKEN, {}, 200),
    ("POST", f"{REPO}/issues/{PULL.number}/comments", TOKEN, {"body": "Slower."}, 201),
    ("GET", f"{REPO}/pulls", TOKEN, {}, 200),
    ("GET", f"{REPO}/pulls/{FORKS_PULL.number}", TOKEN, {}, 200),
)


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0]} {case[1]}" for case in CASES])
def test_each_operation_answers_as_described_and_with_addresses_of_this_server(
    github: GitHubServer, ask: Client, case: Case
) -> None:
    method, path, token, body, status = case
    github.state.add(CheckRun(id=4, repository=HELLO.full_name, name="bench", head_sha=HEAD_SHA))
    response = ask(method, path, token=token, json=body or None)
    assert response.status_code == status, response.text
    assert description.HOST not in response.text


def test_the_cases_are_all_operations_that_the_description_holds() -> None:
    described = {
        (method.upper(), path)
        for path, item in description.document()["paths"].items()
        for method in item
    }
    found = [routes.find(method, path) for method, path, *_ in CASES]
    tested = {(one[0].method, one[0].template) for one in found if one}
    assert {(route.method, route.template) for route in routes.ROUTES} == described
    assert tested == described


def test_every_parameter_that_has_an_effect_is_described() -> None:
    for route in routes.ROUTES:
        assert route.query <= description.query_parameters(route.method, route.template)


@pytest.mark.parametrize(
    "path",
    [
        "/repos/octo-org/other",
        f"{REPO}/actions/runs/1",
        f"{REPO}/actions/artifacts/12/zip",
        f"{REPO}/issues/99/comments",
        f"{REPO}/pulls/99",
        f"{REPO}/compare/main...other",
        f"/repos/octocat/hello/actions/runs/{MAIN_RUN.id}",
        f"/repos/octocat/hello/actions/artifacts/{BASELINE.id}/zip",
    ],
)
def test_what_is_not_there_is_404(ask: Client, path: str) -> None:
    response = ask("GET", path)
    assert (response.status_code, response.json()["message"]) == (404, "Not Found")


def test_a_deleted_fork_is_null(ask: Client, github: GitHubServer) -> None:
    github.state.put(replace(FORKS_RUN, head_repository=None))
    github.state.put(replace(FORKS_PULL, head_repository=None))
    assert ask("GET", f"{REPO}/actions/runs/{FORKS_RUN.id}").json()["head_repository"] is None
    assert ask("GET", f"{REPO}/pulls/8").json()["head"]["repo"] is None


def test_names_of_repositories_are_found_in_any_case(ask: Client) -> None:
    assert ask("GET", "/repos/Octo-Org/HELLO/actions/artifacts").json()["total_count"] == 1


def test_an_enterprise_server_answers_below_its_prefix() -> None:
    with GitHubServer(*SCENE, prefix="/api/v3") as github:
        ask = Client(github)
        with ask.session:
            shown = ask("GET", REPO).json()
            assert shown["url"] == f"{github.api_url}{REPO}"
            assert github.api_url.endswith("/api/v3")
            outside = ask("GET", f"{github.api_url.removesuffix('/api/v3')}{REPO}")
        assert outside.status_code == 404
        assert github.violations == [f"GET {REPO}: no operation that is known here"]
        github.violations.clear()


def test_a_repository_is_added_once(github: GitHubServer) -> None:
    with pytest.raises(ValueError, match="added twice"):
        github.state.add(Repository(id=5, full_name="Octo-Org/Hello"))
