from __future__ import annotations

import gzip
import itertools
import ssl
import subprocess
import threading
from typing import TYPE_CHECKING

import pytest
from tests.github.loopback import (
    SECRET,
    Asked,
    RealTime,
    Reply,
    Server,
    Time,
    answered,
    client_of,
    moved,
    serving,
)

from benchgate import __version__
from benchgate.errors import GitHubError, UsageError
from benchgate.github.client import MAX_JSON_BYTES, MAX_PAGES
from benchgate.github.transport import Token

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

REPO = "/repos/octo-org/hello"
COMMENTS = f"{REPO}/issues/7/comments"
ZIP = f"{REPO}/actions/artifacts/12/zip"
SIGNED = "/blob?sig=s1gnature"


@pytest.fixture(autouse=True)
def _no_proxy_or_netrc(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("NETRC", "/dev/null")


def refused(call: Callable[[], object]) -> GitHubError:
    with pytest.raises(GitHubError) as raised:
        call()
    shown = f"{raised.value.message} {raised.value.hint} {raised.value.details}"
    assert SECRET not in shown
    assert "s1gnature" not in shown
    return raised.value


def test_what_is_sent() -> None:
    with serving(answered({"status": "ahead"})) as server, client_of(f"{server.url}/api/v3") as it:
        assert it.get(f"{REPO}/compare/a...b", {"page": "2"}) == {"status": "ahead"}
    (asked,) = server.asked
    assert asked.path == f"/api/v3{REPO}/compare/a...b?page=2"
    assert asked.headers["accept"] == "application/vnd.github+json"
    assert asked.headers["x-github-api-version"] == "2022-11-28"
    assert asked.headers["user-agent"] == f"benchgate/{__version__}"
    assert asked.headers["authorization"] == f"Bearer {SECRET}"
    assert "content-type" not in asked.headers


def test_what_is_written() -> None:
    with serving(answered({"id": 3}, 201)) as server, client_of(server.url) as it:
        assert it.post(COMMENTS, {"body": "a\u2019b"}) == {"id": 3}
        assert it.patch(f"{REPO}/issues/comments/3", {"body": "c"}) == {"id": 3}
        it.delete(f"{REPO}/issues/comments/3")
    created, changed, deleted = server.asked
    assert (deleted.method, deleted.path) == ("DELETE", f"{REPO}/issues/comments/3")
    assert (created.method, created.path) == ("POST", COMMENTS)
    assert created.headers["content-type"] == "application/json"
    assert created.body == b'{"body": "a\\u2019b"}'
    assert (changed.method, changed.body) == ("PATCH", b'{"body": "c"}')


def test_without_a_token() -> None:
    with serving(answered({})) as server, client_of(server.url, token=None) as it:
        it.get(REPO)
    assert "authorization" not in server.asked[0].headers


def test_a_token_shows_itself_to_nobody() -> None:
    token = Token(f" {SECRET}\n")
    assert SECRET not in f"{token} {token!r} {[token]}"
    assert token.authorization() == f"Bearer {SECRET}"
    assert not hasattr(token, "__dict__")


@pytest.mark.parametrize("value", ["", " \n", f"{SECRET}\r\nHost: example.org", f"{SECRET}\u2026"])
def test_what_no_header_can_hold_is_no_token(value: str) -> None:
    with pytest.raises(UsageError) as raised:
        Token(value)
    assert SECRET not in str(raised.value)
    assert "GITHUB_TOKEN" in raised.value.hint


@pytest.mark.parametrize(
    "url",
    [
        *("", "api.github.com", "http://api.github.com", "http://127.example.org"),
        *("ftp://localhost", "https://", "https://[", "https://api.github.com:port"),
    ],
)
def test_a_token_is_not_sent_just_anywhere(url: str) -> None:
    with pytest.raises(UsageError, match="not an address of GitHub's API"), client_of(url):
        pass


def test_a_redirect_to_another_host_is_followed_without_the_token() -> None:
    with (
        serving(Reply(body=b"zip")) as storage,
        serving(moved(storage.url + SIGNED)) as api,
        client_of(api.url) as it,
    ):
        assert it.download(ZIP, limit_bytes=3) == b"zip"
    assert api.asked[0].headers["authorization"] == f"Bearer {SECRET}"
    assert storage.asked[0].path == SIGNED
    assert "authorization" not in storage.asked[0].headers


@pytest.mark.parametrize("host", ["localhost", "user:password@127.0.0.1"])
def test_the_token_is_not_replaced_or_added_by_netrc_or_an_address(
    host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login a password b\nmachine localhost login a password b\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with serving(Reply(body=b"zip")) as storage:
        link = f"http://{host}:{storage.server_port}{SIGNED}"
        with serving(moved(link)) as api, client_of(api.url) as it:
            assert it.download(ZIP, limit_bytes=3) == b"zip"
    assert api.asked[0].headers["authorization"] == f"Bearer {SECRET}"
    assert "authorization" not in storage.asked[0].headers


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_renamed_repository_is_followed_with_the_token(status: int) -> None:
    replies = (moved("/repositories/1296269?x=1", status), answered({"id": 1}))
    with serving(*replies) as server, client_of(server.url) as it:
        assert it.get(REPO) == {"id": 1}
    assert server.asked[1].path == "/repositories/1296269?x=1"
    assert server.asked[1].headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_write_is_repeated_as_it_was_on_the_same_host_only(status: int) -> None:
    replies = (moved("/repositories/1296269/issues/7/comments", status), answered({"id": 1}, 201))
    with serving(*replies) as server, client_of(server.url) as it:
        assert it.post(COMMENTS, {"body": "a"}) == {"id": 1}
    assert server.asked[1].method == "POST"
    assert server.asked[1].body == server.asked[0].body
    with serving(answered({})) as other, serving(moved(f"{other.url}/x", status)) as api:
        with client_of(api.url) as it:
            error = refused(lambda: it.post(COMMENTS, {"body": "a"}))
        assert other.asked == []
    assert "it redirects to a forbidden address" in error.message


@pytest.mark.parametrize(
    "location",
    ["http://192.0.2.1/x", "file:///etc/passwd", "ftp://127.0.0.1/x", "http://[", "http://a:b/"],
)
def test_redirects_to_elsewhere_are_refused(location: str) -> None:
    with serving(moved(location)) as server, client_of(server.url) as it:
        error = refused(lambda: it.download(ZIP, limit_bytes=9))
    assert error.message.endswith("it redirects to a forbidden address")
    assert len(server.asked) == 1


def test_a_host_of_a_redirect_is_shown_harmlessly() -> None:
    with (
        serving(moved("http://\x1b[2J.localhost:1/")) as server,
        serving(moved("http://user:s1gnature@localhost:1/")) as other,
        client_of(server.url) as it,
        client_of(other.url) as that,
    ):
        assert refused(lambda: it.download(ZIP, limit_bytes=9)).message.isprintable()
        assert "from localhost:1: " in refused(lambda: that.download(ZIP, limit_bytes=9)).message


def test_the_body_of_a_redirect_may_be_endless() -> None:
    drops = (b" " for _ in itertools.count())
    endless = Reply(302, headers={"Location": "/there"}, chunks=drops)
    with serving(endless, answered({"id": 1})) as server, client_of(server.url) as it:
        assert it.get(REPO) == {"id": 1}


def test_the_bound_holds_for_redirects_too() -> None:
    with (
        serving(moved("/again")) as server,
        client_of(server.url, Time(step_s=9.0), limit_s=10.0) as it,
    ):
        error = refused(lambda: it.get(REPO))
    assert error.message.endswith("it timed out")
    assert len(server.asked) == 1


def test_redirects_end() -> None:
    with serving(moved("/again")) as server, client_of(server.url) as it:
        error = refused(lambda: it.get(REPO))
    assert error.message.endswith("it redirects too many times")
    assert len(server.asked) == 4


def test_a_link_that_is_over_is_replaced_by_a_fresh_one() -> None:
    stale = Reply(403, b"<Error><Code>AuthenticationFailed</Code></Error>")
    time = Time()
    with (
        serving(stale, Reply(body=b"zip")) as storage,
        serving(moved(storage.url + SIGNED)) as api,
        client_of(api.url, time) as it,
    ):
        assert it.download(ZIP, limit_bytes=3) == b"zip"
    assert (len(api.asked), len(storage.asked), time.slept) == (2, 2, [0.0])


def test_a_storage_that_refuses_is_named_without_its_link() -> None:
    with (
        serving(Reply(404)) as storage,
        serving(moved(storage.url + SIGNED)) as api,
        client_of(api.url) as it,
    ):
        error = refused(lambda: it.download(ZIP, limit_bytes=3))
    assert error.message == (
        f"GET {ZIP}: the storage at 127.0.0.1:{storage.server_port} answered 404"
    )
    assert error.status == 404


def test_a_storage_that_cannot_be_reached_is_named_without_its_link() -> None:
    with serving(Reply()) as gone:
        pass
    with serving(moved(gone.url + SIGNED)) as api, client_of(api.url) as it:
        error = refused(lambda: it.download(ZIP, limit_bytes=3))
    assert error.message == (
        f"GET {ZIP}: no answer from 127.0.0.1:{gone.server_port}: Connection refused"
    )


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(answered({"id": 1})) as proxy:
        address = proxy.url.replace("http://", "http://octocat:password@")
        monkeypatch.setenv("HTTP_PROXY", address)
        with client_of("http://127.0.0.1:1/api/v3") as it:
            assert it.get(REPO) == {"id": 1}
    (asked,) = proxy.asked
    assert asked.path == f"http://127.0.0.1:1/api/v3{REPO}"
    assert asked.headers["authorization"] == f"Bearer {SECRET}"
    assert asked.headers["proxy-authorization"].startswith("Basic ")


def test_a_proxy_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Reply()) as gone:
        monkeypatch.setenv("HTTP_PROXY", gone.url)
    with client_of("http://127.0.0.1:1") as it:
        error = refused(lambda: it.post(COMMENTS, {}))
    assert "the connection through the proxy failed" in error.message
    assert "HTTPS_PROXY" in error.hint


def test_a_server_that_is_not_there_is_asked_again() -> None:
    with serving(Reply()) as gone:
        pass
    time = Time()
    with client_of(gone.url, time) as it:
        error = refused(lambda: it.post(COMMENTS, {}))
    assert error.message.endswith("Connection refused")
    assert time.slept == [1.0, 2.0, 4.0, 8.0]


@pytest.mark.parametrize("failure", [Reply(dropped=True), Reply(502), Reply(body=b"{}", cut=True)])
def test_a_get_is_repeated_and_a_post_is_not(failure: Reply) -> None:
    with serving(failure, answered({"id": 1})) as server, client_of(server.url) as it:
        assert it.get(REPO) == {"id": 1}
    with serving(failure, answered({"id": 1})) as server, client_of(server.url) as it:
        assert it.patch(REPO, {}) == {"id": 1}
    with serving(failure, answered({"id": 1})) as server, client_of(server.url) as it:
        error = refused(lambda: it.post(COMMENTS, {}))
    assert len(server.asked) == 1
    assert "may have done it anyway" in error.hint


def test_a_rate_limit_is_waited_for() -> None:
    limited = answered({"message": "slow down"}, 403, retry_after="30")
    time = Time()
    with serving(limited, answered({"id": 1}, 201)) as server, client_of(server.url, time) as it:
        assert it.post(COMMENTS, {"body": "a"}) == {"id": 1}
    assert time.slept == [30.0]


def test_a_rate_limit_beyond_the_bound_is_given_up_at_once() -> None:
    limited = answered({"message": "slow down"}, 429, retry_after="130")
    time = Time()
    with serving(limited) as server, client_of(server.url, time, limit_s=120.0) as it:
        error = refused(lambda: it.get(REPO))
    assert (len(server.asked), time.slept) == (1, [])
    assert error.message == f"GET {REPO}: GitHub answered 429: slow down"
    assert "2 min 10 s" in error.hint


def test_the_bound_holds_for_all_repetitions_together() -> None:
    limited = answered({"message": "slow down"}, 429, retry_after="50")
    time = Time()
    with serving(limited) as server, client_of(server.url, time, limit_s=120.0) as it:
        refused(lambda: it.get(REPO))
    assert time.slept == [50.0, 50.0]
    assert len(server.asked) == 3


def test_the_bound_holds_for_all_pages_together() -> None:
    limited = answered({}, 429, retry_after="50")

    def next_page(asked: Asked) -> Reply:
        return answered([{"id": 1}], link=f'<http://{asked.headers["host"]}/2>; rel="next"')

    time = Time()
    with (
        serving(limited, next_page, limited, next_page, limited) as server,
        client_of(server.url, time, limit_s=120.0) as it,
    ):
        items = it.pages(COMMENTS)
        assert [next(items), next(items)] == [{"id": 1}, {"id": 1}]
        time.now_s += 1000.0  # of whoever uses the items
        refused(lambda: next(items))
    assert time.slept == [50.0, 50.0]


def test_an_answer_that_comes_in_drops_is_bounded_too() -> None:
    drops = (b" " for _ in itertools.count())
    with (
        serving(Reply(chunks=drops)) as server,
        client_of(server.url, Time(step_s=9.0), limit_s=60.0) as it,
    ):
        error = refused(lambda: it.get(REPO))
    assert error.message.endswith("it timed out")


def test_a_silent_server_is_bounded_too() -> None:
    done = threading.Event()

    def silence(_: Asked) -> Reply:
        done.wait(30)
        return Reply(dropped=True)

    with serving(silence) as server:
        try:
            with client_of(server.url, RealTime(), limit_s=0.2) as it:
                error = refused(lambda: it.get(REPO))
        finally:
            done.set()
    assert error.message.endswith("it timed out")


def test_writes_keep_a_second_apart() -> None:
    time = Time()
    with serving(answered({"id": 1})) as server, client_of(server.url, time) as it:
        it.post(COMMENTS, {})
        it.get(REPO)
        assert time.slept == []
        it.patch(REPO, {})
        time.now_s += 5
        it.post(COMMENTS, {})
    assert time.slept == [1.0]


def test_a_list_is_followed_over_its_pages() -> None:
    def page(asked: Asked) -> Reply:
        number = int(asked.path.rpartition("page=")[2]) if "&page=" in asked.path else 1
        base = f"http://{asked.headers['host']}{COMMENTS}?per_page=100"
        links = f'<{base}&page=1>; rel="first", <{base}&page={number + 1}>; rel="next"'
        return answered([{"id": number}], Link=links if number < 3 else "")

    with serving(page) as server, client_of(server.url) as it:
        items = it.pages(COMMENTS, {"sort": "created"})
        assert next(items) == {"id": 1}
        assert len(server.asked) == 1
        assert list(items) == [{"id": 2}, {"id": 3}]
    assert server.asked[0].path == f"{COMMENTS}?per_page=100&sort=created"


def test_a_list_inside_of_an_object() -> None:
    reply = answered({"total_count": 2, "artifacts": [{"id": 1}, {"id": 2}]})
    with serving(reply) as server, client_of(server.url) as it:
        assert list(it.pages(REPO, key="artifacts")) == [{"id": 1}, {"id": 2}]


def test_pages_lead_to_no_other_host_and_end() -> None:
    with serving(answered([])) as other:
        link = f'<{other.url}/2>; rel="next"'
        with serving(answered([], Link=link)) as api, client_of(api.url) as it:
            error = refused(lambda: list(it.pages(COMMENTS)))
        assert other.asked == []
    assert "another host" in error.message

    def same(asked: Asked) -> Reply:
        return answered([], Link=f'<http://{asked.headers["host"]}/x>; rel="next"')

    with serving(same) as api, client_of(api.url) as it:
        error = refused(lambda: list(it.pages(COMMENTS)))
    assert f"more than {MAX_PAGES} pages" in error.message
    assert len(api.asked) == MAX_PAGES


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"<html>Log in to the network</html>", "it is not JSON"),
        (b"", "it is not JSON"),
        (b"[" * 100_000, "it is not JSON"),
        (b"\xff", "it is not JSON"),
        (b"[]", "it is not an object"),
        (b'{"artifacts": {}}', "`artifacts` is not a list"),
        (b'{"artifacts": [1]}', "it is not an object"),
    ],
)
def test_answers_that_cannot_be_used(body: bytes, why: str) -> None:
    with serving(Reply(body=body)) as server, client_of(server.url) as it:
        error = refused(lambda: list(it.pages(REPO, key="artifacts")))
        assert error.message == f"GET {REPO}: GitHub's answer cannot be used: {why}"
        if body.startswith(b"{"):
            assert it.get(REPO)
        else:
            refused(lambda: it.get(REPO))


