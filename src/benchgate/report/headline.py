"""Words the verdict in one sentence, which rows come first, and what to do next."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, TypeAlias

from benchgate.escape import plain_line
from benchgate.model.notes import TOO_FEW, machine, sides
from benchgate.model.policy import Outcome
from benchgate.model.run import Better
from benchgate.model.verdict import (
    NO_BASELINE,
    ORDER,
    VALUE,
    WRONG,
    ConfirmationCost,
    Decision,
    Reason,
    Row,
    _lacks,
    _place,
    by_benchmark,
    decided_benchmarks,
    missing_rounds,
    worst_first,
)
from benchgate.report import words
from benchgate.units import counted, format_budget, format_duration, format_percent

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from benchgate.model.verdict import Verdict


_FOR_A_PERSON = frozenset(
    {Outcome.MISSING, Outcome.INCOMPARABLE, Outcome.BASE_FAILED, Outcome.WAIVED}
)
_OPEN_OUTCOMES = frozenset({Outcome.INCONCLUSIVE, Outcome.NOT_TESTED, Outcome.NOT_SETTLED})


class Section(IntEnum):
    """What a benchmark asks of a reader; in the order in which a report has them."""

    WRONG = 1
    IMPROVED = 2
    FOR_A_PERSON = 3
    FOLDED = 4


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The rows of each benchmark, the one that stands for it first.

    Attributes:
        shown: what fails, then what improved, then what needs a person.
        folded: what needs nobody, by outcome.
    """

    shown: tuple[tuple[Row, ...], ...]
    folded: tuple[tuple[tuple[Row, ...], ...], ...]


def arrange(verdict: Verdict) -> Arrangement:
    """Put the rows of each benchmark together, and what a reader must see first."""
    rows_of: dict[str, list[Row]] = {}
    for row in worst_first(verdict.rows):
        rows_of.setdefault(row.benchmark, []).append(row)
    leading = by_benchmark(verdict.rows)
    groups = [_led_by(_face(rows, leading[name]), rows) for name, rows in rows_of.items()]
    placed = sorted(((_section(group, verdict), group) for group in groups), key=_shown_place)
    shown = tuple(group for section, group in placed if section is not Section.FOLDED)
    rest = [group for section, group in placed if section is Section.FOLDED]
    by_outcome = (tuple(one for one in rest if one[0].outcome is outcome) for outcome in ORDER)
    return Arrangement(shown, tuple(filter(None, by_outcome)))


def _face(rows: Sequence[Row], leading: Row) -> Row:
    """The row that stands for a benchmark; an improvement is worth more than an open row."""
    if leading.outcome in _OPEN_OUTCOMES and not leading.unconfirmed:
        return next((row for row in rows if row.outcome is Outcome.IMPROVED), leading)
    return leading


def _led_by(first: Row, rows: Sequence[Row]) -> tuple[Row, ...]:
    others = sorted(
        (row for row in rows if row is not first),
        key=lambda row: (not row.decides, row.metric, row.is_minor),
    )
    return (first, *others)


def _section(group: Sequence[Row], verdict: Verdict) -> Section:
    outcome = group[0].outcome
    if outcome in WRONG or group[0].policy_outcome.value in verdict.settings.fail_on:
        return Section.WRONG
    if outcome is Outcome.IMPROVED:
        return Section.IMPROVED
    is_why = verdict.decision is Decision.NO_VERDICT and outcome is Outcome.INCONCLUSIVE
    if outcome in _FOR_A_PERSON or is_why or any(row.unconfirmed for row in group):
        return Section.FOR_A_PERSON
    return Section.FOLDED


def _shown_place(placed: tuple[Section, tuple[Row, ...]]) -> tuple[object, ...]:
    section, (first, *_) = placed
    rank, size, *name = _place(first)
    is_good = section is Section.IMPROVED
    return (section, not first.unconfirmed, rank, -size if is_good else size, *name)


_Groups: TypeAlias = "Mapping[Outcome, Sequence[Row]]"

