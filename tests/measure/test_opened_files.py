from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchgate.measure.reach import opened_files
from benchgate.measure.reach.opened_files import CannotWatchError, Folders, Watch, folders_below

only_linux = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("a/file", "a/deep/file", "b/file", "skipped/file", "marked/mark", "marked/x/y"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("#!/bin/sh\n")
    return tmp_path


def test_folders_are_listed_level_by_level(tree: Path) -> None:
    found = folders_below([tree, tree / "absent"], frozenset({"skipped"}), ["mark"])
    assert found == Folders((tree, tree / "a", tree / "b", tree / "a" / "deep"), complete=True)


def test_links_are_not_followed(tree: Path) -> None:
    (tree / "b" / "link").symlink_to(tree / "a")
    assert tree / "b" / "link" not in folders_below([tree], frozenset()).found


def test_too_many_folders_are_listed_in_part(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened_files, "MOST_FOLDERS", 2)
    assert folders_below([tree], frozenset()) == Folders((tree, tree / "a"), complete=False)


@only_linux
@pytest.mark.parametrize("command", [["cat", "a/deep/file"], ["a/deep/file"]])
def test_a_file_that_is_read_or_run_is_seen(tree: Path, command: list[str]) -> None:
    (tree / "a/deep/file").chmod(0o755)
    with Watch(folders_below([tree], frozenset()).found) as watch:
        assert watch.opened() == frozenset()
        subprocess.run(command, cwd=tree, check=True)
        assert watch.opened() == {tree / "a/deep/file"}
        assert watch.opened() == frozenset()


@only_linux
def test_listing_and_asking_are_no_opening(tree: Path) -> None:
    with Watch(folders_below([tree], frozenset()).found) as watch:
        assert list(tree.rglob("*"))
        assert (tree / "a/file").stat().st_size
        assert watch.opened() == frozenset()


@only_linux
def test_what_is_gone_or_no_folder_is_left_out(tree: Path) -> None:
    with Watch([tree / "absent", tree / "a/file", tree / "b"]) as watch:
        (tree / "b/file").read_text()
        assert watch.opened() == {tree / "b/file"}


@only_linux
def test_whoever_opens_too_many_files_is_told_so(tree: Path) -> None:
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if limit > 1 << 17:
        pytest.skip("this takes long where so many events are kept")
    with Watch([tree / "a", tree / "b"]) as watch:
        for number in range(limit + 1):  # equal events after each other are one
            (tree / "ab"[number % 2] / "file").read_bytes()
        assert watch.opened() == {tree / "a/file", tree / "b/file"}
        assert not watch.is_complete


def test_elsewhere_nothing_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(CannotWatchError, match="darwin does not report"):
        Watch([])