def test_a_download_is_bounded() -> None:
    for reply in (
        Reply(body=b"12345"),
        Reply(chunks=(b"1" * 1000 for _ in itertools.count())),
        Reply(body=gzip.compress(bytes(50_000_000)), headers={"Content-Encoding": "gzip"}),
    ):
        with serving(reply) as server, client_of(server.url) as it:
            assert it.download(ZIP, limit_bytes=4) is None


def test_json_is_bounded_and_may_be_compressed() -> None:
    large = Reply(chunks=(b" " * 1_000_000 for _ in range(MAX_JSON_BYTES // 1_000_000 + 2)))
    packed = Reply(body=gzip.compress(b'{"id": 1}'), headers={"Content-Encoding": "gzip"})
    with serving(large, packed) as server, client_of(server.url) as it:
        assert "holds more than" in refused(lambda: it.get(REPO)).message
        assert it.get(REPO) == {"id": 1}


def test_the_message_of_a_failure_is_bounded() -> None:
    endless = Reply(422, chunks=(b"x" * 1000 for _ in itertools.count()))
    with serving(endless) as server, client_of(server.url) as it:
        error = refused(lambda: it.get(REPO))
    assert error.message == f"GET {REPO}: GitHub answered 422"


def secured(server: Server, folder: Path) -> Path:
    """Put a server behind TLS; the certificate, which nobody has signed."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    name = ("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1")
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    subprocess.run(
        ["openssl", "req", "-x509", *curve, *name, "-keyout", key, "-out", certificate],  # noqa: S607 - the system's
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    return certificate


def test_certificates_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(answered({"id": 1})) as plain, serving(answered({"id": 1})) as server:
        certificate = secured(server, tmp_path)
        url = server.url.replace("http:", "https:")
        with client_of(url) as it:
            error = refused(lambda: it.get(REPO))
        assert error.message.endswith("its certificate is not trusted")
        assert "REQUESTS_CA_BUNDLE" in error.hint
        assert server.asked == []
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
        with client_of(url) as it:
            assert it.get(REPO) == {"id": 1}
            server.replies = [moved(plain.url)]
            error = refused(lambda: it.get(REPO))
        assert error.message.endswith("it redirects to a forbidden address")
        assert plain.asked == []
