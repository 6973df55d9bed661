from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.gate.arms import WAVES

from benchgate.gate.waves import (
    LATE_LOOKS,
    Suspect,
    WaveRows,
    WaveSettings,
    confirm,
    find_suspects,
    rounds_to_confirm,
)
from benchgate.stats.signed_rank import MAX_PAIRS

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray

SLOW = [0.03, 0.031, 0.032, 0.033, 0.034]
CLEAN = [0.001, -0.002, 0.003, -0.004, 0.005]


def suspect_in(
    ratios: list[float], waves: WaveSettings, *, margin: float = 0.02, tail: bool = False
) -> Suspect | None:
    (found,) = find_suspects(WaveRows([np.array(ratios)], [margin], [tail]), waves)
    return found


@pytest.mark.parametrize(
    ("ratios", "tail", "sign"),
    [
        (SLOW, False, 1),
        ([-x for x in SLOW], False, -1),
        (SLOW, True, 1),
        (CLEAN, False, 0),
        ([0.0] * 5, False, 0),
        # beyond half of the margin, or not
        ([0.0101 + x / 1e5 for x in range(5)], False, 1),
        ([0.0097 + x / 1e5 for x in range(5)], False, 0),
        # one round amiss: among the two smallest it is p <= 0.1, but never p <= 0.05
        ([*SLOW[1:], -0.001], False, 1),
        ([*SLOW[1:], -0.0315], False, 1),
        ([*SLOW[1:], -0.0325], False, 0),
        ([*SLOW[1:], -0.001], True, 0),
        # too few rounds
        (SLOW[:4], False, 0),
    ],
)
def test_five_rounds_make_a_suspect(
    ratios: list[float],
    tail: bool,  # noqa: FBT001 - a column of the table
    sign: int,
) -> None:
    found = suspect_in(ratios, WAVES, tail=tail)
    assert (found.sign if found else 0) == sign
    if found:
        assert (found.wave, found.start, found.rounds) == (0, 5, (12,))


def test_the_second_look_finds_what_a_disturbed_round_hid() -> None:
    disturbed = [-0.2, *SLOW[1:]]
    assert suspect_in(disturbed, WAVES) is None
    assert suspect_in([*disturbed, *SLOW[1:]], WAVES) is None
    assert suspect_in([*disturbed, *SLOW], WAVES) == Suspect(1, 1, 10, (12,))


def test_two_disturbed_rounds_do_not_hide_a_change_from_the_second_look() -> None:
    # Their ranks, 9 and 10 of 10, make the signed rank p 0.22; eight of ten agree: 0.055.
    assert suspect_in([-0.2, *SLOW[1:], -0.3, *SLOW[1:]], WAVES) == Suspect(1, 1, 10, (12,))


def test_the_fewest_rounds_that_a_screen_may_have_can_suspect_a_tail() -> None:
    four = replace(WAVES, screen_rounds=4)
    assert suspect_in([0.1, 0.11, 0.12, 0.13], four, margin=0.05, tail=True) is not None


@pytest.mark.parametrize(
    ("fresh", "rounds"),
    [
        ([0.03] * 11, (12,)),  # the first test is not done yet
        ([0.03] * 12, (12, 24)),
        ([-0.2, *[0.03] * 11], (12, 24)),
        ([-0.2, -0.3, *[0.03] * 10], (12, 24)),
        ([*[0.03] * 6, *[-0.03] * 6], (12,)),  # nothing left of the suspicion
        ([*[0.03] * 4, *[-0.08] * 8], (12,)),  # most of them show the opposite change
        # half of the fresh rounds look like no change, or like the opposite one
        ([0.001, -0.001] * 3, ()),
        ([0.001, -0.001] * 6, ()),
        ([-0.03] * 12, ()),
        ([*[0.0098] * 6, *[0.03] * 6], ()),
        ([*[0.0102] * 6, *[0.03] * 6], (12, 24)),
        ([-0.03] * 5, (12,)),  # not half of them yet
    ],
)
def test_what_still_looks_like_a_suspect_is_tested_once_more(
    fresh: list[float], rounds: tuple[int, ...]
) -> None:
    found = suspect_in([*SLOW, *fresh], WAVES)
    assert found is not None
    assert found.rounds == rounds


def test_the_second_test_stays_within_the_limit_of_rounds() -> None:
    ratios = [*SLOW, *[0.03] * 12]
    for most, rounds in ((17, (12,)), (20, (12, 15)), (29, (12, 24)), (2000, (12, 24))):
        found = suspect_in(ratios, replace(WAVES, max_rounds=most))
        assert found is not None
        assert found.rounds == rounds


