"""What a worker says about a file of benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from benchgate.stats.timer import Timer


class Described(NamedTuple):
    """What a worker says about a file that it has imported, and its clock."""

    hello: dict[str, Any]
    timer: Timer
