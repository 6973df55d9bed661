"""The driver `mysql`: a MySQL or MariaDB server, with PyMySQL."""

from __future__ import annotations

import math
import re
import shlex
import socket
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import Field

from benchgate.load.drivers.driver import TargetError
from benchgate.load.drivers.sql import SqlDriver, SqlSession, SqlStep, SqlTarget
from benchgate.load.drivers.sql_text import Dialect
from benchgate.tables import fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pymysql

    from benchgate.load.drivers.driver import LaunchPlace

DIALECT: Final = Dialect(backslash=True, hash_comments=True, delimiter_lines=True)
_KEYS: Final = {
    "host": "host",
    "port": "port",
    "user": "user",
    "password": "password",
    "database": "database",
    "dbname": "database",
    "unix_socket": "unix_socket",
    "charset": "charset",
    "ssl_ca": "ssl_ca",
}
_SETTINGS: Final = (
    "version",
    "version_comment",
    "innodb_buffer_pool_size",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_log_file_size",
    "sync_binlog",
    "log_bin",
    "max_connections",
    "query_cache_type",
    "sql_mode",
    "transaction_isolation",
    "tx_isolation",
    "thread_handling",
)
_SCHEME = re.compile(r"(?:mysql|mariadb)(?:\+\w+)?://")


class MysqlTarget(SqlTarget):
    """A database of MySQL or MariaDB."""

    dsn: fields.Text = Field(
        description="How to connect: a URL such as"
        " `mysql://user:${PASSWORD}@127.0.0.1:{port}/orders`, or words such as"
        " `host=127.0.0.1 port={port} user=app database=orders`. Other words are password,"
        " unix_socket, charset and ssl_ca."
    )

    @property
    def server(self) -> str:
        return self.dsn


class MysqlSession(SqlSession):
    """A connection to a server of MySQL or MariaDB."""

    def is_lost(self) -> bool:
        return not self.connection.open

    def interrupt(self) -> None:
        # PyMySQL offers no other way to its socket.
        opened = getattr(self.connection, "_sock", None)
        if opened is not None:
            with suppress(OSError):  # it is lost already
                opened.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self.connection.open:
            self.connection.close()


class MysqlDriver(SqlDriver[MysqlTarget]):
    """Loads a server of MySQL or MariaDB."""

    NAME = "mysql"
    TARGET = MysqlTarget
    DIALECT = DIALECT
    STYLE = "pyformat"

    def __init__(self, target: MysqlTarget, steps: Sequence[SqlStep], place: LaunchPlace) -> None:
        try:
            import pymysql  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise TargetError(
                f'the driver mysql needs PyMySQL: pip install "benchgate[sql]" ({error})'
            ) from None
        super().__init__(target, steps, place)
        self._pymysql = pymysql
        try:
            self._parts = _parts_of(self.dsn)
        except ValueError as error:
            raise TargetError(f"the dsn cannot be read: {error}") from None

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What PyMySQL raises; RuntimeError is for a way to log in that needs more packages."""
        return (self._pymysql.Error, OSError, RuntimeError, ValueError)

    def open(self) -> MysqlSession:
        return MysqlSession(self._opened())

    def reason(self, error: Exception) -> str:
        # The arguments are a number and a text.
        text = error.args[1] if len(error.args) > 1 else str(error)
        return self.conceal(str(text) or type(error).__name__)

    def introspect(self) -> Mapping[str, str]:
        """Ask for the version and the settings that matter most for speed."""
        wanted = ", ".join(f"'{name}'" for name in _SETTINGS)
        try:
            with closing(self._opened()) as connection, connection.cursor() as cursor:
                cursor.execute(f"SHOW VARIABLES WHERE Variable_name IN ({wanted})")
                rows = cursor.fetchall()
        except self.errors as error:
            raise TargetError(self.reason(error)) from None
        settings = {str(name): str(value) for name, value in rows}
        return {name: settings[name] for name in _SETTINGS if name in settings}

    def _opened(self) -> pymysql.Connection[Any]:
        timeout_s = self.target.timeout_s
        return self._pymysql.connect(
            **self._parts,
            autocommit=True,
            connect_timeout=min(math.ceil(timeout_s), 31_536_000),
            read_timeout=timeout_s,
            write_timeout=timeout_s,
            program_name="benchgate",
        )


def _parts_of(dsn: str) -> dict[str, Any]:
    """Read a DSN.

    Raises:
        ValueError: it is wrong; the message does not repeat it.
    """
    pairs = _url_pairs(dsn) if _SCHEME.match(dsn) else _word_pairs(dsn)
    parts: dict[str, Any] = {}
    for key, value in pairs:
        if key not in _KEYS:
            raise ValueError(f"it has other keys than {', '.join(_KEYS)}")
        parts[_KEYS[key]] = value
    if "port" in parts:
        if not re.fullmatch(r"\d{1,5}", parts["port"]):
            raise ValueError("its port is not a number")
        parts["port"] = int(parts["port"])
    return parts


def _url_pairs(dsn: str) -> list[tuple[str, str]]:
    try:
        url = urlsplit(dsn)
        host, port = url.hostname, url.port
    except ValueError:
        raise ValueError("its host or port is wrong; percent-encode the password") from None
    found = {
        "host": host,
        "port": None if port is None else str(port),
        "user": None if url.username is None else unquote(url.username),
        "password": None if url.password is None else unquote(url.password),
        "database": unquote(url.path.removeprefix("/")),
    }
    pairs = [(key, value) for key, value in found.items() if value]
    return [*pairs, *parse_qsl(url.query, keep_blank_values=True)]


def _word_pairs(dsn: str) -> list[tuple[str, str]]:
    try:
        words = [word.partition("=") for word in shlex.split(dsn)]
    except ValueError:
        raise ValueError("it has a quote without an end") from None
    if not all(equals for _, equals, _ in words):
        raise ValueError(
            "write mysql://USER:PASSWORD@HOST:PORT/DATABASE, or words such as host=HOST user=USER"
        )
    return [(key, value) for key, _, value in words]
