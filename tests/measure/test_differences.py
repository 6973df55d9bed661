"""What differs between the trees and the environments of both sides."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.reach import Differences, why_affected

if TYPE_CHECKING:
    from collections.abc import Mapping

EMPTY: dict[str, list[object]] = {key: [] for key in ("touched", "ran", "mentioned", "unknown")}


def between(folder: Path, base: Mapping[str, str], head: Mapping[str, str]) -> Differences:
    """Compare files, whose names begin with `root/` or `env/`; "@" is the folder of a side."""
    arms = {}
    for name, side, files in ((ArmName.BASE, "1111", base), (ArmName.HEAD, "2222", head)):
        for path, text in files.items():
            file = folder / side / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.replace("@", str(folder / side)))
        own = (folder / side).resolve()
        arms[name] = Arm(name, own / "root", own / "env")
    return Differences.between(arms)


def test_what_differs_has_names_and_paths(tmp_path: Path) -> None:
    base = {"root/same": "1", "root/a/edited": "1", "root/gone": "1", "env/bin/tool": "#!@/env/x"}
    head = {"root/same": "1", "root/a/edited": "2", "env/bin/tool": "#!@/env/x", "env/new": "1"}
    found = between(tmp_path, base, head)
    assert found.files == {"a/edited", "gone", "{env}/new"}
    assert found.common == {"a/edited"}
    assert found.folders == {"", "{env}"}
    for name in (*found.files, *found.folders):
        for arm in ArmName:
            assert found.name(arm, found.path(arm, name)) == name


@pytest.mark.parametrize("top", ["root", "env"])
def test_a_package_that_one_side_has_at_the_top(tmp_path: Path, top: str) -> None:
    """The top has no name of its own."""
    found = between(
        tmp_path,
        {"root/a": "", "env/a": ""},
        {"root/a": "", "env/a": "", f"{top}/kit.egg-info/PKG-INFO": ""},
    )
    folder = found.path(ArmName.HEAD, "" if top == "root" else "{env}")
    listing = {**EMPTY, "touched": [(folder, "metadata")], "generated": "", "failed": ""}
    nothing = {**EMPTY, "generated": "", "failed": ""}
    why = why_affected(found, {ArmName.BASE: nothing, ArmName.HEAD: listing})
    assert "looks for packages in" in why
    assert "kit.egg-info" in why


def test_other_files_at_the_top_are_no_package(tmp_path: Path) -> None:
    found = between(tmp_path, {"root/a": ""}, {"root/a": "", "root/README": ""})
    folder = found.path(ArmName.HEAD, "")
    nothing = {**EMPTY, "generated": "", "failed": ""}
    listing = {**nothing, "touched": [(folder, "metadata")]}
    assert why_affected(found, {ArmName.BASE: nothing, ArmName.HEAD: listing}) == ""


@pytest.mark.skipif(sys.platform != "linux", reason="programs of ELF are those of Linux")
def test_programs_are_equal_but_for_their_build_ids(tmp_path: Path) -> None:
    found = between(tmp_path, {"root/a": ""}, {"root/a": ""})
    python = (tmp_path / "python").resolve()
    data = bytearray(Path(sys.executable).resolve().read_bytes())
    at = data.find(b"\x03\0\0\0GNU\0")
    if at < 0:
        pytest.skip("this Python has no build id")
    python.write_bytes(data)
    data[at + 8] ^= 1
    other = tmp_path / "other"
    other.write_bytes(data)
    assert found.is_same_program({ArmName.BASE: python, ArmName.HEAD: other})
    at = data.find(b"usage: ") if b"usage: " in data else len(data) // 4
    data[at] ^= 1
    other.write_bytes(data)
    assert not found.is_same_program({ArmName.BASE: python, ArmName.HEAD: other})
