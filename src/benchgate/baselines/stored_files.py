"""Reads results that benchgate has written: a file of it, or all in a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.errors import UsageError
from benchgate.files import MAX_FILE_BYTES, read_bytes
from benchgate.gate.stored import EarlierResult, StoredResults, in_short, newest_first
from benchgate.model.codec import decode_result
from benchgate.model.result import SkippedResult

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.model.result import Result


DEFAULT_FOLDER: Final = ".benchgate"
MOST_FILES: Final = 200

_SUFFIXES = (".json", ".json.gz")


def read_single(path: Path) -> StoredResults:
    """Read the result in a file, also one of another tool; no results if there is no such file."""
    from benchgate.baselines.any_file import read_any  # noqa: PLC0415 - formats load slowly

    earlier = (EarlierResult(str(path), read_any([path])),) if path.exists() else ()
    return StoredResults("file", earlier)


def read_folder(folder: Path) -> StoredResults:
    """Read all results of a folder, newest first by their own dates; none without a folder.

    Files of other kinds and damaged files are skipped. If there are very many files, only the most
    recently changed ones are read.
    """
    files = _files(folder)
    earlier: list[EarlierResult] = []
    skipped: list[SkippedResult] = []
    left_bytes = MAX_FILE_BYTES
    for path in files[:MOST_FILES]:
        name = str(path)
        try:
            data = read_bytes(path, limit_bytes=left_bytes)
            earlier.append(EarlierResult(name, decode_result(data, name)))
        except UsageError as error:
            skipped.append(SkippedResult(name, error.message.removeprefix(f"{name}: ")))
        else:
            left_bytes -= len(data)
    unread = f"{folder} holds {len(files)} results: only the {MOST_FILES} newest files are read"
    return StoredResults(
        "directory",
        newest_first(earlier),
        tuple(skipped),
        (*((unread,) if len(files) > MOST_FILES else ()), *in_short(skipped, len(files))),
    )


def _files(folder: Path) -> list[Path]:
    """The files that may be results, most recently changed first."""
    try:
        found = [
            (path.stat().st_mtime_ns, path.name, path)
            for path in folder.iterdir()
            if path.name.endswith(_SUFFIXES) and path.is_file()
        ]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UsageError(
            f"cannot read {folder}: {error.strerror}",
            hint="Name a folder as dir:PATH, and a file as file:PATH.",
        ) from None
    return [path for _, _, path in sorted(found, reverse=True)]


def read_result(path: Path) -> Result:
    return decode_result(read_bytes(path), str(path))
