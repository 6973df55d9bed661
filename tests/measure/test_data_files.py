from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract import data_files
from benchgate.measure.contract.data_files import DataFiles, DataFilesError, data_parts

if TYPE_CHECKING:
    from pathlib import Path


def arm(root: Path, name: ArmName = ArmName.HEAD, inside: str = ".") -> Arm:
    return Arm(name, root, root.with_name("env"), inside=inside)


def test_contents_are_told_by_file(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "data").mkdir(parents=True)
        (tmp_path / name / "data" / "a.txt").write_text("same")
        (tmp_path / name / "data" / "b.txt").write_text(name)
    one, two = (data_parts(arm(tmp_path / name), ["data/*.txt"]) for name in ("one", "two"))
    assert list(one) == ["its data file data/a.txt", "its data file data/b.txt"]
    assert one["its data file data/a.txt"] == two["its data file data/a.txt"]
    assert one["its data file data/b.txt"] != two["its data file data/b.txt"]


@pytest.mark.parametrize("glob", ["/etc/hosts", "../x", "a/../../x", " "])
def test_what_leaves_the_tree_is_refused(tmp_path: Path, glob: str) -> None:
    with pytest.raises(DataFilesError, match="must be relative to the configuration file"):
        data_parts(arm(tmp_path), [glob])


def test_a_link_out_of_the_tree_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "secret").write_text("x")
    (tmp_path / "tree" / "data").symlink_to(tmp_path / "secret")
    with pytest.raises(DataFilesError, match="data is a link to a place outside of the tree"):
        data_parts(arm(tmp_path / "tree"), ["*"])


def test_globs_start_where_the_configuration_is(tmp_path: Path) -> None:
    (tmp_path / "libs").mkdir()
    (tmp_path / "shared").write_text("x")
    (tmp_path / "libs" / "data").symlink_to(tmp_path / "shared")
    assert list(data_parts(arm(tmp_path, inside="libs"), ["*"])) == ["its data file data"]


def test_no_more_is_read_than_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text("12345")
    monkeypatch.setattr(data_files, "MAX_FILES", 2)
    with pytest.raises(DataFilesError, match="more than 2 files"):
        data_parts(arm(tmp_path), ["*"])
    monkeypatch.setattr(data_files, "MAX_BYTES", 9)
    with pytest.raises(DataFilesError, match="are larger than"):
        data_parts(arm(tmp_path), ["a", "b"])


def test_a_glob_may_match_in_one_arm_only(tmp_path: Path) -> None:
    roots = {name: tmp_path / name for name in ArmName}
    for root in roots.values():
        root.mkdir()
    (roots[ArmName.HEAD] / "new.txt").write_text("x")
    files = DataFiles({name: arm(root, name) for name, root in roots.items()})
    assert files.parts(ArmName.BASE, ("*.txt",)) == {}
    assert list(files.parts(ArmName.HEAD, ("*.txt",))) == ["its data file new.txt"]
    with pytest.raises(DataFilesError, match=r"`data` has '\*\.json': there is no such file"):
        files.parts(ArmName.HEAD, ("*.txt", "*.json"))
