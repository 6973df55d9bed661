from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.contract.client import client_of
from tests.contract.conftest import github
from tests.contract.faults import Fault
from tests.contract.records import Comment
from tests.contract.scene import CHECKS_TOKEN, FORKS_TOKEN, HEAD_SHA, HELLO, PULL, TOKEN
from tests.report.conftest import changed, unchanged, verdict

from benchgate.ci.check_run import CheckRun
from benchgate.ci.commenting import CommentTarget, PublishOutcome, comment
from benchgate.ci.step import annotation_lines, summarize
from benchgate.errors import GitHubError
from benchgate.github.comments import MOST_OWN, mark
from benchgate.github.plan import CommentPlan, CommentTime
from benchgate.model.policy import Outcome
from benchgate.model.row import Row
from benchgate.model.verdict import Decision
from benchgate.report.markdown import render_comment
from benchgate.report.view import view_verdict

if TYPE_CHECKING:
    from pathlib import Path

    from tests.contract.records import Token
    from tests.contract.server import GitHubServer

    from benchgate.report.view import VerdictView

__all__ = ["github"]

TARGET = CommentTarget(
    HELLO.full_name, PULL.number, mark("default", head=HEAD_SHA, run=30433650, attempt=1)
)
NOW = CommentPlan(CommentTime.NOW, "the pull request is from this repository")


def failed() -> VerdictView:
    slower = changed("parse/large", Outcome.REGRESSED, 1.146, location="bench_parse.py:3")
    return view_verdict(verdict(Decision.FAIL, slower, unchanged("sort"), exit_code=3))


def passed() -> VerdictView:
    return view_verdict(verdict(Decision.PASS, unchanged("sort")))


def commented(
    server: GitHubServer,
    view: VerdictView,
    wanted: CommentPlan = NOW,
    *,
    token: Token = TOKEN,
    target: CommentTarget | None = TARGET,
) -> PublishOutcome:
    client = client_of(server, token)
    return comment(render_comment(view), wanted, target, client)


def bodies(server: GitHubServer) -> list[str]:
    return [one.body for one in server.state.comments(HELLO, PULL.number)]


def test_one_comment_is_kept_up_to_date(github: GitHubServer) -> None:
    first = commented(github, failed())
    second = commented(github, passed())
    assert first.comment_url == second.comment_url != ""
    assert first.notes == ("created a comment",)
    assert second.notes == ("updated the comment",)
    others, ours = bodies(github)
    assert others == "Me too"
    assert "Nothing got slower" in ours.splitlines()[0]


def test_a_fork_leaves_the_comment_to_the_other_workflow(github: GitHubServer) -> None:
    wanted = CommentPlan(CommentTime.LATER, "the pull request is from a fork")
    done = commented(github, failed(), wanted, token=FORKS_TOKEN)
    (note,) = done.notes
    assert note.startswith("no comment from this job: the pull request is from a fork; ")
    assert "`benchgate publish`" in note
    assert done == PublishOutcome(notes=(note,))
    assert github.requests == []


def test_without_a_pull_request_there_is_no_comment(github: GitHubServer) -> None:
    wanted = CommentPlan(CommentTime.NEVER, "push belongs to no pull request")
    done = commented(github, failed(), wanted, target=None)
    assert done == PublishOutcome(notes=("no comment: push belongs to no pull request",))


def test_a_refused_comment_is_a_warning_that_says_what_is_missing(github: GitHubServer) -> None:
    done = commented(github, failed(), token=FORKS_TOKEN)
    (warning,) = done.warnings
    assert warning.startswith("no comment: POST")
    assert "The token lacks `" in warning
    assert "pull-requests" in warning
    assert bodies(github) == ["Me too"]


def test_a_token_that_may_not_is_no_surprise_to_dependabot(github: GitHubServer) -> None:
    wanted = CommentPlan(CommentTime.IF_ALLOWED, "Dependabot's token is read-only")
    done = commented(github, failed(), wanted, token=FORKS_TOKEN)
    assert done == PublishOutcome(notes=("no comment: Dependabot's token is read-only",))


def test_an_api_that_is_down_is_a_warning(github: GitHubServer) -> None:
    github.faults.always("*", Fault(status=503))
    done = commented(github, failed())
    (warning,) = done.warnings
    assert warning.startswith("no comment: GET /user: GitHub answered 503")


@pytest.mark.parametrize(
    "failures",
    [
        [Fault(truncate=True)],  # it was created, and the answer lost
        [Fault(status=502)],
        [Fault(drop_connection=True)],
        [Fault(status=502), Fault(truncate=True)],
    ],
)
def test_a_comment_that_github_failed_on_is_looked_up_before_it_is_given_up(
    github: GitHubServer, failures: list[Fault]
) -> None:
    github.faults.script("POST /repos/*/comments", failures)
    done = commented(github, failed())
    assert done.notes == ("created a comment",)
    assert done.comment_url
    others, _ = bodies(github)
    assert others == "Me too"


