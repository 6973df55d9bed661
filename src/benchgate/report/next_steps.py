"""Says what to do after a verdict: where to look, what to measure, and how to accept a change."""

from __future__ import annotations

import json
import math
import re
import shlex
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from benchgate.escape import plain_line
from benchgate.model.metrics import Better
from benchgate.model.policy import OPEN, Outcome
from benchgate.model.row_order import by_benchmark, lacks, missing_rounds
from benchgate.model.run import CHANGED_FILES_ID, NEW_VERSION
from benchgate.model.verdict import Decision, NextStep, Reason, StepKind
from benchgate.report import words
from benchgate.report.arrangement import Together, arrange
from benchgate.report.causes import view_causes
from benchgate.report.headline import bare
from benchgate.units import counted, format_budget, format_duration

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from benchgate.model.row import Row
    from benchgate.model.verdict import Verdict
    from benchgate.report.arrangement import Line

_FILTERS_SHOWN: Final = 3
_FILES_NAMED: Final = 3
_FAULTS_SHOWN: Final = 5
_WIDTH: Final = 300
_WAIVED_WHOLE: Final = (Outcome.MISSING, Outcome.INCOMPARABLE)
_WAIVED_DAYS: Final = 30
_MOST_WAIVERS: Final = 10
# Nobody accepts more on the spot.
_MOST_WAIVED: Final = 1000.0
_LENGTHS: Final = frozenset({"--budget", "--rounds", "--until-decided"})
_CHOICE: Final = frozenset({"--filter", "--tag", "--shard"})
# The last place of a Python traceback that is in the tree: others are absolute.
_RAISED: Final = re.compile(r'^ *File "(?P<path>[^"/<][^"]*)", line (?P<line>\d+)', re.MULTILINE)
_EARLY: Final = frozenset({Reason.FIRST_RUN, Reason.DISTURBED, Reason.ADVISORY})
_UNCOMPARED: Final = (Outcome.MISSING, Outcome.INCOMPARABLE, Outcome.BASE_FAILED)


@dataclass(frozen=True, slots=True)
class CheckCommand:
    """A check as it was called.

    Attributes:
        options: the name of each option that was given, and how it is typed.
    """

    options: tuple[tuple[str, str], ...] = ()

    def again(self, *more: str, ids: Collection[str] = ()) -> str:
        """The command that checks again.

        Args:
            more: options that replace those of the same name; how long to measure is one.
            ids: benchmarks to measure alone, unless they are too many.
        """
        filters = choose(ids)
        new = {one.partition(" ")[0] for one in more}
        gone = {"--continue", *new, *(_LENGTHS if new & _LENGTHS else ())}
        gone |= _CHOICE if filters else set()
        kept = [typed for name, typed in self.options if name not in gone]
        return " ".join(("benchgate check", *kept, *more, *filters))

    @property
    def chooses_no_files(self) -> bool:
        """Whether it was not told whose benchmarks to run."""
        return all(name != "--benchmarks" for name, _ in self.options)


def choose(ids: Collection[str]) -> list[str]:
    """The options that measure these benchmarks alone.

    None if they are too many, or if files changed, which any benchmark may have done.
    """
    if len(ids) > _FILTERS_SHOWN or CHANGED_FILES_ID in ids:
        return []
    names = dict.fromkeys(id_.removesuffix(NEW_VERSION) for id_ in ids)
    return [f"--filter {shlex.quote(name)}" for name in names]


@dataclass(frozen=True, slots=True)
class Situation:
    """What the next step depends on beside the verdict.

    Attributes:
        check: the check as it was called.
        rounds_s: how long a round of each benchmark took, if base and head were measured in turn.
        least_rounds: how many rounds every benchmark should get.
        config: the configuration file, relative to the root of the repository.
        waive: the name of the table of a waiver in this file.
        has_page: whether `benchgate report` can write the page of this result.
        at_root: whether the check was called in the root of the repository.
    """

    check: CheckCommand = CheckCommand()
    rounds_s: Mapping[str, float] | None = None
    least_rounds: int = 0
    config: str = "benchgate.toml"
    waive: str = "waive"
    has_page: bool = False
    at_root: bool = True


