from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING

import pytest
from tests.contract.client import client_of
from tests.contract.conftest import github
from tests.contract.faults import Fault
from tests.contract.records import START, Collaborator, IssueEvent, Review, Token, User
from tests.contract.scene import BASE_SHA, HEAD_SHA, HELLO, PULL, TOKEN

from benchgate.errors import GitHubError
from benchgate.github.client import MOST_ASKED, approver, labeler, read_pull_request

if TYPE_CHECKING:
    from datetime import datetime

    from tests.contract.server import GitHubServer

__all__ = ["github"]

READS = Token("ghs_reads", {"contents": "read", "actions": "read", "pull-requests": "read"})
MAINTAINER = "maintainer"
LABEL = "benchgate: accepted"
PUSHED = START + timedelta(hours=1)
_ids = count(1000)


def may(server: GitHubServer, login: str, permission: str) -> None:
    server.state.put(
        Collaborator(repository=HELLO.full_name, login=login, permission=permission)  # type: ignore[arg-type]
    )


def reviews(server: GitHubServer, *written: tuple[str | User | None, str, str | None]) -> None:
    """Each by somebody, with a state, of a commit."""
    for by, state, commit in written:
        author = User(by) if isinstance(by, str) else by
        server.state.put(
            Review(
                id=next(_ids),
                repository=HELLO.full_name,
                number=PULL.number,
                state=state,  # type: ignore[arg-type]
                commit_id=commit,
                author=author,
            )
        )


def approved_by(server: GitHubServer, token: Token = READS) -> str | None:
    server.state.put(READS)
    client = client_of(server, token)
    pull = read_pull_request(client, HELLO.full_name, PULL.number)
    return approver(client, HELLO.full_name, pull)


def labels(server: GitHubServer, *events: tuple[str, str, str, datetime]) -> None:
    for event, label, by, at in events:
        server.state.put(
            IssueEvent(
                id=next(_ids),
                repository=HELLO.full_name,
                number=PULL.number,
                event=event,  # type: ignore[arg-type]
                label=label,
                actor=User(by),
                created_at=at,
            )
        )


def labeled_by(server: GitHubServer) -> str | None:
    server.state.put(READS)
    client = client_of(server, READS)
    pull = read_pull_request(client, HELLO.full_name, PULL.number)
    return labeler(client, HELLO.full_name, pull, LABEL, since=PUSHED)


@pytest.mark.parametrize("permission", ["write", "admin"])
def test_who_may_write_approves_this_very_commit(github: GitHubServer, permission: str) -> None:
    may(github, "Ada", permission)
    reviews(github, ("Ada", "APPROVED", HEAD_SHA))
    assert approved_by(github) == "Ada"


@pytest.mark.parametrize(
    "written",
    [
        [(MAINTAINER, "APPROVED", BASE_SHA)],
        [(MAINTAINER, "APPROVED", None)],
        [(MAINTAINER, "COMMENTED", HEAD_SHA)],
        [(MAINTAINER, "CHANGES_REQUESTED", HEAD_SHA)],
        [(MAINTAINER, "DISMISSED", HEAD_SHA)],
        [(MAINTAINER, "APPROVED", HEAD_SHA), (MAINTAINER, "CHANGES_REQUESTED", HEAD_SHA)],
        [(MAINTAINER, "APPROVED", HEAD_SHA), (MAINTAINER, "DISMISSED", BASE_SHA)],
        [("reader", "APPROVED", HEAD_SHA)],
        [("octocat", "APPROVED", HEAD_SHA)],
        [("OctoCat", "APPROVED", HEAD_SHA)],
        [(User("github-actions[bot]", "Bot"), "APPROVED", HEAD_SHA)],
        [(None, "APPROVED", HEAD_SHA)],
        [],
    ],
    ids=str,
)
def test_nothing_else_is_an_approval(
    github: GitHubServer, written: list[tuple[str | User | None, str, str | None]]
) -> None:
    may(github, "octocat", "admin")  # the author
    may(github, "github-actions[bot]", "write")
    reviews(github, *written)
    assert approved_by(github) is None


