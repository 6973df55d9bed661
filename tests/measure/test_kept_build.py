"""Real builds, packed and put in place elsewhere, where they must be as if they were made there."""

from __future__ import annotations

import gzip
import io
import os
import socket
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from benchgate.measure.build_manifest import About, DamagedError
from benchgate.measure.engine import Arm, ArmName
from benchgate.measure.kept_build import KeptBuild, NotKeptError, pack, read_about, snapshot

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ABOUT = About("project", "a" * 40, 1e9, 11.5, ("numpy-2.0.dist-info",))
OLD, NEW = ("benchgate-ab_cdefg", "0123abcd"), ("benchgate-12345_78", "4567cdef")
FILES = {"setup.py": "one", "src/toy.py": "two", "gone/away.txt": "three", "was_file": "four"}


def arm_at(tmp_path: Path, place: tuple[str, str]) -> Arm:
    """A fresh tree, and a path for its environment."""
    session, own = place
    root = tmp_path / session / own / "project"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (1_500_000_000, 1_500_000_000))
    return Arm(ArmName.HEAD, root, root.parent.with_name(f"{own}-env"))


def packed(arm: Arm, build: Callable[[Arm], None]) -> bytes:
    before = snapshot(arm)
    build(arm)
    target = io.BytesIO()
    pack(arm, before, ABOUT, target)
    return target.getvalue()


def moved(tmp_path: Path, build: Callable[[Arm], None]) -> tuple[Arm, Arm]:
    """Run a build at one place, and put what it left at another."""
    first, second = arm_at(tmp_path, OLD), arm_at(tmp_path, NEW)
    kept = KeptBuild(io.BytesIO(packed(first, build)))
    assert kept.about == ABOUT
    assert kept.is_of_now(second)
    kept.put(second)
    return first, second


def content(arm: Arm, place: tuple[str, str]) -> dict[str, tuple[object, ...]]:
    """Everything of an arm, with a word in place of what a session draws."""
    session, own = place

    def neutral(data: bytes) -> bytes:
        return data.replace(session.encode(), b"S" * 18).replace(own.encode(), b"O" * 8)

    found: dict[str, tuple[object, ...]] = {}
    for top in (arm.root, arm.env):
        for path in sorted(top.rglob("*")):
            seen = path.lstat()
            data = b""
            if path.is_symlink():
                data = os.fsencode(path.readlink())
            elif path.is_file():
                data = path.read_bytes()
            time = 0 if path.is_dir() and top == arm.root else seen.st_mtime_ns
            name = neutral(os.fsencode(path)).decode()
            found[name] = (seen.st_mode, time, neutral(data))
    return found


def write(path: Path, data: bytes | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)


def of_many_kinds(arm: Arm) -> None:
    """As builds do: text, bytes, names and links with the path, and changes of the tree."""
    write(arm.env / "bin" / "tool", f"#!{arm.env}/bin/python\nprint(1)\n")
    (arm.env / "bin" / "tool").chmod(0o755)
    write(arm.env / "prompt", f"({arm.env.name}) ")
    write(arm.env / "lib" / "code.pyc", b"\0\1" + os.fsencode(arm.root) + b"\0")
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
    (arm.env / "closed").chmod(0o555)


def test_a_build_is_the_same_at_another_place(tmp_path: Path) -> None:
    first, second = moved(tmp_path, of_many_kinds)
    assert content(second, NEW) == content(first, OLD)
    tool = (second.env / "bin" / "tool").read_text()
    assert tool.startswith(f"#!{second.env}/bin/python")
    assert (second.env / "own").resolve() == second.root / "src"


