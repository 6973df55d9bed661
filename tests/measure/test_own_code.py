from __future__ import annotations

import json
import shutil
import sys
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.programs import own_code
from benchgate.measure.programs.own_code import ForeignCodeError, OwnCode, code_among
from benchgate.measure.reach import opened_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from benchgate.git.repository import Git

only_linux = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
FILES = {"src/toy.py": "", "data/large": "", "README": "", ".gitignore": "data\nbuild\n*.pyc\n.*\n"}


@pytest.fixture
def checkout(repo: Git, commit: Callable[[Git, Mapping[str, str]], str]) -> Path:
    commit(repo, FILES)
    return repo.root


@pytest.fixture
def arms(tmp_path: Path, checkout: Path) -> list[Arm]:
    """A base and a head, each with its tree and an environment."""
    arms = [Arm(n, tmp_path / f"{n}-tree", tmp_path / f"{n}-env", f"{n}-sha") for n in ArmName]
    for arm in arms:
        shutil.copytree(checkout, arm.root, ignore=shutil.ignore_patterns(".git"))
        (arm.env / "bin").mkdir(parents=True)
        (arm.env / "bin" / "toy").touch()
    return arms


def check(
    arms: list[Arm], checkout: Path, run: Callable[[], object], *, named: bool = False
) -> tuple[str, ...]:
    base, head = arms
    return OwnCode(checkout).check(head, [base], run, named=named, what="/bin/toy")


def reading(*files: Path) -> Callable[[], object]:
    return lambda: [file.read_bytes() for file in files]


def make(file: Path, mode: int = 0o644) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    file.chmod(mode)
    return file


@only_linux
def test_files_of_the_arm_are_its_own(arms: list[Arm], checkout: Path) -> None:
    head = arms[1]
    assert check(arms, checkout, reading(head.root / "src/toy.py")) == ()
    assert check(arms, checkout, reading(head.env / "bin/toy")) == ()


@only_linux
@pytest.mark.parametrize("name", ["src/toy.py", "README", "new.py"])
def test_a_file_of_the_checkout_is_foreign(arms: list[Arm], checkout: Path, name: str) -> None:
    make(checkout / name)
    run = reading(arms[1].root / "README", checkout / name)
    with pytest.raises(ForeignCodeError) as caught:
        check(arms, checkout, run, named=True)
    first, advice = str(caught.value).splitlines()
    assert first == (
        f"the head opened {name} of your checkout {checkout}, not of its own tree: "
        "base and head would run the same code"
    )
    for word in ("[build]", "{env}/bin/PROGRAM", "pythonpath", "allow_foreign"):
        assert word in advice


@only_linux
@pytest.mark.parametrize("name", ["src/toy.py", "new/file"])
def test_a_file_of_the_other_arm_is_foreign(arms: list[Arm], checkout: Path, name: str) -> None:
    base, head = arms
    make(base.root / name)
    with pytest.raises(ForeignCodeError, match=f"opened {name} of the base, not of its own"):
        check(arms, checkout, reading(head.root / "README", base.root / name))
    with pytest.raises(ForeignCodeError, match=r"opened bin/toy of the base"):
        check(arms, checkout, reading(head.root / "README", base.env / "bin/toy"))


@only_linux
def test_what_python_has_compiled_stands_for_its_source(arms: list[Arm], checkout: Path) -> None:
    compiled = make(checkout / "src/__pycache__/toy.cpython-311.pyc")
    with pytest.raises(ForeignCodeError, match=r"opened src/toy\.py of your checkout"):
        check(arms, checkout, reading(arms[1].root / "README", compiled))


@only_linux
def test_python_may_compile_it_in_between(arms: list[Arm], checkout: Path) -> None:
    files = [checkout / "src/toy.py", checkout / "src/__pycache__/toy.cpython-311.pyc"]

    def run() -> None:
        (arms[1].root / "README").read_bytes()
        (files[-1] if files[-1].exists() else files[0]).read_bytes()
        make(files[-1])

    with pytest.raises(ForeignCodeError, match=r"opened src/toy\.py of your checkout"):
        check(arms, checkout, run)


