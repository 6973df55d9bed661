"""The driver `postgresql`: a PostgreSQL server, with psycopg 3.

Statements that are repeated are prepared on the server, as psycopg does it: from the sixth time on.
"""

from __future__ import annotations

import math
import os
import re
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from pydantic import Field

from benchgate.load.drivers.driver import TargetError
from benchgate.load.drivers.sql import SqlDriver, SqlSession, SqlStep, SqlTarget
from benchgate.load.drivers.sql_text import Dialect
from benchgate.tables import fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.load.drivers.driver import LaunchPlace

DIALECT: Final = Dialect(dollar_quotes=True, nested_comments=True)
_SETTINGS = (
    "shared_buffers",
    "work_mem",
    "effective_cache_size",
    "maintenance_work_mem",
    "max_connections",
    "max_worker_processes",
    "max_parallel_workers_per_gather",
    "synchronous_commit",
    "fsync",
    "full_page_writes",
    "wal_level",
    "random_page_cost",
    "default_transaction_isolation",
    "jit",
    "autovacuum",
)
_BEGINNING = re.compile(r"^connection (?:failed|is bad): ")  # "cannot connect" says it
_LONGEST_TIMEOUT_MS = 2**31 - 1


class PostgresqlTarget(SqlTarget):
    """A PostgreSQL database."""

    dsn: fields.Text = Field(
        description="How to connect, as libpq writes it: a URL such as"
        " `postgresql://user:${PASSWORD}@127.0.0.1:{port}/orders`, or words such as"
        " `host=127.0.0.1 port={port} dbname=orders`."
    )
    prepare: bool = Field(
        default=True,
        description="Whether repeated statements are prepared; some poolers cannot do that.",
    )

    @property
    def server(self) -> str:
        return self.dsn


class PostgresqlSession(SqlSession):
    """A connection to a PostgreSQL server.

    Rows are received, but not turned into Python's objects, which would only cost time here.
    """

    def is_lost(self) -> bool:
        return bool(self.connection.closed)

    def interrupt(self) -> None:
        with suppress(Exception):  # it is lost already
            same = socket.socket(fileno=os.dup(self.connection.fileno()))
            with same:
                same.shutdown(socket.SHUT_RDWR)


class PostgresqlDriver(SqlDriver[PostgresqlTarget]):
    """Loads a PostgreSQL server."""

    NAME = "postgresql"
    TARGET = PostgresqlTarget
    DIALECT = DIALECT
    STYLE = "pyformat"

    def __init__(
        self, target: PostgresqlTarget, steps: Sequence[SqlStep], place: LaunchPlace
    ) -> None:
        try:
            import psycopg  # noqa: PLC0415 - an extra
            from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415
        except ImportError as error:
            raise TargetError(
                f'the driver postgresql needs psycopg: pip install "benchgate[sql]" ({error})'
            ) from None
        super().__init__(target, steps, place)
        self._psycopg = psycopg
        try:
            conninfo_to_dict(self.dsn)
        except psycopg.Error:
            # libpq's message would repeat a part of it.
            raise TargetError(
                "the dsn cannot be read: write postgresql://USER:PASSWORD@HOST:PORT/DATABASE with"
                " percent-encoded words, or words such as host=HOST dbname=DATABASE"
            ) from None

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What psycopg raises, also for a text that PostgreSQL cannot hold."""
        return (self._psycopg.Error, OSError, ValueError)

    def open(self) -> PostgresqlSession:
        timeout_s = self.target.timeout_s
        connection = self._psycopg.connect(
            self.dsn,
            autocommit=True,
            connect_timeout=max(2, math.ceil(timeout_s)),  # libpq takes no less than 2 s
            fallback_application_name="benchgate",
            prepare_threshold=5 if self.target.prepare else None,
        )
        try:
            timeout_ms = min(math.ceil(timeout_s * 1000), _LONGEST_TIMEOUT_MS)
            connection.execute(f"SET statement_timeout = {timeout_ms}".encode())
        except BaseException:
            connection.close()
            raise
        return PostgresqlSession(connection)

    def reason(self, error: Exception) -> str:
        primary = error.diag.message_primary if isinstance(error, self._psycopg.Error) else None
        text = _BEGINNING.sub("", primary or str(error))
        return self.conceal(text or type(error).__name__)

    def introspect(self) -> Mapping[str, str]:
        """Ask for the version and the settings that matter most for speed."""
        names = list(_SETTINGS)
        try:
            # A database without an encoding would answer with bytes.
            with self._psycopg.connect(self.dsn, client_encoding="utf8") as connection:
                rows = connection.execute(
                    "SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY(%s)",
                    [names],
                ).fetchall()
                version = connection.execute("SHOW server_version").fetchone()
        except self.errors as error:
            raise TargetError(self.reason(error)) from None
        settings = {str(name): str(value) for name, value in rows}
        found = {"version": str(version[0])} if version else {}
        return found | {name: settings[name] for name in names if name in settings}
