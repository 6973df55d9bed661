"""A state as JSON: lists of records by kind, whose keys are those of the records."""

from __future__ import annotations

from dataclasses import fields

from pydantic import TypeAdapter
from tests.contract.records import (
    Collaborator,
    Comment,
    Commit,
    Comparison,
    IssueEvent,
    Pull,
    Record,
    Repository,
    Review,
    Run,
    Token,
)

KINDS: dict[str, type[Record]] = {
    "tokens": Token,
    "repositories": Repository,
    "runs": Run,
    "pulls": Pull,
    "comments": Comment,
    "reviews": Review,
    "issue_events": IssueEvent,
    "collaborators": Collaborator,
    "commits": Commit,
    "comparisons": Comparison,
}


def records_of(text: str) -> list[Record]:
    """Read a state file.

    Raises:
        ValueError: it holds what is no record.
    """
    tables = TypeAdapter(dict[str, list[dict[str, object]]]).validate_json(text)
    return [_record(name, row) for name, rows in tables.items() for row in rows]


def _record(name: str, row: dict[str, object]) -> Record:
    kind = KINDS.get(name)
    if kind is None:
        raise ValueError(f"no kind of record: {name}, but {', '.join(KINDS)} are")
    unknown = row.keys() - {field.name for field in fields(kind)}
    if unknown:
        raise ValueError(f"no keys of {name}: {', '.join(sorted(unknown))}")
    record: Record = TypeAdapter(kind).validate_python(row)
    return record
