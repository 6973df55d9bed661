"""Work that waits for memory: it copies an array that fits into no cache."""

import os

_LANES = int(os.environ["BENCHGATE_PROBE_LANES"])
_SOURCE = bytearray(range(256)) * (int(os.environ["BENCHGATE_PROBE_BYTES"]) // 256)
_TARGET = bytearray(len(_SOURCE))


def bench_copy(lane: int) -> None:  # noqa: ARG001 - one for each
    """Copy the array."""
    _TARGET[:] = _SOURCE


bench_copy.params = {"lane": range(_LANES)}  # type: ignore[attr-defined]