def test_a_remark_after_an_approval_takes_nothing_back(github: GitHubServer) -> None:
    reviews(
        github,
        (MAINTAINER, "CHANGES_REQUESTED", BASE_SHA),
        (MAINTAINER, "APPROVED", HEAD_SHA),
        (MAINTAINER, "COMMENTED", HEAD_SHA),
    )
    assert approved_by(github) == MAINTAINER


def test_all_pages_are_read(github: GitHubServer) -> None:
    reviews(github, *[("reader", "COMMENTED", HEAD_SHA)] * 250)
    reviews(github, (MAINTAINER, "APPROVED", HEAD_SHA))
    assert approved_by(github) == MAINTAINER


def test_strangers_who_approve_cost_a_few_requests_at_most(github: GitHubServer) -> None:
    reviews(github, *[(f"stranger-{i}", "APPROVED", HEAD_SHA) for i in range(50)])
    assert approved_by(github) is None
    assert len(github.asked("GET */collaborators/*")) == MOST_ASKED


def test_strangers_who_approve_keep_nobody_else_from_it(github: GitHubServer) -> None:
    may(github, MAINTAINER, "write")
    reviews(github, *[(f"stranger-{i}", "APPROVED", HEAD_SHA) for i in range(50)])
    review = Review(
        id=next(_ids),
        repository=HELLO.full_name,
        number=PULL.number,
        commit_id=HEAD_SHA,
        author=User(MAINTAINER),
        author_association="MEMBER",
    )
    github.state.put(review)
    assert approved_by(github) == MAINTAINER
    assert len(github.asked("GET */collaborators/*")) == 1


def test_a_label_that_was_set_after_the_push(github: GitHubServer) -> None:
    labels(github, ("labeled", LABEL.upper(), MAINTAINER, PUSHED + timedelta(seconds=1)))
    assert labeled_by(github) == MAINTAINER


BEFORE, AFTER = PUSHED - timedelta(minutes=1), PUSHED + timedelta(minutes=1)


@pytest.mark.parametrize(
    "events",
    [
        [("labeled", LABEL, MAINTAINER, BEFORE)],  # for a commit before
        [("labeled", LABEL, MAINTAINER, PUSHED)],
        [("labeled", "bug", MAINTAINER, AFTER)],
        [("labeled", LABEL, "triager", AFTER)],
        [("labeled", LABEL, MAINTAINER, AFTER), ("unlabeled", LABEL, "triager", AFTER)],
        # Who set it last is who counts.
        [
            ("labeled", LABEL, MAINTAINER, AFTER),
            ("unlabeled", LABEL, "triager", AFTER),
            ("labeled", LABEL, "triager", AFTER),
        ],
        [],
    ],
    ids=str,
)
def test_no_other_label_counts(
    github: GitHubServer, events: list[tuple[str, str, str, datetime]]
) -> None:
    labels(github, *events)
    assert labeled_by(github) is None


def test_a_label_that_is_set_anew_counts(github: GitHubServer) -> None:
    labels(
        github,
        ("labeled", LABEL, MAINTAINER, BEFORE),
        ("unlabeled", LABEL, MAINTAINER, AFTER),
        ("labeled", LABEL, MAINTAINER, AFTER),
    )
    assert labeled_by(github) == MAINTAINER


def test_a_token_that_may_not_read_pull_requests_is_told_so(github: GitHubServer) -> None:
    blind = Token("ghs_blind", {"contents": "read", "actions": "read"})
    github.state.put(blind)
    with pytest.raises(GitHubError) as raised:
        approved_by(github, blind)
    assert "`pull-requests: read`" in f"{raised.value.message} {raised.value.hint}"


def test_a_failure_to_ask_is_no_approval(github: GitHubServer) -> None:
    reviews(github, (MAINTAINER, "APPROVED", HEAD_SHA))
    github.faults.always("*/collaborators/*", Fault(status=500))
    with pytest.raises(GitHubError):
        approved_by(github, TOKEN)
