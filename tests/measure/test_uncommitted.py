from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from benchgate.errors import UsageError
from benchgate.measure.trees.uncommitted import overlay

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchgate.git.repository import Git

    Commit = Callable[..., str]


@pytest.fixture
def fresh(repo: Git, tmp_path: Path) -> Callable[[], Path]:
    """Make a fresh checkout of HEAD."""

    def make() -> Path:
        tree = tmp_path / "tree"
        repo.run("worktree", "add", "--quiet", "--detach", str(tree))
        return tree

    return make


def listing(tree: Path) -> dict[str, tuple[str, str]]:
    """Kind and content of everything in a tree but git's own file or folder."""
    found = {}
    for folder, folders, files in os.walk(tree):
        folders[:] = [name for name in folders if name != ".git"]
        for name in [*files, *folders]:
            path = tree.__class__(folder) / name
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                found[str(path.relative_to(tree))] = ("link", str(path.readlink()))
            elif stat.S_ISREG(mode) and name != ".git":
                kind = "program" if mode & stat.S_IXUSR else "file"
                found[str(path.relative_to(tree))] = (kind, path.read_text())
            elif stat.S_ISDIR(mode):
                found[str(path.relative_to(tree))] = ("folder", "")
    return found


def test_every_kind_of_change(repo: Git, commit: Commit, fresh: Callable[[], Path]) -> None:
    names = ("edited", "staged", "gone", "deep/er/gone", "old", "same", "run", "link", "dropped")
    commit(repo, {name: name for name in names})
    tree, root = fresh(), repo.root
    (root / "edited").write_text("2")
    (root / "staged").write_text("2")
    repo.run("add", "staged")
    repo.run("rm", "--quiet", "dropped")
    (root / "gone").unlink()
    (root / "deep/er/gone").unlink()
    (root / "deep/er").rmdir()
    (root / "deep").rmdir()
    repo.run("mv", "old", "renamed")
    (root / "run").chmod(0o755)
    (root / "link").unlink()
    (root / "link").symlink_to("edited")
    (root / "broken").symlink_to("nowhere")
    (root / "sub").mkdir()
    (root / "sub/new").write_text("new")
    repo.run("add", "--intent-to-add", "sub/new")
    assert overlay(repo, tree, tree.parent) == ()
    assert listing(tree) == listing(root)


def test_ignored_files_stay_behind(repo: Git, commit: Commit, fresh: Callable[[], Path]) -> None:
    commit(repo, {".gitignore": "*.so\n", "a": "1"})
    tree = fresh()
    (repo.root / "built.so").write_text("for another interpreter")
    (repo.root / "b").write_text("1")
    overlay(repo, tree, tree.parent)
    assert set(listing(tree)) == {".gitignore", "a", "b"}


@pytest.mark.parametrize(
    "name",
    ["with space", "new\nline", "carriage\rreturn", "ünïcödé", "-dash", "*?[", '"q"\\', "\t"],
)
def test_odd_names(repo: Git, commit: Commit, fresh: Callable[[], Path], name: str) -> None:
    commit(repo, {f"{name}/changed": "1", f"{name}/gone": "1"})
    tree = fresh()
    (repo.root / name / "changed").write_text("2")
    (repo.root / name / "gone").unlink()
    (repo.root / name / f"new {name}").write_text("3")
    overlay(repo, tree, tree.parent)
    assert listing(tree) == listing(repo.root)


def test_name_that_is_not_utf8(repo: Git, commit: Commit, fresh: Callable[[], Path]) -> None:
    commit(repo, {"a": "1"})
    tree = fresh()
    name = os.fsdecode(b"latin-\xe9")
    try:
        (repo.root / name).write_text("1")
    except OSError:
        pytest.skip("this file system knows UTF-8 only")
    overlay(repo, tree, tree.parent)
    assert (tree / name).read_text() == "1"


