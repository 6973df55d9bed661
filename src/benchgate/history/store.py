"""A store of runs: a folder of Parquet files, here or at any address that fsspec knows.

Each run is a file of its own, named after the run. So nothing is ever rewritten, and writers need
no lock: two of them write different files, or the same file with the same content.
"""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from fsspec.asyn import AsyncFileSystem, sync
from fsspec.implementations.local import LocalFileSystem
from pydantic import TypeAdapter, ValidationError

from benchgate.errors import BenchgateError, FormatError, UsageError
from benchgate.escape import plain_line
from benchgate.files import broken_link, write_atomic
from benchgate.history.apart import Ended, read_apart
from benchgate.json_object import Timestamp
from benchgate.model.redact import Redactor
from benchgate.model.result import SkippedResult
from benchgate.model.run import Better
from benchgate.stats.checks import LARGEST
from benchgate.units import TIME_UNITS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from benchgate.arrays import FloatArray, IntArray
    from benchgate.history.record import RunRecord
    from benchgate.json_object import Redact


VERSION: Final = 1
_VERSION_KEY: Final = b"benchgate_history"
_VERSION_SHOWN: Final = 20
MOST_ROWS: Final = 1_000_000
MOST_BYTES: Final = 64 << 20
"""Most rows and bytes of one file, the bytes after expansion: enough for 100,000 benchmarks."""

_TEXT = pa.dictionary(pa.int32(), pa.string())
_OF_RUN: Final = (
    *("run", "suite", "sha", "ref", "subject", "committed", "started"),
    *("machine", "machine_key", "conditions", "url"),
)
_OF_VALUE: Final = (
    *("benchmark", "workload", "metric", "unit", "better", "statistic", "display_unit"),
)
_CHECKED: Final = (*_OF_RUN, "better", "display_unit", "benchmark", "metric")
# A run has one value for each of these.
_KEY: Final = ("benchmark", "workload", "metric", "unit", "better", "statistic")
_NUMBERS: Final = ("value", "low", "high")
_FIRST_KEY: Final = len(_OF_RUN) + 1  # the canary stands between
_MOST_KNOWN: Final = 1000
_TIME: Final = TypeAdapter(Timestamp)
SCHEMA: Final = pa.schema(
    [
        *(pa.field(name, _TEXT, nullable=False) for name in _OF_RUN),
        pa.field("canary_s", pa.float64()),
        *(pa.field(name, _TEXT, nullable=False) for name in _OF_VALUE),
        *(pa.field(name, pa.float64(), nullable=False) for name in ("value", "low", "high")),
        pa.field("launches", pa.int64(), nullable=False),
    ],
    metadata={_VERSION_KEY: str(VERSION).encode()},
)


def encode_run(record: RunRecord, redact: Redact) -> bytes:
    """The file of a run; the same run always gives the same bytes."""
    sink = pa.BufferOutputStream()
    pq.write_table(to_table([record], redact), sink, compression="zstd")
    return bytes(sink.getvalue())


def to_table(records: Iterable[RunRecord], redact: Redact) -> pa.Table:
    """The rows of runs, with every text redacted."""
    tables = [_rows(record, redact) for record in records]
    return pa.concat_tables(tables) if tables else SCHEMA.empty_table()


def _rows(record: RunRecord, redact: Redact) -> pa.Table:
    count = len(record.measured)
    of_run = (
        *(record.id, record.suite, record.sha, record.ref, record.subject),
        *(record.committed, record.started, record.machine, record.machine_key),
        *(json.dumps(dict(record.conditions)), record.url),
    )
    columns: list[pa.Array] = [_texts([text] * count, redact) for text in of_run]
    columns.append(pa.array([record.canary_s] * count, pa.float64()))
    columns += [
        _texts([getattr(one, name) for one in record.measured], redact) for name in _OF_VALUE
    ]
    columns += [
        pa.array([getattr(one, name) for one in record.measured], SCHEMA.field(name).type)
        for name in ("value", "low", "high", "launches")
    ]
    return pa.table(columns, schema=SCHEMA)


