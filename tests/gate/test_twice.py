from __future__ import annotations

import math
from typing import Any

import pytest
from benchmarks.gate.twice import answers


def check(ratio: float, outcome: str, *, other: str = "") -> dict[str, Any]:
    interval = [ratio * math.exp(-0.01), ratio * math.exp(0.01)]
    ratios = {"ten/sort p25": [ratio, *interval], "ten/sort p95": [9.0, 8.0, 10.0]}
    outcomes = {"ten/sort p25": outcome, "ten/sort p95": "not settled"}
    if other:
        ratios["ten/match p25"] = [1.0, 0.99, 1.01]
        outcomes["ten/match p25"] = other
    return {"ratios": ratios, "outcomes": outcomes, "load": 1.0}


def test_an_interval_holds_the_mean_of_all_checks_or_does_not() -> None:
    found = answers([check(1.0, "unchanged"), check(1.0, "unchanged"), check(1.03, "unchanged")])
    assert (found.checks, found.benchmarks) == (3, 1)
    assert (found.covering.hits, found.covering.trials) == (2, 3)
    assert found.apart_ratio == pytest.approx(math.log(1.03) / math.sqrt(3))


def test_decided_rows_that_say_different_things_contradict_each_other() -> None:
    outcomes = ["regressed", "unchanged", "inconclusive", "improved", "unchanged"]
    found = answers([check(1.0, outcome) for outcome in outcomes])
    # Of four decided rows there are six pairs; only the two that are unchanged agree.
    assert (found.contradictory.hits, found.contradictory.trials) == (5, 6)


def test_rows_of_different_benchmarks_do_not_contradict_each_other() -> None:
    found = answers([check(1.0, "unchanged", other="regressed") for _ in range(3)])
    assert found.benchmarks == 2
    assert (found.contradictory.hits, found.contradictory.trials) == (0, 6)