def test_kinds_that_changed(repo: Git, commit: Commit, fresh: Callable[[], Path]) -> None:
    commit(repo, {"file": "1", "folder/a": "1", "target/a": "elsewhere", "linked/a": "1"})
    (repo.root / "way").symlink_to("target")
    commit(repo, {})
    tree, root = fresh(), repo.root
    (root / "file").unlink()
    (root / "file").mkdir()
    (root / "file/inside").write_text("1")
    for name in ("folder", "linked"):
        (root / name / "a").unlink()
        (root / name).rmdir()
    (root / "folder").write_text("now a file")
    (root / "linked").symlink_to("target")
    (root / "way").unlink()
    (root / "way").mkdir()
    (root / "way/a").write_text("not to be written through the link")
    overlay(repo, tree, tree.parent)
    assert listing(tree) == listing(root)
    assert (tree / "target/a").read_text() == "elsewhere"


def test_bytes_are_those_of_the_user_whatever_git_converts(
    repo: Git, commit: Commit, fresh: Callable[[], Path]
) -> None:
    commit(repo, {"a": "1\n2\n", "b": "1\n2\n"})
    repo.run("config", "core.autocrlf", "true")
    tree = fresh()
    assert (tree / "b").read_bytes() == b"1\r\n2\r\n"
    (repo.root / "a").write_bytes(b"mixed\r\nlines\n")
    overlay(repo, tree, tree.parent)
    assert (tree / "a").read_bytes() == b"mixed\r\nlines\n"


def test_what_is_no_file_stays_behind(repo: Git, commit: Commit, fresh: Callable[[], Path]) -> None:
    commit(repo, {"a": "1", "b": "1"})
    tree = fresh()
    os.mkfifo(repo.root / "pipe")
    (repo.root / "b").unlink()
    os.mkfifo(repo.root / "b")
    assert overlay(repo, tree, tree.parent) == ()
    assert not (tree / "pipe").exists()


def test_repository_inside_is_named(repo: Git, commit: Commit, fresh: Callable[[], Path]) -> None:
    commit(repo, {"a": "1"})
    tree = fresh()
    repo.run("init", "--quiet", "vendor")
    (note,) = overlay(repo, tree, tree.parent)
    assert note == "not measured: vendor/ is a separate git repository, not a submodule"
    assert not (tree / "vendor").exists()


def test_unresolved_merge(repo: Git, commit: Commit, fresh: Callable[[], Path]) -> None:
    files = ("a", "b", "c", "d")
    commit(repo, dict.fromkeys(files, "1"))
    repo.run("checkout", "--quiet", "-b", "side")
    commit(repo, dict.fromkeys(files, "2"))
    repo.run("checkout", "--quiet", "main")
    commit(repo, dict.fromkeys(files, "3"))
    tree = fresh()
    assert repo.ask("merge", "side") is None
    with pytest.raises(UsageError, match="merge conflicts: a, b, c and 1 more") as raised:
        overlay(repo, tree, tree.parent)
    assert "git merge --abort" in raised.value.hint


def test_removed_submodule(
    repo: Git, make_repo: Callable[[str], Git], commit: Commit, fresh: Callable[[], Path]
) -> None:
    library = make_repo("library")
    commit(library, {"x": "1"})
    repo.run(
        *("-c", "protocol.file.allow=always", "submodule", "--quiet", "add"),
        *(str(library.root), "lib"),
    )
    commit(repo, {"a": "1"})
    tree = fresh()
    repo.run("rm", "--quiet", "lib")
    overlay(repo, tree, tree.parent)
    assert listing(tree) == listing(repo.root)


def test_hidden_changes_are_left_out_with_a_note(
    repo: Git, commit: Commit, fresh: Callable[[], Path]
) -> None:
    commit(repo, {"local": "1", "mine": "1"})
    repo.run("update-index", "--skip-worktree", "local")
    repo.run("update-index", "--assume-unchanged", "mine")
    tree = fresh()
    assert overlay(repo, tree, tree.parent) == ()
    (repo.root / "local").write_text("2")
    (repo.root / "mine").write_text("2")
    why = "because git was told to hide the changes (git update-index"
    assert overlay(repo, tree, tree.parent) == (
        f"measured as committed: local, {why} --no-skip-worktree FILE shows them)",
        f"measured as committed: mine, {why} --no-assume-unchanged FILE shows them)",
    )
    assert ((tree / "local").read_text(), (tree / "mine").read_text()) == ("1", "1")