_NAME_LIMIT = 60
# Two lines of a heading on GitHub.
_HEADING_LIMIT = 160
_NAMES_SHOWN = 3
_CLEARLY = 1.02
_BROKEN = (Outcome.FAILED, Outcome.MISSING, Outcome.BASE_FAILED)
_BAD = (Outcome.REGRESSED, Outcome.OVER_LIMIT, *_BROKEN, Outcome.WAIVED)
_OPEN = (Outcome.INCOMPARABLE, Outcome.INCONCLUSIVE, Outcome.NOT_TESTED, Outcome.NOT_SETTLED)
_GOOD = (Outcome.UNCHANGED, Outcome.IMPROVED, Outcome.NEW)
_UNFINISHED = (*_BROKEN, *_OPEN)
_INTERRUPTED = "the measurement was interrupted"
_REASONS = {
    Reason.INTERRUPTED: _INTERRUPTED,
    Reason.LEFT_OPEN: "a benchmark that must be decided is still open",
    Reason.FIRST_RUN: "this is the first run, so there is nothing to compare with yet",
    Reason.NOTHING_COMPARED: "nothing could be compared",
    Reason.DISTURBED: "a regression was measured, but the canary was disturbed too",
    Reason.UNDECIDED: "no benchmark could be decided",
}


def headline(verdict: Verdict) -> str:
    """The verdict's own summary if it has one, otherwise a sentence made from its rows."""
    return plain_line(verdict.summary, 1000) if verdict.summary else "; ".join(_clauses_of(verdict))


def heading(verdict: Verdict) -> tuple[str, str]:
    """The headline, split into what fits two lines of a heading, and the rest."""
    clauses = _clauses_of(verdict)
    if verdict.summary not in {"", "; ".join(clauses)}:
        return headline(verdict), ""
    first, *rest = clauses
    while rest and len(first) + len(rest[0]) + 2 <= _HEADING_LIMIT:
        first = f"{first}; {rest.pop(0)}"
    return first, "; ".join(rest)


def _clauses_of(verdict: Verdict) -> list[str]:
    leading = worst_first(list(by_benchmark(verdict.rows).values()))
    groups = {
        outcome: [row for row in leading if row.outcome is outcome]
        for outcome in ORDER
        if any(row.outcome is outcome for row in leading)
    }
    first, *rest = _SENTENCES[verdict.decision](verdict, groups) or [""]
    return [f"{verdict.decision.value}: {first}", *_undecided(verdict.rows), *rest]


def _undecided(rows: Iterable[Row]) -> list[str]:
    """Name the exact metrics that got clearly worse although they do not decide."""
    worse = worst_first([row for row in rows if not row.decides and _is_exactly_worse(row)])
    if not worse:
        return []
    more = f", and {len(worse) - 1} more" if len(worse) > 1 else ""
    return [f"worse, but not in `metrics`: {_changed(worse[0])}{more}"]


def _is_exactly_worse(row: Row) -> bool:
    if row.test != "exact" or row.base is None or row.head is None:
        return False
    if row.worse_ratio is None:  # from 0
        return row.better is Better.LOWER and row.head > row.base
    return row.worse_ratio >= _CLEARLY


def _fail(verdict: Verdict, groups: _Groups) -> list[str]:
    suspect = (*_bad(verdict), *_OPEN)
    blamed = [outcome for outcome in suspect if outcome.value in verdict.settings.fail_on]
    clauses = _clauses(groups, blamed) or _clauses(groups, suspect)
    return [*clauses, *([] if verdict.complete else [_INTERRUPTED])]


def _bad(verdict: Verdict) -> tuple[Outcome, ...]:
    """The outcomes that somebody must know of; an improvement only if it fails the build."""
    improved = (Outcome.IMPROVED,) if Outcome.IMPROVED.value in verdict.settings.fail_on else ()
    return (*_BAD, *improved)


def _no_verdict(verdict: Verdict, groups: _Groups) -> list[str]:
    suspects = [row for rows in groups.values() for row in rows if row.unconfirmed]
    others = {
        outcome: left
        for outcome, rows in groups.items()
        if (left := [row for row in rows if not row.unconfirmed])
    }
    total = _total(groups)
    bad = _bad(verdict)
    clauses = [
        *_unconfirmed(suspects, total),
        *(_clause(x, others[x], total) for x in (*bad, *_OPEN) if x in others),
    ]
    reason = _because(verdict, groups)
    if verdict.reason is Reason.LEFT_OPEN and any(x in others for x in _OPEN):
        reason = ""  # the clauses say it already
    tally = _tally(groups, [x for x in _GOOD if x not in bad])
    return [part for part in (reason, *clauses, tally) if part]


