"""Which of the earlier builds of a session's arms are used."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from benchgate.config import Build
from benchgate.errors import MeasureError, UsageError
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.builds.arm_build import ArmBuild, are_alike
from benchgate.measure.builds.kept_builds import BuildCache
from benchgate.measure.processes.guardian import Guardian
from benchgate.measure.session_folder import remove_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Place = Callable[..., Arm]

COMMANDS = ["mkdir {env}", "cp src {env}/built"]
BUILD = Build.model_validate({"command": COMMANDS})


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Makes a fresh tree, always at the same path for the same name."""

    def make(own: str = "00000000") -> Arm:
        root = tmp_path / "tmp" / "benchgate-abcdefgh" / own / "project"
        arm = Arm(ArmName.HEAD, root, root.parent.with_name(f"{own}-env"))
        for folder in (arm.root, arm.env):
            if folder.exists():
                remove_tree(folder)
        root.mkdir(parents=True)
        (root / "src").write_text("1")
        return arm

    return make


@pytest.fixture
def cache(tmp_path: Path) -> BuildCache:
    return BuildCache(tmp_path / "cache")


@pytest.fixture
def guardian() -> Iterator[Guardian]:
    with Guardian.start() as started:
        yield started


def test_a_build_is_kept_and_put_in_place(
    place: Place, cache: BuildCache, guardian: Guardian
) -> None:
    first = ArmBuild(place(), BUILD, cache, guardian)
    assert not first.put()
    assert first.run() == ""
    second = ArmBuild(place(), BUILD, cache, guardian)
    assert second.put()
    assert (second.arm.env / "built").read_text() == "1"
    assert not ArmBuild(place("11111111"), BUILD, cache, guardian).kept  # it may hold its path


def test_nothing_of_the_environment_is_kept_as_text(
    place: Place, cache: BuildCache, guardian: Guardian, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRIVATE_TOKEN", "very-secret")
    build = BUILD.model_copy(update={"env": {"OTHER_TOKEN": "also-secret"}})
    ArmBuild(place(), build, cache, guardian).run()
    files = [path for path in cache.folder.rglob("*") if path.is_file()]
    assert files
    assert not any(b"secret" in path.read_bytes() for path in files)


def test_a_build_tells_what_it_warned_of_also_the_next_time(
    place: Place, cache: BuildCache, guardian: Guardian
) -> None:
    warn = "sh -c 'echo WARNING: no extra in {env} && touch {env}/built'"
    build = Build.model_validate({"command": ["mkdir {env}", warn], "toolchains": {"a": "{env}/a"}})
    for _ in range(2):
        one = ArmBuild(place(), build, cache, guardian)
        if not one.put():
            one.run()
        assert one.warnings == ("WARNING: no extra in {env}",)
        with pytest.raises(MeasureError) as raised:  # a tool that the build should have installed
            one.toolchains()
        assert "{env}/a cannot be started" in raised.value.message
        told = "[build] warned:\nWARNING: no extra in {env}"
        assert raised.value.details == told
    assert one.kept


def test_a_command_that_fails_tells_what_those_before_it_warned_of(
    place: Place, guardian: Guardian
) -> None:
    build = Build.model_validate({"command": ["echo warning: odd", "sh -c 'echo no; exit 1'"]})
    with pytest.raises(MeasureError) as raised:
        ArmBuild(place(), build, None, guardian).run()
    assert raised.value.details == "no\n[build] warned:\nwarning: odd"


def test_a_tree_that_the_other_build_has_changed_counts_as_changed(
    place: Place, cache: BuildCache, guardian: Guardian
) -> None:
    poisoned = ArmBuild(place(), BUILD, cache, guardian)
    (poisoned.arm.root / "src").write_text("2")
    assert "the other side has changed its tree" in poisoned.run()
    assert cache.entries() == []
    clean = ArmBuild(place(), BUILD, cache, guardian)
    assert clean.run() == ""
    late = ArmBuild(place(), BUILD, cache, guardian)
    assert late.kept
    (late.arm.root / "src").write_text("2")
    assert not late.put()
    late.run()
    assert (late.arm.env / "built").read_text() == "2"


def test_a_place_without_room_is_an_error(
    place: Place, cache: BuildCache, guardian: Guardian, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    ArmBuild(place(), BUILD, cache, guardian).run()
    late = ArmBuild(place(), BUILD, cache, guardian)
    monkeypatch.setattr(BuildCache, "put", full)
    with pytest.raises(UsageError, match="cannot be put in place") as raised:
        late.put()
    assert "--no-cache" in raised.value.hint


def test_a_build_that_was_removed_meanwhile_is_an_error(
    place: Place, cache: BuildCache, guardian: Guardian
) -> None:
    """To build now could give one side newer packages than the other, which has its own already."""
    ArmBuild(place(), BUILD, cache, guardian).run()
    late = ArmBuild(place(), BUILD, cache, guardian)
    cache.clear()
    with pytest.raises(UsageError, match="it was removed in the meantime"):
        late.put()


def test_the_project_itself_may_have_another_version(
    place: Place, cache: BuildCache, guardian: Guardian
) -> None:
    def built(own: str, dependency: str, project: str) -> ArmBuild:
        one = ArmBuild(place(own), BUILD, None, guardian)
        one.run()
        site = one.arm.env / "lib" / "python3" / "site-packages"
        (site / f"numpy-{dependency}.dist-info").mkdir(parents=True)
        (site / f"toy-{project}.dist-info").mkdir()
        (site / f"toy-{project}.dist-info" / "direct_url.json").write_text("{}")
        return one

    builds = [built("00000000", "1.0", "1.0"), built("11111111", "1.0", "1.1")]
    assert are_alike(builds)
    assert are_alike([*builds, ArmBuild(place("33333333"), Build(), cache, guardian)])
    assert not are_alike([*builds, built("22222222", "1.1", "1.1")])


def test_earlier_builds_may_differ_if_they_were_made_together(
    place: Place, cache: BuildCache, guardian: Guardian
) -> None:
    """A change of the dependencies is built on both sides once, and then used as it is."""

    def at(cache: BuildCache, own: str, dependency: str) -> ArmBuild:
        package = f"{{env}}/lib/python3/site-packages/numpy-{dependency}.dist-info"
        build = Build.model_validate({"command": f"mkdir -p {package}"})
        return ArmBuild(place(own), build, cache, guardian)

    for number, dependency in enumerate(("1.0", "2.0")):
        at(cache, f"0000000{number}", dependency).run()
    at(BuildCache(cache.folder), "00000002", "3.0").run()
    later = BuildCache(cache.folder)
    first, second, third = (at(later, f"0000000{n}", f"{n + 1}.0") for n in range(3))
    assert all(one.kept for one in (first, second, third))
    assert are_alike([first, second])
    assert not are_alike([first, third])


def test_a_named_tool_of_another_version_builds_again(
    place: Place, cache: BuildCache, guardian: Guardian, tmp_path: Path
) -> None:
    tool = tmp_path / "version"
    tool.write_text("1")
    names = {"cc": f"cat {tool}", "own": "cat {env}/built"}
    build = Build.model_validate({"command": COMMANDS, "toolchains": names})
    first = ArmBuild(place(), build, cache, guardian)
    first.run()
    assert first.toolchains() == {"cc": "1", "own": "1"}
    assert ArmBuild(place(), build, cache, guardian).kept
    tool.write_text("2")
    assert not ArmBuild(place(), build, cache, guardian).kept
