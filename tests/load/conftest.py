"""Servers of databases, started once for all tests of a process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.load.databases import MariadbServer, NotInstalledError, PostgresqlServer, running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.load.databases import DatabaseServer


@pytest.fixture(scope="session")
def postgresql() -> Iterator[DatabaseServer]:
    yield from _running(PostgresqlServer)


@pytest.fixture(scope="session")
def mariadb() -> Iterator[DatabaseServer]:
    yield from _running(MariadbServer)


def _running(kind: type[DatabaseServer]) -> Iterator[DatabaseServer]:
    try:
        with running(kind) as server:
            yield server
    except NotInstalledError as error:
        pytest.skip(str(error))
