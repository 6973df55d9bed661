"""The load generator as a program, and a scheduler in a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import pytest
from pydantic import TypeAdapter
from tests.load.cluster.clusters import places, tasks

from benchgate.load.launch import LoadOrder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from distributed import LocalCluster
    from tests.load.servers import HttpServer

pytestmark = [pytest.mark.xdist_group("cluster"), pytest.mark.slow]

SOON_S = 45.0


@contextmanager
def started(*argv: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def generator(order: LoadOrder, folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    asked, replied = folder / "order.json", folder / "reply.json"
    asked.write_bytes(TypeAdapter(LoadOrder).dump_json(order, context=str))
    with started(sys.executable, "-I", "-m", "benchgate.load", str(asked), str(replied)) as process:
        yield process, replied


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_load_and_leaves_the_cluster_clean(
    number: signal.Signals,
    cluster: LocalCluster,
    server: HttpServer,
    order_for: Callable[..., LoadOrder],
    tmp_path: Path,
) -> None:
    more = '[teardown]\nrequests = [{ path = "/bye" }]\n'
    order = order_for(server.url, cluster.scheduler_address, duration="60s", more=more)
    with generator(order, tmp_path) as (process, reply):
        wait_for(lambda: len(server.requests) > 100)
        process.send_signal(number)
        assert process.wait(SOON_S) == 0
    assert "interrupted" in json.loads(reply.read_bytes())["error"]
    assert server.requests[-1].path == "/bye"
    assert not tasks(cluster)
    assert len(places(cluster)) == 2


def test_a_scheduler_that_dies_ends_the_launch(
    server: HttpServer, order_for: Callable[..., LoadOrder], tmp_path: Path
) -> None:
    contact = tmp_path / "scheduler.json"
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny"]
    with ExitStack() as stack:
        file = ["--scheduler-file", str(contact)]
        local = ["--host", "127.0.0.1", *file]
        scheduler = stack.enter_context(
            started(*dask, "--port", "0", "--dashboard-address", "127.0.0.1:0", *local)
        )
        wait_for(contact.exists)
        stack.enter_context(started(*worker, "--dashboard-address", "127.0.0.1:0", *local))
        address = json.loads(contact.read_bytes())["address"]
        order = order_for(server.url, address, duration="60s")
        time.sleep(3)
        process, reply = stack.enter_context(generator(order, tmp_path))
        wait_for(lambda: len(server.requests) > 100)
        scheduler.kill()
        assert process.wait(SOON_S) == 0
        error = json.loads(reply.read_bytes())["error"]
    assert error.startswith(f"the scheduler {address} does not answer")
