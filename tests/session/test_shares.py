from __future__ import annotations

import numpy as np
import pytest

from benchgate.measure.contract.engine import ignore
from benchgate.model.launch_table import Launch
from benchgate.session.shares import Sharing

GIB = 2**30


def launches(values: list[float], lane: int | None = 0) -> list[Launch]:
    return [
        Launch(index, 0, np.array([value]), np.empty(0), lane) for index, value in enumerate(values)
    ]


def even(lane: int | None = 0, spread: float = 0.01) -> tuple[list[Launch], list[Launch]]:
    """Rounds whose ratios alternate around 1."""
    head = [np.exp(spread * sign) for sign in (1, -1, 1, -1, 1, -1)]
    return launches([1.0] * 6, lane), launches(head, lane)


def test_writing_into_the_tree_ends_sharing() -> None:
    told: list[str] = []
    sharing = Sharing(2, told.append)
    sharing.trees_were_written([])
    assert (sharing.lanes, told) == (2, [])
    sharing.trees_were_written(["a.db", "b.db"])
    assert sharing.lanes == 1
    assert "a.db and 1 more" in told[0]


@pytest.mark.parametrize(
    ("peak", "free", "lanes"),
    [(GIB, 16 * GIB, 4), (GIB, 6 * GIB, 3), (GIB, GIB, 1), (GIB, None, 4), (0, GIB, 4)],
)
def test_lanes_fit_into_half_of_the_free_memory(peak: int, free: int | None, lanes: int) -> None:
    told: list[str] = []
    sharing = Sharing(4, told.append)
    sharing.memory_was_used(peak, free)
    assert sharing.lanes == lanes
    assert bool(told) == (lanes < 4)


def test_what_varies_much_more_than_the_others_is_measured_alone() -> None:
    sharing = Sharing(2, ignore)
    steady = {str(number): even() for number in range(5)}
    sharing.look({**steady, "wild": even(spread=0.04), "less": even(spread=0.029)})
    assert sharing.alone == {"wild"}


def test_rounds_that_were_measured_alone_do_not_count() -> None:
    sharing = Sharing(2, ignore)
    sharing.look({"a": even(), "b": even(), "wild": even(lane=None, spread=0.1)})
    assert sharing.alone == set()


def test_direction_does_not_matter() -> None:
    sharing = Sharing(2, ignore)
    slower = launches([1.0] * 6), launches([1.2, 1.21, 1.2, 1.19, 1.2, 1.2])
    sharing.look({"a": even(), "b": even(), "slower": slower})
    assert sharing.alone == set()


def test_few_rounds_say_nothing() -> None:
    sharing = Sharing(2, ignore)
    base, head = even(spread=0.5)
    sharing.look({"a": even(), "b": even(), "c": (base[:4], head[:4])})
    assert sharing.alone == set()
