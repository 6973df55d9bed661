from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.load.cluster.clusters import local_cluster
from tests.load.servers import HttpServer

from benchgate.load.launch import LoadOrder, ProcessLaunch, open_launch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from distributed import LocalCluster

SCENARIO = """
name = "orders"

[[target]]
driver = "http"
url = "{url}"
{target}

[load]
concurrency = {concurrency}
duration = "{duration}"
warmup = "0s"
cluster = "{cluster}"
rate = {rate}

[experiment]
seed = 7

[[step]]
name = "get"
path = "/:id"
params = {{ id = "{values}" }}
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with local_cluster() as found:
        yield found


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as found:
        yield found


@pytest.fixture
def order_for(tmp_path: Path) -> Callable[..., LoadOrder]:
    """Makes the order for a launch on a cluster."""

    def make(
        url: str,
        cluster: str,
        *,
        concurrency: int = 4,
        duration: str = "1s",
        rate: int = 0,
        values: str = "sequence",
        target: str = "",
        more: str = "",
    ) -> LoadOrder:
        path = tmp_path / "orders.toml"
        text = SCENARIO.format(
            url=url,
            cluster=cluster,
            concurrency=concurrency,
            duration=duration,
            rate=rate,
            values=values,
            target=target,
        )
        path.write_text(text + more, encoding="utf-8")
        scratch = tmp_path / "scratch"
        scratch.mkdir(exist_ok=True)
        return LoadOrder(str(path), "orders.toml", "http", str(tmp_path), str(scratch), {}, 0)

    return make


@pytest.fixture
def launch_for(order_for: Callable[..., LoadOrder]) -> Iterator[Callable[..., ProcessLaunch]]:
    """Opens a launch on a cluster."""
    opened: list[ProcessLaunch] = []

    def make(url: str, cluster: str, **options: Any) -> ProcessLaunch:  # noqa: ANN401 - see order_for
        opened.append(open_launch(order_for(url, cluster, **options)))
        return opened[-1]

    yield make
    for launch in opened:
        launch.driver.close()
