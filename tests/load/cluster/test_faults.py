from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from distributed import Client, Event, LocalCluster
from tests.load.cluster.clusters import local_cluster, places, refused_port, tasks, when

from benchgate.errors import ConfigError
from benchgate.load import cluster as on_dask
from benchgate.load.cluster import ClusterError, Deadlines, run_on_cluster
from benchgate.load.generator import run_iteration
from benchgate.load.group import GivenUpError
from benchgate.load.launch import parcel_of
from benchgate.load.scenario_file import read_scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.load.servers import HttpServer

    from benchgate.load.launch import LoadOrder, ProcessLaunch

pytestmark = pytest.mark.xdist_group("cluster")

SOON_S = 45.0
LONG = "60s"


def never() -> bool:
    return False


@contextmanager
def within(seconds: float) -> Iterator[None]:
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < seconds


def pids(cluster: LocalCluster) -> dict[str, int]:
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        found: dict[str, int] = client.run(os.getpid)
    return found


def is_quiet(server: HttpServer) -> bool:
    """Whether nobody loads the server any more."""
    before = len(server.requests)
    time.sleep(0.5)
    return len(server.requests) == before


def test_sqlite_cannot_be_loaded_from_a_cluster(tmp_path: Path) -> None:
    path = tmp_path / "orders.toml"
    path.write_text(
        'name = "orders"\n[load]\ncluster = "tcp://127.0.0.1:8786"\n'
        '[[target]]\ndsn = "{scratch}/orders.db"\n[[step]]\nname = "a"\nquery = "SELECT 1"\n',
        encoding="utf-8",
    )
    with pytest.raises(ConfigError, match=r'orders.toml:3: load.cluster = .*the driver "sqlite"'):
        read_scenario(path, "orders.toml")


def test_no_scheduler_is_said_in_seconds(
    server: HttpServer, launch_for: Callable[..., ProcessLaunch]
) -> None:
    with refused_port() as port:
        launch = launch_for(server.url, f"tcp://127.0.0.1:{port}")
        with within(SOON_S), pytest.raises(ClusterError) as raised:
            run_on_cluster(launch, never, Deadlines(connect_s=1.0))
    assert f"the scheduler tcp://127.0.0.1:{port} cannot be reached" in str(raised.value)
    assert not server.requests


