from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

import cmarkgfm  # type: ignore[import-untyped]
import pytest
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st
from tests.contract import records
from tests.contract.client import client_of
from tests.contract.conftest import github
from tests.contract.faults import Fault
from tests.contract.records import GITHUB_ACTIONS, User
from tests.contract.scene import BASE_SHA, HEAD_SHA, HELLO, PULL, TOKEN

from benchgate.errors import GitHubError
from benchgate.github.client import Client
from benchgate.github.comments import (
    JOB_LOGIN,
    MOST_OWN,
    CommentOutcome,
    Marker,
    choose,
    mark,
    marker_in,
    own_login,
    own_markers,
    post_sticky,
)
from benchgate.github.objects import Comment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.contract.server import GitHubServer

__all__ = ["github"]

OLD, NEW = BASE_SHA, HEAD_SHA
NUMBER = PULL.number
BODY = "### fail: 1 of 3 benchmarks is slower\n\n| a |\n| --- |\n| b |\n\n<sub>Compared</sub>\n"
NAMES = st.text(st.sampled_from("->%:!<= \n\r#a") | st.characters(exclude_categories=["Cs"]))


def payload(id_: int, body: str | None, login: str | None = JOB_LOGIN) -> dict[str, Any]:
    """A comment as GitHub gives it, with some of what is not used."""
    text = {} if body is None else {"body": body}
    return text | {
        "id": id_,
        "node_id": "MDEyOklzc3VlQ29tbWVudDE=",
        "html_url": f"https://github.com/octo-org/hello/issues/{NUMBER}#issuecomment-{id_}",
        "user": None if login is None else {"login": login, "type": "Bot", "id": 1},
        "created_at": "2026-01-02T03:04:05Z",
        "updated_at": "2026-01-02T03:04:05Z",
    }


def url(id_: int) -> str:
    return f"https://github.com/octo-org/hello/issues/{NUMBER}#issuecomment-{id_}"


def comment(id_: int, marker: Marker | str, login: str | None = JOB_LOGIN) -> Comment:
    return Comment.read(payload(id_, f"{BODY}\n{marker}\n", login), "")


def of(run: int, *, attempt: int = 1, head: str = NEW, suite: str = "default") -> Marker:
    return mark(suite, head=head, run=run, attempt=attempt)