def _unconfirmed(suspects: Sequence[Row], total: int) -> list[str]:
    """Say what looks slower but is undecided, and what deciding it takes."""
    if not suspects:
        return []
    one = len(suspects) == 1
    looks = "looks" if one else "look"
    needed = [row.unconfirmed for row in suspects if row.unconfirmed]
    seconds = [each.seconds for each in needed if each.seconds is not None]
    takes = ConfirmationCost(
        max(each.rounds for each in needed), sum(seconds) if len(seconds) == len(needed) else None
    )
    start = f"{len(suspects)} of {_benchmarks(total)} {looks} {words.worse_word(suspects)}"
    most = f"{'' if one else 'most of all '}{_changed(worst_first(suspects)[0])}"
    return [
        f"{start}, and measuring ended before this was confirmed or ruled out: {most}",
        f"deciding it takes {words.confirming(takes)}",
    ]


def _because(verdict: Verdict, groups: _Groups) -> str:
    """Why there is no verdict; "" if another clause already says it."""
    if verdict.reason is Reason.NOTHING_COMPARED and not groups:
        return "there was nothing to compare"
    if verdict.reason is Reason.LIMIT_UNTESTED:
        return _untested_limits(verdict.rows)
    if verdict.reason is Reason.TOO_FEW_COMPARED:
        return _too_few(verdict, _total(groups), _total(groups) - len(groups.get(Outcome.NEW, ())))
    untested = groups.get(Outcome.NOT_TESTED, ())
    if verdict.reason is Reason.NOTHING_COMPARED and any(map(words.has_too_few, untested)):
        return TOO_FEW
    if verdict.reason is Reason.DISTURBED and not verdict.exit_code:
        return "the canary was disturbed, so benchgate trusts no change"
    return _REASONS.get(verdict.reason, "") if verdict.reason else ""


def _untested_limits(rows: Iterable[Row]) -> str:
    """Name a limit that decided nothing, and why."""
    untested = [row for row in rows if row.is_limit and row.outcome is Outcome.NOT_TESTED]
    first, more = untested[0], len(untested) - 1
    limits = counted(len(untested), "limit")
    of = f"{words.name(first, _NAME_LIMIT)} ({first.metric})"
    rest = f", and {more} more" if more else ""
    return f"{limits} could not be tested: {of}, {first.notes[-1]}{rest}"


def _too_few(verdict: Verdict, total: int, in_base: int) -> str:
    """Say how many must be compared, and whether the base can ever have that many."""
    required = verdict.settings.min_compared or 0
    said = (
        f"only {verdict.compared} of {_benchmarks(total)} could be compared, but {required} must be"
    )
    if required <= in_base:
        return said
    return f"{said}, and the base has only {in_base}: lower `min_compared`"


def _pass(verdict: Verdict, groups: _Groups) -> list[str]:
    if not groups:
        return ["there was nothing to compare"]
    slower = _clauses(groups, (Outcome.REGRESSED, Outcome.OVER_LIMIT, Outcome.WAIVED))
    open_ = groups.get(Outcome.INCOMPARABLE, ())
    together = [row for row in open_ if row.changed_together]
    rest = {**groups, Outcome.INCOMPARABLE: [row for row in open_ if not row.changed_together]}
    tally = _tally(rest, (*_GOOD, *_OPEN), decided=decided_benchmarks(verdict.rows))
    broken = _clauses(groups, _BROKEN)
    if together:  # whoever edits a benchmark and the code must not escape notice
        broken.insert(0, _clause(Outcome.INCOMPARABLE, together, _total(groups)))
    if slower:
        return [*slower, *filter(None, (tally,)), *broken]
    nothing = _nothing_worse(groups)
    return [f"{nothing}: {tally}" if tally else nothing, *broken]


def _nothing_worse(groups: _Groups) -> str:
    """Claim no more than was measured: a comparison with stored launches may miss a change."""
    rows = [row for group in groups.values() for row in group]
    worse = words.worse_word(row for row in rows if row.metric)
    if any(row.outcome in _UNFINISHED or row.advisory for row in rows):
        return f"nothing was found to be {worse}"
    return f"nothing got {worse}"


_SENTENCES = {Decision.FAIL: _fail, Decision.NO_VERDICT: _no_verdict, Decision.PASS: _pass}


