"""The Parquet files of a store: one row for each value of a run, with what is known of the run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter, ValidationError

from benchgate.errors import FormatError
from benchgate.json_object import Timestamp
from benchgate.model.run import Better
from benchgate.units import TIME_UNITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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


def decode_run(data: bytes, name: str) -> pa.Table:
    """The rows of a file, in the columns of `SCHEMA`.

    Raises:
        FormatError: it is damaged, was written by a newer benchgate, or is of another kind.
    """
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        _require_known(file, name)
        table = file.read(columns=SCHEMA.names).cast(SCHEMA)
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
    if keys.group_by(list(_KEY)).aggregate([]).num_rows < table.num_rows:
        yield "holds a value twice"


def _is_time(text: str) -> bool:
    try:
        _TIME.validate_python(text)
    except ValidationError:
        return False
    return True


def _require_known(file: pq.ParquetFile, name: str) -> None:
    found = (file.schema_arrow.metadata or {}).get(_VERSION_KEY)
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