def _texts(values: Sequence[str], redact: Redact) -> pa.Array:
    """Texts as Parquet holds them: bytes that are not UTF-8 become visible escapes."""
    clean = {text: redact(text.encode("utf-8", "backslashreplace").decode()) for text in values}
    return pa.array([clean[text] for text in values], pa.string()).dictionary_encode()


@dataclass(frozen=True, slots=True, eq=False)
class RunRows:
    """The rows of a run.

    Attributes:
        of_run: what is known of the run, in the order of `_OF_RUN`.
        keys: shape (n,), what each value is of, as numbers of `RunReader.keys`.
        values: shape (3, n): `value`, `low` and `high`.
    """

    of_run: tuple[str, ...]
    keys: IntArray
    values: FloatArray

    @property
    def id(self) -> str:
        return self.of_run[0]


class RunReader:
    """Reads the files of many runs: what they say alike is decoded once.

    Attributes:
        keys: the number of each different combination of the columns `_OF_VALUE`.
    """

    def __init__(self) -> None:
        self.keys: dict[tuple[str, ...], int] = {}
        self._numbers: dict[bytes, IntArray] = {}
        self._adopted: dict[bytes, IntArray] = {}

    def adopt(self, rows: RunRows, keys: Iterable[tuple[str, ...]]) -> RunRows:
        """Take over what a copy of this reader read in another process.

        Args:
            keys: those that this reader did not know.
        """
        for key in keys:
            self.keys[key] = len(self.keys)
        digest = hashlib.sha256(rows.keys.tobytes()).digest()
        return replace(rows, keys=self._adopted.setdefault(digest, rows.keys))

    def read(self, data: bytes, name: str) -> RunRows:
        """The rows of a file.

        Raises:
            FormatError: as `decode_run`.
        """
        found = self._quickly(data)
        if found is not None:
            return found
        rows = self.rows(decode_run(data, name))
        if len(self._numbers) < _MOST_KNOWN and (told := _told(data)):
            self._numbers[told.keys] = rows.keys
        return rows

    def rows(self, table: pa.Table) -> RunRows:
        """The rows of a run in the columns of `SCHEMA`."""
        columns = [table.column(name).cast(pa.string()).to_pylist() for name in _OF_VALUE]
        numbers = [self.keys.setdefault(key, len(self.keys)) for key in zip(*columns, strict=True)]
        of_run = tuple(str(table.column(name)[0].as_py()) for name in _OF_RUN)
        return RunRows(of_run, np.array(numbers, dtype=np.int32), _numbers(table))

    def _quickly(self, data: bytes) -> RunRows | None:
        """The rows of a file that has the keys of an earlier one; None if it is to be decoded."""
        told = _told(data)
        numbers = self._numbers.get(told.keys) if told else None
        if told is None or numbers is None:
            return None
        try:
            table = told.file.read(columns=list(_NUMBERS), use_threads=False)
        except (pa.ArrowException, OSError):
            return None
        is_whole = table.num_rows == len(numbers) and not any(
            column.null_count for column in table.columns
        )
        return RunRows(told.of_run, numbers, _numbers(table)) if is_whole else None


def _numbers(table: pa.Table) -> FloatArray:
    return np.stack([table.column(name).to_numpy() for name in _NUMBERS])


@dataclass(frozen=True, slots=True, eq=False)
class _Told:
    """What the footer of a file says: the texts of its run, and a hash of its columns of keys."""

    file: pq.ParquetFile
    of_run: tuple[str, ...]
    keys: bytes


def _told(data: bytes) -> _Told | None:
    """Read the footer of a file as benchgate writes it; None if it is another one."""
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        schema = file.schema_arrow
        _require_known(file, schema, "")
        if file.num_row_groups != 1 or not schema.equals(SCHEMA):
            return None
        group = file.metadata.row_group(0)
        texts = [_only_text(group.column(place)) for place in range(len(_OF_RUN))]
        first, last = group.column(_FIRST_KEY), group.column(_FIRST_KEY + len(_OF_VALUE) - 1)
        start = first.dictionary_page_offset
        end = (last.dictionary_page_offset or 0) + last.total_compressed_size
    except (pa.ArrowException, OSError, ValueError, KeyError, FormatError):
        return None
    known = dict(zip(_OF_RUN, texts, strict=True))
    times = [known["started"], *([known["committed"]] if known["committed"] else [])]
    if None in texts or not known["run"] or not start or not all(map(_is_time, map(str, times))):
        return None
    of_run = tuple(map(str, texts))
    return _Told(file, of_run, hashlib.sha256(data[start:end]).digest())


