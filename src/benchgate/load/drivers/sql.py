"""What the drivers of SQL databases share."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

from benchgate.load.drivers.concealing import Concealer, values_in
from benchgate.load.drivers.driver import Connection, Driver, OperationError, TargetError
from benchgate.load.drivers.sql_tables import (
    SqlScript,
    SqlStep,
    SqlTarget,
    check_inline,
    statements_in,
    statements_of,
)
from benchgate.load.drivers.sql_text import Dialect, ParamStyle, split, translated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchgate.load.drivers.driver import Operation, Place
    from benchgate.load.values import Parameters

    Statement = tuple[str, bool]
    """Its text as the DB-API module wants it, and whether it has parameters."""

D = TypeVar("D", bound=SqlTarget)


class Session(Protocol):
    """A connection to a database, as its DB-API module offers it.

    Its methods raise the module's errors.
    """

    def execute(self, text: str, params: Parameters | None) -> None:
        """Carry out a statement, and receive all its rows."""

    def roll_back(self) -> None:
        """End the transaction, if there is one."""

    def is_lost(self) -> bool:
        """Whether the connection cannot be used any more."""

    def interrupt(self) -> None:
        """Make the running statement fail soon; called from another thread."""

    def close(self) -> None:
        """Close it."""


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

    def __init__(self, target: D, steps: Sequence[SqlStep], place: Place) -> None:
        super().__init__(target, steps, place)
        self.dsn = place.expand(target.dsn)
        self.conceal = Concealer(values_in([target.dsn], place.expand))
        self.work = [self._translated(step) for step in steps]

    @classmethod
    def objection_to_step(cls, step: SqlStep) -> str | None:
        """Say why its statements cannot be carried out; None if they can."""
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
    def open(self) -> Session:
        """Open a connection in which each statement is a transaction of its own.

        Raises:
            Exception: one of `errors`.
        """

    def begin(self, statements: Sequence[str]) -> str:  # noqa: ARG002 - SQLite looks at them
        """Return the statement that begins a transaction of these."""
        return "BEGIN"

    def reason(self, error: Exception) -> str:
        """Say in one line why something failed."""
        return self.conceal(str(error) or type(error).__name__)

    def session(self) -> Session:
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
        """Open the connection of a worker.

        Raises:
            TargetError: it cannot be opened.
        """
        return SqlConnection(self, self.session())

    def run(self, script: SqlScript) -> None:
        """Carry out statements, each as a transaction of its own.

        Raises:
            TargetError: one of them failed, or a file cannot be read.
        """
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
        found = [translated(text, self.STYLE, self.DIALECT) for text in statements]
        return tuple((text, bool(names)) for text, names in found)


class SqlConnection(Connection):
    """A worker's connection; if it is lost, the next operation opens another one."""

    def __init__(self, driver: SqlDriver[D], session: Session) -> None:
        self._driver = driver
        self._session: Session | None = session

    def operations(self) -> Sequence[Operation]:
        """Return one operation for each step."""
        return [
            self._single(*work[0]) if len(work) == 1 else self._transaction(work)
            for work in self._driver.work
        ]

    def interrupt(self) -> None:
        """Make the running statement fail soon."""
        session = self._session
        if session is not None:
            session.interrupt()

    def close(self) -> None:
        """Close it."""
        session, self._session = self._session, None
        if session is not None:
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

    def _opened(self) -> Session:
        try:
            self._session = self._driver.session()
        except TargetError as error:
            raise OperationError(str(error)) from None
        return self._session

    def _failed(self, session: Session, error: Exception) -> OperationError:
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
