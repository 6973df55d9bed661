"""Runs code that may hang in a thread of its own, so that the program can go on without it."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_LOOK_S = 0.05


class LeftAloneError(Exception):
    """The code had not ended when it was left alone; its thread may still run."""


class _Outcome(Generic[T]):
    value: T
    error: Exception | None = None


def run_aside(work: Callable[[], T], leave_alone: Callable[[], bool]) -> T:
    """Run code in a thread of its own, and return what it returns.

    Args:
        leave_alone: asked while it runs; True leaves it alone.

    Raises:
        LeftAloneError: it was left alone.
        Exception: what the code raised.
    """
    outcome = _Outcome[T]()

    def run() -> None:
        try:
            outcome.value = work()
        except Exception as error:  # noqa: BLE001 - it is raised again in the other thread
            outcome.error = error

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        if leave_alone():
            raise LeftAloneError
        thread.join(_LOOK_S)
    if outcome.error is not None:
        raise outcome.error
    return outcome.value


def after(seconds: float) -> Callable[[], bool]:
    """Make a function that says whether so much time has passed."""
    deadline_s = time.monotonic() + seconds
    return lambda: time.monotonic() >= deadline_s
