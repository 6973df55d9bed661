from __future__ import annotations

import numpy as np
from tests.results import series_of

from benchgate.describe.launches import warmup

GOLDEN = [5234, 3891, 2456, 1334, 1256, 1243, 1238, *[1241] * 43]


def test_the_curve_begins_with_what_was_discarded() -> None:
    launches = [GOLDEN[3:]] * 4
    series = series_of(launches, warmup=GOLDEN[:3])

    found = warmup(series.launches)

    assert found is not None
    assert found.curve == tuple(float(x) for x in GOLDEN)
    assert (found.discarded, found.launches, found.settled, found.settled_at) == (3, 4, 4, 3)


def test_a_ramp_never_settles() -> None:
    series = series_of([[1.01**k for k in range(45)]] * 2)

    found = warmup(series.launches)

    assert found is not None
    assert (found.launches, found.settled, found.settled_at) == (2, 0, None)


def test_launches_of_unequal_length_give_the_curve_of_the_shortest() -> None:
    series = series_of([[1.0] * 12, [3.0] * 20, [2.0] * 15, [9.0] * 3])

    found = warmup(series.launches)

    assert found is not None
    assert found.launches == 3
    assert found.curve == (2.0,) * 12


def test_too_few_values_are_no_curve() -> None:
    assert warmup(series_of([np.ones(6), np.ones(9)]).launches) is None
