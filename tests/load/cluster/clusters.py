"""Clusters for tests, and what happens to them."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from distributed import LocalCluster
from tests.patience import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


@contextmanager
def local_cluster(workers: int = 2, preload: Sequence[str] = ()) -> Iterator[LocalCluster]:
    """A scheduler in this process, and workers in processes of their own."""
    with LocalCluster(
        n_workers=workers,
        processes=True,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        preload=list(preload),
    ) as cluster:
        yield cluster


@contextmanager
def refused_port() -> Iterator[int]:
    """A port at which nobody listens; it is bound, so nobody else takes it."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def places(cluster: LocalCluster) -> list[str]:
    """The addresses of the workers that the scheduler knows."""
    assert cluster.scheduler is not None
    return sorted(cluster.scheduler.workers)


def tasks(cluster: LocalCluster) -> list[object]:
    """The tasks that the scheduler knows."""
    assert cluster.scheduler is not None
    return list(cluster.scheduler.tasks)


def events(cluster: LocalCluster) -> str:
    """What the scheduler shows on its dashboard."""
    assert cluster.scheduler is not None
    return repr(cluster.scheduler.get_events())


def when(condition: Callable[[], bool], act: Callable[[], object]) -> threading.Thread:
    """Do something in another thread as soon as a condition holds."""

    def wait() -> None:
        eventually(condition)
        act()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread
