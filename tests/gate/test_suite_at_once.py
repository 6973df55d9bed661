from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.gate.arms import bench, heads, judged

from benchgate.model.policy import Outcome

if TYPE_CHECKING:
    from benchgate.gate.suite import Judgment

P25 = '[gate]\nstatistics = ["p25"]'


def outcomes(*rows: tuple[int, float], paired: bool) -> Judgment:
    """Judge rows of which each is (launches, change), all measured regardless."""
    base = [bench(f"b{i}", [1] * n) for i, (n, _) in enumerate(rows)]
    head = [bench(f"b{i}", heads(*row).tolist()) for i, row in enumerate(rows)]
    return judged(base, head, P25, paired=paired, waves=None)


@pytest.mark.parametrize("paired", [True, False])
def test_holm_holds_for_all_rows_together(
    paired: bool,  # noqa: FBT001 - a parameter
) -> None:
    found = outcomes(*[(12, 0.05)] * 3, *[(12, 0.0)] * 7, paired=paired)
    assert [row.outcome for row in found.rows] == [Outcome.REGRESSED] * 3 + [Outcome.UNCHANGED] * 7
    for row in found.rows[:3]:
        assert row.p is not None
        assert row.p_adjusted == pytest.approx(20 * row.p)


def test_more_rows_need_more_launches() -> None:
    assert outcomes((8, 0.05), paired=True).rows[0].outcome is Outcome.REGRESSED
    row = outcomes(*[(8, 0.05)] * 10, paired=True).rows[0]
    assert row.outcome is Outcome.NOT_TESTED
    assert row.notes == ("too few rounds to decide: 8 rounds, and a test needs 11",)
    row = outcomes((1, 0.05), paired=True).rows[0]
    assert row.notes == ("too few rounds to decide: 1 round, and a test needs 8",)


@pytest.mark.parametrize("paired", [True, False])
def test_rows_may_differ_in_their_launches(
    paired: bool,  # noqa: FBT001 - a parameter
) -> None:
    found = outcomes((12, 0.05), (15, 0.0), (3, 0.05), (20, -0.05), paired=paired)
    assert [row.outcome for row in found.rows] == [
        Outcome.REGRESSED,
        Outcome.UNCHANGED,
        Outcome.NOT_TESTED,
        Outcome.IMPROVED,
    ]
    assert all(need.stage == "done" for need in found.needs)


def test_arms_of_stored_runs_may_differ_in_their_launches() -> None:
    base, head = bench("b", [1] * 20), bench("b", heads(8, 0.05).tolist())
    (row,) = judged([base], [head], P25, paired=False, waves=None).rows
    assert (row.outcome, row.launches) == (Outcome.REGRESSED, (20, 8))


def test_a_tail_is_only_open_if_it_should_be_settled() -> None:
    tails = [1.6, 2.57] * 6
    sides = [
        [bench("b", [[1 + round_ / 1000] * 40 + [tail] * 5 for round_, tail in enumerate(values)])]
        for values in (tails, tails[::-1])
    ]
    for toml, outcome in (
        ("", Outcome.NOT_SETTLED),
        ('gate.settle = ["p25", "p95"]', Outcome.INCONCLUSIVE),
    ):
        typical, tail = judged(sides[0], sides[1], toml, waves=None).rows
        assert (typical.outcome, tail.outcome) == (Outcome.UNCHANGED, outcome)
