"""Prints a self-check: what each benchmark can detect, and what would help on this machine."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING

from rich.text import Text

from benchgate.escape import _NAME_LIMIT, named, plain_line
from benchgate.model.notes import compare_by, rule_for, steadier
from benchgate.model.policy import Outcome
from benchgate.report import row_notes, words
from benchgate.report.terminal import Column, Line, print_columns, print_facts, print_text
from benchgate.units import counted, format_duration, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from benchgate.model.self_check_findings import SelfCheck, Sensitivity, Tail


_MUCH_STOLEN = 0.01
_LONGEST_LAUNCH_S = 1.0
# The numbers that people write: 1, 1.5, 2 ... 10, and ten times each.
_ROUND = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


def advise(check: SelfCheck) -> tuple[str, ...]:
    """List what would help, most important first; empty if all is well."""
    noisy = [row for row in check.rows if not row.is_decidable]
    steady = [row for row in noisy if _has_better_metric(row)]
    return (
        *_false_alarms(check),
        *_stolen(check.stolen),
        *_unpinned(check.rows),
        *(_better_metric(row) for row in steady),
        *_margins([row for row in noisy if row not in steady]),
        *_open_tails(check.rows),
        *_tails(check),
    )


def false_alarms(check: SelfCheck) -> list[str]:
    """Find the benchmarks for which the same code seems to differ."""
    changed = (Outcome.REGRESSED, Outcome.IMPROVED)
    wrong = [row.benchmark for row in check.verdict.rows if row.outcome in changed]
    return list(dict.fromkeys(wrong))


def next_round(value: float) -> float:
    """The next round number that is at least as large: 3.1 becomes 4, 31 becomes 40."""
    decade = 10.0 ** math.floor(math.log10(value))
    return next(step * decade for step in _ROUND if value <= step * decade * (1 + 1e-9))


def _false_alarms(check: SelfCheck) -> Iterator[str]:
    if false_alarms(check):
        yield (
            f"{format_percent(check.alpha)} of all checks have a false alarm by chance: run the "
            "self-check again. If they appear again, the two sides do not do the same work: look "
            "for random input, the time of day, paths, and what an earlier launch left behind"
        )


def _stolen(share: float | None) -> Iterator[str]:
    if share is not None and share > _MUCH_STOLEN:
        yield (
            f"the hypervisor gave {format_percent(share)} of the CPUs' time to other guests: "
            "measure on a dedicated machine, or at a quieter time"
        )


def _unpinned(rows: Sequence[Sensitivity]) -> Iterator[str]:
    """Benchmarks marked parallel are unpinned on purpose, so they are left out."""
    unpinned = [row for row in rows if row.unpinned and "parallel" not in row.unpinned]
    for reason, group in groupby(sorted(unpinned, key=_reason), key=_reason):
        names = named(row.benchmark for row in group)
        yield (
            f"{names}: not pinned ({plain_line(reason)}); on one CPU, disturbances would "
            "affect both sides alike"
        )


def _reason(row: Sensitivity) -> str:
    return row.unpinned


def _has_better_metric(row: Sensitivity) -> bool:
    other = row.steadier
    if row.metric != "time":
        return False
    return row.counted or bool(other and other.rounds is not None and other.rounds <= row.limit)


def _better_metric(row: Sensitivity) -> str:
    name, other = plain_line(row.benchmark, _NAME_LIMIT), row.steadier
    if row.counted or other is None:
        return f"{name}: count its instructions instead of timing it: {rule_for('instructions')}"
    spreads = f"{format_percent(other.pair_spread)} instead of {format_percent(row.pair_spread)}"
    return f"{name}: {steadier(other)}: {spreads} in a round; {compare_by(other)}"


def _margins(noisy: Sequence[Sensitivity]) -> Iterator[str]:
    wanted = sorted(noisy, key=_wider)
    for margin, group in groupby(wanted, key=_wider):
        rows = list(group)
        names = named(row.benchmark for row in rows)
        if math.isinf(margin):
            yield (
                f"{names}: too noisy for any margin; measure less at once, "
                "or something that does not wait"
            )
            continue
        rounds = [row.rounds for row in rows if row.rounds is not None]
        or_rounds = ""
        if len(rounds) == len(rows):
            or_rounds = f", or max_rounds to {next_round(max(rounds)):.0f}"
        yield f"{names}: raise the margin to {format_percent(margin)}{or_rounds}"


def _wider(row: Sensitivity) -> float:
    """The next round number as a margin that the benchmark can decide; inf if there is none."""
    return math.inf if row.least_margin is None else next_round(row.least_margin * 100) / 100


def _open_tails(rows: Sequence[Sensitivity]) -> Iterator[str]:
    """What would settle tails that `settle` names."""
    found = [(row.benchmark, tail) for row in rows if row.is_decidable and (tail := row.open_tail)]
    if not found:
        return
    tails = dict.fromkeys(tail.statistic for _, tail in found)
    remedies = [f"leave {' and '.join(tails)} out of `settle`"]
    margins = [tail.least_margin for _, tail in found if tail.least_margin is not None]
    if len(margins) == len(found):
        remedies.insert(0, f"raise tail_margin to {next_round(max(margins) * 100):g} %")
    yield f"{named(name for name, _ in found)}: to settle the tail, {', or '.join(remedies)}"


def _tails(check: SelfCheck) -> Iterator[str]:
    times = [row for row in check.rows if row.metric == "time"]
    short = [r for r in times if r.tail and r.tail.samples < r.tail.needed_samples]
    commands = [row for row in short if row.is_command]
    if commands:
        needed = max(row.tail.needed_samples for row in commands if row.tail)
        yield (
            f"{named(row.benchmark for row in commands)}: to test the tail, set executions = "
            f"{needed} (now {check.executions}), or leave the tail out: "
            'statistics = ["p25"] in a [[rule]]'
        )
    others = [row for row in short if not row.is_command]
    few = [row for row in others if row.tail and check.samples < row.tail.needed_samples]
    if few:
        needed = max(row.tail.needed_samples for row in few if row.tail)
        yield (
            f"{named(row.benchmark for row in few)}: to test the tail, set samples = {needed} "
            f"(now {check.samples})"
        )
    times_s = {row.benchmark: _launch_time_s(check, row) for row in others}
    quick = {name: time_s for name, time_s in times_s.items() if time_s <= _LONGEST_LAUNCH_S}
    if quick:
        wanted_s = next_round(max(quick.values()) * 1e3) / 1e3
        yield (
            f"{named(quick)}: to test the tail, raise launch_time to {_milliseconds(wanted_s)} "
            f"(now {_milliseconds(check.launch_time_s)})"
        )
    if slow := [name for name in times_s if name not in quick]:
        yield (
            f"{named(slow)}: too slow to test the tail: leave it out with "
            'statistics = ["p25"] in a [[rule]], or measure less at once'
        )


def _launch_time_s(check: SelfCheck, row: Sensitivity) -> float:
    """The `launch_time` in which a Python benchmark takes enough samples for a tail."""
    if row.tail is None:
        return 0.0
    return row.tail.needed_samples * row.tail.sample_s / check.stretch


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3g}ms"


_COLUMNS = (
    Column("benchmark", name=True),
    Column("metric"),
    Column("in a round", right=True),
    Column("launches", right=True, drop=1),
    Column("sees", right=True),
    Column("margin", right=True),
    Column("rounds", right=True),
    Column("tail sees", right=True, drop=2),
)


def render_self_check(check: SelfCheck, console: Console) -> None:
    """Print the findings, a table of the benchmarks, and advice."""
    print_text(console, Text(headline(check), "bold"))
    if wrong := false_alarms(check):
        verb = "appears to differ" if len(wrong) == 1 else "appear to differ"
        print_text(
            console, Text(f"false alarm: {named(wrong)} {verb} from the same code", "bold red")
        )
    for warning in check.verdict.warnings:
        print_text(console, Text.assemble(("warning: ", "yellow"), plain_line(warning, 1000)))
    for row in check.verdict.rows:
        if row.outcome in {Outcome.FAILED, Outcome.BASE_FAILED}:
            first = plain_line((row.error or "").strip().partition("\n")[0])
            print_text(console, Text(f"{words.name(row)} crashed: {first}", "red"))
    if check.rows:
        console.print()
        print_columns(console, _COLUMNS, [_line(row) for row in check.rows])
        console.print()
        print_text(console, Text(_legend(check), "dim"))
    facts = [("advice", advice) for advice in advise(check)]
    if facts:
        console.print()
        print_facts(console, facts)


def headline(check: SelfCheck) -> str:
    """Say in a sentence how small a change is detectable, and in how many benchmarks."""
    noisy = dict.fromkeys(row.benchmark for row in check.rows if not row.is_decidable)
    total = len(dict.fromkeys(row.benchmark for row in check.rows))
    if not total:
        return "Nothing can be said about this machine: no benchmark was measured often enough."
    quiet = [row for row in check.rows if row.benchmark not in noisy]
    if not quiet:
        return f"This machine is too noisy for the margins of {_all_of(total)}."
    seen = [row.detectable for row in quiet]
    largest = None if None in seen else max(ratio for ratio in seen if ratio is not None)
    change = words.least_change(largest) if largest is not None else "only very large changes"
    sees = f"This machine can see {change}" + (" or more" if largest is not None else "")
    if not noisy:
        return f"{sees} in {_all_of(total)}."
    verb = "is" if len(noisy) == 1 else "are"
    where = f"{total - len(noisy)} of {counted(total, 'benchmark')}"
    return f"{sees} in {where}; {named(noisy)} {verb} too noisy for the margin."


def _all_of(total: int) -> str:
    return "the benchmark" if total == 1 else f"all {total} benchmarks"


def _line(row: Sensitivity) -> Line:
    note = ""
    if not row.is_decidable:
        note = f"too noisy: this margin needs {_rounds(row.rounds)}, and a check has {row.limit}"
    elif tail := row.open_tail:
        note = (
            f"its tail is too noisy to settle: that needs {_rounds(tail.rounds)}, and a check has "
            f"{row.limit}"
        )
    return Line(
        cells=(
            plain_line(row.benchmark),
            "" if row.metric == "time" else plain_line(row.metric),
            format_percent(row.pair_spread),
            format_percent(row.launch_spread),
            _change(row.detectable),
            format_percent(row.margin),
            "> 1000" if row.rounds is None else str(row.rounds),
            _tail(row.tail),
        ),
        style="" if row.is_decidable else "yellow",
        note=note,
    )


def _rounds(rounds: int | None) -> str:
    return f"{'more than 1000' if rounds is None else f'about {rounds}'} rounds"


def _tail(tail: Tail | None) -> str:
    if tail is None:
        return ""
    return "untested" if tail.obstacle else _change(tail.detectable)


def _change(ratio: float | None) -> str:
    return "nothing" if ratio is None else row_notes.unsigned(ratio)


def _legend(check: SelfCheck) -> str:
    tails = dict.fromkeys(row.tail.statistic for row in check.rows if row.tail)
    tail = f"; tail: {', '.join(tails)}" if tails else ""
    verdict = check.verdict
    return (
        "in a round: spread of head / base between rounds, which decides; launches: spread of one "
        "side between processes; sees: the smallest change that a check finds in 9 of 10 cases; "
        "rounds: how many it takes to show, as often, that nothing has changed"
        f"{tail}. {counted(verdict.rounds, 'round')} in {format_duration(verdict.duration_s)}."
    )
