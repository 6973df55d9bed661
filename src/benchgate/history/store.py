"""A store of runs: a folder of Parquet files, here or at any address that fsspec knows.

Each run is a file of its own, named after the run. So nothing is ever rewritten, and writers need
no lock: two of them write different files, or the same file with the same content.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import fsspec
from fsspec.asyn import AsyncFileSystem, sync
from fsspec.implementations.local import LocalFileSystem

from benchgate.errors import BenchgateError, FormatError, UsageError
from benchgate.escape import plain_line
from benchgate.files import broken_link, write_atomic
from benchgate.history.apart import Ended, read_apart
from benchgate.history.run_rows import MOST_BYTES, RunReader, RunRows, encode_run
from benchgate.model.redact import Redactor
from benchgate.model.result import SkippedResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchgate.history.record import RunRecord
    from benchgate.json_object import Redact


_NAME: Final = re.compile(r"run-([0-9a-f]{24})\.parquet")
_FILES_AT_ONCE: Final = 256
_BYTES_AT_ONCE: Final = 4 * MOST_BYTES
# For a list, for one file to write, or for the files that are read together.
_LONGEST_WAIT_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class Store:
    """Where runs are kept.

    Attributes:
        files: the file system of fsspec.
        root: the folder, as `files` names it.
        name: the address as messages show it, without a password.
    """

    files: Any
    root: str
    name: str

    @classmethod
    def at(cls, address: str) -> Store:
        """Open a store; it need not exist."""
        name = plain_line(Redactor({})(address))
        try:
            files, root = fsspec.core.url_to_fs(address)
        except ImportError as error:
            raise UsageError(f"cannot open {name}: {_said(error)}") from None
        except ValueError as error:
            raise UsageError(
                f"cannot open {name}: {_said(error)}",
                hint="Name a folder, or an address such as s3://bucket/folder.",
            ) from None
        except Exception as error:  # noqa: BLE001 - each file system raises errors of its own
            raise UsageError(f"cannot open {name}: {_said(error)}") from None
        return cls(files, root, name)

    def ids(self) -> frozenset[str]:
        """The ids of all runs."""
        return frozenset(self._listed())

    def add(self, record: RunRecord, redact: Redact) -> None:
        """Write the file of a run. If it is there already, its content stays the same."""
        data = encode_run(record, redact)
        file = f"run-{record.id}.parquet"
        if isinstance(self.files, LocalFileSystem):
            folder = Path(self.root)
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                why = broken_link(folder) or error.strerror
                raise UsageError(
                    f"cannot make the folder {folder}: {why}",
                    hint="Name another folder with --store.",
                ) from None
            write_atomic(folder / file, data)
            return
        with self._reached("write to"):
            self._ask("pipe_file", f"{self.root.rstrip('/')}/{file}", data)

    def read(self, reader: RunReader) -> Iterator[RunRows | SkippedResult]:
        """Read all runs; in place of a file that cannot be used comes the reason."""
        listed = self._listed()
        for paths in _batches(sorted(listed.values())):
            with self._reached("read"):
                found = self._ask("cat", paths, on_error="return")
            answers = read_apart(paths, lambda path: _with_keys(path, found.get(path), reader))  # noqa: B023 - used up in this pass
            for path, answer in zip(paths, answers, strict=True):
                yield _taken(path, answer, reader)
        for path, size in sorted(listed.values()):
            if size > MOST_BYTES:
                why = f"it is larger than {MOST_BYTES >> 20} MiB"
                yield SkippedResult(path.rpartition("/")[2], why)

    def _listed(self) -> dict[str, tuple[str, int]]:
        """The path and the size in bytes of each run's file, by the run's id."""
        with self._reached("read"):
            self.files.invalidate_cache()
            try:
                entries = self._ask("ls", self.root, detail=True)
            except FileNotFoundError:
                return {}
        found = {}
        for entry in entries:
            match = _NAME.fullmatch(entry["name"].rpartition("/")[2])
            if match and entry["type"] == "file":
                found[match[1]] = (entry["name"], entry["size"] or 0)
        return found

    def _ask(self, name: str, *arguments: object, **options: object) -> Any:  # noqa: ANN401 - as fsspec
        """Call a method of the file system; a server that never answers is given up."""
        if not isinstance(self.files, AsyncFileSystem):
            return getattr(self.files, name)(*arguments, **options)
        method = getattr(self.files, f"_{name}")
        return sync(self.files.loop, method, *arguments, timeout=_LONGEST_WAIT_S, **options)

    @contextmanager
    def _reached(self, what: str) -> Iterator[None]:
        """Turn the errors of a file system into one that names the store."""
        try:
            yield
        except BenchgateError:
            raise
        except PermissionError as error:
            raise UsageError(
                f"may not {what} {self.name}: {_said(error)}",
                hint="Check the credentials, or the permissions of the folder.",
            ) from None
        except TimeoutError:
            raise UsageError(
                f"cannot {what} {self.name}: there was no answer within {_LONGEST_WAIT_S:g} s",
                hint="Check the address and the network.",
            ) from None
        except Exception as error:  # noqa: BLE001 - each file system raises errors of its own
            raise UsageError(
                f"cannot {what} {self.name}: {_said(error)}",
                hint="Check the address, the network, and the credentials.",
            ) from None


def _batches(files: Iterable[tuple[str, int]]) -> Iterator[list[str]]:
    """The paths that are read together; those of files that are too large are left out."""
    batch: list[str] = []
    total = 0
    for path, size in files:
        if size > MOST_BYTES:
            continue
        if batch and (len(batch) == _FILES_AT_ONCE or total + size > _BYTES_AT_ONCE):
            yield batch
            batch, total = [], 0
        batch.append(path)
        total += size
    if batch:
        yield batch


_NewKeys: TypeAlias = "tuple[tuple[str, ...], ...]"


def _with_keys(
    path: str, data: object, reader: RunReader
) -> tuple[RunRows | SkippedResult, _NewKeys]:
    """Read a file in the child; tell the keys that the parent does not know."""
    known = len(reader.keys)
    found = _decoded(path, data, reader)
    return found, tuple(islice(reader.keys, known, None))


def _taken(
    path: str, answer: tuple[RunRows | SkippedResult, _NewKeys] | Ended, reader: RunReader
) -> RunRows | SkippedResult:
    """Take over in the parent what the child read."""
    if isinstance(answer, Ended):
        why = f"it is damaged: reading it {answer.how}"
        return SkippedResult(path.rpartition("/")[2], why)
    found, keys = answer
    return found if isinstance(found, SkippedResult) else reader.adopt(found, keys)


def _decoded(path: str, data: object, reader: RunReader) -> RunRows | SkippedResult:
    name = path.rpartition("/")[2]
    if not isinstance(data, bytes):
        why = _said(data) if isinstance(data, BaseException) else "it holds no bytes"
        return SkippedResult(name, f"it cannot be read: {why}")
    try:
        return reader.read(data, name)
    except FormatError as error:
        return SkippedResult(name, error.message.removeprefix(f"{name}: "))


def _said(error: BaseException) -> str:
    """What an error says, on one line and without secrets."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return plain_line(Redactor({})(text))
