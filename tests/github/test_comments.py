from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import cmarkgfm  # type: ignore[import-untyped]
import pytest
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

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

OLD, NEW = "a" * 40, "b" * 40
NUMBER = 7
LIST = f"/repos/octo-org/hello/issues/{NUMBER}/comments"
BODY = "### fail: 1 of 3 benchmarks is slower\n\n| a |\n| --- |\n| b |\n\n<sub>Compared</sub>\n"
NAMES = st.text(st.sampled_from("->%:!<= \n\r#a") | st.characters(exclude_categories=["Cs"]))


def payload(id_: int, body: str | None, login: str | None = JOB_LOGIN) -> dict[str, Any]:
    """A comment as GitHub gives it, with some of what is not used."""
    text = {} if body is None else {"body": body}
    return text | {
        "id": id_,
        "node_id": "MDEyOklzc3VlQ29tbWVudDE=",
        "html_url": f"https://github.com/octo-org/hello/pull/{NUMBER}#issuecomment-{id_}",
        "user": None if login is None else {"login": login, "type": "Bot", "id": 1},
        "created_at": "2026-01-02T03:04:05Z",
        "updated_at": "2026-01-02T03:04:05Z",
    }


def url(id_: int) -> str:
    return f"https://github.com/octo-org/hello/pull/{NUMBER}#issuecomment-{id_}"


def comment(id_: int, marker: Marker | str, login: str | None = JOB_LOGIN) -> Comment:
    return Comment.read(payload(id_, f"{BODY}\n{marker}\n", login), "")


def of(run: int, *, attempt: int = 1, head: str = NEW, suite: str = "default") -> Marker:
    return mark(suite, head=head, run=run, attempt=attempt)


