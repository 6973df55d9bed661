"""Kept builds: they are put back as they were made, or are not used at all."""

from __future__ import annotations

import gzip
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.builds import kept_builds
from benchgate.measure.builds.kept_builds import (
    MOST_AGE_S,
    About,
    BuildCache,
    NotKeptError,
    builds_folder,
    snapshot,
)
from benchgate.measure.session_folder import remove_tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILES = {"setup.py": "one", "src/toy.py": "two", "gone/away.txt": "three", "was_file": "four"}
DATED_NS = 1_500_000_000_000_000_000


@pytest.fixture
def arm(tmp_path: Path) -> Arm:
    """A fresh tree, and a path for its environment."""
    root = tmp_path / "benchgate-01234567" / "89abcdef" / "project"
    arm = Arm(ArmName.HEAD, root, root.parent.with_name("89abcdef-env"))
    check_out(arm)
    return arm


@pytest.fixture
def cache(tmp_path: Path) -> BuildCache:
    return BuildCache(tmp_path / "cache" / "builds")


def check_out(arm: Arm) -> None:
    """Make the tree again, as every session does."""
    for folder in (arm.root, arm.env):
        if folder.exists():
            remove_tree(folder)
    for name, text in FILES.items():
        write(arm.root / name, text)
        os.utime(arm.root / name, ns=(DATED_NS, DATED_NS))


def write(path: Path, data: bytes | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)


def about(age_s: float = 0.0) -> About:
    return About("project", "a" * 40, "session", time.time() - age_s, 11.5, ("numpy-2.0",))


def keep(
    cache: BuildCache,
    arm: Arm,
    build: Callable[[Arm], None] = lambda arm: write(arm.env / "file", f"in {arm.root}"),
    key: str = "one",
    age_s: float = 0.0,
) -> None:
    """Run a build in a fresh tree, and keep it."""
    check_out(arm)
    before = snapshot(arm)
    build(arm)
    cache.keep(key, arm, before, about(age_s))


def put(cache: BuildCache, arm: Arm) -> About:
    """Put the kept build into a fresh tree."""
    check_out(arm)
    found = cache.find("one")
    assert found
    cache.put("one", arm, found)
    return found


def everything(arm: Arm) -> dict[str, tuple[object, ...]]:
    found: dict[str, tuple[object, ...]] = {}
    for top in (arm.root, arm.env):
        for path in sorted(top.rglob("*")):
            seen = path.lstat()
            data = b""
            if path.is_symlink():
                data = os.fsencode(path.readlink())
            elif path.is_file():
                data = path.read_bytes()
            # Folders that the build did not touch are as old as the checkout.
            is_old = path.is_dir() and top == arm.root and "build" not in path.parts
            found[str(path)] = (seen.st_mode, 0 if is_old else seen.st_mtime_ns, data)
    return found


def of_many_kinds(arm: Arm) -> None:
    """As builds do: text, bytes, names and links with the path, and changes of the tree."""
    write(arm.env / "bin" / "tool", f"#!{arm.env}/bin/python\nprint(1)\n")
    (arm.env / "bin" / "tool").chmod(0o755)
    write(arm.env / "lib" / "code.gz", gzip.compress(os.fsencode(arm.root)))
    write(arm.root / "build" / str(arm.root).lstrip("/") / "toy.o", f"{arm.root.parent}/x")
    (arm.env / "own").symlink_to(arm.root / "src")
    (arm.env / "python").symlink_to(sys.executable)
    (arm.env / "dead").symlink_to("/does/not/exist")
    write(arm.root / "setup.py", "changed")
    (arm.root / "gone" / "away.txt").unlink()
    (arm.root / "gone").rmdir()
    (arm.root / "was_file").unlink()
    write(arm.root / "was_file" / "inner", "")
    (arm.env / "empty").mkdir()
    write(arm.env / "closed" / "file", "x")
    (arm.env / "closed" / "file").chmod(0o400)
    (arm.env / "closed").chmod(0o555)


def test_a_build_is_put_back_as_it_was_made(arm: Arm, cache: BuildCache) -> None:
    keep(cache, arm, of_many_kinds)
    built = everything(arm)
    found = put(cache, arm)
    assert everything(arm) == built
    assert found.packages == ("numpy-2.0",)
    assert (arm.env / "own").resolve() == arm.root / "src"
    # And once more: what is kept is not what was used.
    write(arm.root / "setup.py", "a benchmark wrote this")
    write(arm.env / "lib" / "code.gz", "and this")
    put(cache, arm)
    assert everything(arm) == built


