"""What the details say that so many launches could see."""

from __future__ import annotations

import numpy as np
import pytest
from tests.gate.arms import bench, judged

from benchgate.gate.other_tests import CompareSettings, with_details


# 2**-6 and 1 / C(8, 4) are above alpha, 2**-7 and 1 / C(10, 5) below it, 1 / C(11, 3) too.
@pytest.mark.parametrize(
    ("base", "head", "paired", "few"),
    [
        (6, 6, True, True),
        (7, 7, True, False),
        (4, 4, False, True),
        (5, 5, False, False),
        (3, 8, False, False),
        (2, 8, False, True),
    ],
)
def test_launches_too_few_for_alpha_see_nothing(
    base: int, head: int, *, paired: bool, few: bool
) -> None:
    rng = np.random.default_rng(1)
    arms = [[bench(values=list(np.exp(rng.normal(0, 0.01, n))))] for n in (base, head)]
    toml = '[gate]\nstatistics = ["p25"]'
    judgment = judged(arms[0], arms[1], toml, paired=paired, waves=None)

    (row,) = with_details(judgment, CompareSettings(confidence=0.95, alpha=0.01, seed=1)).rows

    assert row.detail is not None
    assert (row.detail.detectable_ratio is None) == few
    assert any(note.startswith("too few launches") for note in row.detail.notes) == few
    assert row.detail.launches_needed is not None
