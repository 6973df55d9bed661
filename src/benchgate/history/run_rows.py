"""A run as rows of a Parquet file, and back."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter, ValidationError

from benchgate.errors import FormatError
from benchgate.json_object import Timestamp
from benchgate.model.metrics import Better
from benchgate.units import TIME_UNITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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
