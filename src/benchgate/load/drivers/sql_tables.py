"""The tables that the SQL drivers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from benchgate.load.drivers.params import check_params
from benchgate.load.drivers.sql_text import Dialect, names_in, split
from benchgate.load.tables import Script, Step, Target
from benchgate.tables import fields

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

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
        """All its texts in which placeholders are replaced."""
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
        description="A file with the statement, or with several that are one transaction; relative"
        " to the configuration file. It is code under test: base and head each read their own.",
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
        """Files of the arm that it reads, relative to the configuration: code under test."""
        return (self.file,) if self.file else ()


class SqlScript(Script):
    """Statements around a launch: those of the files first. Each is a transaction of its own."""

    files: Files = Field(
        default=(),
        description="Files with statements, relative to the configuration file. They are code"
        " under test: base and head each read their own.",
    )
    queries: Queries = Field(default=(), description="Statements, carried out after the files.")

    def own_files(self) -> tuple[str, ...]:
        """Files of the arm that it reads, relative to the configuration: code under test."""
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