def _clauses(groups: _Groups, outcomes: Iterable[Outcome]) -> list[str]:
    """One clause for each outcome that occurs: "1 of 10 benchmarks is slower: x by 14.6 %"."""
    total = _total(groups)
    return [
        _clause(outcome, rows, total)
        for outcome in outcomes
        for rows in _apart(groups.get(outcome, ()))
    ]


def _apart(rows: Sequence[Row]) -> list[Sequence[Row]]:
    """The benchmarks that were compared, that were removed, and that do other work."""
    kinds = (None, Outcome.MISSING, Outcome.INCOMPARABLE)
    parts = ([row for row in rows if row.excused is kind] for kind in kinds)
    return [part for part in parts if part]


def _clause(outcome: Outcome, rows: Sequence[Row], total: int) -> str:
    one = len(rows) == 1
    verb = "is" if one else "are"
    worse = words.worse_word(rows)
    looks = ("looks" if one else "look") if all(row.advisory for row in rows) else verb
    predicate = {
        Outcome.REGRESSED: f"{looks} {worse}",
        Outcome.IMPROVED: f"{looks} {words.better_word(rows)}",
        Outcome.WAIVED: f"{verb} {worse} and waived",
        Outcome.OVER_LIMIT: "is over its limit" if one else "are over their limits",
        Outcome.FAILED: "failed to run",
        Outcome.MISSING: f"{verb} missing from the head",
        Outcome.BASE_FAILED: "failed on the base and could not be compared",
        Outcome.INCOMPARABLE: "changed together with the code"
        if all(row.changed_together for row in rows)
        else "cannot be compared",
    }.get(outcome, f"{verb} {outcome.value}")
    start = f"{len(rows)} of {_benchmarks(total)} {predicate}"
    if excused := rows[0].excused:
        was, does = ("was", "does") if one else ("were", "do")
        what = f"{was} removed" if excused is Outcome.MISSING else f"{does} different work"
        return f"{len(rows)} of {_benchmarks(total)} {what}, which is waived: {_names(rows)}"
    if outcome is Outcome.OVER_LIMIT:
        limit, value = sides(rows[0])
        over = f"{_subject(rows[0])} at {value} (limit {limit})"
        return f"{start}{': ' if one else ', most of all '}{over}"
    if outcome not in {Outcome.REGRESSED, Outcome.WAIVED, Outcome.IMPROVED}:
        return f"{start}: {_names(rows)}"
    most = rows[-1] if outcome is Outcome.IMPROVED else rows[0]
    return f"{start}{': ' if one else ', most of all '}{_changed_between(most)}"


def _changed(row: Row) -> str:
    """Name and size of the change: "parse/large by 14.6 %"."""
    return f"{_subject(row)} {words.size(row)}".rstrip()


def _subject(row: Row) -> str:
    """What a row is about, unless that is the typical time: "parse/large (peak_rss, tail)"."""
    is_named = row.is_tail and row.statistic != VALUE
    qualifiers = (words.metric(row), "tail" if is_named else "")
    qualifier = ", ".join(filter(None, qualifiers))
    about = f" ({qualifier})" if qualifier else ""
    return f"{words.name(row, _NAME_LIMIT)}{about}"


def _changed_between(row: Row) -> str:
    """Name, size and interval of the change: "parse/large by 14.6 % (12.1 to 17.0 %)"."""
    interval = words.size_interval(row)
    return f"{_changed(row)} ({interval})" if interval else _changed(row)


def _tally(
    groups: _Groups, outcomes: Iterable[Outcome], decided: Collection[str] = frozenset()
) -> str:
    """The benchmarks per outcome: "9 benchmarks unchanged within 2 %, 1 faster (x by 20.0 %)".

    Args:
        decided: benchmarks with a decided row; their open rows make them partly open.
    """
    parts: list[str] = []
    for outcome in outcomes:
        rows = groups.get(outcome, ())
        known = decided if outcome in _OPEN else frozenset()
        whole = [row for row in rows if row.benchmark not in known]
        in_part = [row for row in rows if row.benchmark in known]
        for some, partly in ((whole, ""), (in_part, "partly ")):
            if some:
                count = str(len(some)) if parts else _benchmarks(len(some))
                parts.append(f"{count} {partly}{_state(outcome, some)}")
    return ", ".join(parts)


