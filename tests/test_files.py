from __future__ import annotations

import gzip
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchgate.baselines.stored_files import read_result
from benchgate.errors import FormatError, UsageError
from benchgate.files.reading import read_bytes
from benchgate.files.writing import ensure_writable, write_atomic
from benchgate.model.codec import encode_result
from benchgate.model.environment import Environment
from benchgate.model.redact import Redactor
from benchgate.model.result import Result
from benchgate.model.run import Run, Source

RESULT = encode_result(
    Result(head=Run(Source("abc"), "2025-01-31T09:30:00Z", Environment(), ())), Redactor({})
)
PACKED = gzip.compress(RESULT, mtime=0)

not_root = pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")


def content_of(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", ["result.json", "result.json.gz"])
def test_a_result_is_written_and_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_atomic(path, RESULT)
    assert read_result(path).head.source.sha == "abc"
    assert content_of(tmp_path) == [name]


def test_gzip_is_the_same_every_time_and_found_without_its_name(tmp_path: Path) -> None:
    first, second = tmp_path / "a.gz", tmp_path / "b.gz"
    write_atomic(first, b"text")
    write_atomic(second, b"text")
    assert first.read_bytes() == second.read_bytes()
    assert gzip.decompress(first.read_bytes()) == b"text"
    unnamed = first.rename(tmp_path / "unnamed")
    assert read_bytes(unnamed) == b"text"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json.gz", b"plain text", "not valid gzip"),
        ("a.json.gz", PACKED[:-12], "cut off"),
        ("a.json.gz", PACKED[:20] + b"\xff" * 20 + PACKED[40:], "not valid gzip"),
        ("a.json.gz", b"", "empty"),
        ("a.json", b"", "empty"),
        ("a.json", RESULT[:-9], "cut off"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message) as caught:
        read_result(path)
    assert caught.value.message.startswith(f"{path}: ")
    assert caught.value.hint


@pytest.mark.parametrize("name", ["bomb.json", "bomb.json.gz"])
def test_too_large_files_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_atomic(path, b"0" * 5_000_000)
    with pytest.raises(FormatError, match="larger than the limit of 4000000 bytes"):
        read_bytes(path, limit_bytes=4_000_000)
    assert len(read_bytes(path, limit_bytes=5_000_000)) == 5_000_000


def test_what_cannot_be_read_is_an_error_of_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*No such file"):
        read_result(tmp_path / "absent.json")
    with pytest.raises(UsageError, match=r"cannot read .*Is a directory"):
        read_result(tmp_path)


def test_writing_replaces_and_keeps_permissions(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_follows_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    previous = os.umask(0o027)
    try:
        write_atomic(path, b"new")
    finally:
        os.umask(previous)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    target = tmp_path / "target.json"
    target.write_bytes(b"old")
    link = tmp_path / "link.json"
    link.symlink_to(target)
    ensure_writable(link)
    write_atomic(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_device_is_written_to_and_not_replaced() -> None:
    null = Path(os.devnull)
    ensure_writable(null)
    write_atomic(null, b"new")
    assert null.is_char_device()


def test_a_failed_write_keeps_the_old_file_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    write_atomic(path, b"old")
    # A real "file too large": the limit makes the kernel refuse the write of a child process.
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from benchgate.errors import UsageError\n"
        "from benchgate.files import write_atomic\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: write_atomic(Path(sys.argv[1]), bytes(5000))\n"
        "except UsageError as error: print(error)\n"
    )
    child = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )
    assert child.stdout == f"cannot write {path}: File too large\n"
    assert path.read_bytes() == b"old"
    assert content_of(tmp_path) == ["result.json"]


def test_ensure_writable_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    ensure_writable(path)
    assert content_of(tmp_path) == []
    path.write_bytes(b"old")
    ensure_writable(path)
    assert path.read_bytes() == b"old"
    assert content_of(tmp_path) == ["result.json"]


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("", "it is a folder", "Name a file"),
        ("absent/result.json", "there is no folder", "mkdir -p"),
        ("file/result.json", "there is no folder", "mkdir -p"),
        ("x" * 300, "File name too long", "elsewhere"),
    ],
)
def test_ensure_writable_says_why_not(tmp_path: Path, name: str, message: str, hint: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError, match=message) as caught:
        ensure_writable(tmp_path / name)
    assert hint in caught.value.hint


@not_root
def test_ensure_writable_refuses_what_is_protected(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(UsageError, match="read-only"):
        ensure_writable(path)
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o555)
    with pytest.raises(UsageError, match="Permission denied"):
        ensure_writable(folder / "result.json")


WRITER = """
import sys
from pathlib import Path
from benchgate.files import write_atomic
path = Path(sys.argv[1])
print("ready", flush=True)
while True:
    for letter in b"ab":
        write_atomic(path, bytes([letter]) * 3_000_000)
"""


def test_a_killed_writer_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    write_atomic(path, b"a" * 3_000_000)
    interrupted = attempt = 0
    while attempt < 8 or not interrupted:  # on a busy machine, many kills hit no write
        attempt += 1
        assert attempt < 200, "no kill hit a write: the test shows nothing"
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE
        ) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
            time.sleep(0.003 + 0.0023 * (attempt % 8))
            writer.send_signal(signal.SIGKILL)
        content = read_bytes(path)
        assert content in (b"a" * 3_000_000, b"b" * 3_000_000)
        interrupted += len(content_of(tmp_path)) > 1
    write_atomic(path, b"end")
    assert content_of(tmp_path) == ["result.json"]


def test_the_temporary_file_of_a_living_writer_stays(tmp_path: Path) -> None:
    of_living = tmp_path / f".result.json.{os.getppid()}.tmp"
    of_other_file = tmp_path / ".other.json.99999999.tmp"
    of_nobody = tmp_path / ".result.json.notes.tmp"
    of_dead = tmp_path / ".result.json.99999999999999999999.tmp"
    for path in (of_living, of_other_file, of_nobody, of_dead):
        path.write_bytes(b"")
    write_atomic(tmp_path / "result.json", b"new")
    assert content_of(tmp_path) == sorted(
        ["result.json", of_living.name, of_other_file.name, of_nobody.name]
    )