def test_a_comment_that_github_fails_on_again_is_given_up(github: GitHubServer) -> None:
    github.faults.always("POST /repos/*/comments", Fault(status=502))
    (warning,) = commented(github, failed()).warnings
    assert "POST /repos/octo-org/hello/issues/7/comments: GitHub answered 502" in warning
    assert len(github.asked("POST /repos/*/comments")) == 2


def test_one_comment_too_many_is_a_warning_and_those_there_are_kept_up_to_date(
    github: GitHubServer,
) -> None:
    seen = {"repository": HELLO.full_name, "number": PULL.number, "author": TOKEN.author}
    for n in range(MOST_OWN):
        marker = mark(f"suite {n}", head=HEAD_SHA, run=30433650, attempt=1)
        github.state.put(Comment(id=100 + n, body=f"x\n\n{marker}", **seen))  # type: ignore[arg-type]
    warning = f"no comment: the pull request already has {MOST_OWN} comments of other suites"
    assert commented(github, failed()) == PublishOutcome(warnings=(warning,))
    there = replace(TARGET, marker=mark("suite 0", head=HEAD_SHA, run=30433650, attempt=1))
    assert commented(github, passed(), target=there).notes == ("updated the comment",)
    assert len(bodies(github)) == 1 + MOST_OWN


def rendered(room: int) -> str:
    return render_comment(failed(), limit_bytes=room)


def test_the_summary_is_appended(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    done = summarize(rendered, {"GITHUB_STEP_SUMMARY": str(path)})
    assert done == PublishOutcome()
    assert path.read_text(encoding="utf-8") == rendered(1 << 20)


def test_without_a_summary_file_that_is_noted() -> None:
    done = summarize(rendered, {})
    assert done.notes == (
        "no summary: GITHUB_STEP_SUMMARY is not set, so nothing was written to it",
    )


def test_a_summary_that_cannot_be_written_is_a_warning(tmp_path: Path) -> None:
    done = summarize(rendered, {"GITHUB_STEP_SUMMARY": str(tmp_path)})
    (warning,) = done.warnings
    assert warning.startswith(f"no summary: cannot write {tmp_path}")


def test_what_got_slower_is_annotated_where_it_is_defined() -> None:
    (line,) = annotation_lines(failed(), passed=False)
    assert line.startswith("::error file=bench_parse.py,line=3,title=parse/large slower::")
    assert annotation_lines(passed(), passed=True) == []


def test_a_job_that_fails_without_a_mark_says_why_on_its_page() -> None:
    gone = Row("parse/large", Outcome.MISSING)
    view = view_verdict(verdict(Decision.NO_VERDICT, gone, exit_code=4))
    (line,) = annotation_lines(view, passed=False)
    assert line.startswith("::error title=benchgate::No verdict: ")
    assert "parse/large" in line


def check_run(server: GitHubServer, token: Token = CHECKS_TOKEN) -> CheckRun:
    return CheckRun(
        client_of(server, token),
        HELLO.full_name,
        name="benchgate",
        head=HEAD_SHA,
        now=lambda: "2026-01-02T03:04:05Z",
    )


@pytest.mark.parametrize(
    ("decision", "is_passed", "conclusion"),
    [
        (Decision.PASS, True, "success"),
        (Decision.FAIL, False, "failure"),
        (Decision.NO_VERDICT, True, "neutral"),
        (Decision.NO_VERDICT, False, "failure"),
    ],
)
def test_a_check_run_ends_as_the_verdict_does(
    github: GitHubServer, decision: Decision, conclusion: str, *, is_passed: bool
) -> None:
    run = check_run(github)
    assert github.requests[0].body["status"] == "in_progress"
    view = (
        failed()
        if decision is Decision.FAIL
        else view_verdict(verdict(decision, unchanged("sort")))
    )
    run.conclude(view, passed=is_passed)
    body = github.requests[-1].body
    assert (body["status"], body["conclusion"]) == ("completed", conclusion)
    assert body["output"]["title"] == view.headline


def test_a_check_run_is_not_left_in_progress(github: GitHubServer) -> None:
    check_run(github).give_up("the base cannot be built")
    body = github.requests[-1].body
    assert body["conclusion"] == "cancelled"
    assert body["output"] == {"title": "no verdict", "summary": "the base cannot be built"}


def test_a_check_run_needs_its_permission(github: GitHubServer) -> None:
    with pytest.raises(GitHubError, match="403") as raised:
        check_run(github, TOKEN)
    assert "checks: write" in raised.value.hint
