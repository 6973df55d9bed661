"""Words the verdict in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from benchgate.escape import plain_line
from benchgate.model.metrics import Better
from benchgate.model.notes import TOO_FEW, machine, sides
from benchgate.model.policy import MOVED, OPEN, Outcome
from benchgate.model.row import VALUE, ConfirmationCost
from benchgate.model.row_order import worst_first
from benchgate.model.run import CHANGED_FILES_ID
from benchgate.model.verdict import (
    NO_BASELINE,
    Decision,
    Reason,
    compared_benchmarks,
    decided_benchmarks,
    partly_compared,
)
from benchgate.report import estimates, row_notes, words
from benchgate.report.arrangement import Together, arrange, benchmarks_of, first_row
from benchgate.units import counted, format_duration

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from benchgate.model.row import Row
    from benchgate.model.verdict import Verdict
    from benchgate.report.arrangement import Line


_Groups: TypeAlias = "Mapping[Outcome, Sequence[Line]]"

_NAME_LIMIT = 60
# Two lines of a heading on GitHub.
_HEADING_LIMIT = 160
_NAMES_SHOWN = 3
_CLEARLY = 1.02
_BROKEN = (Outcome.MISSING, Outcome.INCOMPARABLE, Outcome.BASE_FAILED)
_BAD = (Outcome.FAILED, Outcome.REGRESSED, Outcome.OVER_LIMIT, *_BROKEN, Outcome.WAIVED)
_GOOD = (Outcome.UNCHANGED, Outcome.WITHIN_LIMIT, *OPEN, Outcome.NEW)
_UNFINISHED = frozenset({Outcome.FAILED, *_BROKEN, *OPEN})
_INTERRUPTED = "measuring was interrupted"
_REASONS = {
    Reason.INTERRUPTED: _INTERRUPTED,
    Reason.NOTHING_COMPARED: "nothing could be compared",
    Reason.METRIC_UNTESTED: "a metric that must decide was not measured",
    Reason.UNDECIDED: "no benchmark could be decided",
}


def headline(verdict: Verdict) -> str:
    """The verdict in one sentence, as plain text."""
    return bare("; ".join(_clauses_of(verdict)))


def bare(text: str) -> str:
    """A sentence without the marks of code."""
    return text.replace("`", "")


def heading(verdict: Verdict) -> tuple[str, str]:
    """The sentence, split into what fits two lines of a heading, and the rest; `...` is code."""
    first, *rest = _clauses_of(verdict)
    while rest and len(first) + len(rest[0]) + 2 <= _HEADING_LIMIT:
        first = f"{first}; {rest.pop(0)}"
    return first, "; ".join(rest)


def not_measured(verdict: Verdict) -> str:
    """How many benchmarks run the same code on both sides, in a sentence; "" if none do."""
    arranged = arrange(verdict)
    same = len(arranged.same_code)
    if verdict.is_unmeasured and verdict.decision is Decision.PASS:
        return f"So {'it was' if same == 1 else 'they were'} not measured."
    others = [one for one in arranged.all_lines if first_row(one).benchmark != CHANGED_FILES_ID]
    return words.not_measured(same, same + benchmarks_of(others))


def _clauses_of(verdict: Verdict) -> list[str]:
    groups: dict[Outcome, list[Line]] = {}
    arranged = arrange(verdict)
    for line in arranged.all_lines:
        groups.setdefault(first_row(line).outcome, []).append(line)
    same = len(arranged.same_code)
    if verdict.is_unmeasured and verdict.decision is Decision.PASS:
        run = "the benchmark runs" if same == 1 else f"{counted(same, 'benchmark')} run"
        return [f"Nothing that {run} has changed"]
    if not groups and not same:
        lead = "No verdict: nothing" if verdict.decision is Decision.NO_VERDICT else "Nothing"
        return [f"{lead} to compare"]
    first, *rest = _SENTENCES[verdict.decision](verdict, groups) or [_tally(groups, _GOOD)]
    return [f"{first[:1].upper()}{first[1:]}", *_undecided(verdict.rows), *rest]


def _undecided(rows: Iterable[Row]) -> list[str]:
    """Name the exact metrics that got clearly worse although they do not decide."""
    worse = worst_first([row for row in rows if not row.decides and is_exactly_worse(row)])
    if not worse:
        return []
    more = f" and {len(worse) - 1} more" if len(worse) > 1 else ""
    return [f"{words.moved(worse[0])}, but not in `metrics`: {_changed((worse[0],))}{more}"]


def is_exactly_worse(row: Row) -> bool:
    """Whether a count or a size got worse by more than a trifle."""
    if row.test != "exact" or row.base is None or row.head is None:
        return False
    if row.worse_ratio is None:  # from 0
        return row.better is Better.LOWER and row.head > row.base
    return row.worse_ratio >= _CLEARLY


def _fail(verdict: Verdict, groups: _Groups) -> list[str]:
    suspect = (*_BAD, Outcome.IMPROVED, *OPEN)
    blamed = [outcome for outcome in suspect if _fails(groups.get(outcome, ()), verdict)]
    clauses = _clauses(groups, blamed) or _clauses(groups, suspect)
    interrupted = "" if verdict.complete else _INTERRUPTED
    others = (_together(verdict.rows), _untested_limits(verdict.rows), interrupted)
    return [*clauses, *_crashes_of_new(groups), *filter(None, others)]


def _fails(lines: Sequence[Line], verdict: Verdict) -> bool:
    return any(verdict.settings.names(first_row(line)) for line in lines)


def _no_verdict(verdict: Verdict, groups: _Groups) -> list[str]:
    if verdict.reason is Reason.FIRST_RUN:
        lines = [line for group in groups.values() for line in group]
        measured = counted(benchmarks_of(lines), "benchmark")
        return [f"first run of {measured}: there is nothing to compare with yet"]
    suspects = [one for lines in groups.values() for one in lines if first_row(one).unconfirmed]
    others = {
        outcome: left
        for outcome, lines in groups.items()
        if (left := [one for one in lines if not first_row(one).unconfirmed])
    }
    blamed = (*(OPEN if verdict.reason is Reason.LEFT_OPEN else ()), *_BAD)
    if _fails(others.get(Outcome.IMPROVED, ()), verdict):
        blamed = (*blamed, Outcome.IMPROVED)
    why = (_because(verdict, groups), _together(verdict.rows))
    said = [*_unconfirmed(suspects), *_clauses(others, blamed), *_crashes_of_new(groups)]
    first, *rest = [*filter(None, why), *said] or [_tally(others, _GOOD)]
    return [f"no verdict{' yet' if suspects else ''}: {first}", *rest]


def _unconfirmed(suspects: Sequence[Line]) -> list[str]:
    """Say what looked slower at first but is undecided, and what deciding it takes."""
    if not suspects:
        return []
    rows = [first_row(one) for one in suspects]
    needed = [row.unconfirmed for row in rows if row.unconfirmed]
    seconds = [each.seconds for each in needed if each.seconds is not None]
    takes = ConfirmationCost(
        max(each.rounds for each in needed), sum(seconds) if len(seconds) == len(needed) else None
    )
    it = "it" if len(suspects) == 1 else "them"
    return [
        f"{_listed(suspects, looks_like=True)} looked {words.worse_word(rows)} at first",
        f"deciding {it} takes {row_notes.confirming(takes)}",
    ]


def _because(verdict: Verdict, groups: _Groups) -> str:
    """Why there is no verdict; "" if another clause already says it."""
    if verdict.reason is Reason.LIMIT_UNTESTED:
        return _untested_limits(verdict.rows)
    if verdict.reason is Reason.LEFT_OPEN and not any(one in groups for one in OPEN):
        return "a benchmark that must be decided is still open"
    if verdict.reason is Reason.TOO_FEW_COMPARED:
        return _too_few(verdict, groups)
    untested = groups.get(Outcome.NOT_TESTED, ())
    if verdict.reason is Reason.NOTHING_COMPARED and any(
        words.has_too_few(first_row(one)) for one in untested
    ):
        return TOO_FEW
    if verdict.reason is Reason.DISTURBED:
        known = "something looks worse, but" if verdict.exit_code else ""
        so = "" if verdict.exit_code else ", so benchgate trusts no change"
        return f"{known} the canary was disturbed{so}".lstrip()
    return _REASONS.get(verdict.reason, "") if verdict.reason else ""


def _together(rows: Sequence[Row]) -> str:
    """Name what surely got worse and changed together with the code; "" if nothing did."""
    worse: dict[str, Row] = {}
    for row in rows:
        if row.is_worse_together:
            worse.setdefault(row.benchmark, row)
    if not worse:
        return ""
    lines: list[Line] = [(row,) for row in worse.values()]
    looks = "looks" if len(lines) == 1 else "look"
    said = f"{looks} {words.worse_word(worse.values())}, and changed together with the code"
    return f"{_listed(lines, looks_like=True)} {said}"


def _untested_limits(rows: Iterable[Row]) -> str:
    """Name a limit that decided nothing, and why; "" if there is none."""
    untested = [row for row in rows if row.is_limit and row.outcome is Outcome.NOT_TESTED]
    if not untested:
        return ""
    first, more = untested[0], len(untested) - 1
    limits = counted(len(untested), "limit")
    of = f"`{words.name(first, _NAME_LIMIT)}` {plain_line(first.metric)}"
    rest = f" and {more} more" if more else ""
    return f"{limits} could not be tested ({of}{rest}: {first.notes[-1]})"


def _too_few(verdict: Verdict, groups: _Groups) -> str:
    """Say how many must be compared, and whether the base can ever have that many."""
    total = benchmarks_of(line for lines in groups.values() for line in lines)
    same = len(arrange(verdict).same_code)
    in_base = total + same - benchmarks_of(groups.get(Outcome.NEW, ()))
    required = verdict.settings.min_compared or 0
    is_possible = required <= in_base
    # What was not measured counts as compared, but nobody would call it so.
    aside = same if is_possible else 0
    benchmarks = counted(total + same - aside, "affected benchmark" if aside else "benchmark")
    in_part = compared_benchmarks(verdict.rows) & partly_compared(verdict.rows)
    in_all = " in all metrics that decide" if in_part else ""
    compared = f"only {verdict.compared - aside} of {benchmarks} could be compared{in_all}"
    said = f"{compared}, but {required - aside} must be"
    if is_possible:
        return said
    return f"{said}, and the base has only {in_base}: lower `min_compared`"


def _pass(verdict: Verdict, groups: _Groups) -> list[str]:
    slower = _clauses(groups, (Outcome.REGRESSED, Outcome.OVER_LIMIT, Outcome.WAIVED))
    others = _clauses(groups, (Outcome.IMPROVED, Outcome.FAILED, *_BROKEN))
    others += _crashes_of_new(groups)
    if slower or others:
        return [*(slower or [_nothing_worse(groups)]), *others]
    tally = _tally(groups, _GOOD, decided=decided_benchmarks(verdict.rows))
    if set(groups) == {Outcome.UNCHANGED}:
        lines = groups[Outcome.UNCHANGED]
        within = words.margins([first_row(one) for one in lines])
        tally = f"{counted(len(lines), 'benchmark')},{within}".rstrip(",")
    return [f"{_nothing_worse(groups)}: {tally}"]


def _crashes_of_new(groups: _Groups) -> list[str]:
    crashing = [line for line in groups.get(Outcome.NEW, ()) if first_row(line).error]
    return _clauses({Outcome.NEW: crashing}, (Outcome.NEW,))


def _nothing_worse(groups: _Groups) -> str:
    """Claim no more than was measured: a comparison with stored launches may miss a change."""
    rows = [first_row(line) for group in groups.values() for line in group]
    worse = words.worse_word(row for row in rows if row.metric)
    if any(row.outcome in _UNFINISHED or row.advisory for row in rows):
        return f"nothing was found to be {worse}"
    return f"nothing got {worse}"


_SENTENCES = {Decision.FAIL: _fail, Decision.NO_VERDICT: _no_verdict, Decision.PASS: _pass}


def _clauses(groups: _Groups, outcomes: Iterable[Outcome]) -> list[str]:
    """A clause for each outcome that occurs: "slower: `x` +15 %, `y` +4 %".

    What `_together` names is left out.
    """
    found = ((outcome, _alike(groups.get(outcome, ()))) for outcome in outcomes)
    return [
        _clause(outcome, lines)
        for outcome, alike in found
        for lines in alike
        if not first_row(lines[0]).is_worse_together
    ]


def _alike(lines: Iterable[Line]) -> list[list[Line]]:
    """Those of one outcome that are worded alike; times and rates come before counts and sizes."""
    found: dict[tuple[object, ...], list[Line]] = {}
    for line in lines:
        row = first_row(line)
        kind = (words.outcome(row), row.excused, row.advisory, row.is_worse_together)
        found.setdefault(kind, []).append(line)
    return sorted(found.values(), key=lambda alike: not first_row(alike[0]).is_timed)


def _clause(outcome: Outcome, lines: Sequence[Line]) -> str:
    row, one = first_row(lines[0]), benchmarks_of(lines) == 1
    if outcome in MOVED and row.advisory:
        looks = "looks" if one else "look"
        return f"{_listed(lines, looks_like=True)} {looks} {words.outcome(row)}"
    verb = "is" if one else "are"
    crash = words.crashed(row, present=True, one=one)
    title = {
        Outcome.REGRESSED: words.outcome(row),
        Outcome.IMPROVED: words.outcome(row),
        Outcome.OVER_LIMIT: "over its limit" if one else "over their limits",
        Outcome.WAIVED: "removed, which is waived"
        if row.excused is Outcome.MISSING
        else "other work, which is waived"
        if row.excused
        else f"{words.moved(row)}, but waived",
    }.get(outcome)
    predicate = {
        Outcome.FAILED: crash,
        Outcome.NEW: f"{verb} new and {crash}",
        Outcome.MISSING: "was removed" if one else "were removed",
        Outcome.BASE_FAILED: f"{crash} on the base",
        Outcome.INCOMPARABLE: "changed together with the code"
        if row.changed_together
        else "cannot be compared",
    }.get(outcome, f"{verb} {words.outcome(row)}")
    return f"{title}: {_listed(lines)}" if title else f"{_listed(lines)} {predicate}"


def _listed(lines: Sequence[Line], *, looks_like: bool = False) -> str:
    """The first few, with their changes if these are what is said of them."""
    shown, rest = lines[:_NAMES_SHOWN], benchmarks_of(lines[_NAMES_SHOWN:])
    named = ", ".join(_changed(line, in_parentheses=looks_like) for line in shown)
    return named + (f" and {rest} more" if rest else "")


def _changed(line: Line, *, in_parentheses: bool = False) -> str:
    """Name and size of the change: "`parse/large` +15 %", "all 10 `parser/*` +13 to +15 %"."""
    row = first_row(line)
    if isinstance(line, Together):
        name, size = line.title, estimates.rounded_span(*line.ratios)
    else:
        name, size = f"`{words.name(row, _NAME_LIMIT)}`", estimates.rounded(row)
    if row.outcome is Outcome.OVER_LIMIT:
        limit, value = sides(row)
        size = f"at {value} (limit {limit})"
    about = ", ".join(filter(None, (words.metric(row), "tail" if _is_named_tail(row) else "")))
    if row.outcome is Outcome.INCOMPARABLE and row.metric and not row.changed_together:
        return f"{name} {plain_line(row.metric)}"
    is_said = row.outcome in {Outcome.REGRESSED, Outcome.IMPROVED, Outcome.OVER_LIMIT}
    is_said = is_said or in_parentheses or not row.decides
    is_said = is_said or (row.outcome is Outcome.WAIVED and not row.excused)
    size = f"({size})" if size and in_parentheses else size
    return " ".join(filter(None, (name, about if row.metric else "", size if is_said else "")))


def _is_named_tail(row: Row) -> bool:
    return row.is_tail and row.statistic != VALUE


def _tally(
    groups: _Groups, outcomes: Iterable[Outcome], decided: Collection[str] = frozenset()
) -> str:
    """The benchmarks per outcome: "9 unchanged within 2 %, 1 inconclusive".

    Args:
        decided: benchmarks with a decided row; their open rows make them partly open.
    """
    parts: dict[str, int] = {}
    for outcome in outcomes:
        for line in groups.get(outcome, ()):
            row = first_row(line)
            partly = "partly " if outcome in OPEN and row.benchmark in decided else ""
            word = f"{partly}{words.outcome(row)}"
            parts[word] = parts.get(word, 0) + 1
    within = words.margins([first_row(one) for one in groups.get(Outcome.UNCHANGED, ())])
    return ", ".join(
        f"{count} {word}{within if word == Outcome.UNCHANGED.value else ''}"
        for word, count in parts.items()
    )


def last_line(verdict: Verdict) -> str:
    """What was compared, where, how long it took, and how often a false alarm is expected."""
    why = f" ({plain_line(verdict.base.why)})" if verdict.base.why else ""
    merged = f" ({plain_line(verdict.head.why)})" if verdict.head.why else ""
    head = f"{words.source(verdict.head)}{merged}"
    measured = f"Measured {head}{'' if verdict.base.sha else why}"
    sides = f"{words.source(verdict.base).removeprefix('at ')}{why} with {head.removeprefix('at ')}"
    compared = f"Compared {sides}"
    parts = [
        measured if _is_alone(verdict) else compared,
        machine(verdict.environment),
        _effort(verdict),
    ]
    rule = "" if _is_alone(verdict) or verdict.is_unmeasured else f" {_rule(verdict)}."
    return f"{', '.join(part for part in parts if part)}.{rule}"


def _is_alone(verdict: Verdict) -> bool:
    """Whether there was no base to compare with."""
    nothing_known = not verdict.base.sha and verdict.base_source == NO_BASELINE
    return nothing_known or verdict.reason is Reason.FIRST_RUN


def _effort(verdict: Verdict) -> str:
    if not verdict.rounds:
        return ""
    ended = ", interrupted" if not verdict.complete else ""
    if not verdict.duration_s:  # files of another tool, which do not tell how long it ran
        return counted(verdict.rounds, "launch")
    return f"{counted(verdict.rounds, 'round')} in {format_duration(verdict.duration_s)}{ended}"


def _rule(verdict: Verdict) -> str:
    settings = verdict.settings
    if settings.rule != "launch":
        return f"The rule {plain_line(settings.rule)} has no bound on false alarms"
    return words.false_alarms(settings.alpha)
