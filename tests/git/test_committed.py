from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.errors import UsageError
from benchgate.git.committed import committed_bytes, read_committed, resolve_committed

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.git.repository import Git


def test_a_commit_is_read_whatever_is_checked_out(repo: Git, commit: Callable[..., str]) -> None:
    first = commit(repo, {"a.toml": "1\n", "sub folder/ü[1].toml": "x = '\r\n'"})
    second = commit(repo, {"a.toml": "2\n", "b.toml": ""})
    (repo.root / "a.toml").write_text("3\n")
    assert read_committed(repo, first, "a.toml") == "1\n"
    assert read_committed(repo, second, "a.toml") == "2\n"
    assert read_committed(repo, first, "sub folder/ü[1].toml") == "x = '\r\n'"
    assert read_committed(repo, second, "b.toml") == ""
    assert read_committed(repo, first, "b.toml") is None


@pytest.mark.parametrize("path", ["sub", "sub/nope", "../a.toml", ":(glob)*", "*", "-z"])
def test_what_is_no_file(repo: Git, commit: Callable[..., str], path: str) -> None:
    sha = commit(repo, {"a.toml": "1", "sub/b.toml": "1"})
    assert read_committed(repo, sha, path) is None


def test_links_are_followed_inside_of_the_commit(repo: Git, commit: Callable[..., str]) -> None:
    (repo.root / "ci").mkdir()
    for name, target in {
        "link.toml": "ci/again.toml",
        "ci/again.toml": "../real.toml",
        "outside.toml": "/etc/hostname",
        "above.toml": "../../etc/hostname",
        "circle.toml": "circle.toml",
    }.items():
        (repo.root / name).symlink_to(target)
    sha = commit(repo, {"real.toml": "x = 1"})
    assert read_committed(repo, sha, "link.toml") == "x = 1"
    for name in ("outside.toml", "above.toml", "circle.toml"):
        assert read_committed(repo, sha, name) is None


def test_folders_may_be_links(repo: Git, commit: Callable[..., str]) -> None:
    for name, target in {
        "bench": "./real/deep",
        "real/up": "../real",
        "outside": "/etc",
        "above": "../..",
        "loop": "loop/x",
    }.items():
        (repo.root / name).parent.mkdir(exist_ok=True)
        (repo.root / name).symlink_to(target)
    sha = commit(repo, {"real/deep/a.toml": "x = 12"})
    for path, real in {
        "": "",
        ".": "",
        "bench": "real/deep",
        "bench/new/a.toml": "real/deep/new/a.toml",
        "real/up/up/deep": "real/deep",
        "bench/../up": "real",
        "gone/b": "gone/b",
        "outside/hostname": None,
        "above/x": None,
        "../x": None,
        "/x": None,
        "loop": None,
    }.items():
        assert resolve_committed(repo, sha, path) == real
    assert read_committed(repo, sha, "bench/a.toml") == "x = 12"
    assert committed_bytes(repo, sha, "bench/a.toml") == 6
    assert committed_bytes(repo, sha, "bench") == 0
    assert committed_bytes(repo, sha, "outside") == 0


def test_a_commit_that_is_not_here(repo: Git, commit: Callable[..., str]) -> None:
    commit(repo, {"a.toml": "1"})
    with pytest.raises(UsageError):
        read_committed(repo, "deadbeef" * 5, "a.toml")
