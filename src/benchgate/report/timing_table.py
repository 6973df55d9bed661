"""Prints where the time of a session went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from benchgate.model.result import Phase
from benchgate.report.columns import Column, Line, print_columns, print_text
from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from benchgate.model.result import PhaseTime

_COLUMNS = (
    Column("phase", name=True),
    Column("times", right=True),
    Column("took", right=True),
    Column("share", right=True),
)
_ABOUT_WORKERS = (
    f"{Phase.START_WORKERS}: a part of the rounds; lanes do it at the same time, and their times "
    "are added. It includes importing the benchmark files."
)


def render_timing(phases: Sequence[PhaseTime], console: Console) -> None:
    """Print what each phase took, and its share of all of them; nothing if there are none."""
    if not phases:
        return
    parts = [one for one in phases if one.phase is Phase.START_WORKERS]
    whole = [one for one in phases if one not in parts]
    total_s = sum(one.seconds for one in whole)
    lines = [
        Line(
            (
                one.phase,
                str(one.times),
                format_duration(one.seconds),
                f"{100 * one.seconds / total_s:.0f} %" if total_s else "",
            )
        )
        for one in whole
    ]
    lines.append(Line(("together", "", format_duration(total_s), "")))
    lines += [Line((one.phase, str(one.times), format_duration(one.seconds), "")) for one in parts]
    print_columns(console, _COLUMNS, lines)
    if parts:
        print_text(console, Text(_ABOUT_WORKERS, "dim"))
