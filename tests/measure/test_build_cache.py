"""The folder of kept builds: what is found again, what is removed, and what does no harm."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchgate.measure import build_cache
from benchgate.measure.build_cache import MOST_AGE_S, BuildCache, builds_folder
from benchgate.measure.build_manifest import About
from benchgate.measure.engine import Arm, ArmName
from benchgate.measure.kept_build import NotKeptError, snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchgate.measure.kept_build import State


@pytest.fixture
def arm(tmp_path: Path) -> Arm:
    """A built arm: nothing in the tree, and a file in the environment."""
    root = tmp_path / "benchgate-abcdefgh" / "01234567" / "project"
    root.mkdir(parents=True)
    env = root.parent.with_name("01234567-env")
    env.mkdir()
    (env / "file").write_text(f"in {root}")
    return Arm(ArmName.HEAD, root, env)


@pytest.fixture
def cache(tmp_path: Path) -> BuildCache:
    return BuildCache(tmp_path / "cache" / "builds")


NOTHING: Mapping[str, State] = {}


def about(age_s: float = 0.0) -> About:
    return About("project", "a" * 40, time.time() - age_s, 1.0)


def is_found(cache: BuildCache, key: str, arm: Arm) -> bool:
    kept = cache.find(key, arm)
    if kept:
        kept.close()
    return kept is not None


def other_place(arm: Arm) -> Arm:
    root = arm.root.parents[2] / "benchgate-12345678" / "89abcdef" / "project"
    root.mkdir(parents=True, exist_ok=True)
    return replace(arm, root=root, env=root.parent.with_name("89abcdef-env"))


def test_a_kept_build_is_found_by_its_key(arm: Arm, cache: BuildCache) -> None:
    cache.keep("one", arm, NOTHING, about())
    assert cache.find("two", arm) is None
    other = other_place(arm)
    kept = cache.find("one", other)
    assert kept
    kept.put(other)
    kept.close()
    assert (other.env / "file").read_text() == f"in {other.root}"
    assert [
        (entry.path.stem, entry.about and entry.about.project) for entry in cache.entries()
    ] == [("one", "project")]
    assert BuildCache(cache.folder, reads=False).find("one", other) is None


def test_an_old_build_is_neither_used_nor_kept(arm: Arm, cache: BuildCache) -> None:
    for key, age_s in (("old", MOST_AGE_S + 60), ("future", -3600.0), ("new", 60.0)):
        cache.keep(key, arm, NOTHING, about(age_s))
        assert is_found(cache, key, arm) is (key == "new")
    assert [entry.path.stem for entry in cache.entries()] == ["new"]


def test_the_least_recently_used_builds_go_first(
    arm: Arm, cache: BuildCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    for age_s, key in ((30, "a"), (20, "b"), (10, "c")):
        cache.keep(key, arm, NOTHING, about())
        used_s = time.time() - age_s
        os.utime(cache.folder / f"{key}.build", (used_s, used_s))
    assert is_found(cache, "a", arm)
    size_bytes = cache.entries()[0].size_bytes
    monkeypatch.setattr(build_cache, "MOST_BYTES", int(size_bytes * 2.5))
    cache.prune()
    assert [entry.path.stem for entry in cache.entries()] == ["a", "c"]


def test_a_damaged_build_is_removed(arm: Arm, cache: BuildCache) -> None:
    cache.keep("one", arm, NOTHING, about())
    path = cache.folder / "one.build"
    path.write_bytes(path.read_bytes()[:-40])
    assert cache.find("one", arm) is None
    assert not path.exists()


def test_what_a_killed_session_left_is_removed_later(arm: Arm, cache: BuildCache) -> None:
    cache.keep("one", arm, NOTHING, about())
    fresh, lost = (cache.folder / f"{name}.unfinished" for name in ("fresh", "lost"))
    for path in (fresh, lost):
        path.write_bytes(b"half")
    os.utime(lost, (time.time() - 7200, time.time() - 7200))
    cache.prune()
    assert (fresh.exists(), lost.exists()) == (True, False)
    assert [entry.path.stem for entry in cache.entries()] == ["one"]
    cache.clear()
    assert list(cache.folder.iterdir()) == []


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_can_write_to_is_not_used(
    arm: Arm, cache: BuildCache, mode: int
) -> None:
    cache.keep("one", arm, NOTHING, about())
    cache.folder.chmod(mode)
    assert cache.find("one", arm) is None
    with pytest.raises(NotKeptError, match="only you can write to"):
        cache.keep("two", arm, NOTHING, about())


def test_a_link_in_place_of_a_build_is_not_followed(arm: Arm, cache: BuildCache) -> None:
    cache.keep("one", arm, NOTHING, about())
    (cache.folder / "two.build").symlink_to(cache.folder / "one.build")
    assert cache.find("two", arm) is None


def test_a_full_disk_is_a_reason_and_leaves_nothing(
    arm: Arm, cache: BuildCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(arm.root)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=usage.total // 100))
    with pytest.raises(NotKeptError, match="nearly full"):
        cache.keep("one", arm, NOTHING, about())
    assert list(cache.folder.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_a_reason(arm: Arm, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = BuildCache(tmp_path / "file" / "builds")
    with pytest.raises(NotKeptError, match="cannot be written"):
        cache.keep("one", arm, NOTHING, about())
    assert cache.find("one", arm) is None
    assert cache.entries() == []


def test_two_sessions_may_keep_and_read_the_same_build_at_once(arm: Arm, cache: BuildCache) -> None:
    (arm.env / "large").write_bytes(b"x" * 3_000_000)
    cache.keep("one", arm, NOTHING, about())
    failures: list[BaseException] = []
    ends_s = time.monotonic() + 1.0

    def use() -> None:
        try:
            while time.monotonic() < ends_s:
                kept = cache.find("one", arm)
                assert kept
                kept.close()
        except BaseException as error:  # noqa: BLE001 - shown by the test
            failures.append(error)

    readers = [threading.Thread(target=use) for _ in range(2)]
    for reader in readers:
        reader.start()
    while time.monotonic() < ends_s:
        cache.keep("one", arm, NOTHING, about())
    for reader in readers:
        reader.join()
    assert failures == []
    assert snapshot(arm).keys() == {"env/.", "env/file", "env/large"}


def test_the_folder_is_that_of_xdg() -> None:
    assert str(builds_folder({"HOME": "/users/me"})) == "/users/me/.cache/benchgate/builds"
    found = builds_folder({"HOME": "/users/me", "XDG_CACHE_HOME": "/fast"})
    assert str(found) == "/fast/benchgate/builds"


HOLDER = """
import sys, time
from pathlib import Path
from benchgate.measure.build_cache import BuildCache
with BuildCache(Path(sys.argv[1])).alone("key", print):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_build_waits_for_another_session_with_the_same_and_for_no_dead_one(
    cache: BuildCache,
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(cache.folder)], stdout=subprocess.PIPE, text=True
    ) as holder:
        try:
            assert holder.stdout
            assert holder.stdout.readline() == "held\n"
            with cache.alone("other key", pytest.fail):
                pass
            told: list[str] = []

            def waiting(who: str) -> None:
                told.append(who)
                holder.kill()

            with cache.alone("key", waiting):
                assert told == [f"process {holder.pid}"]
        finally:
            holder.kill()
    assert list(cache.folder.iterdir()) == []


def test_all_who_wait_get_their_turn_one_by_one(cache: BuildCache) -> None:
    inside: list[int] = []
    most: list[int] = []

    def build(number: int) -> None:
        for _ in range(20):
            with cache.alone("key", lambda _: None):
                inside.append(number)
                most.append(len(inside))
                time.sleep(0.0005)
                inside.remove(number)

    threads = [threading.Thread(target=build, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(most), max(most)) == (80, 1)


def test_without_a_folder_of_its_own_a_build_waits_for_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with BuildCache(tmp_path / "file" / "builds").alone("key", pytest.fail):
        pass
