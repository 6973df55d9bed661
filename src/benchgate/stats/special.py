"""The functions of `scipy.special`, which takes long to import, from their first use on."""

from __future__ import annotations

from threading import Thread
from typing import Any


def __getattr__(name: str) -> Any:  # noqa: ANN401 - what scipy has
    from scipy import special  # noqa: PLC0415 - a check without benchmarks needs none of it

    found = globals()[name] = getattr(special, name)
    return found


def import_beside() -> Thread:
    """Begin to import them in a thread, while this one waits for other processes."""
    thread = Thread(target=__getattr__, args=("ndtr",))
    thread.start()
    return thread
