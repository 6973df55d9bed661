"""Two load generators of one machine agree when their launches begin."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.files import write_atomic
from benchgate.load.group import GivenUpError

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.load.turns import TurnOrder

# Both look so often, and the one that asks last must have looked before the launches begin.
_LOOK_S = 0.001
_TO_LOOK_NS = 40_000_000
_READY: Final = "ready"
_EPOCH: Final = "epoch"
_ENDED: Final = "ended"


def tell_ended(meeting: Path) -> None:
    """Tell the load generator that still waits there that the other one has ended.

    Args:
        meeting: the folder.
    """
    with suppress(OSError):  # it waits for its time limit then
        (meeting / _ENDED).touch()


def is_ready(meeting: Path, place: int) -> bool:
    """Whether a load generator is ready, or was when it ended: from then on it needs the other one.

    Args:
        meeting: the folder.
        place: as in `TurnOrder`.
    """
    return _ready_file(meeting, place).exists()


def epoch_ns(turns: TurnOrder | None, to_wake_ns: int, is_stopped: Callable[[], bool]) -> int:
    """Return when the warm-up begins, once the other load generator is ready too.

    Args:
        turns: how the launch takes turns with the other one; None if it runs alone.
        to_wake_ns: how long the workers may take to be awake then.
        is_stopped: whether the launch was given up.

    Returns:
        A time of `time.perf_counter_ns`, the same in both generators.

    Raises:
        GivenUpError: the launch was given up, or the other one has ended.
        UsageError: the folder cannot be written.
    """
    if turns is None:
        return time.perf_counter_ns() + to_wake_ns
    meeting = Path(turns.meeting)
    _write(_ready_file(meeting, turns.place), to_wake_ns)
    if turns.place:
        return _awaited(meeting / _EPOCH, is_stopped)
    other_ns = _awaited(_ready_file(meeting, 1), is_stopped)
    begin_ns = time.perf_counter_ns() + _TO_LOOK_NS + max(to_wake_ns, other_ns)
    _write(meeting / _EPOCH, begin_ns)
    return begin_ns


def _ready_file(meeting: Path, place: int) -> Path:
    return meeting / f"{_READY}{place}"


def _awaited(file: Path, is_stopped: Callable[[], bool]) -> int:
    """Wait for a number."""
    while True:
        if file.exists():
            return int(file.read_text())
        if is_stopped() or (file.parent / _ENDED).exists():
            raise GivenUpError
        time.sleep(_LOOK_S)


def _write(file: Path, number: int) -> None:
    write_atomic(file, str(number).encode())
