from __future__ import annotations

import gzip
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchgate.baselines import stored_files as files
from benchgate.baselines.stored_files import read_folder, read_single
from benchgate.errors import FormatError, UsageError
from benchgate.files.writing import write_atomic
from benchgate.model.codec import encode_result
from benchgate.model.environment import Environment
from benchgate.model.result import Result
from benchgate.model.run import Run, Source

if TYPE_CHECKING:
    from pathlib import Path

RUN = Run(Source("abc"), "2026-01-01T00:00:00Z", Environment(os="Debian"), ())


def write(path: Path, day: int) -> Path:
    run = replace(RUN, started=f"2026-01-{day:02}T00:00:00Z")
    write_atomic(path, encode_result(Result(run), str))
    return path


def test_without_a_folder_or_file_there_is_nothing(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        found = read_folder(folder)
        assert (found.source, found.is_empty, found.warnings) == ("directory", True, ())
    assert read_single(tmp_path / "none.json").is_empty


def test_the_newest_by_its_own_word_comes_first(tmp_path: Path) -> None:
    paths = [write(tmp_path / name, day) for name, day in (("b.json", 3), ("a.json.gz", 9))]
    for age_s, path in enumerate(paths):
        os.utime(path, (1e9 - age_s, 1e9 - age_s))
    write(tmp_path / "c.json.gz", 7)
    found = read_folder(tmp_path)
    assert [one.name for one in found.earlier] == [
        str(tmp_path / name) for name in ("a.json.gz", "c.json.gz", "b.json")
    ]
    assert found.skipped == ()


def test_a_single_file_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "any name", 3)
    (one,) = read_single(path).earlier
    assert (one.name, one.run.started[8:10]) == (str(path), "03")
    path.write_bytes(b"{}")
    with pytest.raises(FormatError, match="is neither a result of benchgate"):
        read_single(path)


def test_what_cannot_be_read_is_skipped_with_its_reason(tmp_path: Path) -> None:
    good = write(tmp_path / "good.json", 1)
    (tmp_path / "bomb.json.gz").write_bytes(gzip.compress(b"[" * 2_000_000))
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(good.read_bytes())[:-20])
    (tmp_path / "damaged.json").write_bytes(good.read_bytes().replace(b'"abc"', b"NaN"))
    (tmp_path / "verdict.json").write_bytes(b'{"schema": 1, "rows": []}')
    (tmp_path / "gone.json").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "notes.txt").write_text("not a result")
    os.mkfifo(tmp_path / "pipe.json")
    found = read_folder(tmp_path)
    assert [one.name for one in found.earlier] == [str(good)]
    reasons = {one.what.removeprefix(f"{tmp_path}/"): one.reason for one in found.skipped}
    assert sorted(reasons) == ["bomb.json.gz", "cut.json.gz", "damaged.json", "verdict.json"]
    assert reasons["bomb.json.gz"].startswith("nested too deeply")
    assert reasons["cut.json.gz"] == "the gzip data is cut off"
    assert reasons["damaged.json"] == "head.source.sha: NaN is not a text"
    assert reasons["verdict.json"].startswith("holds no `tool`")
    assert found.warnings[0].startswith("4 of 5 stored results are left out: ")


def test_only_so_many_are_read_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_FILES", 2)
    for day in (1, 2, 3):
        os.utime(write(tmp_path / f"{day}.json", day), (1e9 + day, 1e9 + day))
    found = read_folder(tmp_path)
    assert [one.run.started[8:10] for one in found.earlier] == ["03", "02"]
    assert found.warnings == (f"{tmp_path} holds 3 results: only the 2 newest files are read",)


def test_all_together_take_no_more_than_one_file_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size_bytes = write(tmp_path / "a.json", 1).stat().st_size
    write(tmp_path / "b.json", 2)
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 2 * size_bytes - 1)
    found = read_folder(tmp_path)
    assert len(found.earlier) == 1
    assert [one.reason for one in found.skipped] == [
        f"is larger than the limit of {size_bytes - 1} bytes"
    ]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", 1)
    with pytest.raises(UsageError, match=r"cannot read .*a\.json: Not a directory") as caught:
        read_folder(path)
    assert "file:PATH" in caught.value.hint