class Racing(Client):
    """A client that another run gets in the way of.

    Attributes:
        after_post: what happens before it looks again.
        is_early: whether it lists the comments before anything is there.
    """

    after_post: Callable[[], object] = staticmethod(lambda: None)
    is_early = False

    def post(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        created = super().post(path, body)
        self.after_post()
        return created

    def pages(self, path: str, *arguments: Any, **more: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - those of a client
        is_early, self.is_early = self.is_early, False
        return iter(()) if is_early else super().pages(path, *arguments, **more)


def racing(server: GitHubServer) -> Racing:
    client = client_of(server, TOKEN)
    client.__class__ = Racing
    assert isinstance(client, Racing)
    return client


@pytest.fixture
def empty(github: GitHubServer) -> GitHubServer:
    """A pull request without comments."""
    for one in github.state.all(records.Comment):
        github.state.remove(one)
    return github


def left(server: GitHubServer, id_: int, body: object, author: User = GITHUB_ACTIONS) -> None:
    """Leave a comment."""
    named = {"repository": HELLO.full_name, "number": NUMBER, "author": author}
    server.state.put(records.Comment(id=id_, body=str(body), **named))  # type: ignore[arg-type]


def ours(server: GitHubServer, *found: tuple[int, Marker]) -> None:
    for id_, marker in found:
        left(server, id_, f"{BODY}\n{marker}")


def posted(
    server: GitHubServer, marker: Marker, client: Client | None = None, token: records.Token = TOKEN
) -> CommentOutcome:
    client = client or client_of(server, token)
    return post_sticky(client, HELLO.full_name, NUMBER, BODY, marker)


def there(server: GitHubServer) -> dict[int, str]:
    return {one.id: one.body for one in server.state.comments(HELLO, NUMBER)}


def asked(server: GitHubServer) -> list[str]:
    return [one.method for one in server.requests]


# The marker


def test_a_marker_is_one_hidden_line() -> None:
    assert str(of(42, attempt=3)) == (
        f"<!-- benchgate v=1 suite=default head={NEW} run=42 attempt=3 -->"
    )


@given(NAMES, st.integers(1, 2**62), st.integers(1, 10_000))
def test_what_is_marked_is_read_again(suite: str, run: int, attempt: int) -> None:
    marker = of(run, attempt=attempt, suite=suite)
    for body in (f"{BODY}\n{marker}", f"{BODY}\n{marker}\n", f"{BODY}\r\n{marker}\r\n\r\n"):
        assert marker_in(body) == marker
    assert len(str(marker)) < 512


@given(NAMES)
def test_no_name_ends_the_hidden_line(suite: str) -> None:
    marker = str(of(1, suite=suite))
    assert re.fullmatch(r"<!-- [^<>-]* -->", marker)
    options = Options.CMARK_OPT_UNSAFE
    page = cmarkgfm.github_flavored_markdown_to_html(f"{BODY}\n{marker}\n", options=options)
    assert page.endswith(f"<p><sub>Compared</sub></p>\n{marker}\n")


@given(NAMES, NAMES)
def test_no_name_has_the_marker_of_another(one: str, other: str) -> None:
    assert (of(1, suite=one) == of(1, suite=other)) == (one == other)


def test_long_names_differ_too() -> None:
    suites = ["x" * 5000, "x" * 4999, "x" * 5000 + "y", "\N{ROCKET}" * 50, "\N{ROCKET}" * 51]
    assert len({of(1, suite=suite).suite for suite in suites}) == len(suites)
    imitation = of(1, suite=of(1, suite=suites[0]).suite)
    assert imitation != of(1, suite=suites[0])


@pytest.mark.parametrize(
    "body",
    [
        "",
        "a comment",
        f"{of(1)} and more",
        f"> {of(1)}",
        f"`{of(1)}`",
        f"{of(1)}\n\nsaid a person",
        f"    {of(1)}",
        str(of(1)).replace("v=1", "v=2"),
        str(of(1)).replace("run=1", "run=0"),
        str(of(1)).replace("run=1", "run=-1"),
        str(of(1)).replace("run=1", "run=1e5"),
        str(of(1)).replace("run=1", "run=" + "9" * 5000),
        str(of(1)).replace("run=1", "run=\N{ARABIC-INDIC DIGIT ONE}"),
        str(of(1)).replace(NEW, "main"),
        str(of(1)).replace("default", "x y"),
        str(of(1)).replace("default", "x" * 5000),
        str(of(1)).replace(" -->", " --> -->"),
        str(of(1)).upper(),
    ],
)
def test_what_is_no_marker_is_not_read(body: str) -> None:
    assert marker_in(body) is None


# The choice


def test_the_first_comment_is_created() -> None:
    assert choose([], of(5), JOB_LOGIN) == []


@pytest.mark.parametrize(
    "other",
    [
        comment(1, of(9), "octocat"),
        comment(1, of(9), "github-actions"),
        comment(1, of(9), None),
        comment(1, of(9, suite="other")),
        comment(1, "no marker"),
        Comment.read(payload(1, None), ""),
    ],
)
def test_what_is_not_ours_is_not_touched(other: Comment) -> None:
    assert choose([other], of(5), JOB_LOGIN, NEW) == []


@pytest.mark.parametrize(
    ("there", "mine", "head_now", "updated"),
    [
        pytest.param(of(4), of(5), NEW, True, id="a later run"),
        pytest.param(of(5), of(5, attempt=2), NEW, True, id="a re-run"),
        pytest.param(of(5), of(5), NEW, True, id="the same once more"),
        pytest.param(of(5, attempt=2), of(5, attempt=1), NEW, False, id="an earlier attempt"),
        pytest.param(of(6), of(5, attempt=9), NEW, False, id="a re-run of an earlier run"),
        pytest.param(of(10), of(9), NEW, False, id="numbers, not words"),
        pytest.param(of(6), of(5, head=OLD), NEW, False, id="an older commit that ended late"),
        pytest.param(of(4, head=OLD), of(5, head=OLD), NEW, True, id="both outdated"),
        pytest.param(of(5), of(6, head=OLD), NEW, False, id="numbered in the wrong order"),
        pytest.param(of(6, head=OLD), of(5, attempt=2), NEW, True, id="pushed back, then re-run"),
        pytest.param(of(6, head=OLD), of(5), "", False, id="unknown what is there now"),
        pytest.param(of(4, head=OLD), of(5), "", True, id="unknown, and later"),
    ],
)
def test_a_newer_one_is_never_overwritten(
    there: Marker, mine: Marker, head_now: str, *, updated: bool
) -> None:
    choice = choose([comment(1, there)], mine, JOB_LOGIN, head_now)
    assert choice == [1] if updated else isinstance(choice, CommentOutcome)


def test_why_one_is_left_is_said() -> None:
    choice = choose([comment(1, of(6))], of(5), JOB_LOGIN, NEW)
    assert choice == CommentOutcome(
        url(1),
        "left the comment as it is: run 6 has already commented on 7fd1a60, and is newer",
    )


def test_of_several_the_first_is_updated() -> None:
    there = [comment(3, of(2)), comment(1, of(4)), comment(2, of(5)), comment(9, of(1), "octocat")]
    assert choose(there, of(5), JOB_LOGIN, NEW) == [1, 2, 3]
    assert choose(there, of(3), JOB_LOGIN, NEW) == CommentOutcome(
        url(2),
        "left the comment as it is: run 5 has already commented on 7fd1a60, and is newer",
    )


def test_there_is_an_end_of_new_ones() -> None:
    others = [comment(n, of(4, suite=f"s{n}")) for n in range(1, MOST_OWN)]
    of_people = [comment(n + 100, of(4, suite=f"p{n}"), "octocat") for n in range(MOST_OWN)]
    assert choose([*others, *of_people], of(5), JOB_LOGIN, NEW) == []
    full = [*others, comment(99, of(4, suite="last"))]
    assert choose(full, of(5), JOB_LOGIN, NEW) == CommentOutcome(
        "", f"no comment: the pull request already has {MOST_OWN} comments of other suites"
    )
    assert choose(full, of(5, suite="last"), JOB_LOGIN, NEW) == [99]


def test_upper_and_lower_case_of_a_login_are_the_same() -> None:
    assert choose([comment(1, of(4), "Octocat")], of(5), "octocat") == [1]


# Posting


OCTOCAT = User("octocat")
REMOVED = "removed the second one of a run at the same time"


def test_the_comment_is_written_once_and_then_kept_up_to_date(empty: GitHubServer) -> None:
    left(empty, 1, "a question", OCTOCAT)
    first = posted(empty, of(5))
    # The comments are read last before the write.
    assert [f"{one.method} {one.path}" for one in empty.requests[-3:]] == [
        f"{method} /repos/octo-org/hello/issues/7/comments" for method in ("GET", "POST", "GET")
    ]
    second = posted(empty, of(6))
    question, (id_, body) = there(empty).items()
    assert question == (1, "a question")
    assert first == CommentOutcome(url(id_), "created a comment")
    assert second == CommentOutcome(url(id_), "updated the comment")
    assert body == f"{BODY}\n{of(6)}\n"


@pytest.mark.parametrize("newer", [of(9), of(5, attempt=2)])
def test_a_newer_comment_is_left(empty: GitHubServer, newer: Marker) -> None:
    ours(empty, (1, newer))
    done = posted(empty, of(5))
    assert done.url == url(1)
    assert done.what.startswith(f"left the comment as it is: run {newer.run}")
    assert marker_in(there(empty)[1]) == newer
    assert set(asked(empty)) == {"GET"}


def test_a_comment_that_was_deleted_meanwhile_is_created_anew(empty: GitHubServer) -> None:
    ours(empty, (1, of(4)))
    empty.faults.always("PATCH *", Fault(status=404))
    client = racing(empty)
    client.after_post = lambda: empty.state.remove(empty.state.need(records.Comment, 1))
    done = posted(empty, of(5), client)
    (id_,) = there(empty)
    assert done == CommentOutcome(url(id_), "created a comment")
    assert asked(empty)[-3:] == ["PATCH", "POST", "GET"]


def test_what_a_race_left_is_removed(empty: GitHubServer) -> None:
    ours(empty, (1, of(4)), (2, of(5)), (3, of(1, suite="other")))
    assert posted(empty, of(6)) == CommentOutcome(url(1), f"updated the comment; {REMOVED}")
    assert there(empty).keys() == {1, 3}
    assert marker_in(there(empty)[1]) == of(6)


@pytest.mark.parametrize("other", [of(4), of(6), of(6, head=OLD)])
@pytest.mark.parametrize("theirs", [5, 2_000_000], ids=["first", "last"])
def test_of_two_runs_at_the_same_time_one_comment_stays(
    empty: GitHubServer, other: Marker, theirs: int
) -> None:
    client = racing(empty)
    client.after_post = lambda: ours(empty, (theirs, other))
    done = posted(empty, of(5), client)
    (first,) = there(empty)
    assert (first == theirs) is (theirs == 5)
    assert done == CommentOutcome(url(first), f"created a comment; {REMOVED}")
    newest = max(of(5), other, key=lambda one: (one.head == NEW, one.run))
    assert there(empty)[first].rstrip() == f"{BODY}\n{newest}"


def test_two_runs_that_look_at_the_same_time_remove_the_same_one(empty: GitHubServer) -> None:
    early, late = racing(empty), racing(empty)
    late.is_early = True  # it listed before the other run had created its comment
    told: list[CommentOutcome] = []
    early.after_post = lambda: told.append(posted(empty, of(6), late))
    posted(empty, of(5), early)
    ((first, body),) = there(empty).items()
    assert [one.url for one in told] == [url(first)]
    assert marker_in(body) == of(6)


def test_a_duplicate_that_cannot_be_removed_is_told(empty: GitHubServer) -> None:
    ours(empty, (1, of(4)), (2, of(5)))
    empty.faults.always("DELETE *", Fault(status=403))
    done = posted(empty, of(6))
    assert done.url == url(1)
    what = "updated the comment; a second comment of this suite stays: DELETE /repos/"
    assert done.what.startswith(what)


def test_a_refused_update_is_an_error_and_creates_nothing(empty: GitHubServer) -> None:
    ours(empty, (1, of(4)))
    empty.faults.always("PATCH *", Fault(status=403))
    with pytest.raises(GitHubError, match="403"):
        posted(empty, of(5))
    assert "POST" not in asked(empty)


def test_a_personal_token_writes_in_its_owners_name(empty: GitHubServer) -> None:
    ours(empty, (1, of(4)))
    token = records.Token("github_pat_mine", TOKEN.permissions, OCTOCAT)
    empty.state.put(token)
    assert own_login(client_of(empty, token)) == "octocat"
    done = posted(empty, of(5), token=token)
    assert (done.what, done.url != url(1)) == ("created a comment", True)
    assert posted(empty, of(6), token=token) == CommentOutcome(done.url, "updated the comment")


def test_a_comment_in_another_name_is_told(empty: GitHubServer) -> None:
    token = records.Token("ghs_app", TOKEN.permissions, User("hello-app[bot]", "Bot"))
    empty.state.put(token)
    assert posted(empty, of(5), token=token).what == (
        "created a comment as hello-app[bot], but the next run looks for one by "
        "github-actions[bot]: use the job's own token"
    )


@pytest.mark.parametrize("status", [403, 404])
def test_a_pull_request_that_may_not_be_seen_is_commented_by_the_runs_order(
    empty: GitHubServer, status: int
) -> None:
    ours(empty, (1, of(6, head=OLD)))
    empty.faults.always("GET */pulls/7", Fault(status=status))
    assert posted(empty, of(5)).what.startswith("left")
    assert posted(empty, of(7)).what == "updated the comment"


@pytest.mark.parametrize("path", ["/user", "*/pulls/7"])
def test_a_github_that_is_down_is_an_error(empty: GitHubServer, path: str) -> None:
    empty.faults.always(f"GET {path}", Fault(drop_connection=True))
    with pytest.raises(GitHubError, match="no answer"):
        posted(empty, of(5))


def test_an_answer_that_is_no_comment_is_an_error(
    empty: GitHubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Client, "pages", lambda *_: iter([{"id": "1"}]))
    with pytest.raises(GitHubError, match="does not match GitHub's API"):
        posted(empty, of(5))


def test_where_there_are_too_many_nothing_is_written(empty: GitHubServer) -> None:
    ours(empty, *((n, of(4, suite=f"s{n}")) for n in range(1, MOST_OWN + 1)))
    what = "no comment: the pull request already has 20 comments of other suites"
    assert posted(empty, of(5)) == CommentOutcome("", what)
    assert set(asked(empty)) == {"GET"}


def test_what_ours_are_about_is_told_of_each_suite_once(empty: GitHubServer) -> None:
    ours(empty, (1, of(6)), (2, of(5)), (3, of(4, suite="other")))
    left(empty, 4, f"{BODY}\n{of(9, suite='third')}", OCTOCAT)
    client = client_of(empty, TOKEN)
    assert set(own_markers(client, HELLO.full_name, NUMBER)) == {of(6), of(4, suite="other")}


def test_endless_pages_end(empty: GitHubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = itertools.repeat(payload(1, "x", "octocat"))
    monkeypatch.setattr(Client, "pages", lambda *_: endless)
    assert posted(empty, of(5)).what == "created a comment"