def next_steps(verdict: Verdict, at: Situation) -> tuple[NextStep, ...]:
    """What would help next; nothing if the verdict leaves nothing to do."""
    if verdict.reason in _EARLY:
        return tuple(_before_judging(verdict, at))
    blocking = _blocking(verdict)
    is_failed = verdict.decision is Decision.FAIL
    return (
        *_causes(verdict),
        *_crashes(verdict),
        *_uncompared(verdict, blocking, at),
        *(_after_failure if is_failed else _more_rounds)(verdict, at),
        *_acceptance(verdict, blocking, at),
        *_not_measured(verdict, at),
    )


def sentence(step: NextStep) -> str:
    """A step as a line for a terminal."""
    return f"{step.why}: {step.command}" if step.command else step.why


def _before_judging(verdict: Verdict, at: Situation) -> Iterator[NextStep]:
    """What makes the next check able to decide."""
    if verdict.reason is Reason.DISTURBED:
        why = "something disturbed the machine, so measure again"
        yield NextStep(StepKind.MEASURE, why, at.check.again())
    elif verdict.reason is Reason.ADVISORY:
        why = "stored results alone cannot decide this, so measure both sides"
        yield NextStep(StepKind.MEASURE, why, at.check.again("--baseline git"))
    elif at.rounds_s is None:
        return  # a warning names the file that a first stored result goes to
    elif verdict.head.dirty or verdict.head.untracked:
        why = "the base has no benchmarks. Commit these: the next change is then compared with them"
        yield NextStep(StepKind.COMMIT, why)
    else:
        why = "the base has no benchmarks. The next change is compared with this commit"
        yield NextStep(StepKind.MEASURE, why, at.check.again())


def _blocking(verdict: Verdict) -> tuple[Row, ...]:
    """The rows that keep the suite from passing because of what they found."""
    if not verdict.exit_code:
        return ()
    is_short = verdict.reason in {Reason.TOO_FEW_COMPARED, Reason.NOTHING_COMPARED}
    return tuple(
        row
        for row in verdict.rows
        if verdict.settings.fails(row)
        or row.is_worse_together
        or (is_short and row.outcome in _UNCOMPARED)
    )


def _causes(verdict: Verdict) -> Iterator[NextStep]:
    """Where to look for what got slower."""
    failing = [row for row in verdict.rows if row.explanation and verdict.settings.fails(row)]
    for cause in view_causes(failing)[:_FAULTS_SHOWN]:
        kind = StepKind.FIX if cause.location else StepKind.LOOK
        yield NextStep(kind, bare(cause.sentence), edit=_in_tree(cause.location))


def _crashes(verdict: Verdict) -> Iterator[NextStep]:
    """Where the errors come from; benchmarks with one error have one step."""
    alike: dict[str, list[Row]] = {}
    for row in verdict.rows:
        is_fault = row.outcome is Outcome.FAILED and verdict.settings.fails(row)
        if is_fault or (row.outcome is Outcome.NEW and row.error):
            alike.setdefault(row.error or "", []).append(row)
    for error, rows in list(alike.items())[:_FAULTS_SHOWN]:
        place = _raised_at(error) or rows[0].location
        what = _line(f"{_named(rows)} {words.crashed(rows[0])}: {_said(error)}")
        yield NextStep(StepKind.FIX, what, edit=_in_tree(place))


def _uncompared(verdict: Verdict, rows: Sequence[Row], at: Situation) -> Iterator[NextStep]:
    """Why benchmarks of the base were not compared."""
    new = [row.benchmark for row in verdict.rows if row.outcome is Outcome.NEW]
    if new and verdict.reason is Reason.NOTHING_COMPARED and at.check.chooses_no_files:
        why = "to run the benchmarks of the head on both sides"
        yield NextStep(StepKind.MEASURE, why, at.check.again("--benchmarks head"))
    for outcome in _UNCOMPARED:
        found = [row for row in rows if row.outcome is outcome]
        if not found:
            continue
        first, names = found[0], _named(found)
        if outcome is Outcome.MISSING:
            id_ = new[0] if len({*new}) == 1 and names == first.benchmark else "the new id"
            alias = f"{_toml(first.benchmark)} = {_toml(id_)}"
            why = (
                f"removed: {names}. Bring it back; or if it was renamed, add to [aliases]: {alias}"
            )
            yield NextStep(StepKind.FIX, _line(why), edit=at.config)
        elif outcome is Outcome.BASE_FAILED:
            what = f"{words.crashed(first)} on the base: {names}: {_said(first.error or '')}"
            why = f"{what}. If this change repairs it, commit it; the next change is then compared "
            why += "with it"
            yield NextStep(StepKind.COMMIT, _line(why))
        else:
            note = f": {first.notes[-1]}" if first.notes else ""
            why = f"cannot be compared: {names}{note}"
            yield NextStep(StepKind.LOOK, _line(why), edit=_in_tree(first.location))


