"""Rows of what did not run with the files that decide.

Both sides usually run the benchmark files of the base. What only the head has runs with the head's
files on both sides. If the base's version of a benchmark does not run on the head, each side runs
its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from benchgate.gate.evidence import Pair, has_failed
from benchgate.gate.pair_rows import deciding_rows
from benchgate.gate.rows import notes_of, tested_row, unpaired_row, untested_row
from benchgate.gate.single_runs import judge_at_once
from benchgate.model.notes import change, sides
from benchgate.model.policy import Outcome
from benchgate.model.run import BenchmarkFiles, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchgate.gate.rows import Terms
    from benchgate.model.row import Row
    from benchgate.model.run import BenchmarkResult, Run


TOGETHER: Final = "benchmark changed together with the code"
"""How the note begins on a benchmark that each side runs in its own version."""


def is_new(result: BenchmarkResult, decide: BenchmarkFiles) -> bool:
    """Whether only the head has the benchmark, although it may have run on both sides.

    Args:
        decide: whose files decide in this run.
    """
    return result.files is BenchmarkFiles.HEAD and decide is not BenchmarkFiles.HEAD


def of_base(base: Run, decide: BenchmarkFiles) -> list[BenchmarkResult]:
    """The benchmarks that the base itself has."""
    return [one for one in base.of_project if not is_new(one, decide)]


def as_new(pairs: Iterable[Pair], decide: BenchmarkFiles) -> Iterator[Pair]:
    """Leave the base out of what only the head has if it did not run there."""
    for one in pairs:
        if one.base is None or not is_new(one.base, decide):
            yield one
        elif one.head is not None:
            yield one if one.base.status is Status.OK else replace(one, base=None)


def is_apart(base: BenchmarkResult, head: BenchmarkResult, decide: BenchmarkFiles) -> bool:
    """Whether two results, which succeeded, are only shown."""
    is_known = head.files in {decide, BenchmarkFiles.BASE}
    return base.files is head.files and not is_known


def rows_apart(pairs: Iterable[Pair], terms: Terms) -> list[Row]:
    """Make rows that show a change and its interval, but decide nothing."""
    rows: list[Row] = []
    for one in pairs:
        if one.base is None or one.head is None:
            continue
        together = one.head.files is BenchmarkFiles.OWN
        found, evidences = deciding_rows(one, one.base, one.head, terms)
        gate = terms.config.gate
        testable = [e for e in evidences if e.obstacle is None]
        found += [untested_row(e, None) for e in evidences if e.obstacle]
        findings = judge_at_once(testable, alpha=gate.alpha, confidence=gate.confidence)
        for evidence, finding in zip(testable, findings, strict=True):
            found.append(tested_row(evidence, replace(finding, notes=()), None, gate.confidence))
        rows += [_only_shown(row, one, together=together) for row in found]
    return rows


def _only_shown(row: Row, one: Pair, *, together: bool) -> Row:
    said = dict.fromkeys((*row.notes, *notes_of(one, row.metric)))
    if together and not any(note.startswith(TOGETHER) for note in said):
        said = {TOGETHER: None} | said
    return replace(
        row,
        outcome=Outcome.INCOMPARABLE if together else Outcome.NEW,
        test="exact" if row.test == "exact" else None,
        p=None,
        p_adjusted=None,
        detectable=None,
        rounds_needed=None,
        unconfirmed=None,
        notes=tuple(said),
        changed_together=together,
    )


def with_new_versions(rows: Sequence[Row], base: Run, head: Run, terms: Terms) -> list[Row]:
    """Note on each row what the head's version of its benchmark measured, if the base's decides."""
    before = {one.new_version_of: one for one in base.benchmarks}
    versions = {
        one.new_version_of: _said(one, before.get(one.new_version_of), terms)
        for one in head.benchmarks
        if one.new_version_of is not None
    }
    return [
        replace(row, notes=(*row.notes, *_about(row, versions[row.benchmark])))
        if row.benchmark in versions and row.decides and not row.is_limit
        else row
        for row in rows
    ]


def _said(
    head: BenchmarkResult, base: BenchmarkResult | None, terms: Terms
) -> list[tuple[Row, str]]:
    """What to note on the rows of a benchmark, each with the row of its new version."""
    alone = Pair(head.new_version_of or head.id, None, head)
    if has_failed(head):
        row = unpaired_row(alone)
        first = (head.error or "it did not run").strip().partition("\n")[0]
        return [(row, f"its new version fails: {first}")]
    if base is None or has_failed(base):
        row = unpaired_row(alone)
        value = f"; on the head: {sides(row)[1]}" if row.metric else ""
        return [(row, f"its new version does not run on the base{value}")]
    shown = rows_apart([replace(alone, base=base)], terms)
    return [(row, f"its new version: {_change(row)}") for row in shown if row.base is not None]


def _change(row: Row) -> str:
    signed = change(row)
    return " -> ".join(sides(row)) + (f" ({signed})" if signed else "")


def _about(row: Row, said: Sequence[tuple[Row, str]]) -> list[str]:
    """What is said of the same metric and statistic, or of everything."""
    return [
        text
        for one, text in said
        if not (one.metric and row.metric)
        or (one.metric == row.metric and (one.base is None or one.statistic == row.statistic))
    ][:1]
