from __future__ import annotations

import errno
import os
import py_compile
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchgate.git.repository import Git
from benchgate.measure.arm import ArmName
from benchgate.measure.trees import ground as ground_module
from benchgate.measure.trees.checkouts import Trees, two_arms
from benchgate.measure.trees.moving import remake

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


BASE, HEAD = ArmName.BASE, ArmName.HEAD
RNG = random.Random(1)  # noqa: S311 - repeatable on purpose


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the trees of this test are."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def trees(repo: Git, commit: Callable[[Git, Mapping[str, str]], str]) -> Iterator[Trees]:
    """Two trees that are built: `code.py` differs, the rest does not."""
    files = {
        "code.py": "speed = 1",
        "same.py": "x = 1",
        "pkg/__init__.py": "",
        "data/large.bin": "x" * 5000,
        ".gitignore": "__pycache__/\nbuild/\n*.so\n",
    }
    base = commit(repo, files)
    commit(repo, {"code.py": "speed = 2"})
    (repo.root / "data" / "link").symlink_to("large.bin")
    with two_arms(repo, base) as trees:
        for arm in trees.arms.values():
            packages = arm.env / "lib" / "site-packages"
            packages.mkdir(parents=True)
            (packages / "lib.so").write_text("z" * 5000)
            (packages / "module.py").write_text("y = 1")
            (packages / "data.json").write_text("z" * 5000)
            (arm.root / "build").mkdir()
            (arm.root / "build" / "built.so").write_text("z" * 5000)
            (arm.root / "build" / "object.o").write_text("z" * 5000)
        trees.ground.settle()
        yield trees


def inode(path: Path) -> int:
    return path.lstat().st_ino


def both(trees: Trees, name: str) -> tuple[Path, Path]:
    return trees.arms[BASE].root / name, trees.arms[HEAD].root / name


def contents(tree: Path) -> dict[str, str]:
    files = {path for path in tree.rglob("*") if path.is_file()}
    return {str(path.relative_to(tree)): path.read_text() for path in files}


def test_equal_files_are_one_file_for_both_arms(trees: Trees) -> None:
    for name in ("same.py", "data/large.bin", ".gitignore"):
        one, other = both(trees, name)
        assert inode(one) == inode(other), name
    envs = [arm.env / "lib" / "site-packages" for arm in trees.arms.values()]
    for name in ("lib.so", "data.json"):
        assert inode(envs[0] / name) == inode(envs[1] / name), name
    # What builds make is theirs to change.
    for name in ("code.py", "build/built.so", "build/object.o", ".git"):
        one, other = both(trees, name)
        assert inode(one) != inode(other), name


def test_places_are_drawn_anew_and_nothing_else_changes(
    trees: Trees, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ground_module, "is_in_use", lambda *_: False)
    roots = [arm.root for arm in trees.arms.values()]
    scratch = roots[0] / "scratch.sqlite"
    scratch.write_text("left by an earlier round")
    before = [contents(root) for root in roots]
    times = [(root / "code.py").stat().st_mtime_ns for root in roots]
    moved = [root / name for root in roots for name in ("", "data", "code.py", "build/object.o")]
    moved += [scratch, trees.arms[BASE].env / "lib/site-packages/lib.so"]
    # So that no number is given again.
    held = [os.open(path, os.O_RDONLY) for path in moved]
    old = [inode(path) for path in moved]
    trees.ground.draw(RNG)
    new = [inode(path) for path in moved]
    for descriptor in held:
        os.close(descriptor)
    assert [a == b for a, b in zip(old, new, strict=True)] == [False] * 9 + [True]
    assert [contents(root) for root in roots] == before
    assert [(root / "code.py").stat().st_mtime_ns for root in roots] == times
    assert trees.ground.changes_of_round() == trees.ground.changes() == ()
    assert trees.ground.notes == trees.ground.warnings == ()


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("code.py", "changed"),
        ("{env}/lib/site-packages/module.py", "changed"),
        ("{env}/lib/site-packages/__pycache__/module.pyc", "changed"),
        ("json.py", "added, and an import can find it"),
    ],
)
def test_what_was_built_is_not_changed_while_another_side_is(
    trees: Trees, file: str, said: str
) -> None:
    arm = trees.arms[BASE]
    compiled = arm.env / "lib" / "site-packages" / "__pycache__" / "module.pyc"
    compiled.parent.mkdir()
    compiled.write_bytes(bytes(20))
    trees.ground.built(BASE)
    path = Path(file.replace("{env}", str(arm.env)))
    (path if path.is_absolute() else arm.root / file).write_bytes(b"other" * 9)
    trees.ground.settle()
    expected = (f"in the base, {file} was {said} while another side was built",)
    assert trees.ground.changes_of_round() == trees.ground.changes() == expected