def _state(outcome: Outcome, rows: Sequence[Row]) -> str:
    if outcome is Outcome.UNCHANGED:
        return f"unchanged{words.margins(rows)}"
    if outcome is Outcome.IMPROVED:
        best = rows[-1]
        most = "most of all " if len(rows) > 1 else ""
        return f"{words.better_word(rows)} ({most}{_changed(best)})"
    return outcome.value


def _names(rows: Sequence[Row]) -> str:
    names = list(map(_subject, rows[:_NAMES_SHOWN]))
    rest = len(rows) - len(names)
    return ", ".join(names) + (f" and {rest} more" if rest else "")


def _total(groups: _Groups) -> int:
    return sum(len(rows) for rows in groups.values())


def _benchmarks(count: int) -> str:
    return counted(count, "benchmark")


def last_line(verdict: Verdict) -> str:
    """What was compared, where, how long it took, and how often a false alarm is expected."""
    why = f" ({plain_line(verdict.base.why)})" if verdict.base.why else ""
    merged = f" ({plain_line(verdict.head.why)})" if verdict.head.why else ""
    head = f"head {words.source(verdict.head)}{merged}"
    measured = f"Measured {head}{'' if verdict.base.sha else why}"
    compared = f"Compared base {words.source(verdict.base)}{why} and {head}"
    parts = [
        measured if _is_alone(verdict) else compared,
        machine(verdict.environment),
        _effort(verdict),
        _rule(verdict),
    ]
    return "; ".join(part for part in parts if part) + "."


def _is_alone(verdict: Verdict) -> bool:
    """Whether there was no base to compare with."""
    nothing_known = not verdict.base.sha and verdict.base_source == NO_BASELINE
    return nothing_known or verdict.reason is Reason.FIRST_RUN


def _effort(verdict: Verdict) -> str:
    if not verdict.rounds:
        return ""
    ended = "" if verdict.complete else ", interrupted"
    return f"{counted(verdict.rounds, 'round')} in {format_duration(verdict.duration_s)}{ended}"


def _rule(verdict: Verdict) -> str:
    settings = verdict.settings
    if settings.rule != "launch":
        return f"rule {plain_line(settings.rule)}: no bound on false alarms"
    rate = format_percent(settings.alpha)
    return f"set to fail at most {rate} of runs in which nothing changed"


_FILTERS_SHOWN = 3


def next_steps(
    verdict: Verdict, rounds_s: Mapping[str, float], least_rounds: int
) -> tuple[str, ...]:
    """Say what to do next, one sentence each; nothing if the verdict leaves nothing to do.

    Args:
        verdict: on two sides that were measured in turn.
        rounds_s: how long a round of each benchmark took.
        least_rounds: how many rounds every benchmark should get.
    """
    if verdict.reason is Reason.FIRST_RUN:
        return (_first_run(verdict),)
    return _more_rounds(verdict, rounds_s, least_rounds)


def _more_rounds(
    verdict: Verdict, rounds_s: Mapping[str, float], least_rounds: int
) -> tuple[str, ...]:
    # What one of its metrics has shown already is not open.
    shown = {row.benchmark for row in verdict.rows if row.outcome is Outcome.REGRESSED}
    rows = [row for row in verdict.rows if row.benchmark not in shown]
    missing = missing_rounds(rows, least_rounds)
    if not missing:
        return ()
    more_s = sum(rounds_s.get(id_, 0.0) * rounds for id_, rounds in missing.items())
    again_s = verdict.duration_s + more_s
    if any(row.unconfirmed or _lacks(row, least_rounds) for row in rows):
        return (
            f"{_missing(missing)} more rounds: benchgate check --budget {format_budget(again_s)}",
        )
    few = len(missing) <= _FILTERS_SHOWN
    filters = "".join(f" --filter {shlex.quote(id_)}" for id_ in missing) if few else ""
    takes = f", about {format_duration(more_s)} more than this check" if more_s else ""
    return (f"{_missing(missing)} more rounds: benchgate check --until-decided{filters}{takes}",)


def _first_run(verdict: Verdict) -> str:
    if verdict.head.dirty or verdict.head.untracked:
        return (
            "the base has no benchmarks. Commit these: the next change is then compared with them"
        )
    return "the base has no benchmarks. The next change is compared with this commit"


def _missing(missing: Mapping[str, int]) -> str:
    verb = "needs" if len(missing) == 1 else "need"
    return f"{counted(len(missing), 'undecided benchmark')} {verb}"