def _after_failure(verdict: Verdict, at: Situation) -> Iterator[NextStep]:
    """Where the evidence and the cause may be, and what shows that a fix is one."""
    base, files = verdict.base.sha, verdict.head.changed_files
    if base and files:
        is_named = len(files) <= _FILES_NAMED and at.at_root
        named = " ".join(["", "--", *map(shlex.quote, files)]) if is_named else ""
        yield NextStep(StepKind.LOOK, "what changed", f"git diff {base[:7]}{named}")
    if at.has_page:
        yield NextStep(StepKind.LOOK, "the evidence as a page", "benchgate report")
    failing = {row.benchmark: None for row in verdict.rows if verdict.settings.fails(row)}
    yield NextStep(StepKind.MEASURE, "after a fix", at.check.again(ids=failing))


def _more_rounds(verdict: Verdict, at: Situation) -> Iterator[NextStep]:
    """The command that decides what is open."""
    if at.rounds_s is None:
        return
    # What one of its metrics has shown already is not open.
    shown = {row.benchmark for row in verdict.rows if row.outcome is Outcome.REGRESSED}
    rows = [row for row in verdict.rows if row.benchmark not in shown]
    missing = missing_rounds(rows, at.least_rounds)
    if not missing:
        yield from _stays_open(verdict, at)
        return
    if unmeasured := {row.benchmark for row in rows if row.is_typical and _had_no_time(row)}:
        count = counted(len(unmeasured | missing.keys()), "undecided benchmark")
        why = f"the budget had no time for {len(unmeasured)} of {count}"
        yield NextStep(StepKind.MEASURE, why, at.check.again("--until-decided"))
        return
    more_s = sum(at.rounds_s.get(id_, 0.0) * rounds for id_, rounds in missing.items())
    verb = "needs" if len(missing) == 1 else "need"
    why = f"{counted(len(missing), 'undecided benchmark')} {verb} more rounds"
    if any(row.unconfirmed or lacks(row, at.least_rounds) for row in rows):
        budget = f"--budget {format_budget(verdict.duration_s + more_s)}"
        yield NextStep(StepKind.MEASURE, why, at.check.again(budget))
        return
    takes = f" (about {format_duration(more_s)} more than this check)" if more_s else ""
    command = at.check.again("--until-decided", ids=missing)
    yield NextStep(StepKind.MEASURE, f"{why}{takes}", command)


def _had_no_time(row: Row) -> bool:
    return row.outcome is Outcome.NOT_TESTED and not any(row.launches)


def _stays_open(verdict: Verdict, at: Situation) -> Iterator[NextStep]:
    """What helps if it is not known how many rounds would."""
    if verdict.decision is Decision.PASS:
        return
    is_open = {
        id_: row
        for id_, row in by_benchmark(verdict.rows).items()
        if row.outcome in OPEN and not row.is_no_measurement
    }
    few = [id_ for id_, row in is_open.items() if words.has_too_few(row)]
    if few:
        command = at.check.again("--until-decided", ids=few)
        yield NextStep(StepKind.MEASURE, "more rounds may decide this", command)
    elif is_open:
        why = "more rounds may not decide this; what makes this machine noisy"
        yield NextStep(StepKind.LOOK, why, "benchgate doctor")


def _acceptance(verdict: Verdict, blocking: Sequence[Row], at: Situation) -> Iterator[NextStep]:
    """How a person accepts what keeps the suite from passing."""
    outcomes = {row.outcome for row in blocking}
    if outcomes & {Outcome.REGRESSED, Outcome.MISSING, Outcome.INCOMPARABLE}:
        names = {row.benchmark for row in blocking}
        lines = [
            line
            for line in arrange(verdict).all_lines
            if not names.isdisjoint(
                rows[0].benchmark
                for rows in (line.members if isinstance(line, Together) else (line,))
            )
        ]
        today = (verdict.started or str(datetime.now(UTC)))[: len("2026-01-31")]
        text = waivers(lines, today, at.waive) or None
        needs = [f'outcome = "{one.value}"' for one in _WAIVED_WHOLE if one in outcomes]
        needs += ["ceiling"] if Outcome.REGRESSED in outcomes else []
        which = " or ".join(needs)
        why = f"to accept it: a [[{at.waive}]] in {at.config} with {which}, until and reason"
        yield NextStep(StepKind.ACCEPT, why, edit=at.config, text=text)
    if Outcome.OVER_LIMIT in outcomes:
        why = f"to accept it: another value in the [[limit]] of {at.config}"
        yield NextStep(StepKind.ACCEPT, why, edit=at.config)
    if verdict.reason is Reason.TOO_FEW_COMPARED and not outcomes:
        why = f"to accept it: a lower `min_compared` in {at.config}"
        yield NextStep(StepKind.ACCEPT, bare(why), edit=at.config)


