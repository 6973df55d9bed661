from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.errors import GitHubError
from benchgate.github.answers import Answer, NoAnswer, Reply, Request
from benchgate.github.client import LIMIT_S
from benchgate.github.retries import MOST_FAILURES, decide

URL = "https://api.github.com"
LIST = "/repos/octo-org/hello/actions/artifacts"
COMMENTS = "/repos/octo-org/hello/issues/7/comments"
COMPARE = "/repos/octo-org/hello/compare/a...b"
NOW_S = 1_700_000_000
DATE = formatdate(NOW_S, usegmt=True)
RESET = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(NOW_S + 40), "date": DATE}
SECONDARY = b'{"message": "You have exceeded a secondary rate limit."}'
LOST = NoAnswer("api.github.com", "Connection reset by peer")
UNSENT = NoAnswer("api.github.com", "Connection refused", sent=False)
UNTRUSTED = NoAnswer("api.github.com", "its certificate is not trusted", is_final=True)


def asking(path: str = LIST, method: str = "GET") -> Request:
    return Request(method, path, f"{URL}{path}", None if method == "GET" else {})


def answer(
    status: int,
    body: bytes = b"",
    headers: dict[str, str] | None = None,
    *,
    elsewhere: bool = False,
) -> Answer:
    host = "storage.example.org" if elsewhere else "api.github.com"
    return Answer(host, elsewhere, status, headers or {}, body)


def decided(
    *failures: Reply, request: Request | None = None, left_s: float = 1000.0, draw: float = 0.5
) -> float | GitHubError:
    return decide(request or asking(), failures, left_s=left_s, draw=draw)


def refused(*failures: Reply, request: Request | None = None, left_s: float = 1e3) -> GitHubError:
    error = decided(*failures, request=request, left_s=left_s)
    assert isinstance(error, GitHubError)
    return error


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize(
    ("headers", "body", "wait_s"),
    [
        ({"retry-after": "7"}, b"", 7),
        ({"retry-after": "0"}, b"", 0),
        ({"retry-after": "7", **RESET}, b"", 7),
        (RESET, b"", 41),
        ({**RESET, "x-ratelimit-reset": str(NOW_S - 5)}, b"", 2),
        ({**RESET, "x-ratelimit-remaining": "3"}, SECONDARY, 60),
        ({"x-ratelimit-remaining": "0"}, b"", 60),
        ({**RESET, "date": "yesterday"}, b"", 60),
        ({**RESET, "x-ratelimit-reset": "²"}, b"", 60),
        ({"retry-after": "soon"}, SECONDARY, 60),
        ({}, SECONDARY, 60),
        ({}, b'{"message": "You have triggered an abuse detection mechanism."}', 60),
    ],
)
def test_rate_limits(status: int, headers: dict[str, str], body: bytes, wait_s: float) -> None:
    assert decided(answer(status, body, headers)) == wait_s


def test_a_bare_429_is_a_rate_limit() -> None:
    assert decided(answer(429)) == 60


def test_what_no_header_says_doubles() -> None:
    limited = answer(403, SECONDARY)
    assert decided(limited, limited) == 120
    assert decided(limited, answer(502), limited, limited) == 240


def test_a_limit_that_should_be_over_is_asked_for_ever_more_rarely() -> None:
    over = answer(403, headers={**RESET, "x-ratelimit-reset": str(NOW_S)})
    assert [decided(*[over] * times) for times in (1, 2, 3)] == [2, 4, 8]
    at_once = answer(429, headers={"retry-after": "0"})
    assert [decided(*[at_once] * times) for times in (1, 2, 3)] == [0, 2, 4]


def test_a_write_waits_for_a_rate_limit_too() -> None:
    request = asking(COMMENTS, "POST")
    assert decided(answer(403, SECONDARY), request=request) == 60


def test_a_wait_that_github_does_not_tell_fits_into_what_is_left() -> None:
    limited = answer(403, SECONDARY)
    assert decided(limited, left_s=60) == 30
    assert decided(limited, limited, left_s=30) == 15
    error = refused(limited, limited, left_s=3)
    assert "does not say for how long" in error.hint
    assert "lacks" not in error.hint


def test_a_minute_fits_into_the_bound() -> None:
    assert decided(answer(429, headers={"retry-after": "60"}), left_s=LIMIT_S) == 60


@pytest.mark.parametrize("left_s", [41.0, 12.0, -1.0])
def test_a_wait_that_exceeds_what_is_left_is_given_up_at_once(left_s: float) -> None:
    error = refused(answer(403, b'{"message": "API rate limit exceeded"}', RESET), left_s=left_s)
    assert error.message == f"GET {LIST}: GitHub answered 403: API rate limit exceeded"
    assert error.hint.startswith("The rate limit resets in 41 s")
    assert error.status == 403


@pytest.mark.parametrize("failure", [answer(500), answer(502), answer(503), LOST, UNSENT])
@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_what_passes_is_repeated_with_jitter(failure: Reply, method: str) -> None:
    request = asking(method=method)
    assert decided(failure, request=request, draw=0.0) == 0.5
    assert decided(failure, request=request, draw=1.0) == 1.5
    assert decided(failure, failure, failure, request=request) == 4.0


def test_unavailable_says_itself_when_to_come_back() -> None:
    assert decided(answer(503, headers={"retry-after": "17"})) == 17


def test_what_does_not_pass_is_given_up() -> None:
    error = refused(*[answer(502)] * MOST_FAILURES)
    assert error.message == f"GET {LIST}: GitHub answered 502"
    assert "githubstatus.com" in error.hint
    assert decided(*[answer(502)] * (MOST_FAILURES - 1), answer(403, SECONDARY)) == 60