@pytest.mark.parametrize(
    ("suspects", "look", "changes", "rounds"),
    [
        (1, 5, {}, 12),  # 2 ** -9 <= 0.01 / 5, and three to spare
        (10, 5, {}, 16),
        (1000, 5, {}, 22),
        (1, 5, {"confirm_rounds": 20}, 20),
        (1, 5, {"confirm_rounds": 1}, 12),
        (1, 10, {"max_rounds": 20}, 10),
        (1, 10, {"max_rounds": 17}, 9),  # fewer could show nothing
        (1, 5, {"alpha": 1e-6}, 25),
        (1, 5, {"confirm_rounds": 3000, "max_rounds": 4000}, 995),  # the exact test takes 1000
    ],
)
def test_rounds_are_enough_to_reach_the_level(
    suspects: int, look: int, changes: dict[str, Any], rounds: int
) -> None:
    assert rounds_to_confirm(suspects, look, replace(WAVES, **changes)) == rounds


def test_more_families_share_alpha_where_there_are_late_looks() -> None:
    longer = replace(WAVES, until_decided=True)
    assert (WAVES.families, longer.families) == (4 + 1, 4 + len(LATE_LOOKS))
    assert rounds_to_confirm(1, 5, longer) == 13
    suspect, ratios = Suspect(0, 1, 5, (12,)), np.array([*SLOW, *[0.01] * 12])
    assert confirm([ratios], [suspect], 0, longer) == [(2**-12, longer.families * 2**-12)]


def test_when_rows_are_looked_at_next() -> None:
    longer = replace(WAVES, until_decided=True)
    assert [WAVES.next_look(n) for n in (5, 59, 60, 400)] == [6, 60, 61, 401]
    assert [longer.next_look(n) for n in (5, 29, 30, 31, 60, 100)] == [6, 30, 60, 60, 120, 120]
    assert longer.next_look(LATE_LOOKS[-1]) == LATE_LOOKS[-1] + 1
    assert (WAVES.most_rounds, longer.most_rounds) == (30, LATE_LOOKS[-1])
    assert LATE_LOOKS[-1] <= MAX_PAIRS


def test_the_rounds_that_made_the_suspect_have_no_part_in_the_test() -> None:
    suspect = Suspect(0, 1, 5, (12,))
    fresh = np.array([0.01 * k for k in range(1, 13)])
    p = [
        confirm([np.array([*screen, *fresh])], [suspect], 0, WAVES)
        for screen in ([0.5] * 5, [-0.5] * 5)
    ]
    assert p[0] == p[1] == [(2**-12, 5 * 2**-12)]


def test_each_wave_and_test_has_its_own_share_and_holm_within() -> None:
    def row(amiss: int) -> FloatArray:
        fresh = [0.01 * k for k in range(1, 13)]
        return np.array([*SLOW, *[-x if k < amiss else x for k, x in enumerate(fresh)]])

    first = Suspect(0, 1, 5, (12,))
    later = replace(first, wave=1)
    ratios = [row(0), row(1), row(0), np.array(SLOW)]
    found = confirm(ratios, [first, first, later, None], 0, WAVES)
    p0, p1 = 2**-12, 2 * 2**-12
    assert found == [(p0, 5 * 2 * p0), (p1, 5 * 2 * p0), (p0, 5 * p0), None]


def test_a_second_test_pays_for_all_suspects_of_its_wave() -> None:
    again, once = Suspect(0, 1, 5, (12, 24)), Suspect(0, 1, 5, (12,))
    ratios = np.array([*SLOW, *[0.01 * k for k in range(1, 25)]])
    found = confirm([ratios, ratios, ratios], [again, once, once], 1, WAVES)
    assert found == [(2**-24, 5 * 3 * 2**-24), None, None]


def test_a_better_looking_row_is_tested_in_its_own_direction() -> None:
    ratios = np.array([-x for x in (*SLOW, *[0.01 * k for k in range(1, 13)])])
    assert confirm([ratios], [Suspect(0, -1, 5, (12,))], 0, WAVES) == [(2**-12, 5 * 2**-12)]
    assert confirm([ratios], [Suspect(0, 1, 5, (12,))], 0, WAVES) == [(1.0, 1.0)]


def test_without_a_fresh_round_there_is_no_test() -> None:
    assert confirm([np.array(SLOW)], [Suspect(0, 1, 5, (12,))], 0, WAVES) == [None]
