"""Servers of databases, started once for all tests of a process, and a reader of scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.load.databases import MariadbServer, NotInstalledError, PostgresqlServer, running
from tests.load.scenario_files import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.load.databases import DatabaseServer


@pytest.fixture(scope="session")
def postgresql() -> Iterator[DatabaseServer]:
    yield from _running(PostgresqlServer)


@pytest.fixture(scope="session")
def mariadb() -> Iterator[DatabaseServer]:
    yield from _running(MariadbServer)


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    return Reader(tmp_path)


def _running(kind: type[DatabaseServer]) -> Iterator[DatabaseServer]:
    try:
        with running(kind) as server:
            yield server
    except NotInstalledError as error:
        pytest.skip(str(error))
