"""Looks after services while they are under load: benchgate itself only waits then."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from benchgate.measure.service_process import ServiceFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchgate.measure.service import Services

LOOK_S: Final = 0.5
"""Time between two looks; a look takes less than a millisecond."""


@contextmanager
def watched(
    services: Services, give_up: Callable[[], None], look_s: float = LOOK_S
) -> Iterator[None]:
    """Bound the logs of services, and end the load soon after one of them has ended.

    Args:
        give_up: ends the load; called in another thread, at most once.
    """
    if not services.are_running:
        yield
        return
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(look_s):
            services.trim_logs()
            try:
                services.require_alive()
            except ServiceFailedError:
                give_up()
                return

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
