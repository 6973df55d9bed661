from __future__ import annotations

import math
from dataclasses import replace

from benchgate.escape import ASCII, BLOCKS
from benchgate.model.policy import Outcome
from benchgate.model.row import Row
from benchgate.model.run import Tier
from benchgate.report.drawing import course_title, draw_course, heights, sparkline

HERE = Row(
    "a",
    Outcome.REGRESSED,
    base=100.0,
    head=104.0,
    margin=0.02,
    tier=Tier.LOCKSTEP,
    recent=(100.0, 101.0, 100.0),
)


def test_smallest_is_lowest_and_largest_is_highest() -> None:
    drawn = sparkline([1.0, 8.0, 4.5])
    assert drawn[0] == BLOCKS[0]
    assert drawn[1] == BLOCKS[-1]
    assert drawn[2] in BLOCKS[3:5]


def test_other_characters() -> None:
    assert sparkline([0.0, 5.0], ASCII) == "_#"


def test_noise_below_one_percent_is_not_drawn_as_a_change() -> None:
    assert set(sparkline([100.0, 100.02, 100.0])) <= set(BLOCKS[3:5])


def test_equal_values_and_zeros_are_flat() -> None:
    assert len(set(sparkline([7.0, 7.0, 7.0]))) == 1
    assert len(set(sparkline([0.0, 0.0]))) == 1


def test_gaps() -> None:
    assert sparkline([1.0, None, math.nan, 2.0]) == f"{BLOCKS[0]}  {BLOCKS[-1]}"
    assert sparkline([None, math.inf]) == "  "
    assert not sparkline([])


def test_more_values_than_there_is_room_for_keep_their_shape() -> None:
    values = [1.0] * 500 + [2.0] * 500
    assert heights(values, 4) == [0, 0, 1, 1]
    assert len(sparkline(values, most=4)) == 4
    assert sparkline([None, None, 1.0, 2.0], most=2) == f" {BLOCKS[4]}"


def test_extremes_do_not_overflow() -> None:
    assert len(sparkline([-1e308, 1e308, 0.0])) == 3


def test_earlier_runs_then_base_and_head() -> None:
    earlier, here = draw_course(HERE).split(" ")
    assert (len(earlier), len(here)) == (3, 2)
    assert here[0] == earlier[0] < earlier[1] < here[1]
    assert course_title(HERE) == "3 earlier runs, base, head"


def test_a_stored_base_is_one_of_the_earlier_runs() -> None:
    stored = replace(HERE, tier=Tier.STORED)
    assert draw_course(stored) == draw_course(HERE)[:4] + draw_course(HERE)[5:]
    assert course_title(stored) == "3 earlier runs, head"


def test_noise_far_below_the_margin_is_nearly_flat() -> None:
    noisy = replace(HERE, recent=(100.0, 100.4, 99.7, 100.2), head=100.1)
    levels = {BLOCKS.index(drawn) for drawn in draw_course(noisy) if drawn in BLOCKS}
    assert max(levels) - min(levels) <= 1


def test_without_earlier_runs_nothing_is_drawn() -> None:
    for row in (
        replace(HERE, recent=()),
        replace(HERE, recent=(100.0,)),
        replace(HERE, head=None),
        replace(HERE, head=math.inf),
    ):
        assert not draw_course(row)


def test_huge_values_are_drawn() -> None:
    assert len(draw_course(replace(HERE, recent=(1e308, -1e308, 0.0), margin=1e300))) == 6
