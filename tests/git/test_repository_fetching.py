from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from benchgate.errors import BaselineError
from benchgate.git.repository import Git, ensure_commit, with_token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    Commit = Callable[[Git, Mapping[str, str]], str]


@pytest.fixture
def shallow(repo: Git, commit: Commit, tmp_path: Path) -> tuple[Git, str, str]:
    """A clone of one commit, and the commits that it has and lacks."""
    repo.run("config", "uploadpack.allowAnySHA1InWant", "true")
    first = commit(repo, {"a": "1"})
    second = commit(repo, {"a": "2"})
    repo.run("clone", "--quiet", "--depth=1", f"file://{repo.root}", str(tmp_path / "clone"))
    return Git(tmp_path / "clone"), second, first


def test_a_missing_commit_is_fetched_alone(shallow: tuple[Git, str, str]) -> None:
    git, here, missing = shallow
    assert git.rev_parse(missing) is None
    ensure_commit(git, missing)
    assert git.run("show", f"{missing}:a") == "1"
    assert git.head_sha() == here
    assert git.is_shallow()


def test_a_complete_clone_stays_complete(repo: Git, commit: Commit, tmp_path: Path) -> None:
    commit(repo, {"a": "1"})
    repo.run("clone", "--quiet", f"file://{repo.root}", str(tmp_path / "clone"))
    later = commit(repo, {"a": "2"})
    git = Git(tmp_path / "clone")
    ensure_commit(git, later)
    assert git.rev_parse(later) == later
    assert not git.is_shallow()


def test_what_is_here_needs_no_remote(repo: Git, commit: Commit) -> None:
    ensure_commit(repo, commit(repo, {"a": "1"}))


def test_a_commit_that_exists_nowhere_is_an_error_with_gits_words(
    shallow: tuple[Git, str, str],
) -> None:
    git, _, _ = shallow
    with pytest.raises(BaselineError, match="cannot be fetched from origin") as raised:
        ensure_commit(git, "f" * 40)
    assert raised.value.message.startswith("the base commit ffff")
    assert "f" * 40 in raised.value.details
    assert "contents: read" in raised.value.hint


def test_without_a_remote_there_is_nothing_to_fetch_from(repo: Git, commit: Commit) -> None:
    commit(repo, {"a": "1"})
    with pytest.raises(BaselineError, match="has no remote"):
        ensure_commit(repo, "f" * 40)


@pytest.fixture
def server() -> Iterator[tuple[str, list[list[str]]]]:
    """A server that refuses everything, and the Authorization headers of each request."""
    seen: list[list[str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers.get_all("Authorization") or [])
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{http.server_port}", seen
    http.shutdown()
    http.server_close()


TOKEN = ["basic eC1hY2Nlc3MtdG9rZW46c2VjcmV0"]


def test_the_token_goes_to_its_server(
    shallow: tuple[Git, str, str], server: tuple[str, list[list[str]]]
) -> None:
    git, _, missing = shallow
    url, seen = server
    git.run("remote", "set-url", "origin", f"{url}/octo-org/hello")
    with pytest.raises(BaselineError) as raised:
        ensure_commit(with_token(git, url, "secret", {}), missing)
    assert seen[0] == TOKEN
    assert "secret" not in raised.value.details
    assert "secret" not in git.run("config", "--list")


@pytest.mark.parametrize(
    ("header", "sent"),
    [
        ("AUTHORIZATION: basic of-the-checkout", ["basic of-the-checkout"]),
        ("X-Of-The-Proxy: 1", TOKEN),
    ],
)
def test_what_the_checkout_sends_is_sent_once(
    shallow: tuple[Git, str, str],
    server: tuple[str, list[list[str]]],
    header: str,
    sent: list[str],
) -> None:
    git, _, missing = shallow
    url, seen = server
    git.run("remote", "set-url", "origin", f"{url}/octo-org/hello")
    git.run("config", f"http.{url}/.extraheader", header)
    with pytest.raises(BaselineError):
        ensure_commit(with_token(git, url, "secret", {}), missing)
    assert seen[0] == sent


def test_the_token_goes_to_no_other_server(
    shallow: tuple[Git, str, str], server: tuple[str, list[list[str]]]
) -> None:
    git, _, missing = shallow
    url, seen = server
    git.run("remote", "set-url", "origin", f"{url}/octo-org/hello")
    with pytest.raises(BaselineError):
        ensure_commit(with_token(git, "https://github.com", "secret", {}), missing)
    assert seen[0] == []


def test_only_what_may_fetch_gets_the_token(repo: Git) -> None:
    git = with_token(repo, "https://github.com", "secret", {})
    git.run("config", "alias.shown", "!env | grep GIT_CONFIG_KEY || true")
    assert git.run("shown") == ""
    assert "github.com" in git.run("shown", may_fetch=True)
    assert "AUTHORIZATION" not in repr(git)


def test_settings_of_the_caller_stay(repo: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "lfs.concurrenttransfers",
        "GIT_CONFIG_VALUE_0": "3",
    }
    for name, value in caller.items():
        monkeypatch.setenv(name, value)
    git = with_token(repo, "https://github.com", "secret", caller)
    settings = git.run("config", "--list", "--name-only", may_fetch=True).splitlines()
    assert {"lfs.concurrenttransfers", "http.https://github.com/.extraheader"} <= {*settings}