def test_the_order_in_which_arms_are_moved_follows_from_the_seed(
    trees: Trees, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[Path] = []

    def recreate(root: Path, scratch: Path) -> None:
        moved.append(root)
        remake(root, scratch)

    def order(seed: int) -> tuple[Path, ...]:
        moved.clear()
        trees.ground.draw(random.Random(seed))  # noqa: S311 - repeatable on purpose
        return tuple(moved)

    monkeypatch.setattr(ground_module, "remake", recreate)

    orders = [order(seed) for seed in range(12)]
    assert len(set(orders)) == 2
    assert [order(seed) for seed in range(12)] == orders


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("code.py", "code.py was changed"),
        ("data/large.bin", "data/large.bin was changed"),
        (".gitignore", ".gitignore was changed"),
        ("json.py", "json.py was added, and an import can find it"),
        ("pkg/fast.py", "pkg/fast.py was added, and an import can find it"),
        ("build/built.so", "build/built.so was changed"),
    ],
)
def test_a_file_that_benchmarks_change_is_named(trees: Trees, file: str, said: str) -> None:
    path = trees.arms[BASE].root / file
    path.write_text("import time; time.sleep(1)")
    expected = f"in the base, {said}"
    assert expected in trees.ground.changes_of_round()
    trees.ground.draw(RNG)
    assert expected in trees.ground.changes()


def test_a_file_whose_permissions_change_is_named(trees: Trees) -> None:
    (trees.arms[BASE].root / "code.py").chmod(0o755)
    expected = "in the base, code.py was changed"
    assert expected in trees.ground.changes_of_round()
    assert expected in trees.ground.changes()


def test_a_file_that_is_removed_is_named(trees: Trees) -> None:
    (trees.arms[HEAD].root / "same.py").unlink()
    (trees.arms[HEAD].root / "build" / "built.so").unlink()
    shutil.rmtree(trees.arms[BASE].root / "data")
    assert set(trees.ground.changes_of_round()) == {
        "in the head, same.py was removed",
        "in the head, build/built.so was removed",
        "in the base, data/large.bin was removed",
    }


def test_a_change_that_hides_its_time_is_found_in_the_end(trees: Trees) -> None:
    path = trees.arms[BASE].env / "lib" / "site-packages" / "module.py"
    status = path.stat()
    path.write_text("y = 2")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert trees.ground.changes() == ("in the base, {env}/lib/site-packages/module.py was changed",)


def test_what_is_put_back_is_a_warning(trees: Trees) -> None:
    path = trees.arms[BASE].root / "code.py"
    status = path.stat()
    path.write_text("slow")
    path.write_text("speed = 1")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert trees.ground.changes_of_round() == ()
    (warning,) = trees.ground.warnings
    assert warning.startswith("during the measurement, something wrote to files of the base")
    assert warning.endswith(": code.py")


def test_what_benchmarks_may_leave(trees: Trees) -> None:
    root = trees.arms[HEAD].root
    (root / "result.csv").write_text("1")
    (root / "build" / "generated.py").write_text("x = 1")
    (root / "build" / "object.o").write_text("rebuilt")
    (root / "data" / "items.sqlite").write_text("1")
    (trees.arms[HEAD].env / "cache.py").write_text("1")
    py_compile.compile(str(root / "same.py"))
    for _ in range(2):
        trees.ground.draw(RNG)
        assert trees.ground.changes_of_round() == ()
    assert trees.ground.changes() == ()
    assert (root / "data" / "items.sqlite").read_text() == "1"


def test_compiled_code_that_is_replaced_is_named(trees: Trees) -> None:
    source = trees.arms[BASE].root / "same.py"
    compiled = Path(str(py_compile.compile(str(source))))
    assert trees.ground.changes_of_round() == ()
    trees.ground.draw(RNG)
    header = compiled.read_bytes()[:16]
    compiled.write_bytes(header + b"other code")
    (change,) = trees.ground.changes_of_round()
    assert change == f"in the base, __pycache__/{compiled.name} was changed"


def test_a_large_tree_stays_where_it_is_and_says_so(
    trees: Trees, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ground_module, "MOST_ENTRIES", 3)
    monkeypatch.setattr(ground_module, "MOST_RENEWED_FILES", 1)
    folder = inode(trees.arms[BASE].root)
    trees.ground.draw(RNG)
    assert inode(trees.arms[BASE].root) == folder
    assert len(trees.ground.notes) == 2
    assert "more than 3)" in trees.ground.notes[0]
    (trees.arms[BASE].root / "same.py").unlink()
    assert trees.ground.changes() == ("in the base, same.py was removed",)