def _only_text(column: pq.ColumnChunkMetaData) -> str | None:
    """The text that all rows of a column have; None if they differ, or that is not known."""
    found = column.statistics
    if found is None or not found.has_min_max or found.null_count or found.min != found.max:
        return None
    return str(found.min)


def decode_run(data: bytes, name: str) -> pa.Table:
    """The rows of a file, in the columns of `SCHEMA`."""
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        _require_known(file, file.schema_arrow, name)
        table = file.read(columns=SCHEMA.names, use_threads=False).cast(SCHEMA)
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        first = str(error).strip().split("\n", 1)[0]
        raise FormatError(f"{name}: not a readable Parquet file: {first}") from None
    if why := next(_faults(table), None):
        raise FormatError(f"{name}: {why}")
    return table


def _faults(table: pa.Table) -> Iterator[str]:
    """What benchgate would not have written in the rows of a file; the worst comes first."""
    texts = {name: set(table.column(name).unique().to_pylist()) for name in _CHECKED}
    if len(texts["run"]) != 1:
        yield f"holds {len(texts['run'])} runs, and not one"
    if different := [name for name in _OF_RUN if len(texts[name]) != 1]:
        yield f"does not say the same of its run in each row: {', '.join(different)}"
    if not all(map(_is_time, texts["started"] | (texts["committed"] - {""}))):
        yield "has no valid time"
    if not texts["better"] <= set(Better):
        yield "a metric has no direction"
    if not texts["display_unit"] <= {"", *TIME_UNITS}:
        yield "a display unit is unknown"
    if any("" in texts[name] for name in ("run", "benchmark", "metric")):
        yield "a name is empty"
    keys = pa.table({name: table.column(name).cast(pa.string()) for name in _KEY})
    if keys.group_by(list(_KEY), use_threads=False).aggregate([]).num_rows < table.num_rows:
        yield "holds a value twice"


def _is_time(text: str) -> bool:
    try:
        _TIME.validate_python(text)
    except ValidationError:
        return False
    return True


def _require_known(file: pq.ParquetFile, schema: pa.Schema, name: str) -> None:
    found = (schema.metadata or {}).get(_VERSION_KEY)
    if found is None:
        raise FormatError(f"{name}: is a Parquet file, but not one of benchgate")
    if not found.isdigit() or len(found) > _VERSION_SHOWN or int(found) > VERSION:
        version = found[:_VERSION_SHOWN].decode("ascii", "backslashreplace")
        raise FormatError(
            f"{name}: version {version} was written by a newer benchgate; this one reads up to "
            f"{VERSION}"
        )
    if file.metadata.num_rows > MOST_ROWS:
        raise FormatError(f"{name}: holds more than {MOST_ROWS} rows, which is the limit")
    groups = range(file.metadata.num_row_groups)
    if sum(file.metadata.row_group(index).total_byte_size for index in groups) > MOST_BYTES:
        raise FormatError(
            f"{name}: expands to more than {MOST_BYTES >> 20} MiB, which is the limit"
        )


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