def _not_measured(verdict: Verdict, at: Situation) -> Iterator[NextStep]:
    """Why benchmarks were not measured, and how to measure them."""
    same = sum(row.outcome is Outcome.SAME_CODE for row in verdict.rows)
    if same and at.rounds_s is not None:
        was = "was" if same == 1 else "were"
        why = f"why {counted(same, 'benchmark')} {was} not measured"
        yield NextStep(StepKind.LOOK, why, "benchgate affected")
        yield NextStep(StepKind.MEASURE, "to measure everything", at.check.again("--all"))


def _named(rows: Sequence[Row]) -> str:
    """The benchmark of the first row, and how many more there are."""
    more = len({row.benchmark for row in rows}) - 1
    return rows[0].benchmark + (f" and {more} more" if more else "")


def _in_tree(place: str | None) -> str | None:
    """A place that a program may edit: one in the tree."""
    path = PurePosixPath(place or "")
    return place if place and not path.is_absolute() and ".." not in path.parts else None


def _said(error: str) -> str:
    return error.partition("\n")[0]


def _raised_at(error: str) -> str | None:
    """Where the tree of the head raised an error: `path:line`."""
    places = list(_RAISED.finditer(error))
    return f"{places[-1]['path']}:{places[-1]['line']}" if places else None


def _line(text: str) -> str:
    return plain_line(text, _WIDTH)


def waivers(lines: Iterable[Line], today: str, table: str = "waive") -> str:
    """The tables of a configuration that accept what fails; "" if nothing can be accepted.

    Args:
        lines: what fails.
        today: such as "2026-01-31".
        table: the name of a table.
    """
    entries = [entry for line in lines for entry in _waiver(line)]
    last = datetime.fromisoformat(today).replace(tzinfo=UTC) + timedelta(days=_WAIVED_DAYS)
    until = f'until = {last:%Y-%m-%d}\nreason = ""'
    tables = [f"[[{table}]]\n{entry}\n{until}" for entry in entries[:_MOST_WAIVERS]]
    if rest := len(entries) - len(tables):
        tables.append(f"# and {rest} more")
    return "\n\n".join(tables)


def _waiver(line: Line) -> Iterator[str]:
    """What is waived, and how much of it: its upper bound."""
    if isinstance(line, Together):
        if len(line.members) < line.of:
            yield from (entry for rows in line.members for entry in _waiver(rows))
            return
        rows = [rows[0] for rows in line.members]
        name = line.name
    else:
        rows = [row for row in line if row.outcome in {Outcome.REGRESSED, *_WAIVED_WHOLE}]
        name = line[0].benchmark
    for outcome in dict.fromkeys(row.outcome for row in rows if row.outcome in _WAIVED_WHOLE):
        yield f'benchmark = {_toml(name)}\noutcome = "{outcome.value}"'
    worst = [_worst_ratio(row) for row in rows if row.outcome is Outcome.REGRESSED]
    if worst and max(worst) < _MOST_WAIVED:
        percent = math.ceil(100 * (max(worst) - 1) - 1e-9)
        yield f'benchmark = {_toml(name)}\nceiling = "{percent}%"'


def _toml(text: str) -> str:
    """A text as TOML writes it: as JSON, with each character that nobody sees as its number."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in quoted)


def _worst_ratio(row: Row) -> float:
    """The upper bound of how much worse a row got: 1.17; infinite if that is not known."""
    ends = row.interval or ()
    known = [*ends, *([row.ratio] if row.ratio is not None else [])]
    if not known or min(known) <= 0:
        return math.inf
    worst: float = max(known) if row.better is Better.LOWER else 1 / min(known)
    return worst