def test_a_virtual_environment_works(arm: Arm, cache: BuildCache) -> None:
    def build(arm: Arm) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", arm.env], check=True)
        site = next(arm.env.glob("lib/python*/site-packages"))
        write(site / "toy.pth", str(arm.root / "src"))
        write(site / "mine.py", "import sys\nWHERE = sys.prefix\n")
        python = arm.env / "bin" / "python"
        subprocess.run([python, "-m", "compileall", "-q", site / "mine.py"], check=True)

    keep(cache, arm, build)
    put(cache, arm)
    script = "import mine, sys; print(mine.WHERE, *sys.path)"
    python = arm.env / "bin" / "python"
    (compiled,) = arm.env.rglob("mine.*.pyc")
    before_ns = compiled.stat().st_mtime_ns
    done = subprocess.run([python, "-c", script], check=True, capture_output=True, text=True)
    assert str(arm.env) in done.stdout
    assert str(arm.root / "src") in done.stdout
    assert compiled.stat().st_mtime_ns == before_ns  # Python takes it as it is


def test_a_kept_build_is_found_by_its_key(arm: Arm, cache: BuildCache) -> None:
    keep(cache, arm)
    assert cache.find("two") is None
    assert cache.find("one")
    (entry,) = cache.entries()
    assert (entry.path.stem, entry.about.project) == ("one", "project")
    assert BuildCache(cache.folder, reads=False).find("one") is None


def test_another_session_names_itself_otherwise(cache: BuildCache) -> None:
    assert BuildCache(cache.folder).session != cache.session


@pytest.mark.parametrize("text", [None, "", "{}", '{"project": "x", "sha": 1}'])
def test_a_build_of_another_version_is_not_used_and_is_replaced(
    arm: Arm, cache: BuildCache, text: str | None
) -> None:
    keep(cache, arm)
    about = cache.folder / "one.build" / "about.json"
    about.unlink() if text is None else about.write_text(text)
    assert cache.find("one") is None
    assert cache.entries() == []
    keep(cache, arm)
    put(cache, arm)


def listens(arm: Arm) -> None:
    arm.env.mkdir()
    before = os.open(".", os.O_RDONLY)
    os.chdir(arm.env)  # the path of a socket must be short
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("listening")
    finally:
        os.fchdir(before)
        os.close(before)


@pytest.mark.parametrize(
    ("build", "why"),
    [
        (listens, "env/listening is neither a file nor a folder"),
        (lambda arm: arm.env.symlink_to(arm.root), "{env} is not a folder"),
        (lambda arm: write(arm.root / ".git", "gitdir: elsewhere"), "files of git"),
        (
            lambda arm: os.truncate(os.open(arm.root / "x", os.O_CREAT | os.O_RDWR), 3 << 30),
            "2 GiB",
        ),
    ],
    ids=["socket", "link", "git", "large"],
)
def test_what_cannot_be_put_back_is_not_kept(
    arm: Arm, cache: BuildCache, build: Callable[[Arm], None], why: str
) -> None:
    with pytest.raises(NotKeptError, match=why):
        keep(cache, arm, build)
    assert cache.entries() == []


def test_an_old_build_is_neither_used_nor_kept(arm: Arm, cache: BuildCache) -> None:
    for key, age_s in (("old", MOST_AGE_S + 60), ("future", -3600.0), ("new", 60.0)):
        keep(cache, arm, key=key, age_s=age_s)
        assert (cache.find(key) is not None) is (key == "new")
    assert [entry.path.stem for entry in cache.entries()] == ["new"]


