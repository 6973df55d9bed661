from __future__ import annotations

import pytest

from benchgate.gate.same_work import different_work
from benchgate.model.run import BenchmarkResult, Tier

WHY = "the benchmark's own definition changed: base and head did different work"
MANY = dict.fromkeys("abcdef", "1")


@pytest.mark.parametrize(
    ("base", "head", "says"),
    [
        ({}, {}, WHY),
        # Of a result that does not tell the parts nothing is known.
        ({}, {"DATA": "1"}, WHY),
        ({"f": "1", "DATA": "1"}, {"f": "1", "DATA": "2"}, f"{WHY}; changed: DATA"),
        ({"f": "1", "DATA": "1"}, {"f": "1"}, f"{WHY}; changed: DATA"),
        ({"f": "1"}, {"f": "2", "DATA": "1"}, f"{WHY}; changed: f, DATA"),
        (MANY, dict.fromkeys(MANY, "2"), f"{WHY}; changed: a, b, c, d and 2 more"),
    ],
)
def test_what_differs_is_named(base: dict[str, str], head: dict[str, str], says: str) -> None:
    one, other = (BenchmarkResult("x", "w", Tier.LOCKSTEP, parts=parts) for parts in (base, head))
    assert different_work(one, other) == says
