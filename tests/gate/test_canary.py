from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.gate.suite import disturbance, is_canary
from benchgate.model.policy import Outcome
from benchgate.model.run import CANARY_ID, Metric

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.arrays import FloatArray
    from benchgate.gate.suite import Judgment
    from benchgate.model.run import BenchmarkResult


@pytest.mark.parametrize(
    ("rounds", "change", "disturbed"),
    [
        (12, 0.0, False),
        (12, 0.008, False),  # within half the margin of 2 %
        (12, 0.03, True),
        (12, -0.03, True),
        (8, 0.03, True),
        (7, 0.03, False),  # 2 * 2 ** -7 > 0.01
        (0, 0.03, False),
        (1200, 0.03, True),  # more than the exact test takes
    ],
)
def test_the_same_work_must_take_the_same_time(
    rounds: int,
    change: float,
    disturbed: bool,  # noqa: FBT001 - a column of the table
    bench: Callable[..., BenchmarkResult],
    heads: Callable[..., FloatArray],
) -> None:
    base, head = bench(CANARY_ID, [1] * rounds), bench(CANARY_ID, heads(rounds, change).tolist())
    ratio = disturbance(base, head, margin=0.02, alpha=0.01)
    assert ratio == (pytest.approx(1 + change, abs=1e-3) if disturbed else None)


def test_a_canary_without_times_says_nothing(bench: Callable[..., BenchmarkResult]) -> None:
    other = bench(CANARY_ID, [1] * 12, metric=Metric("rss", "B"))
    assert disturbance(other, other, margin=0.02, alpha=0.01) is None
    assert is_canary(other)
    assert not is_canary(bench("b", [1]))


@pytest.mark.parametrize("change", [0.1, -0.1])
def test_a_disturbance_takes_the_belief_from_changes(
    change: float,
    bench: Callable[..., BenchmarkResult],
    heads: Callable[..., FloatArray],
    judged: Callable[..., Judgment],
) -> None:
    base = [bench(CANARY_ID, [1] * 17), bench("changed", [1] * 17), bench("same", [1] * 17)]
    head = [
        bench(CANARY_ID, heads(17, 0.05).tolist()),
        bench("changed", heads(17, change).tolist()),
        bench("same", heads(17).tolist()),
    ]
    found = judged(base, head, '[gate]\nstatistics = ["p25"]')
    assert [(row.benchmark, row.outcome) for row in found.rows] == [
        ("changed", Outcome.INCONCLUSIVE),
        ("same", Outcome.UNCHANGED),
    ]
    assert "canary" in found.rows[0].notes[0]
    assert "+5.0 %" in found.warnings[0]
    assert found.base_benchmarks == 2
    assert found.doubted == (change > 0)
    assert found.disturbed


def test_a_quiet_canary_is_not_mentioned(
    bench: Callable[..., BenchmarkResult],
    heads: Callable[..., FloatArray],
    judged: Callable[..., Judgment],
) -> None:
    base = [bench(CANARY_ID, [1] * 17), bench("b", [1] * 17)]
    head = [bench(CANARY_ID, heads(17).tolist()), bench("b", heads(17, 0.1).tolist())]
    found = judged(base, head, '[gate]\nstatistics = ["p25"]')
    assert [row.outcome for row in found.rows] == [Outcome.REGRESSED]
    assert found.warnings == ()
    assert not found.doubted
    assert not found.disturbed