def test_many_files_that_builds_have_made_stay_and_are_not_called_different(trees: Trees) -> None:
    for arm in trees.arms.values():
        package = arm.root / "build" / "node_modules" / "package"
        package.mkdir(parents=True)
        for number in range(700):
            (package / f"{number}.js").write_text(f"export default {number};")
    first = package / "0.js"
    before = inode(first)
    trees.ground.draw(RNG)
    assert list(trees.ground.notes) == []
    for arm in trees.arms.values():
        for number in range(700):
            (arm.root / "build" / f"{number}.dat").write_text("x" * 10)
    trees.ground.draw(RNG)
    assert inode(first) == before
    said = "some files that the sides do not share (more than 200 files or"
    assert [said in note for note in trees.ground.notes] == [True]


def test_files_of_a_large_tree_that_we_copy_were_not_written_to_by_others(
    trees: Trees, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ground_module, "MOST_ENTRIES", 3)
    code = trees.arms[BASE].root / "code.py"
    before = inode(code)
    trees.ground.draw(RNG)
    trees.ground.draw(RNG)
    assert inode(code) != before
    assert trees.ground.changes() == ()
    assert trees.ground.warnings == ()


def test_a_very_deep_folder_of_a_benchmark_is_borne(trees: Trees) -> None:
    root = trees.arms[BASE].root
    before = os.open(".", os.O_RDONLY)
    try:
        os.chdir(root)
        for _ in range(1500):
            Path("d").mkdir()
            os.chdir("d")
        for _ in range(300):
            Path("a-long-name").mkdir()
            os.chdir("a-long-name")
    finally:
        os.fchdir(before)
        os.close(before)
    trees.ground.draw(RNG)
    assert trees.ground.changes_of_round() == ()
    assert trees.ground.changes() == ()
    assert trees.ground.notes == (
        "not moved between rounds: folders of the trees (File name too long)",
    )
    assert (root / "same.py").read_text() == "x = 1"


def test_an_odd_file_name_is_named_in_one_line(trees: Trees) -> None:
    (trees.arms[BASE].root / os.fsdecode(b"a\n::error::\xff.py")).write_text("")
    (change,) = trees.ground.changes_of_round()
    assert change == ("in the base, a\\n::error::\\udcff.py was added, and an import can find it")


@pytest.mark.parametrize("refused", ["data/large.bin", ""])
def test_a_tree_that_cannot_be_moved_stays_whole(
    trees: Trees, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    rename = os.rename

    def refuse(source: str | Path, target: str | Path) -> None:
        # The whole tree is renamed last: back to where it was.
        if Path(places[0], refused) in {Path(source), Path(target)}:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        rename(source, target)

    places = [str(arm.root) for arm in trees.arms.values()]
    before = [contents(Path(place)) for place in places]
    monkeypatch.setattr(os, "rename", refuse)
    trees.ground.draw(RNG)
    assert [contents(Path(place)) for place in places] == before
    assert trees.ground.notes == (
        "not moved between rounds: folders of the trees (Invalid cross-device link)",
    )
    assert trees.ground.changes() == ()


def test_a_file_system_without_links_is_measured_as_it_is(
    repo: Git, commit: Callable[[Git, Mapping[str, str]], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    with two_arms(repo, commit(repo, {"a": "1"})) as trees:
        trees.ground.settle()
        trees.ground.draw(RNG)
        assert trees.ground.changes() == ()
        (note,) = trees.ground.notes
        assert note.endswith("files that are equal on both sides (Operation not permitted)")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows what processes use")
def test_nothing_is_moved_below_a_process_that_still_runs(trees: Trees) -> None:
    root = trees.arms[BASE].root
    folder = inode(root)
    with subprocess.Popen(["sleep", "60"], cwd=root / "data") as server:  # noqa: S607 - the system's own
        trees.ground.draw(RNG)
        server.kill()
    assert inode(root) == folder
    (note,) = trees.ground.notes
    assert note.endswith("folders that a process from an earlier step still uses")
    trees.ground.draw(RNG)
    assert inode(root) != folder


def test_folders_that_may_not_be_written_to_are_moved(trees: Trees) -> None:
    folder = trees.arms[BASE].root / "build"
    folder.chmod(0o500)
    trees.ground.draw(RNG)
    trees.ground.draw(RNG)
    assert folder.stat().st_mode & 0o777 == 0o500
    assert trees.ground.notes == ()


def test_git_works_in_a_tree_that_was_moved(trees: Trees) -> None:
    trees.ground.draw(RNG)
    assert Git(trees.arms[BASE].root).run("status", "--porcelain") == ""
