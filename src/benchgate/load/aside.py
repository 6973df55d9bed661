"""Runs something in a thread aside, which may be left alone."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable


T = TypeVar("T")

_LOOK_ASIDE_S = 0.05


class LeftAloneError(Exception):
    """The code had not ended when it was left alone; its thread may still run."""


def run_aside(work: Callable[[], T], leave_alone: Callable[[], bool]) -> T:
    """Run code in a thread of its own, and return what it returns.

    Args:
        leave_alone: asked while it runs; True leaves it alone.

    Raises:
        LeftAloneError: it was left alone.
        Exception: what the code raised.
    """
    results: list[T] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001 - it is raised again in the other thread
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        if leave_alone():
            raise LeftAloneError
        thread.join(_LOOK_ASIDE_S)
    for error in errors:
        raise error
    return results[0]
