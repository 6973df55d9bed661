from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchgate.git.changes import Changes, changed_since, gitlinks, parse_status, read_changes

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.git.repository import Git


def test_every_kind_of_change(repo: Git, commit: Callable[..., str]) -> None:
    commit(repo, {name: name for name in ("edited", "staged", "gone", "unstaged", "old", "same")})
    (repo.root / "edited").write_text("2")
    (repo.root / "staged").write_text("2")
    repo.run("add", "staged")
    (repo.root / "gone").unlink()
    repo.run("rm", "--quiet", "--cached", "unstaged")
    repo.run("mv", "old", "renamed")
    for name in ("new", "announced", "both", "ignored"):
        (repo.root / name).write_text("1")
    repo.run("add", "--intent-to-add", "announced")
    repo.run("add", "both")
    (repo.root / "both").unlink()
    (repo.root / ".git/info/exclude").write_text("ignored\n")
    found = read_changes(repo)
    assert found == Changes(
        modified=("announced", "edited", "renamed", "staged"),
        absent=("both", "gone", "old", "unstaged"),
        untracked=("new", "unstaged"),
    )
    assert found.dirty


def test_a_new_file_is_measured_and_so_it_is_a_change(
    repo: Git, commit: Callable[..., str]
) -> None:
    commit(repo, {"a": "1"})
    (repo.root / "result.json").write_text("{}")
    found = read_changes(repo)
    assert found == Changes(untracked=("result.json",))
    assert found.differs
    assert not found.dirty


def test_what_we_write_ourselves_is_no_change(repo: Git, commit: Callable[..., str]) -> None:
    commit(repo, {"a": "1", "sub/b": "1"})
    for name in ("result.json", "sub/[x].md", "sub/x.md", "new"):
        (repo.root / name).write_text("{}")
    outputs = tuple(repo.root / name for name in ("result.json", "sub/[x].md", "../elsewhere"))
    assert read_changes(replace(repo, outputs=outputs)) == Changes(untracked=("new", "sub/x.md"))


def test_where_only_our_files_are_new_nothing_differs(
    repo: Git, commit: Callable[..., str]
) -> None:
    commit(repo, {"a": "1"})
    (repo.root / "result.json").write_text("{}")
    assert not read_changes(replace(repo, outputs=(repo.root / "result.json",))).differs


def test_mode_kind_and_odd_names(repo: Git, commit: Callable[..., str]) -> None:
    commit(repo, {"run me": "1", "link": "1", "folder/a": "1"})
    (repo.root / "run me").chmod(0o755)
    (repo.root / "link").unlink()
    (repo.root / "link").symlink_to("run me")
    (repo.root / "folder/a").unlink()
    (repo.root / "folder").rmdir()
    (repo.root / "folder").symlink_to("elsewhere")
    (repo.root / "new\nline\tü → x").write_text("1")
    assert read_changes(repo) == Changes(
        modified=("link", "run me"),
        absent=("folder/a",),
        untracked=("folder", "new\nline\tü → x"),
    )


def test_users_settings_change_nothing(repo: Git, commit: Callable[..., str]) -> None:
    commit(repo, {"a": "1", "b/c": "1"})
    for key, value in {
        "status.showUntrackedFiles": "no",
        "status.renames": "copies",
        "status.relativePaths": "true",
        "color.status": "always",
    }.items():
        repo.run("config", key, value)
    repo.run("mv", "a", "z")
    (repo.root / "b/new").write_text("1")
    assert read_changes(repo) == Changes(modified=("z",), absent=("a",), untracked=("b/new",))


def test_conflicts_are_told_apart(repo: Git, commit: Callable[..., str]) -> None:
    commit(repo, {"a": "1"})
    repo.run("checkout", "--quiet", "-b", "side")
    commit(repo, {"a": "2"})
    repo.run("checkout", "--quiet", "main")
    commit(repo, {"a": "3"})
    assert repo.ask("merge", "side") is None
    assert read_changes(repo) == Changes(conflicts=("a",))


def test_submodules_and_repositories(
    repo: Git, make_repo: Callable[[str], Git], commit: Callable[..., str]
) -> None:
    library = make_repo("library")
    first = commit(library, {"x": "1"})
    repo.run(
        *("-c", "protocol.file.allow=always", "submodule", "--quiet", "add"),
        *(str(library.root), "lib one"),
    )
    assert gitlinks(repo) == {"lib one": first}
    added = commit(repo, {"a": "1"})
    assert gitlinks(repo, added) == {"lib one": first}
    assert read_changes(repo) == Changes()
    (repo.root / "lib one/x").write_text("2")
    repo.run("init", "--quiet", "nested")
    assert read_changes(repo) == Changes(submodules=("lib one",), repositories=("nested/",))


@pytest.mark.parametrize("status", ["", "\0"])
def test_nothing_to_say(status: str) -> None:
    assert parse_status(status) == Changes()


def test_files_that_differ_from_a_commit_come_with_most_changed_lines_first(
    repo: Git, commit: Callable[..., str]
) -> None:
    base = commit(repo, {"a.py": "1\n", "b\tc.py": "1\n", "gone.py": "1\n", "picture": "1\n"})
    commit(repo, {"a.py": "2\n", "README.md": "1\n" * 9, "new.py": "1\n"})
    (repo.root / "b\tc.py").write_text("1\n2\n3\n4\n")
    (repo.root / "gone.py").unlink()
    (repo.root / "picture").write_bytes(b"\0\1")
    assert changed_since(repo, base, most=9) == ("b\tc.py", "a.py", "gone.py", "new.py", "picture")
    assert changed_since(repo, base, most=2) == ("b\tc.py", "a.py")


def test_looking_for_changes_leaves_the_index_alone(repo: Git, commit: Callable[..., str]) -> None:
    base = commit(repo, {"a": "1", "b": "1"})
    index = repo.root / ".git" / "index"
    before = index.read_bytes()
    os.utime(repo.root / "a", (1, 1))
    assert changed_since(repo, base, most=9) == ()
    assert not read_changes(repo).differs
    assert index.read_bytes() == before
