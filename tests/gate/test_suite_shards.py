"""What a part of a suite spends of alpha, and what the parts come to together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.gate.arms import WAVES, bench, heads

from benchgate.config import loads
from benchgate.gate.estimates import RowStage
from benchgate.gate.suite import Design, joined, judge_suite
from benchgate.model.environment import Environment
from benchgate.model.policy import Outcome
from benchgate.model.run import Run, Source

if TYPE_CHECKING:
    from benchgate.gate.suite import Judgment

CONFIG = loads('[gate]\nstatistics = ["p25"]', "test.toml")


def judged_as_part(rounds: int, change: float, shards: int, *, screened: bool = True) -> Judgment:
    """Judge one row of so many rounds as one of the shards of a suite."""
    arms = [
        Run(Source(), "", Environment(), (bench("b", values, samples=40),))
        for values in ([1] * rounds, heads(rounds, change).tolist())
    ]
    procedure = WAVES if screened else None
    return judge_suite(
        arms[0], arms[1], CONFIG, Design(paired=True, waves=procedure, shards=shards)
    )


@pytest.mark.parametrize(("shards", "rounds"), [(1, 12), (2, 13), (8, 15), (256, 20)])
def test_a_suspect_gets_the_rounds_that_its_share_of_alpha_takes(shards: int, rounds: int) -> None:
    found = judged_as_part(5 + rounds - 1, 0.05, shards)
    assert found.needs[0].stage is RowStage.CONFIRM
    found = judged_as_part(5 + rounds, 0.05, shards)
    assert found.needs[0].stage is RowStage.DONE
    assert found.rows[0].outcome is Outcome.REGRESSED
    assert found.rows[0].launches == (rounds, rounds)


@pytest.mark.parametrize("screened", [True, False])
def test_p_is_adjusted_to_be_held_against_the_alpha_of_the_suite(*, screened: bool) -> None:
    alone, part = (judged_as_part(17, 0.05, shards, screened=screened).rows[0] for shards in (1, 4))
    assert alone.p_adjusted is not None
    assert part.p == alone.p
    assert part.p_adjusted == pytest.approx(4 * alone.p_adjusted)
    assert part.outcome is Outcome.REGRESSED


def test_what_a_suite_alone_would_call_regressed_may_need_more_in_a_part() -> None:
    for shards, outcome in ((1, Outcome.REGRESSED), (8, Outcome.NOT_TESTED)):
        (row,) = judged_as_part(9, 0.05, shards, screened=False).rows
        assert row.outcome is outcome
    assert row.notes == ("too few rounds to decide: 9 rounds, and a test needs 11",)
    assert row.p_adjusted == pytest.approx(8 * 2 * 2**-9)


def test_parts_are_put_together_as_they_are() -> None:
    parts = [judged_as_part(17, 0.05, 2), judged_as_part(9, 0.0, 2)]
    parts[1] = replace(parts[1], warnings=("disturbed",), doubted=True)
    whole = joined(parts)
    assert whole.rows == (*parts[0].rows, *parts[1].rows)
    assert whole.needs == (*parts[0].needs, *parts[1].needs)
    assert whole.evidence == (*parts[0].evidence, *parts[1].evidence)
    assert (whole.warnings, whole.doubted, whole.base_benchmarks) == (("disturbed",), True, 2)
    assert joined(parts[:1]) == parts[0]
