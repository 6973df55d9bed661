from __future__ import annotations

import threading
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from distributed import Client
from tests.load.cluster.clusters import events, places, tasks
from tests.load.databases import PASSWORD, USER

from benchgate.load import choices
from benchgate.load import cluster as on_dask
from benchgate.load.cluster import run_on_cluster
from benchgate.load.generator import run_iteration
from benchgate.load.launch import LoadOrder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from distributed import LocalCluster
    from tests.load.databases import DatabaseServer
    from tests.load.servers import HttpServer

    from benchgate.load.launch import ProcessLaunch

pytestmark = pytest.mark.xdist_group("cluster")


def never() -> bool:
    return False


def members(cluster: LocalCluster) -> dict[str, int]:
    """How many groups each worker of the cluster knows."""
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        found: dict[str, int] = client.run(_known)
    return found


def _known() -> int:
    return len(on_dask.members)


def test_all_workers_of_the_cluster_load_the_target(
    cluster: LocalCluster, server: HttpServer, launch_for: Callable[..., ProcessLaunch]
) -> None:
    groups = run_on_cluster(launch_for(server.url, cluster.scheduler_address), never)
    records = [group.record for group in groups if group.record is not None]
    assert {group.place for group in groups} == set(members(cluster))
    assert [group.workers for group in groups] == [2, 2]
    assert server.connections == 4
    counts = [record.steps["get"].ops for record in records]
    assert all(counts)
    assert sum(counts) == len(server.requests)
    assert [record.steps["get"].histogram.count for record in records] == counts


def test_the_clocks_of_one_machine_are_found_equal(
    cluster: LocalCluster, server: HttpServer, launch_for: Callable[..., ProcessLaunch]
) -> None:
    launch = launch_for(server.url, cluster.scheduler_address, duration="200ms")
    for group in run_on_cluster(launch, never):
        assert 0 < group.clock_error_s < 1
        assert abs(group.clock_offset_s) <= group.clock_error_s


def test_nothing_is_left_in_the_cluster(
    cluster: LocalCluster, server: HttpServer, launch_for: Callable[..., ProcessLaunch]
) -> None:
    run_on_cluster(launch_for(server.url, cluster.scheduler_address, duration="200ms"), never)
    assert set(members(cluster).values()) == {0}
    assert not tasks(cluster)
    assert len(places(cluster)) == 2


def test_each_worker_draws_the_parameters_of_the_seed(
    cluster: LocalCluster, server: HttpServer, launch_for: Callable[..., ProcessLaunch]
) -> None:
    launch = launch_for(
        server.url, cluster.scheduler_address, duration="300ms", values="random_int(1, 1000000000)"
    )
    run_on_cluster(launch, never)
    requested = [int(request.path.removeprefix("/")) for request in server.requests]
    (step,) = launch.scenario.steps
    drawn: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for worker in range(4):
        stream = choices.parameters(step, seed=7, iteration=0, worker=worker, workers=4)
        for position, values in enumerate(islice(stream, len(requested))):
            drawn[int(str(values["id"]))].append((worker, position))
    unique = [drawn[value][0] for value in requested if len(drawn[value]) == 1]
    assert len(unique) > 0.9 * len(requested)
    assert all(value in drawn for value in requested)
    assert {worker for worker, _ in unique} == {0, 1, 2, 3}


def test_workers_of_all_groups_share_a_sequence(
    cluster: LocalCluster, server: HttpServer, launch_for: Callable[..., ProcessLaunch]
) -> None:
    run_on_cluster(launch_for(server.url, cluster.scheduler_address, duration="300ms"), never)
    paths = [request.path for request in server.requests]
    assert len(set(paths)) == len(paths)


def test_all_groups_share_a_rate(
    cluster: LocalCluster, server: HttpServer, launch_for: Callable[..., ProcessLaunch]
) -> None:
    launch = launch_for(server.url, cluster.scheduler_address, duration="500ms", rate=200)
    groups = run_on_cluster(launch, never)
    steps = [group.record.steps["get"] for group in groups if group.record is not None]
    assert [step.ops + step.unfinished for step in steps] == [50, 50]
    assert len(server.requests) == sum(step.ops for step in steps)


def test_a_launch_merges_what_the_groups_recorded(
    cluster: LocalCluster, server: HttpServer, order_for: Callable[..., LoadOrder]
) -> None:
    reply = run_iteration(order_for(server.url, cluster.scheduler_address), threading.Event())
    assert reply.error is None
    step = reply.steps["get"]
    assert step.ops == sum(step.windows.ops) == len(server.requests)
    groups = step.generator.groups
    assert [group.workers for group in groups] == [2, 2]
    assert all(group.cpu_ratio > 0 and group.lost is None for group in groups)
    assert step.generator.start_spread_s >= sum(group.clock_error_s for group in groups)


def test_more_places_than_workers_are_not_used(
    cluster: LocalCluster, server: HttpServer, launch_for: Callable[..., ProcessLaunch]
) -> None:
    launch = launch_for(server.url, cluster.scheduler_address, concurrency=1, duration="200ms")
    (group,) = run_on_cluster(launch, never)
    assert group.workers == 1
    assert group.record is not None
    assert group.record.steps["get"].ops == len(server.requests)


def test_the_value_of_a_variable_reaches_the_target_and_nothing_else(
    cluster: LocalCluster,
    server: HttpServer,
    launch_for: Callable[..., ProcessLaunch],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ORDERS_TOKEN", "hush-hush-1234")
    launch = launch_for(
        server.url,
        cluster.scheduler_address,
        duration="200ms",
        target='headers = { Authorization = "Bearer ${ORDERS_TOKEN}" }',
    )
    run_on_cluster(launch, never)
    assert {one.headers["authorization"] for one in server.requests} == {"Bearer hush-hush-1234"}
    logs = str(cluster.get_logs()) + events(cluster)
    assert "hush" not in logs + "".join(capfd.readouterr())


def test_steps_may_have_files_and_passwords_may_be_variables(
    cluster: LocalCluster,
    postgresql: DatabaseServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ORDERS_PASSWORD", quote(PASSWORD, safe=""))
    (tmp_path / "one.sql").write_text("SELECT 1", encoding="utf-8")
    path = tmp_path / "orders.toml"
    path.write_text(
        f'name = "orders"\n[load]\nconcurrency = 2\nduration = "300ms"\nwarmup = "100ms"\n'
        f'cluster = "{cluster.scheduler_address}"\n'
        f'[[target]]\ndriver = "postgresql"\n'
        f'dsn = "postgresql://{USER}:${{ORDERS_PASSWORD}}@127.0.0.1:{postgresql.port}/{USER}"\n'
        f'[[step]]\nname = "one"\nfile = "one.sql"\n',
        encoding="utf-8",
    )
    order = LoadOrder(str(path), path.name, "postgresql", str(tmp_path), str(tmp_path), {}, 0)
    reply = run_iteration(order, threading.Event())
    assert reply.error is None
    assert reply.steps["one"].ops > 0
    assert reply.steps["one"].errors == 0
