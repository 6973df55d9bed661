from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from benchmarks.gate.replayed_builds import replay
from tests.gate.arms import WAVES, bench, heads, judged

from benchgate.config import loads
from benchgate.gate.estimates import RowStage
from benchgate.gate.suite import gather_rows
from benchgate.model.environment import Environment
from benchgate.model.policy import Outcome
from benchgate.model.run import Run, Source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.arrays import FloatArray
    from benchgate.gate.evidence import Evidence

P25 = '[gate]\nstatistics = ["p25"]'


def evidence_of(
    values: Mapping[str, Sequence[float] | FloatArray], toml: str = P25
) -> list[Evidence]:
    """Make rows by the head's values of each benchmark; the base is 1."""
    arms = [
        [bench(id_, x, samples=40) for id_, x in of_arm.items()]
        for of_arm in ({id_: np.ones(len(x)).tolist() for id_, x in values.items()}, values)
    ]
    runs = [Run(Source(), "", Environment(), tuple(arm)) for arm in arms]
    return gather_rows(runs[0], runs[1], loads(toml, "test.toml"), paired=True)[1]


def test_each_benchmark_gets_the_rounds_that_it_needs() -> None:
    values = {"quiet": heads(30), "slow": heads(30, 0.05), "hopeless": heads(30, 0.0, 0.4)}
    build = replay(evidence_of(values), WAVES, 0.95)
    assert [(row.benchmark, row.outcome) for row in build.rows] == [
        ("quiet", Outcome.UNCHANGED),
        ("slow", Outcome.REGRESSED),
        ("hopeless", Outcome.INCONCLUSIVE),
    ]
    assert build.regressed == {"slow"}
    assert build.rounds == 6 + 17 + 10
    assert build.most_rounds == 17
    assert build.unfinished == ()


@pytest.mark.parametrize("seed", range(4))
def test_it_ends_where_the_gate_sees_nothing_left_to_measure(seed: int) -> None:
    head = np.random.default_rng(seed).lognormal(0.02, 0.02, 40)
    build = replay(evidence_of({"b": head.tolist()}), WAVES, 0.95)
    stages, rows = [], []
    for rounds in range(WAVES.screen_rounds, build.rounds + 1):
        arms = [[bench("b", x[:rounds].tolist(), samples=40)] for x in (np.ones(40), head)]
        judgment = judged(arms[0], arms[1], P25)
        stages.append(judgment.needs[0].stage)
        rows.append(judgment.rows[0])
    assert [stage is RowStage.DONE for stage in stages] == [False] * (len(stages) - 1) + [True]
    (replayed,) = build.rows
    assert (replayed.outcome, replayed.ratio) == (rows[-1].outcome, rows[-1].ratio)


def test_rounds_may_run_out() -> None:
    build = replay(evidence_of({"slow": heads(11, 0.05), "short": heads(3)}), WAVES, 0.95)
    assert build.unfinished == ("slow", "short")
    assert (build.rounds, build.most_rounds) == (14, 11)
    assert build.regressed == {"slow"}  # by its launches: its fresh rounds are too few


def test_a_row_with_few_rounds_does_not_end_the_others_of_its_benchmark() -> None:
    (slow,) = evidence_of({"slow": heads(30, 0.05)})
    short = replace(slow.taken(slice(3)), statistic="median")
    for rows in ([slow, short], [short, slow]):
        build = replay(rows, WAVES, 0.95)
        assert {row.statistic: row.outcome for row in build.rows} == {
            "p25": Outcome.REGRESSED,
            "median": Outcome.NOT_TESTED,
        }


def test_what_cannot_be_tested_is_a_row_all_the_same() -> None:
    (row,) = replay(evidence_of({"b": [0.0] * 9}), WAVES, 0.95).rows
    assert (row.outcome, row.ratio) == (Outcome.NOT_TESTED, None)


def test_a_build_of_nothing_has_no_rows() -> None:
    build = replay([], WAVES, 0.95)
    assert (build.rows, build.rounds, build.most_rounds) == ((), 0, 0)
