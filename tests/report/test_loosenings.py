from __future__ import annotations

from dataclasses import replace

from benchgate.model.policy import PolicyChange
from benchgate.report.loosenings import ACCEPTED, JUDGED, RENAMED, LooseningView, view_loosening

MARGIN = PolicyChange("gate.margin", "", "2 %", "10 %", "benchgate.toml:3")


def test_what_had_no_influence_and_what_had_are_told_apart() -> None:
    alias = PolicyChange("aliases.old", "", "none", "new", "", in_force=True)
    waiver = PolicyChange("waive[0]", "a", "none", "its removal", "benchgate.toml:9", in_force=True)
    assert view_loosening([alias, waiver, replace(MARGIN, about="db/*"), MARGIN]) == (
        LooseningView(
            JUDGED,
            (
                "gate.margin, db/*: 2 % -> 10 % (benchgate.toml:3)",
                "gate.margin: 2 % -> 10 % (benchgate.toml:3)",
            ),
        ),
        LooseningView(ACCEPTED, ("waive[0], a: none -> its removal (benchgate.toml:9)",)),
        LooseningView(RENAMED, ("aliases.old: none -> new",)),
    )
    assert view_loosening([]) == ()


def test_more_than_anybody_reads_are_counted() -> None:
    (view,) = view_loosening([MARGIN] * 1000)
    assert len(view.changes) == 21
    assert view.changes[-1] == "and 980 more"


def test_a_line_is_a_line() -> None:
    nasty = "a\nb\x1b[2J\u202e" * 1000
    (view,) = view_loosening([PolicyChange(nasty, nasty, nasty, nasty, nasty)])
    (line,) = view.changes
    assert line.isprintable()
    assert len(line) < 2000