@only_linux
@pytest.mark.parametrize(
    ("name", "mode", "expected"),
    [
        ("data/large", 0o644, False),
        ("build/toy", 0o755, True),
        ("build/toy.so", 0o644, True),
        ("build/toy.jar", 0o644, True),
        (".venv/bin/python", 0o755, False),
        ("node_modules/toy/bin", 0o755, False),
        ("toy.egg-info/entry_points.txt", 0o644, False),
        (".git/config", 0o644, False),
    ],
)
def test_what_git_ignores_counts_where_it_was_compiled(
    arms: list[Arm], checkout: Path, name: str, mode: int, *, expected: bool
) -> None:
    make(checkout / ".venv/pyvenv.cfg")
    with (checkout / ".gitignore").open("a") as file:
        file.write("node_modules\n")
    run = reading(arms[1].root / "README", make(checkout / name, mode))
    if expected:
        with pytest.raises(ForeignCodeError, match=f"opened {name} of your checkout"):
            check(arms, checkout, run)
    else:
        assert check(arms, checkout, run) == ()


def test_very_many_ignored_files_are_sorted_out(checkout: Path) -> None:
    opened = [make(checkout / "data" / f"{'x' * 200}{n}") for n in range(1200)]
    found = code_among([*opened, checkout / "src/toy.py"], checkout)
    assert found == {checkout / "src/toy.py"}


@only_linux
def test_a_command_must_open_some_file_of_its_own(arms: list[Arm], checkout: Path) -> None:
    with pytest.raises(ForeignCodeError) as caught:
        check(arms, checkout, lambda: None)
    first, advice = str(caught.value).splitlines()
    assert first == (
        "the head opened no file of its own tree: base and head would run the same code, /bin/toy"
    )
    assert "allow_foreign" in advice
    assert check(arms, checkout, lambda: None, named=True) == ()


@only_linux
def test_who_opens_a_file_once_was_somebody_else(arms: list[Arm], checkout: Path) -> None:
    pending = [checkout / "README", checkout / "src/toy.py"]

    def run() -> None:
        (arms[1].root / "README").read_bytes()
        if pending:
            pending.pop().read_bytes()

    assert check(arms, checkout, run) == ()


@only_linux
def test_who_opens_a_file_all_the_time_was_somebody_else(
    arms: list[Arm], checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit = reading(checkout / "README")
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        edit()

    clock = SimpleNamespace(perf_counter=time.perf_counter, sleep=sleep)
    monkeypatch.setattr(own_code, "time", clock)
    run = reading(arms[1].root / "README")
    assert check(arms, checkout, lambda: (run(), edit())) == ()
    assert slept


@only_linux
def test_a_tree_that_hides_what_was_installed_is_noted(arms: list[Arm], checkout: Path) -> None:
    head = arms[1]
    packages = head.env / "lib/python3.11/site-packages"
    installed = make(packages / "toy.py")
    url = make(packages / "toy-1.dist-info/direct_url.json")
    url.write_text(json.dumps({"url": head.root.as_uri(), "dir_info": {}}))
    hidden = reading(head.root / "src/toy.py")
    (note,) = check(arms, checkout, hidden)
    assert note == (
        "it used src/toy.py of the tree, not the copy that [build] installed: `python -m` "
        "looks in its working folder first; `python -I -m` does not"
    )
    assert check(arms, checkout, reading(head.root / "src/toy.py", installed)) == ()
    assert check(arms, checkout, reading(head.root / "README")) == ()
    url.unlink()
    assert check(arms, checkout, hidden) == ()


def test_where_nothing_can_be_watched_a_note_says_so(
    arms: list[Arm], checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    runs: list[int] = []
    (note,) = check(arms, checkout, lambda: runs.append(1))
    assert runs == [1]
    assert note == (
        "benchgate could not check that each side runs its own code: darwin does not report which "
        "files are opened; it does if [build] installs it and the command is `{env}/bin/PROGRAM`"
    )


@only_linux
def test_a_tree_with_too_many_folders_is_watched_in_part(
    arms: list[Arm], checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened_files, "MOST_FOLDERS", 1)
    (note,) = check(arms, checkout, lambda: None)
    assert "its own tree has more folders than can be watched" in note
    with pytest.raises(ForeignCodeError, match="opened README of your checkout"):
        check(arms, checkout, reading(checkout / "README"))