def test_the_least_recently_used_builds_go_first(
    arm: Arm, cache: BuildCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    for age_s, key in ((30, "a"), (20, "b"), (10, "c")):
        keep(cache, arm, key=key)
        used_s = time.time() - age_s
        os.utime(cache.folder / f"{key}.build", (used_s, used_s))
    assert cache.find("a")
    monkeypatch.setattr(kept_builds, "MOST_BUILDS", 3)
    keep(cache, arm, key="d")
    assert [entry.path.stem for entry in cache.entries()] == ["d", "a", "c"]


KILLED = """
import os, signal, sys, time
from pathlib import Path
from benchgate.measure.builds import kept_builds
from benchgate.measure.arm import Arm, ArmName
root = Path(sys.argv[2])
arm = Arm(ArmName.HEAD, root, root.parent.with_name(f"{root.parent.name}-env"))
kept_builds.json.dumps = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
about = kept_builds.About("project", "a" * 40, "session", time.time(), 1.0)
kept_builds.BuildCache(Path(sys.argv[1])).keep("one", arm, {}, about)
"""


def test_a_build_that_was_half_kept_is_not_used(arm: Arm, cache: BuildCache) -> None:
    for clears in (True, False):
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(cache.folder), str(arm.root)], check=False
        )
        assert done.returncode < 0
        assert (cache.folder / "unfinished").exists()
        assert cache.find("one") is None
        assert cache.entries() == []
        if clears:
            cache.clear()
        else:
            keep(cache, arm)
            assert [entry.path.stem for entry in cache.entries()] == ["one"]
        assert not (cache.folder / "unfinished").exists()


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_can_write_to_is_not_used(
    arm: Arm, cache: BuildCache, mode: int
) -> None:
    keep(cache, arm)
    cache.folder.chmod(mode)
    assert cache.find("one") is None
    with pytest.raises(NotKeptError, match="only you can write to"):
        keep(cache, arm, key="two")


def test_others_cannot_read_a_kept_build(arm: Arm, cache: BuildCache) -> None:
    keep(cache, arm)
    assert cache.folder.stat().st_mode & 0o077 == 0


def test_a_full_disk_is_a_reason_and_leaves_nothing(
    arm: Arm, cache: BuildCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(arm.root)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=usage.total // 100))
    with pytest.raises(NotKeptError, match="nearly full"):
        keep(cache, arm)
    assert list(cache.folder.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_a_reason(arm: Arm, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = BuildCache(tmp_path / "file" / "builds")
    with pytest.raises(NotKeptError, match="cannot be written"):
        keep(cache, arm)
    assert cache.find("one") is None
    assert cache.entries() == []
    cache.clear()


def test_a_build_that_was_removed_meanwhile_leaves_the_tree_as_it_is(
    arm: Arm, cache: BuildCache
) -> None:
    keep(cache, arm, of_many_kinds)
    check_out(arm)
    found = cache.find("one")
    assert found
    cache.clear()
    before = snapshot(arm)
    with pytest.raises(FileNotFoundError, match="was removed in the meantime"):
        cache.put("one", arm, found)
    assert snapshot(arm) == before


def test_sessions_may_keep_use_and_remove_builds_at_once(
    arm: Arm, cache: BuildCache, tmp_path: Path
) -> None:
    """What is put in place is whole, or nothing is."""
    for number in range(50):
        write(arm.env / f"file{number}", b"x" * 10_000)
    before = {name: seen for name, seen in snapshot(arm).items() if name.startswith("tree/")}
    cache.keep("one", arm, before, about())
    failures: list[BaseException] = []
    used: list[int] = []
    ends_s = time.monotonic() + 2.0

    def use(reader: int) -> None:
        own = BuildCache(cache.folder)
        while time.monotonic() < ends_s:
            root = tmp_path / f"reader{reader}" / f"{len(used):08}" / "project"
            root.mkdir(parents=True)
            other = Arm(ArmName.HEAD, root, root.parent.with_name("env"))
            try:
                if found := own.find("one"):
                    own.put("one", other, found)
                    assert len(list(other.env.iterdir())) == 50
                    used.append(reader)
            except FileNotFoundError as error:
                assert "was removed in the meantime" in str(error)  # noqa: PT017 - it may happen
                assert not other.env.exists()
            except BaseException as error:  # noqa: BLE001 - shown by the test
                failures.append(error)
                return
            shutil.rmtree(root.parents[1])

    readers = [threading.Thread(target=use, args=(number,)) for number in range(2)]
    for reader in readers:
        reader.start()
    while time.monotonic() < ends_s:
        cache.clear()
        cache.keep("one", arm, before, about())
    for reader in readers:
        reader.join()
    assert failures == []
    assert used


def test_the_folder_is_that_of_xdg() -> None:
    assert str(builds_folder({"HOME": "/users/me"})) == "/users/me/.cache/benchgate/builds"
    found = builds_folder({"HOME": "/users/me", "XDG_CACHE_HOME": "/fast"})
    assert str(found) == "/fast/benchgate/builds"
