"""Trees of clones that lack files, which a server gives only to those who send a token."""

from __future__ import annotations

import shutil
import tempfile
from typing import TYPE_CHECKING

import pytest
from tests.measure.git_server import AUTHORIZED, TOKEN, GitServer, git_server

from benchgate.errors import BaselineError, UsageError
from benchgate.git.changes import changed_since, settings_digest
from benchgate.git.committed import read_committed
from benchgate.git.repository import Git, with_token
from benchgate.measure.arm import ArmName
from benchgate.measure.trees.checkouts import two_arms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    Commit = Callable[[Git, Mapping[str, str]], str]

needs_lfs = pytest.mark.skipif(not shutil.which("git-lfs"), reason="needs git-lfs")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    with git_server(tmp_path) as one:
        yield one


@pytest.fixture
def clone(repo: Git, server: GitServer, tmp_path: Path) -> Callable[..., Git]:
    """Clone the project from the server; nothing of the token stays in the clone."""
    repo.run("config", "uploadpack.allowFilter", "true")
    repo.run("config", "uploadpack.allowAnySHA1InWant", "true")

    def make(*options: str) -> Git:
        url = f"{server.url}/{repo.root.name}/.git"
        authorized = with_token(repo, server.url, TOKEN, {})
        command = ("clone", "--quiet", *options, url, str(tmp_path / "clone"))
        authorized.run(*command, may_fetch=True)
        server.asked.clear()
        return Git(tmp_path / "clone")

    return make


def as_checkout_does(git: Git, server: GitServer) -> None:
    """Leave a token in the configuration."""
    git.run("config", f"http.{server.url}/.extraheader", f"AUTHORIZATION: {AUTHORIZED[0]}")


@pytest.mark.parametrize("lacks", ["blob:none", "tree:0"])
@pytest.mark.parametrize("persists", [False, True])
def test_a_partial_clone(
    repo: Git,
    commit: Commit,
    server: GitServer,
    clone: Callable[..., Git],
    *,
    lacks: str,
    persists: bool,
) -> None:
    base = commit(repo, {"a": "1", "benchgate.toml": "[gate]"})
    commit(repo, {"a": "2", "benchgate.toml": ""})
    git = clone(f"--filter={lacks}")
    with pytest.raises(BaselineError), two_arms(git, base):
        pass
    if persists:
        as_checkout_does(git, server)
    git = with_token(git, server.url, TOKEN, {})
    assert changed_since(git, base, most=9) == ("a", "benchgate.toml")
    assert read_committed(git, base, "benchgate.toml") == "[gate]"
    with two_arms(git, base) as trees:
        found = {name: (arm.root / "a").read_text() for name, arm in trees.arms.items()}
    assert found == {ArmName.BASE: "1", ArmName.HEAD: "2"}
    assert server.asked


@pytest.mark.slow
@needs_lfs
@pytest.mark.parametrize("persists", [False, True])
def test_files_of_git_lfs(
    repo: Git, commit: Commit, server: GitServer, clone: Callable[..., Git], *, persists: bool
) -> None:
    attributes = {".gitattributes": "*.bin filter=lfs -text\n"}
    base = commit(repo, {**attributes, "a.bin": server.keep(b"1")})
    commit(repo, {"a.bin": server.keep(b"2")})
    git = clone()
    git.run("lfs", "install", "--local", "--skip-repo")
    (git.root / "a.bin").write_bytes(b"2")
    if persists:
        as_checkout_does(git, server)
    before = settings_digest(git)
    with two_arms(with_token(git, server.url, TOKEN, {}), base) as trees:
        found = {name: (arm.root / "a.bin").read_bytes() for name, arm in trees.arms.items()}
    assert found == {ArmName.BASE: b"1", ArmName.HEAD: b"2"}
    assert settings_digest(git) == before
    assert any(path.startswith("/large/") for path in server.asked)


@pytest.mark.slow
@needs_lfs
def test_without_a_token_the_error_says_what_is_missing(
    repo: Git, commit: Commit, server: GitServer, clone: Callable[..., Git]
) -> None:
    attributes = {".gitattributes": "*.bin filter=lfs -text\n"}
    base = commit(repo, {**attributes, "a.bin": server.keep(b"1")})
    git = clone()
    git.run("lfs", "install", "--local", "--skip-repo")
    with pytest.raises((BaselineError, UsageError)) as raised, two_arms(git, base):
        pass
    assert "git lfs fetch --all" in (raised.value.hint or "")
