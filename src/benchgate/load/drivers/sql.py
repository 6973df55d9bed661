"""What the drivers of SQL databases share: their tables and their connections."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeVar

from pydantic import BeforeValidator, Field, model_validator

from benchgate.load.drivers.driver import (
    Connection,
    Driver,
    OperationError,
    TargetError,
    check_params,
)
from benchgate.load.drivers.sql_text import Dialect, ParamStyle, names_in, split, translated
from benchgate.load.scenario import Script, Step, Target
from benchgate.tables import fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from benchgate.load.drivers.driver import LaunchPlace, Operation
    from benchgate.load.parameters import Parameters

    Statement = tuple[str, bool]
    """Its text as the DB-API module wants it, and whether it has parameters."""


Queries = Annotated[tuple[fields.Text, ...], BeforeValidator(fields.as_tuple)]
Files = Annotated[tuple[fields.RelativePath, ...], BeforeValidator(fields.as_tuple)]


class SqlTarget(Target):
    """A database."""

    dsn: fields.Text
    timeout_s: fields.Duration = Field(
        default="30s",
        alias="timeout",
        validate_default=True,
        description="After this time, connecting or an operation has failed.",
    )
    on_connect: Queries = Field(
        default=(),
        description="Statements that each connection begins with, such as settings.",
    )

    def texts(self) -> tuple[str, ...]:
        return (self.dsn,)


class SqlStep(Step):
    """An operation on a database: one statement, or several as a transaction."""

    query: fields.Text | None = Field(
        default=None, description="One statement; `:name` stands for a parameter."
    )
    queries: Queries = Field(
        default=(), description="Several statements, which are carried out as one transaction."
    )
    file: fields.RelativePath | None = Field(
        default=None,
        description="A file with the statement, or with several that are one transaction. Base and"
        " head each read their own.",
    )

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        written = [name for name in ("query", "queries", "file") if getattr(self, name)]
        if len(written) != 1:
            found = " and ".join(written) or "none of them"
            raise ValueError(f"a step has one of query, queries and file; this one has {found}")
        return self

    @property
    def inline(self) -> tuple[str, ...]:
        """The statements that are written in the scenario file itself."""
        return self.queries or ((self.query,) if self.query else ())

    def own_files(self) -> tuple[str, ...]:
        return (self.file,) if self.file else ()


class SqlScript(Script):
    """Statements around a launch: those of the files first. Each is a transaction of its own."""

    files: Files = Field(
        default=(),
        description="Files with statements. Base and head each read their own.",
    )
    queries: Queries = Field(default=(), description="Statements, carried out after the files.")

    def own_files(self) -> tuple[str, ...]:
        return self.files


def check_inline(step: SqlStep, dialect: Dialect) -> None:
    """Check the statements that are written in the scenario file itself.

    Raises:
        ValueError: they cannot be carried out; the message says why.
    """
    for query in step.inline:
        statements = split(query, dialect)
        if len(statements) != 1:
            found = f"{len(statements)} statements" if statements else "no statement"
            raise ValueError(
                f"{found} in one text: write queries = [...] with one statement in each"
            )
    if step.inline:
        check_params(_names_in(step.inline, dialect), step.params)


def statements_of(step: SqlStep, folder: Path, dialect: Dialect) -> tuple[str, ...]:
    """Return what a step carries out.

    Raises:
        ValueError: it cannot be carried out; the message says why.
    """
    if step.file is None:
        check_inline(step, dialect)
        return step.inline
    statements = statements_in(folder, step.file, dialect)
    if not statements:
        raise ValueError(f"{step.file} has no statement")
    try:
        check_params(_names_in(statements, dialect), step.params)
    except ValueError as error:
        raise ValueError(f"{step.file}: {error}") from None
    return statements


def statements_in(folder: Path, file: str, dialect: Dialect) -> tuple[str, ...]:
    """Read the statements of a file.

    Raises:
        ValueError: it cannot be read; the message says why.
    """
    try:
        text = (folder / file).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ValueError(f"cannot read {file}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ValueError(f"cannot read {file}: it is not UTF-8 text") from None
    return split(text, dialect)


def _names_in(statements: Iterable[str], dialect: Dialect) -> set[str]:
    return {name for statement in statements for name in names_in(statement, dialect)}


D = TypeVar("D", bound=SqlTarget)


class SqlSession(ABC):
    """A connection to a database, as its DB-API module offers it, with the module's errors."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - each module has its own
        self.connection = connection
        # Such a cursor receives all rows when it executes.
        self._execute: Callable[..., Any] = connection.cursor().execute

    def execute(self, text: str, params: Parameters | None) -> None:
        """Carry out a statement, and receive all its rows."""
        self._execute(text, params)

    def roll_back(self) -> None:
        """End the transaction, if there is one."""
        self.connection.rollback()

    @abstractmethod
    def is_lost(self) -> bool:
        """Whether the connection cannot be used any more."""

    @abstractmethod
    def interrupt(self) -> None:
        """Make the running statement fail soon, also if the server says nothing.

        It is called from another thread.
        """

    def close(self) -> None:
        self.connection.close()


