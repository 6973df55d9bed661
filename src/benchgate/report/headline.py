"""The verdict in one sentence: the only place where it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from benchgate.model.verdict import NO_BASELINE, Decision, Outcome, Row
from benchgate.report import words
from benchgate.report.escape import plain_line
from benchgate.report.ordering import ORDER, by_benchmark, is_tail, tails_left_open, worst_first
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchgate.model.verdict import Verdict

_Groups: TypeAlias = "Mapping[Outcome, Sequence[Row]]"

_NAME_LIMIT = 80
_NAMES_SHOWN = 3
_COMPARED = frozenset(
    {Outcome.REGRESSED, Outcome.WAIVED, Outcome.INCONCLUSIVE, Outcome.IMPROVED, Outcome.UNCHANGED}
)
_BAD = (Outcome.REGRESSED, Outcome.FAILED, Outcome.MISSING, Outcome.WAIVED)
_OPEN = (Outcome.INCOMPARABLE, Outcome.INCONCLUSIVE, Outcome.NOT_TESTED)
_GOOD = (Outcome.UNCHANGED, Outcome.IMPROVED, Outcome.NEW)


def headline(verdict: Verdict) -> str:
    """The verdict's own summary where it has one, else a sentence made of its rows."""
    if verdict.summary:
        return plain_line(verdict.summary, 1000)
    leading = worst_first(list(by_benchmark(verdict.rows).values()))
    groups = {
        outcome: [row for row in leading if row.outcome is outcome]
        for outcome in ORDER
        if any(row.outcome is outcome for row in leading)
    }
    return f"{verdict.decision.value}: {_SENTENCES[verdict.decision](verdict, groups)}"


def _fail(verdict: Verdict, groups: _Groups) -> str:
    blamed = [outcome for outcome in (*_BAD, *_OPEN) if outcome.value in verdict.settings.fail_on]
    return "; ".join(_clauses(groups, blamed) or _clauses(groups, (*_BAD, *_OPEN)))


def _no_verdict(verdict: Verdict, groups: _Groups) -> str:
    if not groups:
        return "there was nothing to compare"
    tally = _tally(groups, _GOOD)
    clauses = [*_compared(verdict, groups), *_clauses(groups, (*_BAD, *_OPEN))]
    return "; ".join([*clauses, *([tally] if tally else [])]) + _open_tails(verdict.rows)


def _compared(verdict: Verdict, groups: _Groups) -> list[str]:
    """Say so where too little was compared for a verdict."""
    compared = sum(len(rows) for outcome, rows in groups.items() if outcome in _COMPARED)
    required = verdict.settings.min_compared
    if not compared and verdict.base_source == NO_BASELINE:
        return ["first run, there is nothing to compare with yet"]
    if not compared:
        return ["nothing could be compared"]
    if required is None or compared >= required:
        return []
    total = _benchmarks(_total(groups))
    return [f"only {compared} of {total} could be compared, and {required} must be"]


def _pass(verdict: Verdict, groups: _Groups) -> str:
    if not groups:
        return "there was nothing to compare"
    slower = _clauses(groups, (Outcome.REGRESSED, Outcome.WAIVED))
    unfinished = (Outcome.FAILED, Outcome.MISSING, *_OPEN)
    tally = _tally(groups, (*_GOOD, *_OPEN))
    start = "; ".join(slower) or _nothing_worse(groups, unfinished)
    joint = "; " if slower else ": "
    sentence = f"{start}{joint}{tally}" if tally else start
    broken = _clauses(groups, (Outcome.FAILED, Outcome.MISSING))
    return "; ".join([sentence + _open_tails(verdict.rows), *broken])


def _nothing_worse(groups: _Groups, unfinished: Iterable[Outcome]) -> str:
    """Claims no more than was seen."""
    worse = words.worse_word(row for rows in groups.values() for row in rows if row.metric)
    if any(outcome in groups for outcome in unfinished):
        return f"nothing was found to be {worse}"
    return f"nothing got {worse}"


_SENTENCES = {Decision.FAIL: _fail, Decision.NO_VERDICT: _no_verdict, Decision.PASS: _pass}


def _clauses(groups: _Groups, outcomes: Iterable[Outcome]) -> list[str]:
    """One clause for each outcome that occurs: "1 of 10 benchmarks is slower: x by 14.6 %"."""
    total = _total(groups)
    return [_clause(outcome, groups[outcome], total) for outcome in outcomes if outcome in groups]


def _clause(outcome: Outcome, rows: Sequence[Row], total: int) -> str:
    one = len(rows) == 1
    verb = "is" if one else "are"
    worse = words.worse_word(rows)
    looks = ("looks" if one else "look") if all(row.advisory for row in rows) else verb
    predicate = {
        Outcome.REGRESSED: f"{looks} {worse}",
        Outcome.WAIVED: f"{verb} {worse} and waived",
        Outcome.FAILED: "failed to run",
        Outcome.MISSING: f"{verb} missing from the head",
        Outcome.INCOMPARABLE: "cannot be compared",
    }.get(outcome, f"{verb} {outcome.value}")
    start = f"{len(rows)} of {_benchmarks(total)} {predicate}"
    if outcome not in {Outcome.REGRESSED, Outcome.WAIVED}:
        return f"{start}: {_names(rows)}"
    return f"{start}{': ' if one else ', most of all '}{_changed_between(rows[0])}"


def _changed(row: Row) -> str:
    """Name and size: "parse/large by 14.6 %"."""
    qualifiers = (words.metric(row), "tail" if is_tail(row) else "")
    qualifier = ", ".join(filter(None, qualifiers))
    about = f" ({qualifier})" if qualifier else ""
    return f"{words.name(row, _NAME_LIMIT)}{about} {words.size(row)}".rstrip()


def _changed_between(row: Row) -> str:
    """The same with its interval: "parse/large by 14.6 % (12.1 to 17.0 %)"."""
    interval = words.size_interval(row)
    return f"{_changed(row)} ({interval})" if interval else _changed(row)


def _tally(groups: _Groups, outcomes: Iterable[Outcome]) -> str:
    """How many of each: "9 benchmarks unchanged within 2 %, 1 faster (x by 20.0 %), 1 new"."""
    parts: list[str] = []
    for outcome in outcomes:
        if outcome not in groups:
            continue
        rows = groups[outcome]
        count = str(len(rows)) if parts else _benchmarks(len(rows))
        parts.append(f"{count} {_state(outcome, rows)}")
    return ", ".join(parts)


def _state(outcome: Outcome, rows: Sequence[Row]) -> str:
    if outcome is Outcome.UNCHANGED:
        return f"unchanged{words.margins(rows)}"
    if outcome is Outcome.IMPROVED:
        best = rows[-1]
        most = "most of all " if len(rows) > 1 else ""
        return f"{words.better_word(rows)} ({most}{_changed(best)})"
    return outcome.value


def _open_tails(rows: Sequence[Row]) -> str:
    """What a pass does not claim."""
    count = sum(row.outcome is Outcome.INCONCLUSIVE for row in tails_left_open(rows))
    return f" (the tails of {_benchmarks(count)} could not be settled)" if count else ""


def _names(rows: Sequence[Row]) -> str:
    names = [words.name(row, _NAME_LIMIT) for row in rows[:_NAMES_SHOWN]]
    rest = len(rows) - len(names)
    return ", ".join(names) + (f" and {rest} more" if rest else "")


def _total(groups: _Groups) -> int:
    return sum(len(rows) for rows in groups.values())


def _benchmarks(count: int) -> str:
    return counted(count, "benchmark")