# As the first fields of StoredSeries.
_Name: TypeAlias = "tuple[str, str, str, str, str, str, str]"
_UNWANTED: Final = -1


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run as the rows describe it; see `RunRecord`."""

    id: str
    suite: str
    sha: str
    ref: str
    subject: str
    committed: str
    started: str
    machine: str
    machine_key: str
    conditions: str
    url: str


@dataclass(frozen=True, slots=True, eq=False)
class StoredSeries:
    """The values of one statistic on one machine, while its benchmark did the same work.

    Attributes:
        positions: shape (n,), ascending positions of the runs.
        values, low, high: shape (n,), finite.
    """

    benchmark: str
    metric: str
    statistic: str
    machine_key: str
    unit: str
    better: str
    workload: str
    display_unit: str
    positions: IntArray
    values: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, slots=True)
class _Key:
    """What a value is of, in the order of the columns."""

    benchmark: str
    workload: str
    metric: str
    unit: str
    better: str
    statistic: str
    display_unit: str


class Rows:
    """The rows of all runs.

    Args:
        reader: what has read them.
    """

    def __init__(self, runs: Sequence[RunRows], reader: RunReader) -> None:
        self._keys = [_Key(*key) for key in reader.keys]
        self._rows = {one.id: one for one in runs}
        self._runs = tuple(ListedRun(*one.of_run) for one in runs)

    def suites(self) -> tuple[str, ...]:
        return tuple(sorted({run.suite for run in self._runs}))

    def runs(self, suite: str) -> tuple[ListedRun, ...]:
        """The runs of a suite, in no particular order."""
        return tuple(run for run in self._runs if run.suite == suite)

    def metrics(self, suite: str) -> tuple[tuple[str, str], ...]:
        of_suite = (self._rows[run.id].keys for run in self.runs(suite))
        # Most runs share one array.
        numbers = {number for keys in _each_once(of_suite) for number in keys.tolist()}
        return tuple(sorted({(self._keys[n].benchmark, self._keys[n].metric) for n in numbers}))

    def series(
        self, runs: Sequence[str], wanted: Collection[tuple[str, str]]
    ) -> tuple[tuple[StoredSeries, ...], int]:
        """The series of some runs, and how many values are no numbers or too large.

        Args:
            runs: their ids, in order.
            wanted: benchmarks with their metrics.
        """
        machines = {run.id: run.machine_key for run in self._runs}
        numbers: dict[_Name, int] = {}
        of_machine = {
            machine: self._series_of_keys(machine, set(wanted), numbers)
            for machine in {machines[id_] for id_ in runs}
        }
        rows = [self._rows[id_] for id_ in runs]
        if not numbers:
            return (), 0
        series = np.concatenate(
            [of_machine[machines[id_]][one.keys] for id_, one in zip(runs, rows, strict=True)]
        )
        values = np.concatenate([one.values for one in rows], axis=1)
        usable = np.ones(len(series), dtype=np.bool_)
        with np.errstate(invalid="ignore"):
            for column in values:  # one after the other: they are large
                usable &= np.abs(column) <= LARGEST
        order = np.flatnonzero((series != _UNWANTED) & usable)
        order = order[np.argsort(series[order], kind="stable")]
        unusable = int(np.count_nonzero(~usable))
        series = series[order]
        keys = np.concatenate([one.keys for one in rows])[order]
        positions = np.repeat(np.arange(len(rows)), [len(one.keys) for one in rows])[order]
        value, low, high = values[:, order]
        bounds = [0, *(np.flatnonzero(np.diff(series)) + 1).tolist(), len(series)]
        names = list(numbers)
        found = []
        for a, b in pairwise(bounds):
            if a < b:
                unit = self._keys[keys[b - 1]].display_unit
                of_runs = (positions[a:b], value[a:b], low[a:b], high[a:b])
                found.append(StoredSeries(*names[int(series[a])], unit, *of_runs))
        found.sort(key=lambda one: (*_place(one), int(one.positions[0])))
        return tuple(found), unusable

    def _series_of_keys(
        self, machine: str, wanted: Collection[tuple[str, str]], numbers: dict[_Name, int]
    ) -> NDArray[np.int32]:
        """The number of the series of each key on a machine; each new one is added to `numbers`."""
        found = np.full(len(self._keys), _UNWANTED, dtype=np.int32)
        for place, key in enumerate(self._keys):
            if (key.benchmark, key.metric) in wanted:
                what = (key.benchmark, key.metric, key.statistic)
                name = (*what, machine, key.unit, key.better, key.workload)
                found[place] = numbers.setdefault(name, len(numbers))
        return found


def _place(series: StoredSeries) -> tuple[str, ...]:
    return series.benchmark, series.metric, series.statistic, series.machine_key


def _each_once(arrays: Iterator[IntArray]) -> Iterator[IntArray]:
    """Leave out the same object if it comes again."""
    seen: set[int] = set()
    for one in arrays:
        if id(one) not in seen:
            seen.add(id(one))
            yield one
