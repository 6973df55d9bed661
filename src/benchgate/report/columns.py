"""What each row says, beside its change, in tables and in CSV; and the list of it in the docs.

    python -m benchgate.report.columns docs/reading-a-verdict.md

updates a document: it rewrites the text between `<!-- columns -->` and `<!-- end -->`.
"""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Final, TypeAlias

from benchgate.escape import plain_line
from benchgate.report import row_notes, words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.model.row import Row
    from benchgate.model.verdict import Verdict


CsvValue: TypeAlias = str | float | bool | None


@dataclass(frozen=True, slots=True)
class RowColumn:
    """A column in CSV, or in the tables of how each row was decided, or in both.

    Attributes:
        csv: its name in CSV; "" if it is not there.
        value: what it has there.
        title: its name in the tables; "" if it is not in them.
        text: what it says there; "" if it does not apply.
        about: what the documentation says of it, as Markdown; "" for what explains itself.
        comment, terminal, page: its place from the left there; 0 if it is not shown.
        drop: see `terminal.Column`.
        right: aligned to the right on a terminal, as numbers are.
    """

    csv: str = ""
    value: Callable[[Row, Verdict], CsvValue] = lambda _row, _verdict: None
    title: str = ""
    text: Callable[[Row], str] = lambda _row: ""
    about: str = ""
    comment: int = 0
    terminal: int = 0
    page: int = 0
    drop: int = 0
    right: bool = False


def _change(ratio: float | None) -> float | None:
    """A ratio as a change, without the digits that the subtraction makes up."""
    if ratio is None or not math.isfinite(ratio):
        return None
    return float(f"{ratio - 1:.12g}")


def _tier(row: Row) -> str:
    return words.TIERS[row.tier] if row.tier else ""


COLUMNS: Final = (
    RowColumn("benchmark", lambda row, _: row.benchmark),
    RowColumn("metric", lambda row, _: row.metric),
    RowColumn("statistic", lambda row, _: row.statistic),
    RowColumn("outcome", lambda row, _: row.outcome.value),
    RowColumn("fails", lambda row, verdict: verdict.settings.fails(row)),
    RowColumn("decides", lambda row, _: row.decides),
    RowColumn("advisory", lambda row, _: row.advisory),
    RowColumn("unit", lambda row, _: row.unit),
    RowColumn("better", lambda row, _: row.better.value),
    RowColumn("base", lambda row, _: row.base),
    RowColumn("head", lambda row, _: row.head),
    RowColumn("change_ratio", lambda row, _: _change(row.ratio)),
    RowColumn("change_low_ratio", lambda row, _: _change(row.interval and row.interval[0])),
    RowColumn("change_high_ratio", lambda row, _: _change(row.interval and row.interval[1])),
    RowColumn("confidence_ratio", lambda row, _: row.confidence if row.interval else None),
    RowColumn("margin_ratio", lambda row, _: row.margin),
    RowColumn(
        title="measured",
        text=_tier,
        about="**side by side** (at the same time, or in turn sample by sample), **in turn**"
        " (started in turn in the same rounds), or **stored runs** (from an earlier run).",
        comment=1,
        terminal=1,
        drop=2,
    ),
    RowColumn(
        title="medians",
        text=words.medians,
        about="as measured. If they differ from the change, trust the change.",
        terminal=2,
        page=6,
        drop=1,
    ),
    RowColumn(
        "detectable_ratio",
        lambda row, _: _change(row.detectable),
        "detectable",
        row_notes.detectable,
        "the [smallest change](how-it-decides.md#the-formulas) that so many rounds usually find.",
        comment=4,
        terminal=7,
        page=5,
        drop=3,
        right=True,
    ),
    RowColumn(
        "p",
        lambda row, _: row.p,
        "p",
        lambda row: words.probability(row.p),
        terminal=4,
        page=4,
        drop=5,
        right=True,
    ),
    RowColumn(
        "p_adjusted",
        lambda row, _: row.p_adjusted,
        "p adjusted",
        words.deciding_p,
        "if nothing had changed, how often would chance alone give such a difference? It is"
        " adjusted for the number of rows; *p* is not.",
        comment=3,
        terminal=5,
        page=3,
        right=True,
    ),
    RowColumn(
        "base_launches",
        lambda row, _: row.launches[0],
        "rounds",
        row_notes.rounds,
        '"10 v 5" means 10 launches of the base and 5 of the head.',
        comment=5,
        terminal=6,
        right=True,
    ),
    RowColumn(
        "head_launches",
        lambda row, _: row.launches[1],
        "launches",
        lambda row: row_notes.rounds(row) + (f", {_tier(row)}" if row.tier else ""),
        page=1,
    ),
    RowColumn(
        "test",
        lambda row, _: row.test,
        "test",
        lambda row: plain_line(row.test or ""),
        "**wilcoxon** compares round by round, **mann-whitney** compares launches, **prediction**"
        " compares with [stored results](how-it-decides.md#stored-results), and **exact** is for"
        " counts.",
        comment=2,
        terminal=3,
        page=2,
        drop=6,
    ),
    RowColumn(
        title="textbook comparison",
        text=words.classical,
        about="the [rule of many tools](how-it-decides.md#the-textbook-rule) on the same data.",
        terminal=8,
        page=7,
        drop=4,
    ),
    RowColumn("location", lambda row, _: row.location),
    RowColumn("note", lambda row, verdict: "; ".join(row_notes.notes_of(row, verdict.settings))),
    RowColumn("decision", lambda _, verdict: verdict.decision.value),
    RowColumn("base_commit", lambda _, verdict: verdict.base.sha),
    RowColumn("head_commit", lambda _, verdict: verdict.head.sha),
    RowColumn("uncommitted", lambda _, verdict: verdict.head.uncommitted),
)
"""Every column, in the order of CSV."""

EVIDENCE: Final = tuple(one for one in COLUMNS if one.title)
"""Those of the tables of how each row was decided."""


def _from_the_left(place: Callable[[RowColumn], int]) -> Mapping[int, RowColumn]:
    """The columns of one table, by their index in EVIDENCE."""
    shown = [(index, one) for index, one in enumerate(EVIDENCE) if place(one)]
    return dict(sorted(shown, key=lambda each: place(each[1])))


IN_COMMENT: Final = _from_the_left(lambda one: one.comment)
ON_TERMINAL: Final = _from_the_left(lambda one: one.terminal)
ON_PAGE: Final = _from_the_left(lambda one: one.page)

_BLOCK = re.compile(r"(<!-- columns -->\n).*?(<!-- end -->)", re.DOTALL)


def updated(document: str) -> str:
    """Rewrite the list of what the tables say."""
    lines = (
        fill(f"- *{one.title}*: {one.about}", 100, subsequent_indent="  ", break_on_hyphens=False)
        for one in ON_TERMINAL.values()
        if one.about
    )
    block = "\n".join(lines)
    return _BLOCK.sub(lambda match: f"{match[1]}\n{block}\n\n{match[2]}", document)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(updated(path.read_text(encoding="utf-8")), encoding="utf-8")
