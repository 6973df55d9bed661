from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from tests.report.conftest import CLEAN, COMPARED, COMPARED_ONCE, changed, printed_verdict, verdict

from benchgate.model.policy import Outcome
from benchgate.model.row import Effect, RatioEstimate, Significance
from benchgate.model.verdict import Decision
from benchgate.report.row_detail import view_comparison
from benchgate.report.view import view_verdict

ROW = changed("parse/large", Outcome.REGRESSED, 1.146)


def facts(row: dict[str, Any] | None = None, **changes: Any) -> dict[str, str]:  # noqa: ANN401 - any field
    """The sentences about a comparison, by their labels."""
    return dict(view_comparison(replace(ROW, **(row or {})), replace(COMPARED, **changes)).facts)


def test_estimates_are_changes_with_their_intervals() -> None:
    view = view_comparison(ROW, COMPARED)

    assert view.title == "parse/large, typical (p25)"
    assert view.ratios[0] == (
        "Hodges-Lehmann, of rounds",
        "+14.6 %",
        "+12.3 to +16.9 %",
        "inverted rank test",
    )
    assert view.tests[0] == ("Wilcoxon signed rank", "0.00049", "0.00024", "1")


def test_what_is_not_known_is_left_empty() -> None:
    found = replace(
        COMPARED, ratios=(RatioEstimate("a", 0.9),), tests=(Significance("b", 0.3173105),)
    )

    view = view_comparison(ROW, found)

    assert view.ratios == (("a", "-10.0 %", "", ""),)
    assert view.tests == (("b", "0.32", "", ""),)


def test_every_fact_is_told() -> None:
    assert facts(notes=("4 launches: intervals may be too short",)) == {
        "effect": "large (Cliff's delta +0.72); a launch of the head measures more than one of "
        "the base in 86.1 % of pairs (A); Cohen's d +1.42; Hedges' g +1.37",
        "q-value": "0.0015: the first p, adjusted for the false discovery rate over all rows",
        "could see": "usually a change of 1.3 %, with alpha shared by all rows",
        "launches": "17 v 17 in all; the decision uses 12; finding a change of 2 % takes 9 of each",
        "medians": "12.30 ms, 13.95 ms: base and head as measured, not paired by rounds",
        "note": "4 launches: intervals may be too short",
    }


def test_one_launch_promises_nothing() -> None:
    view = view_comparison(replace(ROW, launches=(1, 1)), COMPARED_ONCE)

    found = dict(view.facts)
    assert "could see" not in found
    assert found["launches"] == "1 v 1 in all; the decision uses 1"
    assert "Cohen" not in found["effect"]


NEEDS = "finding a change of 2 % takes"


@pytest.mark.parametrize(
    ("row", "needed", "expected"),
    [
        ({}, None, f"the decision uses 12; {NEEDS} more than 1000 of each"),
        ({"margin": 0.0}, 9, "the decision uses 12"),
        ({"margin": None}, 9, "the decision uses 12"),
        ({"launches": (0, 0)}, 9, f"the decision uses none; {NEEDS} 9 of each"),
        ({"launches": (12, 4)}, 9, f"the decision uses 12 v 4; {NEEDS} 9 of each"),
    ],
)
def test_launches(row: dict[str, Any], needed: int | None, expected: str) -> None:
    assert facts(row, launches_needed=needed)["launches"] == f"17 v 17 in all; {expected}"


@pytest.mark.parametrize(
    ("d", "expected"), [(-0.456, "-0.46"), (0.0, "+0.00"), (999.4, "+999.40"), (2e14, "+2e+14")]
)
def test_sizes_stay_short(d: float, expected: str) -> None:
    effect = Effect(0.0, 0.5, d, d, "negligible")

    assert f"Cohen's d {expected}; Hedges' g {expected}" in facts(effect=effect)["effect"]


def test_nothing_that_is_said_can_move_the_cursor() -> None:
    hostile = "\x1b[31mred\x1b[0m\nline\r\x00\u202egnp.exe"
    found = replace(
        COMPARED,
        ratios=(RatioEstimate(hostile, 1.0),),
        tests=(Significance(hostile, 1.0),),
        effect=Effect(0.0, 0.5, None, None, hostile),
        notes=(hostile,),
    )

    view = view_comparison(replace(ROW, benchmark=hostile, statistic=hostile), found)

    texts = [
        view.title,
        *(x for part in (view.ratios, view.tests, view.facts) for y in part for x in y),
    ]
    assert all(map(str.isprintable, texts))


@pytest.mark.parametrize("verbose", [True, False])
def test_folded_rows_keep_their_details(*, verbose: bool) -> None:
    folded = (replace(CLEAN[0], benchmark=f"json/{i}", detail=COMPARED) for i in range(30))
    view = view_verdict(verdict(Decision.PASS, *folded))

    text = printed_verdict(view, 80, verbose=verbose)

    assert text.count(", typical (p25)\nchange by") == 30
    assert bool(re.search(r"unchanged .* json/7$", text, re.MULTILINE)) is verbose