class SqlDriver(Driver[D, SqlStep, SqlScript]):
    """Base class of the drivers for SQL databases.

    Attributes:
        DIALECT: how its SQL is read.
        STYLE: how its DB-API module wants parameters.
    """

    STEP = SqlStep
    SCRIPT = SqlScript
    DIALECT: ClassVar[Dialect]
    STYLE: ClassVar[ParamStyle]

    def __init__(self, target: D, steps: Sequence[SqlStep], place: LaunchPlace) -> None:
        super().__init__(target, steps, place)
        self.dsn = place.expand(target.dsn)
        self.work = [self._translated(step) for step in steps]

    @classmethod
    def objection_to_step(cls, step: SqlStep) -> str | None:
        try:
            check_inline(step, cls.DIALECT)
        except ValueError as error:
            return str(error)
        return None

    @property
    @abstractmethod
    def errors(self) -> tuple[type[Exception], ...]:
        """What its module raises."""

    @abstractmethod
    def open(self) -> SqlSession:
        """Open a connection in which each statement is a transaction of its own."""

    def begin(self, statements: Sequence[str]) -> str:  # noqa: ARG002 - SQLite looks at them
        """Return the statement that begins a transaction of these."""
        return "BEGIN"

    def reason(self, error: Exception) -> str:
        """Say in one line why something failed."""
        return self.conceal(str(error) or type(error).__name__)

    def session(self) -> SqlSession:
        """Open a connection, and prepare it as the target says.

        Raises:
            TargetError: it cannot be opened.
        """
        try:
            session = self.open()
        except self.errors as error:
            raise TargetError(f"cannot connect: {self.reason(error)}") from None
        try:
            for text in self.target.on_connect:
                session.execute(text, None)
        except self.errors as error:
            session.close()
            raise TargetError(f"on_connect failed: {self.reason(error)}") from None
        except BaseException:
            session.close()
            raise
        return session

    def connect(self, worker: int) -> SqlConnection:  # noqa: ARG002 - all workers do the same
        return SqlConnection(self, self.session())

    def run(self, script: SqlScript) -> None:
        statements = list(self._statements(script))
        session = self.session()
        try:
            for where, text in statements:
                try:
                    session.execute(text, None)
                except self.errors as error:
                    raise TargetError(f"{where}: {self.reason(error)}") from None
        finally:
            session.close()

    def _statements(self, script: SqlScript) -> Iterator[tuple[str, str]]:
        """Yield where each statement stands, and its text."""
        for file in script.files:
            try:
                found = statements_in(self.place.folder, file, self.DIALECT)
            except ValueError as error:
                raise TargetError(str(error)) from None
            for number, text in enumerate(found, 1):
                yield f"{file}, statement {number}", text
        for number, query in enumerate(script.queries, 1):
            for text in split(query, self.DIALECT):
                yield f"queries[{number}]", text

    def _translated(self, step: SqlStep) -> tuple[Statement, ...]:
        try:
            statements = statements_of(step, self.place.folder, self.DIALECT)
        except ValueError as error:
            raise TargetError(f"step {step.name!r}: {error}") from None
        return tuple(translated(text, self.STYLE, self.DIALECT) for text in statements)


class SqlConnection(Connection):
    """A worker's connection; if it is lost, the next operation opens another one."""

    def __init__(self, driver: SqlDriver[D], session: SqlSession) -> None:
        self._driver = driver
        self._session: SqlSession | None = session

    def operations(self) -> Sequence[Operation]:
        return [
            self._single(*work[0]) if len(work) == 1 else self._transaction(work)
            for work in self._driver.work
        ]

    def interrupt(self) -> None:
        if session := self._session:
            session.interrupt()

    def close(self) -> None:
        session, self._session = self._session, None
        if session:
            session.close()

    def _single(self, text: str, has_params: bool) -> Operation:  # noqa: FBT001 - a part of it
        errors = self._driver.errors

        def operation(params: Parameters) -> None:
            session = self._session or self._opened()
            try:
                session.execute(text, params if has_params else None)
            except errors as error:
                raise self._failed(session, error) from None

        return operation

    def _transaction(self, work: Sequence[Statement]) -> Operation:
        errors = self._driver.errors
        begin = self._driver.begin([text for text, _ in work])

        def operation(params: Parameters) -> None:
            session = self._session or self._opened()
            execute = session.execute
            try:
                execute(begin, None)
                for text, has_params in work:
                    execute(text, params if has_params else None)
                execute("COMMIT", None)
            except errors as error:
                raise self._failed(session, error) from None

        return operation

    def _opened(self) -> SqlSession:
        try:
            self._session = self._driver.session()
        except TargetError as error:
            raise OperationError(str(error)) from None
        return self._session

    def _failed(self, session: SqlSession, error: Exception) -> OperationError:
        """Leave the connection usable, and say what failed."""
        reason = self._driver.reason(error)
        lost: Callable[[], bool] = session.is_lost
        if not lost():
            try:
                session.roll_back()
            except self._driver.errors:
                self.close()
        if lost():
            self.close()
        return OperationError(reason)
