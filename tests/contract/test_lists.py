"""Lists hold what GitHub's hold: filters, their order, their pages, and what they let through."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.contract.scene import (
    BASELINE,
    FORK,
    FORKS_PULL,
    FORKS_RUN,
    HEAD_SHA,
    HELLO,
    MAIN_RUN,
    PULL,
    PULL_RUN,
)

if TYPE_CHECKING:
    from tests.contract.conftest import Client
    from tests.contract.server import GitHubServer

RUNS, ARTIFACTS = "/actions/runs", "/actions/artifacts"
FROM_FORK, OF_PULL, OF_MAIN = FORKS_RUN.id, PULL_RUN.id, MAIN_RUN.id


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (RUNS, [FROM_FORK, OF_PULL, OF_MAIN]),
        (f"{RUNS}?branch=main", [FROM_FORK, OF_MAIN]),
        (f"{RUNS}?branch=main&event=push", [OF_MAIN]),
        (f"{RUNS}?head_sha={HEAD_SHA}", [OF_PULL]),
        (f"{RUNS}?status=completed&branch=faster", [OF_PULL]),
        (f"{RUNS}?status=success&branch=faster", []),
        (f"{RUNS}?status=failure", [OF_PULL]),
        # Names are matched as a whole.
        (f"{ARTIFACTS}?name={BASELINE.name}", [13, 11]),
        (f"{RUNS}/{OF_MAIN}/artifacts", [12, 11]),
        ("/pulls", [8, 7]),
        ("/pulls?state=all", [9, 8, 7]),
        ("/pulls?state=closed", [9]),
        ("/pulls?head=octo-org:faster", [7]),
        ("/pulls?state=open&head=octocat:main", [8]),
        ("/pulls?head=octo-org:main", []),
    ],
)
def test_what_a_list_holds(ask: Client, github: GitHubServer, path: str, found: list[int]) -> None:
    github.state.put(replace(PULL_RUN, conclusion="failure"))
    github.state.add(
        replace(BASELINE, id=12, name=f"{BASELINE.name}-2"),
        replace(BASELINE, id=13, run_id=FORKS_RUN.id),
        replace(FORKS_PULL, number=9, state="closed", head_branch="old"),
    )
    answer = ask.hello("GET", path).json()
    listed = answer if isinstance(answer, list) else list(answer.values())[1]
    assert [one["number" if path.startswith("/pulls") else "id"] for one in listed] == found


def test_an_artifact_says_where_its_head_is_and_expires(ask: Client, github: GitHubServer) -> None:
    github.state.put(replace(BASELINE, run_id=FORKS_RUN.id))
    for expired in (False, True):
        (artifact,) = ask.hello("GET", ARTIFACTS).json()["artifacts"]
        assert artifact["workflow_run"]["head_repository_id"] == FORK.id
        assert artifact["expired"] is expired
        github.clock.advance(91 * 86_400)


def test_the_other_pages_are_found_by_the_links_alone(ask: Client, github: GitHubServer) -> None:
    github.state.add(*(replace(BASELINE, id=100 + number) for number in range(249)))
    response = ask.hello("GET", f"{ARTIFACTS}?per_page=100")
    found = []
    while True:
        found += [artifact["id"] for artifact in response.json()["artifacts"]]
        if "next" not in response.links:
            break
        # As GitHub's do, they name the repository by its id.
        assert f"{github.api_url}/repositories/{HELLO.id}/" in response.links["next"]["url"]
        response = ask("GET", response.links["next"]["url"])
    assert found == [*range(348, 99, -1), BASELINE.id]
    assert response.json()["total_count"] == 250


def test_a_deleted_comment_is_gone(ask: Client) -> None:
    path = f"/issues/{PULL.number}/comments"
    (comment,) = ask.hello("GET", path).json()
    assert ask("DELETE", comment["url"]).status_code == 204
    assert ask.hello("GET", path).json() == []
