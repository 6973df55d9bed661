"""A project with a history, a fork and pull requests, to begin a test with.

`GitHubServer(*SCENE)` has all of it; a test adds and replaces what it is about.
"""

from __future__ import annotations

import io
import zipfile
from datetime import timedelta

from tests.contract.records import (
    START,
    Artifact,
    Collaborator,
    Comment,
    Commit,
    Comparison,
    IssueEvent,
    Pull,
    Record,
    Repository,
    Review,
    Run,
    Token,
    User,
)

HELLO = Repository(id=1296269, full_name="octo-org/hello")
FORK = Repository(id=217723378, full_name="octocat/hello", fork_of=HELLO.full_name)

TOKEN = Token("ghs_hello", {"contents": "read", "actions": "read", "pull-requests": "write"})
FORKS_TOKEN = Token("ghs_fork", {"contents": "read", "actions": "read", "pull-requests": "read"})
CHECKS_TOKEN = Token("ghs_checks", {"checks": "write"})
PERSONAL_TOKEN = Token("github_pat_octocat", {"actions": "read"}, User("octocat"))

BASE_SHA = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
HEAD_SHA = "7fd1a60b01f91b314f59955a4e4d4e80d8edf11d"
FORKS_SHA = "acb5820ced9479c074f688cc328bf03f341a511d"


def zip_of(members: dict[str, bytes]) -> bytes:
    """An artifact's archive, as actions/upload-artifact makes it."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


MAIN_RUN = Run(
    id=30433642,
    repository=HELLO.full_name,
    head_repository=HELLO.full_name,
    event="push",
    head_branch="main",
    head_sha=BASE_SHA,
)
PULL_RUN = Run(
    id=30433650,
    repository=HELLO.full_name,
    head_repository=HELLO.full_name,
    event="pull_request",
    head_branch="faster",
    head_sha=HEAD_SHA,
    pulls=(7,),
    created_at=START + timedelta(hours=1),
)
# From the fork's own `main`, so that `branch=main` lists it, too.
FORKS_RUN = Run(
    id=30433660,
    repository=HELLO.full_name,
    head_repository=FORK.full_name,
    event="pull_request",
    head_branch="main",
    head_sha=FORKS_SHA,
    created_at=START + timedelta(hours=2),
)
BASELINE = Artifact(
    id=11, run_id=MAIN_RUN.id, name="benchgate-baseline", data=zip_of({"result.json": b"{}"})
)
PULL = Pull(
    number=7,
    repository=HELLO.full_name,
    head_repository=HELLO.full_name,
    head_branch="faster",
    head_sha=HEAD_SHA,
    base_sha=BASE_SHA,
)
FORKS_PULL = Pull(
    number=8,
    repository=HELLO.full_name,
    head_repository=FORK.full_name,
    head_branch="main",
    head_sha=FORKS_SHA,
    base_sha=BASE_SHA,
    created_at=START + timedelta(hours=2),
)

SCENE: tuple[Record, ...] = (
    HELLO,
    FORK,
    TOKEN,
    FORKS_TOKEN,
    CHECKS_TOKEN,
    PERSONAL_TOKEN,
    MAIN_RUN,
    PULL_RUN,
    FORKS_RUN,
    BASELINE,
    PULL,
    FORKS_PULL,
    Review(id=80, repository=HELLO.full_name, number=PULL.number, commit_id=BASE_SHA),
    IssueEvent(id=1, repository=HELLO.full_name, number=PULL.number, label="bug"),
    Collaborator(repository=HELLO.full_name, login="maintainer", permission="write"),
    Comment(id=1, repository=HELLO.full_name, number=PULL.number, body="Me too"),
    Commit(repository=HELLO.full_name, sha=HEAD_SHA, parents=(BASE_SHA,)),
    Comparison(
        repository=HELLO.full_name, base=BASE_SHA, head=HEAD_SHA, merge_base=BASE_SHA, behind_by=0
    ),
)
