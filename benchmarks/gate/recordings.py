"""Everything that was recorded, in one Parquet file: documents by name, such as `clean-lanes/007`.

A document is JSON. Its times, whole nanoseconds in arrays of any shape, stand in a column of their
own, because they compress to half of their size there.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.arrays import IntArray

_SHAPES = "shapes"
_SCHEMA = pa.schema(
    {"name": pa.string(), "document": pa.string(), "values_ns": pa.list_(pa.int64())}
)
_ENCODED = {
    "name": "PLAIN",
    "document": "PLAIN",
    "values_ns.list.element": "BYTE_STREAM_SPLIT",
}


class Recordings:
    """The recordings of a file, which need not exist yet."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __contains__(self, name: str) -> bool:
        return name in self._rows()

    def names(self, folder: str = "") -> list[str]:
        """The names below a folder, in order."""
        return [name for name in self._rows() if name.startswith(f"{folder}/" if folder else "")]

    def document(self, name: str) -> dict[str, Any]:
        """A document without its arrays."""
        document: dict[str, Any] = json.loads(self._rows()[name]["document"].as_py())
        document.pop(_SHAPES, None)
        return document

    def about(self, folder: str) -> list[Mapping[str, Any]]:
        """What the recordings of a folder say about themselves."""
        return [self.document(name)["about"] for name in self.names(folder)]

    def arrays_ns(self, name: str) -> dict[str, IntArray]:
        """The arrays of a document, by name."""
        row = self._rows()[name]
        values = row["values_ns"].values.to_numpy()
        shapes = json.loads(row["document"].as_py()).get(_SHAPES, {})
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes.values()])
        return {
            key: part.reshape(shape)
            for (key, shape), part in zip(
                shapes.items(), np.split(values, ends[:-1]) if shapes else (), strict=True
            )
        }

    def add(
        self,
        name: str,
        document: Mapping[str, Any],
        arrays_ns: Mapping[str, IntArray] | None = None,
    ) -> None:
        """Write a document, also while other processes do; the same ones give the same bytes."""
        arrays_ns = arrays_ns or {}
        shapes = {_SHAPES: {key: values.shape for key, values in arrays_ns.items()}}
        row = {
            "name": name,
            "document": json.dumps({**document, **(shapes if arrays_ns else {})}),
            "values_ns": np.concatenate([np.empty(0, int), *map(np.ravel, arrays_ns.values())]),
        }
        with _locked(self._path.parent):
            table = pa.Table.from_pylist([row], _SCHEMA)
            if self._path.exists():
                others = pq.read_table(self._path)
                others = others.filter(pa.compute.not_equal(others["name"], name))
                table = pa.concat_tables([others, table])
            partial = self._path.with_suffix(".partial")
            pq.write_table(
                table.sort_by("name"),
                partial,
                compression="zstd",
                compression_level=15,
                use_dictionary=False,
                column_encoding=_ENCODED,
            )
            partial.replace(self._path)

    def _rows(self) -> Mapping[str, Mapping[str, Any]]:
        return _read(self._path, self._path.stat().st_mtime_ns) if self._path.exists() else {}


RECORDINGS = Recordings(Path(__file__).parent / "recordings.parquet")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@lru_cache(4)
def _read(path: Path, _changed_ns: int) -> Mapping[str, Mapping[str, Any]]:
    table = pq.read_table(path).combine_chunks()
    columns = [table[key] for key in _SCHEMA.names]
    return {
        row[0].as_py(): dict(zip(_SCHEMA.names, row, strict=True))
        for row in zip(*columns, strict=True)
    }
