"""The sentences that a verdict stores in its notes and warnings, and how they show values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from benchgate.escape import plain_line
from benchgate.model.metrics import ERROR_RATIO, TIME
from benchgate.units import (
    RATE_UNIT,
    TIME_UNITS,
    axis_scale,
    change_digits,
    counted,
    format_change,
    format_percent,
    format_values,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.model.environment import Environment
    from benchgate.model.row import Row
    from benchgate.model.run import Run
    from benchgate.model.self_check_findings import SteadierMetric
    from benchgate.model.statistics import Grid, SeriesStatistics


OF_ONE_THREAD: Final = (
    f"{TIME.name}: both sides ran at the same time on one CPU; how long each waited for the CPU is "
    "not part of its time"
)
"""How it was measured: `benchgate show` tells it, and no row of a verdict."""

CONFIRMED: Final = "confirmed in "
"""Begins the note on a row that says in how many rounds its change was seen again."""

DOUBTED: Final = ", but "
"""In the note on a row whose change a disturbance may explain, after what it was."""

UNREADABLE: Final = "cannot be read"
"""The note on a benchmark of another tool that ran, but whose figures make no sense.

On a row it begins the first note: `cannot be read on the head`.
"""

_BUSY_SHARE = 0.5
_WAITS = 0.9


def busy_machine(environment: Environment) -> str:
    """Say that other programs keep the CPUs busy; "" if they do not.

    While benchgate measures, it is itself a part of the load. So if it is known how busy other
    programs were meanwhile, only that counts: the load before may have been a build.
    """
    cpus, load = environment.cpu_count, environment.load_average
    busy = environment.busy_elsewhere
    most = _BUSY_SHARE * cpus
    if busy is None:
        if load is None or load <= most:
            return ""
        return f"the load is {load:.1f} on {cpus} CPUs: close other programs, or wait"
    if busy <= most:
        return ""
    before = "" if load is None else f", and the load before was {load:.1f}"
    kept = f"other programs kept {busy:.1f} of {cpus} CPUs busy while benchgate measured"
    return f"{kept}{before}: close other programs, or wait"


def compare_instead(other: SteadierMetric) -> str:
    """Suggest the CPU time for a benchmark whose wall-clock time is too noisy."""
    return f"{steadier(other)}; {compare_by(other)}"


def steadier(other: SteadierMetric) -> str:
    """Why the CPU time of a benchmark decides better than its wall-clock time."""
    waits = ""
    if other.share < _WAITS:
        waits = f" (it waits for {format_percent(1 - other.share)} of its time)"
    return f"its CPU time is much steadier than its wall-clock time{waits}"


def compare_by(other: SteadierMetric) -> str:
    return f"compare it instead: {rule_for(other.metric)}"


def rule_for(metric: str) -> str:
    """The setting that compares a metric."""
    return f'metrics = ["{metric}"] in a [[rule]]'


TOO_FEW = "too few rounds to decide"
_FEW_DIGITS = 3


def constant(side: str, value: float, unit: str, display_unit: str | None, *, runs: int) -> str:
    """Say that a time or a rate never varied, with all of its digits.

    Args:
        side: "it", "the base" or "the head".
        value: in `unit`.
    """
    size, name = axis_scale(value, unit, display_unit)
    number = f"{value / size:.10g}"
    shown = f"{number}{name.removeprefix('1')}" if unit == RATE_UNIT else f"{number} {name}"
    digits = number.partition("e")[0].replace(".", "").strip("0")
    if len(digits) <= _FEW_DIGITS and side == "it":
        return f"always {shown}: too coarse to tell; print more digits"
    return f"{side} reported exactly {shown} in all {counted(runs, 'run')}, so it measures nothing"


def copied(side: str, samples: int, *, runs: int) -> str:
    """Say that all runs of a side have the same samples, as copies of one run have."""
    which = f"the same {counted(samples, 'sample')} in all {counted(runs, 'run')}"
    return f"{side} reported {which}, so it measures nothing"


def sides(row: Row) -> tuple[str, str]:
    """The values of base and head in the row's unit; "" if there is none."""
    return side_by_side(row, row.base, row.head)


def side_by_side(row: Row, base: float | None, head: float | None) -> tuple[str, str]:
    """Two values in the row's unit, to be read side by side; "" for one that is not known."""
    both = {"base": base, "head": head}
    known = {arm: x for arm, x in both.items() if x is not None and math.isfinite(x)}
    shown = dict(zip(known, values(row, list(known.values())), strict=True))
    return shown.get("base", ""), shown.get("head", "")


def values(of: Row | Grid, numbers: Sequence[float]) -> tuple[str, ...]:
    """Format finite values that are read side by side, in the unit of their quantity."""
    if of.metric == ERROR_RATIO.name:
        return tuple(map(format_percent, numbers))
    return format_values(numbers, plain_line(of.unit), display_unit(of))


def display_unit(of: Row | SeriesStatistics | Grid) -> str | None:
    """The unit in which the author of a benchmark wants times shown; None if it is unknown."""
    return of.display_unit if of.display_unit in TIME_UNITS else None


def change(row: Row) -> str:
    """The change, signed, with as many digits as its interval: "+14.6 %"; "" if there is none."""
    if row.ratio is None or math.isnan(row.ratio):
        return "from 0" if row.base == 0 and row.head else ""
    ends = row.interval if row.interval and all(map(math.isfinite, row.interval)) else None
    return format_change(row.ratio, change_digits(*ends) if ends else None)


def unlike_machines(base: Run, head: Run) -> tuple[str, ...]:
    """Say what makes the machines or the tools of two runs incomparable; nothing if nothing."""
    tools = base.environment.other_tools(head.environment)
    machines = [one for one in base.differences(head) if one not in tools]
    told = (("on different machines", machines), ("with different tools", tools))
    return tuple(f"measured {how}: {'; '.join(differ)}" for how, differ in told if differ)


def machine(environment: Environment) -> str:
    """Where it was measured: "on AMD EPYC 7763, 4 cores, Debian 12"; "" when unknown."""
    cores = counted(environment.cpu_count, "core") if environment.cpu_count else ""
    parts = (plain_line(environment.cpu_model), cores, plain_line(environment.os))
    known = ", ".join(part for part in parts if part)
    return f"on {known}" if known else ""