def test_a_virtual_environment_is_the_same_at_another_place(tmp_path: Path) -> None:
    def build(arm: Arm) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", arm.env], check=True)
        site = next(arm.env.glob("lib/python*/site-packages"))
        write(site / "toy.pth", str(arm.root / "src"))
        write(site / "mine.py", "import sys\nWHERE = sys.prefix\n")
        python = arm.env / "bin" / "python"
        subprocess.run([python, "-m", "compileall", "-q", site / "mine.py"], check=True)

    first, second = moved(tmp_path, build)
    assert content(second, NEW) == content(first, OLD)
    script = "import mine, sys; print(mine.WHERE, mine.__cached__, *sys.path)"
    python = second.env / "bin" / "python"
    done = subprocess.run([python, "-c", script], check=True, capture_output=True, text=True)
    assert str(second.env) in done.stdout
    assert str(second.root / "src") in done.stdout
    assert OLD[0] not in done.stdout
    # Python takes the compiled code as it is, with the new path in its tracebacks.
    shown = "import mine; print(mine.__spec__.loader.get_code('mine').co_filename)"
    done = subprocess.run([python, "-c", shown], check=True, capture_output=True, text=True)
    assert done.stdout.startswith(str(second.env))


def zipped(text: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner", text)
    return data.getvalue()


@pytest.mark.parametrize(
    "form",
    [
        zipped,
        lambda text: gzip.compress(text.encode()),
        lambda text: gzip.compress(zipped(text)),
        lambda text: b"#!/bin/sh\n" + zipped(text),
        lambda text: text.encode("utf-16"),
        lambda text: text.replace("-", "_").encode(),
        lambda text: text.replace("/", "-").encode(),
        lambda text: b"\xcf\xfa\xed\xfe" + text.encode(),
    ],
    ids=["zip", "gzip", "zip in gzip", "zipapp", "utf-16", "name", "joined", "signed"],
)
def test_a_path_in_another_form_is_refused(tmp_path: Path, form: Callable[[str], bytes]) -> None:
    def build(arm: Arm) -> None:
        write(arm.env / "file", form(str(arm.root)))

    with pytest.raises(NotKeptError, match="env/file"):
        packed(arm_at(tmp_path, OLD), build)


def test_what_is_no_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(arm: Arm) -> None:
        arm.env.mkdir()
        monkeypatch.chdir(arm.env)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("listening")

    with pytest.raises(NotKeptError, match="neither a file nor a folder"):
        packed(arm_at(tmp_path, OLD), build)


def test_an_environment_behind_a_link_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotKeptError, match="is not a folder"):
        packed(arm_at(tmp_path, OLD), lambda arm: arm.env.symlink_to(tmp_path))


def test_files_of_git_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotKeptError, match="files of git"):
        packed(arm_at(tmp_path, OLD), lambda arm: write(arm.root / ".git", "gitdir: elsewhere"))


def test_another_interpreter_behind_a_link_is_noticed(tmp_path: Path) -> None:
    interpreter = tmp_path / "python3"
    write(interpreter, "old")

    def build(arm: Arm) -> None:
        arm.env.mkdir()
        (arm.env / "python").symlink_to(interpreter)

    kept = KeptBuild(io.BytesIO(packed(arm_at(tmp_path, OLD), build)))
    other = arm_at(tmp_path, NEW)
    assert kept.is_of_now(other)
    write(interpreter, "new one")
    assert not kept.is_of_now(other)
    interpreter.unlink()
    assert not kept.is_of_now(other)


def test_a_path_of_another_length_does_not_fit(tmp_path: Path) -> None:
    kept = KeptBuild(io.BytesIO(packed(arm_at(tmp_path, OLD), of_many_kinds)))
    assert not kept.is_of_now(arm_at(tmp_path, ("benchgate-long_name", "0123abcd")))


@pytest.mark.parametrize("damage", ["cut", "empty", "changed", "longer", "no build", "nested"])
def test_a_damaged_build_is_never_used(tmp_path: Path, damage: str) -> None:
    data = packed(arm_at(tmp_path, OLD), of_many_kinds)
    middle = len(data) // 2
    damaged = {
        "cut": data[:middle],
        "empty": b"",
        "changed": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
        "longer": data + b"x",
        "no build": b"x" * 5000,
        "nested": (100_000).to_bytes(8, "big") + b"[" * 100_000,
    }[damage]
    with pytest.raises(DamagedError):
        KeptBuild(io.BytesIO(damaged))
    assert read_about(io.BytesIO(data)) == ABOUT
    if damage in {"empty", "no build", "nested"}:
        with pytest.raises(DamagedError):
            read_about(io.BytesIO(damaged))
