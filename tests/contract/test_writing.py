"""Comments and check runs are kept, by whom and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.contract.records import CheckRun, Comment
from tests.contract.scene import CHECKS_TOKEN, HEAD_SHA, HELLO, PULL

if TYPE_CHECKING:
    from tests.contract.conftest import Client
    from tests.contract.server import GitHubServer

COMMENTS = f"/issues/{PULL.number}/comments"


def test_a_comment_is_its_tokens_authors(ask: Client, github: GitHubServer) -> None:
    made = ask.hello("POST", COMMENTS, json={"body": "Slower.\n"})
    assert made.headers["Location"] == made.json()["url"]
    assert made.json()["html_url"].startswith("https://github.com/octo-org/hello/issues/7#")
    listed = ask.hello("GET", COMMENTS).json()
    assert [(one["user"]["login"], one["user"]["type"], one["body"]) for one in listed] == [
        ("octocat", "User", "Me too"),
        ("github-actions[bot]", "Bot", "Slower.\n"),
    ]
    assert [one.body for one in github.state.comments(HELLO, PULL.number)] == [
        "Me too",
        "Slower.\n",
    ]


def test_a_comment_is_edited_in_place(ask: Client, github: GitHubServer) -> None:
    made = ask.hello("POST", COMMENTS, json={"body": "Slower."}).json()
    github.clock.advance(60)
    edited = ask.hello("PATCH", f"/issues/comments/{made['id']}", json={"body": "Faster."}).json()
    assert (edited["id"], edited["body"], edited["created_at"]) == (
        made["id"],
        "Faster.",
        made["created_at"],
    )
    assert edited["updated_at"] > made["updated_at"]
    assert ask("GET", made["url"]).json() == edited


def test_a_deleted_comment_is_gone(ask: Client, github: GitHubServer) -> None:
    assert ask.hello("DELETE", "/issues/comments/1").status_code == 204
    assert ask.hello("GET", "/issues/comments/1").status_code == 404
    assert github.state.all(Comment) == []


def test_a_check_run_goes_on_and_is_completed(ask: Client, github: GitHubServer) -> None:
    check = {"name": "bench", "head_sha": HEAD_SHA, "status": "in_progress"}
    made = ask.hello("POST", "/check-runs", json=check, token=CHECKS_TOKEN).json()
    assert (made["status"], made["conclusion"], made["completed_at"]) == ("in_progress", None, None)
    notes = [
        {
            "path": "bench.py",
            "start_line": line,
            "end_line": line,
            "annotation_level": "failure",
            "message": "slower",
        }
        for line in (1, 2)
    ]
    path = f"/check-runs/{made['id']}"
    for note in notes:
        output = {"title": "1 regressed", "summary": "", "annotations": [note]}
        body = {"conclusion": "failure", "output": output}
        done = ask.hello("PATCH", path, json=body, token=CHECKS_TOKEN).json()
    assert (done["status"], done["conclusion"]) == ("completed", "failure")
    assert (done["output"]["title"], done["output"]["annotations_count"]) == ("1 regressed", 2)
    (kept,) = github.state.all(CheckRun)
    assert kept.output["annotations"] == notes
