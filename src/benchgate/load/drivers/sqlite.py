"""The driver `sqlite`: a database in a file, or in the memory of the load generator."""

from __future__ import annotations

import re
import sqlite3
import uuid
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import Field, field_validator

from benchgate.load.drivers.driver import TargetError
from benchgate.load.drivers.sql import SqlDriver, SqlSession, SqlStep, SqlTarget
from benchgate.load.drivers.sql_text import Dialect
from benchgate.tables import fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.load.drivers.driver import LaunchPlace
    from benchgate.load.parameters import Parameters
    from benchgate.load.scenario import Load

IN_MEMORY: Final = ":memory:"
DIALECT: Final = Dialect(is_complete=sqlite3.complete_statement)
_FIRST_WITH_MEMDB = (3, 36)
_WRITES = re.compile(r"\b(?:insert|update|delete|replace|create|drop|alter)\b", re.IGNORECASE)
_PRAGMAS = (
    "journal_mode",
    "synchronous",
    "cache_size",
    "mmap_size",
    "page_size",
    "temp_store",
    "foreign_keys",
)


class SqliteTarget(SqlTarget):
    """An SQLite database."""

    dsn: fields.Text = Field(
        default=IN_MEMORY,
        description="The path of the database, relative to the configuration file;"
        " `{scratch}/orders.db` is new for each launch. `:memory:` is one database in memory that"
        " all workers share.",
    )

    @field_validator("dsn")
    @classmethod
    def _is_a_path(cls, dsn: str) -> str:
        if re.match(r"(?:file|sqlite\w*):", dsn):
            raise ValueError("write the path of the database alone, without file: or sqlite:")
        return dsn


class SqliteSession(SqlSession):
    """A connection to an SQLite database."""

    def execute(self, text: str, params: Parameters | None) -> None:
        self._execute(text, params or ()).fetchall()

    def roll_back(self) -> None:
        if self.connection.in_transaction:
            self.connection.rollback()

    def is_lost(self) -> bool:
        return False  # there is no server that could go away

    def interrupt(self) -> None:
        with suppress(sqlite3.ProgrammingError):  # it was closed meanwhile
            self.connection.interrupt()


class SqliteDriver(SqlDriver[SqliteTarget]):
    """Loads SQLite with the module of the standard library."""

    NAME = "sqlite"
    TARGET = SqliteTarget
    DIALECT = DIALECT
    STYLE = "named"
    WORKS_HERE = True
    WORKS_AFAR = False

    def __init__(self, target: SqliteTarget, steps: Sequence[SqlStep], place: LaunchPlace) -> None:
        super().__init__(target, steps, place)
        self._kept: sqlite3.Connection | None = None
        if self.dsn == IN_MEMORY:
            _require_memdb()
            self._uri = f"file:/benchgate-{uuid.uuid4().hex}?vfs=memdb"
            # The database lives as long as one connection to it.
            self._kept = self._opened()
        else:
            self._uri = (place.folder / self.dsn).absolute().as_uri()

    @classmethod
    def objection(cls, target: SqliteTarget, load: Load) -> str | None:
        if target.dsn != IN_MEMORY:
            return None
        if load.workers == "process":
            return (
                "workers in several processes cannot share the database :memory:;"
                ' write dsn = "{scratch}/orders.db"'
            )
        return None

    @classmethod
    def is_own(cls, target: SqliteTarget) -> bool:
        """Whether the database is in memory, or in a folder of the launch or the arm."""
        return not Path(target.dsn).is_absolute() and "$" not in target.dsn

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What sqlite3 raises, also for a number or text that SQLite cannot hold."""
        return (sqlite3.Error, OverflowError, ValueError)

    def open(self) -> SqliteSession:
        return SqliteSession(self._opened())

    def begin(self, statements: Sequence[str]) -> str:
        """Return the statement that begins a transaction of these.

        A transaction that reads before it writes fails if another one writes meanwhile. So it
        waits for the others at its beginning.
        """
        return "BEGIN IMMEDIATE" if any(map(_WRITES.search, statements)) else "BEGIN"

    def introspect(self) -> Mapping[str, str]:
        """Ask for the version, the compile options and the settings of a connection."""
        found = {"version": sqlite3.sqlite_version}
        try:
            with closing(self._opened()) as database:
                for text in self.target.on_connect:
                    database.execute(text)
                for name in _PRAGMAS:
                    row = database.execute(f"PRAGMA {name}").fetchone()
                    if row is not None:
                        found[name] = str(row[0])
                rows = database.execute("PRAGMA compile_options").fetchall()
        except sqlite3.Error as error:
            raise TargetError(self.reason(error)) from None
        found["compile_options"] = " ".join(sorted(str(row[0]) for row in rows))
        return found

    def close(self) -> None:
        """Let the database in memory go."""
        if self._kept is not None:
            self._kept.close()

    def _opened(self) -> sqlite3.Connection:
        # A connection is used by one thread, but another one may interrupt or close it.
        database = sqlite3.connect(
            self._uri,
            uri=True,
            timeout=self.target.timeout_s,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            database.execute("PRAGMA schema_version")  # reads the file, which opening does not
        except BaseException:
            database.close()
            raise
        return database


def _require_memdb() -> None:
    if sqlite3.sqlite_version_info < _FIRST_WITH_MEMDB:
        raise TargetError(
            f"workers cannot share the database :memory: with SQLite {sqlite3.sqlite_version};"
            ' it needs SQLite 3.36. Write dsn = "{scratch}/orders.db" instead'
        )