@pytest.mark.parametrize("failure", [answer(500), answer(502), LOST])
def test_a_post_that_may_have_been_done_is_not_repeated(failure: Reply) -> None:
    error = refused(failure, request=asking(COMMENTS, "POST"))
    assert "may have done it anyway" in error.hint


def test_what_passes_is_given_up_when_no_time_is_left_for_it() -> None:
    error = refused(answer(503, headers={"retry-after": "17"}), left_s=17)
    assert error.message == f"GET {LIST}: GitHub answered 503"
    assert "githubstatus.com" in error.hint


def test_a_post_that_never_arrived_is_repeated() -> None:
    request = asking(COMMENTS, "POST")
    assert decided(UNSENT, request=request) == 1.0
    error = refused(*[UNSENT] * MOST_FAILURES, request=request)
    assert "may have been done" not in error.hint


def test_what_would_fail_again_is_not_repeated() -> None:
    error = refused(UNTRUSTED)
    assert error.message == (
        f"GET {LIST}: no answer from api.github.com: its certificate is not trusted"
    )
    assert error.status is None


@pytest.mark.parametrize("status", [403, 404, 410])
def test_a_link_that_is_over_is_asked_for_anew_once(status: int) -> None:
    stale = answer(status, b"<Error>AuthenticationFailed</Error>", elsewhere=True)
    assert decided(answer(502), stale) == 0.0
    error = refused(stale, stale)
    assert error.message == f"GET {LIST}: the storage at storage.example.org answered {status}"
    assert "storage.example.org" in error.hint


def test_a_storage_that_fails_is_asked_again_and_one_that_refuses_is_not() -> None:
    assert decided(answer(503, elsewhere=True)) == 1.0
    assert refused(answer(400, elsewhere=True)).status == 400


@pytest.mark.parametrize(
    ("path", "method", "permission"),
    [
        (LIST, "GET", "actions: read"),
        (f"{LIST}/12/zip", "GET", "actions: read"),
        ("/repos/octo-org/hello/actions/runs/1", "GET", "actions: read"),
        (COMPARE, "GET", "contents: read"),
        ("/repos/octo-org/actions/compare/a...b", "GET", "contents: read"),
        (COMMENTS, "GET", "pull-requests: read"),
        (COMMENTS, "POST", "pull-requests: write"),
        ("/repos/octo-org/hello/issues/comments/3", "PATCH", "pull-requests: write"),
        ("/repos/octo-org/hello/pulls", "GET", "pull-requests: read"),
        ("/repos/octo-org/hello/check-runs", "POST", "checks: write"),
        ("/repos/octo-org/hello", "GET", "contents: read"),
    ],
)
def test_a_permission_that_is_missing_is_named(path: str, method: str, permission: str) -> None:
    body = b'{"message": "Resource not accessible by integration"}'
    error = refused(answer(403, body), request=asking(path, method))
    assert error.message == (
        f"{method} {path}: GitHub answered 403: Resource not accessible by integration"
    )
    assert error.hint.startswith(f"The token lacks `{permission}`: add it to the job's ")
    assert ("fork" in error.hint) == (method != "GET")
    hidden = refused(answer(404, b'{"message": "Not Found"}'), request=asking(path, method))
    assert f"lacks `{permission}`" in hidden.hint


@pytest.mark.parametrize(
    ("header", "named"),
    [
        ("actions=read", "`actions: read`"),
        ("issues=write; pull_requests=write", "`issues: write` or `pull-requests: write`"),
        ("contents=read,actions=read", "`contents: read` and `actions: read`"),
        ("nonsense", "`actions: read`"),
    ],
)
def test_the_permission_that_github_names_counts(header: str, named: str) -> None:
    error = refused(answer(403, headers={"x-accepted-github-permissions": header}))
    assert f"lacks {named}:" in error.hint


def test_single_sign_on() -> None:
    body = b'{"message": "Resource protected by organization SAML enforcement."}'
    assert "single sign-on" in refused(answer(403, body)).hint


def test_other_refusals() -> None:
    assert "job's own token" in refused(answer(403), request=asking("/user")).hint
    assert "GITHUB_TOKEN" in refused(answer(401, b'{"message": "Bad credentials"}')).hint
    gone = answer(410, b'{"message": "Artifact has expired"}')
    assert "retention-days" in refused(gone, request=asking(f"{LIST}/12/zip")).hint
    assert refused(gone, request=asking(COMMENTS)).hint == ""
    body = (
        b'{"message": "Validation Failed", "errors": [{"code": "custom", "message":'
        b' "body is too long"}, {"field": "title", "code": "missing"}, "and more", 7]}'
    )
    invalid = refused(answer(422, body), request=asking(COMMENTS, "POST"))
    assert invalid.message.endswith(
        "422: Validation Failed: body is too long: title missing: and more"
    )
    assert invalid.status == 422


def test_the_message_of_github_is_made_harmless() -> None:
    body = '{"message": "a\\n::error::b\\u001b[31m\\u202ec%s"}' % ("d" * 5000)
    error = refused(answer(422, body.encode()))
    assert "\n" not in error.message
    assert error.message.isprintable()
    assert len(error.message) < 400


@given(st.binary() | st.recursive(st.none() | st.text(), st.lists).map(lambda v: repr(v).encode()))
def test_any_body_of_a_refusal(body: bytes) -> None:
    assert refused(answer(422, body)).message.isprintable()


@given(
    st.integers(100, 999),
    st.dictionaries(st.sampled_from(["retry-after", *RESET]), st.text(max_size=20)),
    st.booleans(),
)
def test_any_headers(status: int, headers: dict[str, str], elsewhere: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    decision = decided(answer(status, headers=headers, elsewhere=elsewhere), left_s=100)
    assert isinstance(decision, GitHubError) or 0 <= decision < 100
