"""Lists hold what GitHub's hold: filters, their order, and what they let through."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.contract.scene import (
    BASELINE,
    FORK,
    FORKS_PULL,
    FORKS_RUN,
    FORKS_SHA,
    HEAD_SHA,
    HELLO,
    MAIN_RUN,
    PULL,
    PULL_RUN,
)

if TYPE_CHECKING:
    from tests.contract.conftest import Client
    from tests.contract.server import GitHubServer


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", [FORKS_RUN, PULL_RUN, MAIN_RUN]),
        ("?branch=main", [FORKS_RUN, MAIN_RUN]),
        ("?branch=main&event=push", [MAIN_RUN]),
        ("?event=pull_request", [FORKS_RUN, PULL_RUN]),
        (f"?head_sha={HEAD_SHA}", [PULL_RUN]),
        ("?status=completed&branch=faster", [PULL_RUN]),
        ("?status=success&branch=faster", []),
        ("?status=failure", [PULL_RUN]),
    ],
)
def test_runs(ask: Client, github: GitHubServer, query: str, found: list[object]) -> None:
    github.state.put(replace(PULL_RUN, conclusion="failure"))
    expected = [getattr(run, "id", None) for run in found]
    listed = ask.hello("GET", f"/actions/runs{query}").json()["workflow_runs"]
    assert [run["id"] for run in listed] == expected
    of_workflow = ask.hello("GET", f"/actions/workflows/benchmarks.yml/runs{query}").json()
    assert [run["id"] for run in of_workflow["workflow_runs"]] == expected


def test_a_run_says_where_its_head_is(ask: Client) -> None:
    run = ask.hello("GET", f"/actions/runs/{FORKS_RUN.id}").json()
    assert run["head_repository"]["id"] == FORK.id
    assert (run["repository"]["id"], run["pull_requests"]) == (HELLO.id, [])
    (pull,) = ask.hello("GET", f"/actions/runs/{PULL_RUN.id}").json()["pull_requests"]
    assert (pull["number"], pull["head"]["ref"]) == (PULL.number, PULL.head_branch)


def test_names_of_artifacts_are_matched_as_a_whole(ask: Client, github: GitHubServer) -> None:
    github.state.add(
        replace(BASELINE, id=12, name="benchgate-baseline-2"),
        replace(BASELINE, id=13, run_id=FORKS_RUN.id),
    )
    listed = ask.hello("GET", "/actions/artifacts?name=benchgate-baseline").json()["artifacts"]
    assert [artifact["id"] for artifact in listed] == [13, 11]
    assert [artifact["workflow_run"]["head_repository_id"] for artifact in listed] == [
        FORK.id,
        HELLO.id,
    ]
    of_run = ask.hello("GET", f"/actions/runs/{MAIN_RUN.id}/artifacts").json()
    assert [artifact["id"] for artifact in of_run["artifacts"]] == [12, 11]


def test_an_artifact_expires_with_the_clock(ask: Client, github: GitHubServer) -> None:
    def is_expired() -> bool:
        (artifact,) = ask.hello("GET", "/actions/artifacts").json()["artifacts"]
        return bool(artifact["expired"])

    assert not is_expired()
    github.clock.advance(91 * 86_400)
    assert is_expired()


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("", [8, 7]),
        ("?state=all", [9, 8, 7]),
        ("?state=closed", [9]),
        ("?head=octo-org:faster", [7]),
        ("?state=open&head=octocat:main", [8]),
        ("?head=octo-org:main", []),
    ],
)
def test_pulls(ask: Client, github: GitHubServer, query: str, numbers: list[int]) -> None:
    github.state.add(replace(FORKS_PULL, number=9, state="closed", head_branch="old"))
    assert [pull["number"] for pull in ask.hello("GET", f"/pulls{query}").json()] == numbers


def test_a_pull_says_where_its_head_is(ask: Client) -> None:
    pull = ask.hello("GET", "/pulls/8").json()
    assert (pull["head"]["sha"], pull["head"]["label"]) == (FORKS_SHA, "octocat:main")
    assert (pull["head"]["repo"]["id"], pull["base"]["repo"]["id"]) == (FORK.id, HELLO.id)
    assert pull["head"]["repo"]["fork"]


def test_pulls_of_a_commit_leave_forks_out(ask: Client) -> None:
    (pull,) = ask.hello("GET", f"/commits/{HEAD_SHA}/pulls").json()
    assert pull["number"] == PULL.number
    assert ask.hello("GET", f"/commits/{FORKS_SHA}/pulls").json() == []


def test_a_comparison_names_the_merge_base(ask: Client) -> None:
    compared = ask.hello("GET", f"/compare/{PULL.base_sha}...{HEAD_SHA}").json()
    assert compared["merge_base_commit"]["sha"] == PULL.base_sha
    assert compared["status"] == "ahead"


def test_a_commit_names_its_parents(ask: Client) -> None:
    commit = ask.hello("GET", f"/commits/{HEAD_SHA}").json()
    assert [parent["sha"] for parent in commit["parents"]] == [PULL.base_sha]
    unknown = ask.hello("GET", f"/commits/{FORKS_SHA}")
    assert (unknown.status_code, FORKS_SHA in unknown.json()["message"]) == (422, True)