def test_a_server_that_is_no_scheduler_is_said_in_seconds(
    server: HttpServer, launch_for: Callable[..., ProcessLaunch]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        launch = launch_for(server.url, f"tcp://127.0.0.1:{silent.getsockname()[1]}")
        with within(SOON_S), pytest.raises(ClusterError, match=r"cannot be reached"):
            run_on_cluster(launch, never, Deadlines(connect_s=1.0))


@pytest.mark.parametrize("address", ["carrier-pigeon://roof:1", "tcp://127.0.0.1:many"])
def test_what_is_no_address_is_refused(
    address: str, server: HttpServer, launch_for: Callable[..., ProcessLaunch]
) -> None:
    with within(SOON_S), pytest.raises(ClusterError, match=r"cannot be"):
        run_on_cluster(launch_for(server.url, address), never, Deadlines(connect_s=1.0))


def test_without_dask_the_extra_is_named(
    server: HttpServer, launch_for: Callable[..., ProcessLaunch], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r'pip install "benchgate\[cluster\]"'):
        run_on_cluster(launch_for(server.url, "tcp://127.0.0.1:8786"), never)


@pytest.mark.slow
def test_a_cluster_without_workers_is_refused(
    server: HttpServer, launch_for: Callable[..., ProcessLaunch]
) -> None:
    with local_cluster(0) as cluster, pytest.raises(ClusterError, match=r"has no workers"):
        run_on_cluster(launch_for(server.url, cluster.scheduler_address), never)


@pytest.mark.slow
def test_a_worker_that_cannot_import_benchgate_is_named(
    server: HttpServer, launch_for: Callable[..., ProcessLaunch]
) -> None:
    hide = "import sys\nsys.modules['benchgate'] = None\n"
    with local_cluster(1, preload=[hide]) as cluster:
        (place,) = places(cluster)
        with pytest.raises(ClusterError, match=rf"^{place} does not answer: .*ModuleNotFoundError"):
            run_on_cluster(launch_for(server.url, cluster.scheduler_address), never)


def test_workers_on_another_machine_cannot_reach_this_one_by_its_loopback(
    cluster: LocalCluster,
    server: HttpServer,
    launch_for: Callable[..., ProcessLaunch],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(on_dask, "network", os.getpid)
    with pytest.raises(ClusterError, match=r"cannot reach the target at 127\.0\.0\.1"):
        run_on_cluster(launch_for(server.url, cluster.scheduler_address), never)


def test_a_group_without_connections_ends_the_launch_with_its_error(
    cluster: LocalCluster, launch_for: Callable[..., ProcessLaunch]
) -> None:
    with refused_port() as port:
        url = f"http://me:hush@127.0.0.1:{port}"
        launch = launch_for(url, cluster.scheduler_address, duration=LONG)
        with within(SOON_S), pytest.raises(ClusterError) as raised:
            run_on_cluster(launch, never)
    place, _, why = str(raised.value).partition(": ")
    assert place in places(cluster)
    assert why.startswith("cannot connect")
    assert "refused" in why
    assert "hush" not in str(raised.value)
    assert not tasks(cluster)


@pytest.mark.slow
def test_busy_workers_are_not_waited_for_forever(
    cluster: LocalCluster, server: HttpServer, launch_for: Callable[..., ProcessLaunch]
) -> None:
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        released = Event("released", client)
        other = [client.submit(released.wait, pure=False) for _ in range(2)]
        launch = launch_for(server.url, cluster.scheduler_address)
        with within(SOON_S), pytest.raises(ClusterError, match=r"did not begin within 0.5 s"):
            run_on_cluster(launch, never, Deadlines(begin_s=0.5, stop_s=0.2))
        released.set()
        client.gather(other)
        released.clear()
    assert is_quiet(server)
    assert not server.requests


def test_a_launch_can_be_stopped_and_leaves_the_cluster_as_it_was(
    cluster: LocalCluster, server: HttpServer, order_for: Callable[..., LoadOrder]
) -> None:
    stop = threading.Event()
    order = order_for(
        server.url,
        cluster.scheduler_address,
        duration=LONG,
        more='[teardown]\nrequests = [{ path = "/bye" }]\n',
    )
    watching = when(lambda: len(server.requests) > 100, stop.set)
    with within(SOON_S):
        reply = run_iteration(order, stop)
    watching.join()
    assert reply.error is not None
    assert "interrupted" in reply.error
    assert server.requests[-1].path == "/bye"
    assert is_quiet(server)
    assert not tasks(cluster)
    assert len(pids(cluster)) == 2


def test_a_launch_can_be_stopped_before_it_is_connected(
    server: HttpServer, launch_for: Callable[..., ProcessLaunch]
) -> None:
    with refused_port() as port, within(SOON_S), pytest.raises(GivenUpError):
        run_on_cluster(launch_for(server.url, f"tcp://127.0.0.1:{port}"), lambda: True)


@pytest.mark.slow
def test_a_killed_worker_is_named_and_its_task_is_not_run_again(
    server: HttpServer, order_for: Callable[..., LoadOrder]
) -> None:
    with local_cluster() as cluster:
        place, pid = next(iter(pids(cluster).items()))
        order = order_for(server.url, cluster.scheduler_address, duration=LONG)
        killing = when(lambda: len(server.requests) > 100, lambda: os.kill(pid, signal.SIGKILL))
        with within(SOON_S):
            reply = run_iteration(order, threading.Event())
        killing.join()
        assert reply.error is not None
        assert f"2 workers on {place} were lost: its process was killed" in reply.error
        assert is_quiet(server)
        cluster.wait_for_workers(2, timeout=SOON_S)  # Dask has started another process
        assert is_quiet(server)
        assert not tasks(cluster)


@pytest.mark.slow
def test_a_worker_that_does_not_answer_is_lost(
    server: HttpServer, launch_for: Callable[..., ProcessLaunch]
) -> None:
    with local_cluster() as cluster:
        place, pid = next(iter(pids(cluster).items()))
        launch = launch_for(server.url, cluster.scheduler_address, duration=LONG)
        stopping = when(lambda: len(server.requests) > 100, lambda: os.kill(pid, signal.SIGSTOP))
        try:
            with within(SOON_S):
                groups = run_on_cluster(launch, never, Deadlines(answer_s=1.0, silent_s=1.5))
            stopping.join()
        finally:
            os.kill(pid, signal.SIGCONT)
    lost = {group.place: group.lost or "" for group in groups}
    assert lost.pop(place).startswith("it has not answered for 1.5 s")
    assert list(lost.values()) == [f"stopped, because {place} was lost"]


def test_a_group_gives_up_when_the_generator_is_gone(
    launch_for: Callable[..., ProcessLaunch], monkeypatch: pytest.MonkeyPatch
) -> None:
    parcel = parcel_of(launch_for("http://127.0.0.1:1", "tcp://127.0.0.1:1"), {}, (0,))
    on_dask.prepare("lonely", parcel)
    gate = on_dask.members["lonely"]
    assert not gate.is_stopped()
    monkeypatch.setattr(on_dask, "SILENCE_S", 0.2)
    with pytest.raises(GivenUpError):
        gate.epoch_ns()
    assert gate.is_stopped()
    on_dask.prepare("next", parcel)
    assert list(on_dask.members) == ["next"]
    on_dask.forget("next")


def test_a_process_that_was_restarted_does_not_repeat_the_work() -> None:
    assert on_dask.work("unknown") == "its process was restarted"
    assert on_dask.tell("unknown")[0] is None
