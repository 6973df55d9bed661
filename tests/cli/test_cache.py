"""`benchgate cache`, on a folder with kept builds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.builds.kept_builds import About, BuildCache, builds_folder

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Call


@pytest.fixture
def cache(call: Call, tmp_path: Path) -> BuildCache:  # noqa: ARG001 - it sets the folder
    """A build of 5 minutes ago, and one of another version."""
    root = tmp_path / "benchgate-abcdefgh" / "01234567" / "project"
    root.mkdir(parents=True)
    env = root.parent.with_name("01234567-env")
    env.mkdir()
    (env / "file").write_bytes(b"x" * 100_000)
    cache = BuildCache(builds_folder({"XDG_CACHE_HOME": str(tmp_path / "cache")}))
    about = About("textkit", "a1b2c3d" * 6, "session", time.time() - 300, 27.4)
    cache.keep("one", Arm(ArmName.HEAD, root, env), {}, about)
    (cache.folder / "two.build").mkdir()
    (cache.folder / "two.build" / "about.json").write_text("{")
    return cache


def test_kept_builds_are_shown(call: Call, tmp_path: Path, cache: BuildCache) -> None:
    done = call(tmp_path, "cache")
    done.check(0)
    header, *lines, _, total = done.out.splitlines()
    assert header.split() == ["project", "commit", "age", "last", "used", "size", "build", "time"]
    (kept,) = (line for line in lines if line.startswith("textkit"))
    assert "a1b2c3d " in kept
    assert "5 min" in kept
    assert kept.endswith("27 s")
    assert total.startswith("1 build (")
    assert total.endswith(f" of at most 8, in {cache.folder}")


def test_kept_builds_are_removed(call: Call, tmp_path: Path, cache: BuildCache) -> None:
    done = call(tmp_path, "cache", "--clear")
    done.check(0)
    assert done.out.startswith("removed 1 build (")
    assert not list(cache.folder.glob("*.build"))
    done = call(tmp_path, "cache")
    done.check(0)
    assert done.out == f"no builds are kept in {cache.folder}\n"
    call(tmp_path, "cache", "--clear").check(0)
