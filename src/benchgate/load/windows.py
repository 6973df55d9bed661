"""Time windows of a launch: which there are, and what is kept of each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """What is kept of one window of a step once it is over.

    Attributes:
        ops: operations that ended well in it.
        errors: operations that failed in it.
        histogram: of the latencies in ns, as `stats.hdr.encode` writes it.
    """

    ops: int
    errors: int
    histogram: bytes