@dataclass
class Fake(Client):
    """A pull request and its comments; `before_write` is what happens between two requests."""

    comments: dict[int, dict[str, Any]] = field(default_factory=dict)
    login: str = JOB_LOGIN
    user: GitHubError | dict[str, Any] = field(
        default_factory=lambda: GitHubError("not accessible by integration", status=403)
    )
    pull: GitHubError | dict[str, Any] = field(
        default_factory=lambda: {
            "number": NUMBER,
            "state": "open",
            "html_url": "https://github.com/octo-org/hello/pull/7",
            "head": {"ref": "x", "sha": NEW, "repo": None},
            "base": {"ref": "main", "sha": OLD, "repo": None},
        }
    )
    asked: list[str] = field(default_factory=list)
    before_write: Callable[[], object] = lambda: None
    after_post: Callable[[], object] = lambda: None

    def get(self, path: str, *_: object) -> dict[str, Any]:
        self.asked.append(f"GET {path}")
        answer = {"/user": self.user, f"/repos/octo-org/hello/pulls/{NUMBER}": self.pull}[path]
        if isinstance(answer, GitHubError):
            raise answer
        return answer

    def pages(self, path: str, *_: object, **__: object) -> Iterator[dict[str, Any]]:
        assert path == LIST
        self.asked.append(f"GET {path}")
        yield from list(self.comments.values())

    def post(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        assert path == LIST
        self.asked.append(f"POST {path}")
        created = self._put(max(self.comments, default=0) + 1, body)
        self.after_post()
        return created

    def patch(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        self.asked.append(f"PATCH {path}")
        self.before_write()
        id_ = int(path.removeprefix("/repos/octo-org/hello/issues/comments/"))
        if id_ not in self.comments:
            raise GitHubError("not found", status=404)
        return self._put(id_, body)

    def delete(self, path: str) -> None:
        self.asked.append(f"DELETE {path}")
        id_ = int(path.removeprefix("/repos/octo-org/hello/issues/comments/"))
        if self.comments.pop(id_, None) is None:
            raise GitHubError("not found", status=404)

    def _put(self, id_: int, body: Mapping[str, object]) -> dict[str, Any]:
        assert body.keys() == {"body"}
        self.comments[id_] = payload(id_, str(body["body"]), self.login)
        return self.comments[id_]


def posted(fake: Fake, marker: Marker) -> CommentOutcome:
    return post_sticky(fake, "octo-org/hello", NUMBER, BODY, marker)


def ours(*found: tuple[int, Marker]) -> dict[int, dict[str, Any]]:
    return {id_: payload(id_, f"{BODY}\n{marker}") for id_, marker in found}


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
        "left the comment as it is: run 6 has already commented on bbbbbbb, and is newer",
    )


def test_of_several_the_first_is_updated() -> None:
    there = [comment(3, of(2)), comment(1, of(4)), comment(2, of(5)), comment(9, of(1), "octocat")]
    assert choose(there, of(5), JOB_LOGIN, NEW) == [1, 2, 3]
    assert choose(there, of(3), JOB_LOGIN, NEW) == CommentOutcome(
        url(2),
        "left the comment as it is: run 5 has already commented on bbbbbbb, and is newer",
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


def test_the_comment_is_written_once_and_then_kept_up_to_date() -> None:
    fake = Fake({1: payload(1, "a question", "octocat")})

    first = posted(fake, of(5))
    second = posted(fake, of(6))

    assert first == CommentOutcome(url(2), "created a comment")
    assert second == CommentOutcome(url(2), "updated the comment")
    assert fake.comments.keys() == {1, 2}
    assert fake.comments[2]["body"] == f"{BODY}\n{of(6)}\n"
    assert fake.comments[1]["body"] == "a question"


def test_the_comments_are_read_last_before_the_write() -> None:
    fake = Fake()
    posted(fake, of(5))
    assert fake.asked[-3:] == [f"GET {LIST}", f"POST {LIST}", f"GET {LIST}"]


def test_a_newer_comment_is_left() -> None:
    fake = Fake(ours((1, of(9))))

    done = posted(fake, of(5))

    assert done.url == url(1)
    assert done.what.startswith("left the comment as it is: run 9")
    assert marker_in(fake.comments[1]["body"]) == of(9)
    assert not any(asked.startswith(("POST", "PATCH")) for asked in fake.asked)


def test_a_comment_that_was_deleted_meanwhile_is_created_anew() -> None:
    fake = Fake(ours((1, of(4))))
    fake.before_write = fake.comments.clear

    done = posted(fake, of(5))

    assert done == CommentOutcome(url(1), "created a comment")
    assert [asked.split()[0] for asked in fake.asked[-3:]] == ["PATCH", "POST", "GET"]


def test_what_a_race_left_is_removed() -> None:
    fake = Fake(ours((1, of(4)), (2, of(5)), (3, of(1, suite="other"))))
    done = posted(fake, of(6))
    removed = "removed the second one of a run at the same time"
    assert done == CommentOutcome(url(1), f"updated the comment; {removed}")
    assert fake.comments.keys() == {1, 3}
    assert marker_in(fake.comments[1]["body"]) == of(6)


@pytest.mark.parametrize("other", [of(4), of(6)])
@pytest.mark.parametrize("is_first", [False, True])
def test_of_two_runs_at_the_same_time_one_comment_stays(other: Marker, *, is_first: bool) -> None:
    fake = Fake({10: payload(10, "a question", "octocat")})
    theirs = 5 if is_first else 15
    fake.after_post = lambda: fake.comments.update(ours((theirs, other)))

    done = posted(fake, of(5))

    first = min(theirs, 11)
    assert done == CommentOutcome(
        url(first), "created a comment; removed the second one of a run at the same time"
    )
    assert fake.comments.keys() == {10, first}
    newest = max(of(5), other, key=lambda one: one.run)
    assert fake.comments[first]["body"] == f"{BODY}\n{newest}" + ("\n" if newest == of(5) else "")


def test_two_runs_that_look_at_the_same_time_remove_the_same_one() -> None:
    class Late(Fake):
        """It listed before the other run had created its comment, and looks again after that."""

        def pages(self, path: str, *_: object, **__: object) -> Iterator[dict[str, Any]]:
            self.asked.append(f"GET {path}")
            yield from [] if len(self.asked) < 4 else list(self.comments.values())

    fake = Fake()
    late = Late(fake.comments)
    told: list[CommentOutcome] = []
    fake.after_post = lambda: told.append(posted(late, of(6)))
    posted(fake, of(5))
    assert [one.url for one in told] == [url(1)]
    assert fake.comments.keys() == {1}
    assert marker_in(fake.comments[1]["body"]) == of(6)


def test_a_duplicate_that_cannot_be_removed_is_told() -> None:
    class Refusing(Fake):
        def delete(self, path: str) -> None:
            raise GitHubError(f"may not delete {path}", status=403)

    fake = Refusing(ours((1, of(4)), (2, of(5))))
    what = "updated the comment; a second comment of this suite stays: may not delete "
    what += "/repos/octo-org/hello/issues/comments/2"
    assert posted(fake, of(6)) == CommentOutcome(url(1), what)


def test_a_refused_update_is_an_error_and_creates_nothing() -> None:
    fake = Fake(ours((1, of(4))))

    def refuse() -> None:
        raise GitHubError("forbidden", status=403)

    fake.before_write = refuse
    with pytest.raises(GitHubError, match="forbidden"):
        posted(fake, of(5))
    assert not any(asked.startswith("POST") for asked in fake.asked)


def test_a_personal_token_writes_in_its_owners_name() -> None:
    owner = {"login": "octocat", "type": "User"}
    fake = Fake(ours((1, of(4))), login="octocat", user=owner)

    assert own_login(fake) == "octocat"
    assert posted(fake, of(5)) == CommentOutcome(url(2), "created a comment")
    assert posted(fake, of(6)) == CommentOutcome(url(2), "updated the comment")


def test_a_comment_in_another_name_is_told() -> None:
    fake = Fake(login="hello-app[bot]")
    assert posted(fake, of(5)).what == (
        "created a comment as hello-app[bot], but the next run looks for one by "
        "github-actions[bot]: use the job's own token"
    )


@pytest.mark.parametrize("status", [403, 404])
def test_a_pull_request_that_may_not_be_seen_is_commented_by_the_runs_order(status: int) -> None:
    fake = Fake(ours((1, of(6, head=OLD))), pull=GitHubError("no", status=status))
    assert posted(fake, of(5)).what.startswith("left")
    assert posted(fake, of(7)).what == "updated the comment"


@pytest.mark.parametrize(
    "fake", [Fake(user=GitHubError("no answer")), Fake(pull=GitHubError("no answer"))]
)
def test_a_github_that_is_down_is_an_error(fake: Fake) -> None:
    with pytest.raises(GitHubError, match="no answer"):
        posted(fake, of(5))


def test_an_answer_that_is_no_comment_is_an_error() -> None:
    fake = Fake({1: {"id": "1"}})
    with pytest.raises(GitHubError, match="does not match GitHub's API"):
        posted(fake, of(5))


def test_where_there_are_too_many_nothing_is_written() -> None:
    fake = Fake(ours(*((n, of(4, suite=f"s{n}")) for n in range(1, MOST_OWN + 1))))
    done = posted(fake, of(5))
    what = "no comment: the pull request already has 20 comments of other suites"
    assert done == CommentOutcome("", what)
    assert not any(asked.startswith(("POST", "PATCH")) for asked in fake.asked)


def test_what_ours_are_about_is_told_of_each_suite_once() -> None:
    fake = Fake(ours((1, of(6)), (2, of(5)), (3, of(4, suite="other"))))
    fake.comments[4] = payload(4, f"{BODY}\n{of(9, suite='third')}", "octocat")
    assert set(own_markers(fake, "octo-org/hello", NUMBER)) == {of(6), of(4, suite="other")}


def test_endless_pages_end() -> None:
    class Endless(Fake):
        def pages(self, path: str, *_: object, **__: object) -> Iterator[dict[str, Any]]:
            assert path == LIST
            while True:
                yield payload(1, "x", "octocat")

    assert posted(Endless({1: payload(1, "x")}), of(5)).what == "created a comment"
