"""From a budget that ends early to the verdict, and to the same verdict from the file alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.config import loads
from benchgate.files import read_result
from benchgate.gate.judging import judge_run, make_verdict
from benchgate.gate.waves import WaveSettings
from benchgate.measure.engine import ArmName
from benchgate.model.row import ConfirmationCost
from benchgate.model.run import Source
from benchgate.model.verdict import Decision
from benchgate.session.result_file import ResultFile
from benchgate.session.rounds import FixedRounds, ScreenAndConfirm, measure_rounds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.world import Fake, World

    from benchgate.model.verdict import Verdict
    from benchgate.session.outlook import BudgetForecast

CONFIG = loads("", "test.toml")


@pytest.fixture
def verdict_of(world: World, tmp_path: Path) -> Callable[[Mapping[str, Fake], float], Verdict]:
    """Measure as `check` does, and judge twice: what is in memory, and what was saved."""

    def make(fakes: Mapping[str, Fake], budget_s: float) -> Verdict:
        session, _ = world.open(fakes)
        output = tmp_path / "result.json.gz"
        record = ResultFile(
            session=session,
            sources={ArmName.BASE: Source("b" * 40), ArmName.HEAD: Source("a" * 40)},
            effects=world.effects,
            began_s=world.clock(),
            started="2026-01-02T03:04:05Z",
            screen_rounds=5,
            output=output,
            warnings=(),
        )
        planner = ScreenAndConfirm(
            session,
            WaveSettings.of(CONFIG),
            lambda: judge_run(record.result(), CONFIG).needs,
            frozenset(),
        )
        measure_rounds(
            session,
            planner,
            budget_s=budget_s,
            clock=world.clock,
            progress=world.progress,
            save=record.save,
        )
        record.finish()
        verdict = make_verdict(judge_run(record.result(), CONFIG), CONFIG)
        again = make_verdict(judge_run(read_result(output), CONFIG), CONFIG)
        assert again.rows == verdict.rows
        assert (again.decision, again.exit_code, again.summary) == (
            verdict.decision,
            verdict.exit_code,
            verdict.summary,
        )
        return verdict

    return make


def sleepers(world: World, change: float, cost_s: float = 10.0) -> dict[str, Fake]:
    return {f"sleep/{k}": world.fake(k, k * (1 + change), cost_s=cost_s) for k in (3, 4, 5, 6)}


def test_four_that_got_slower_fail_within_six_rounds(
    world: World, verdict_of: Callable[..., Verdict]
) -> None:
    verdict = verdict_of(sleepers(world, 0.15), 245.0)
    assert verdict.rounds == 6
    assert (verdict.decision, verdict.exit_code) == (Decision.FAIL, 3)
    assert "4 of 4 benchmarks are slower" in verdict.summary


def test_with_fewer_there_is_no_verdict_and_the_reader_learns_what_it_takes(
    world: World, verdict_of: Callable[..., Verdict]
) -> None:
    verdict = verdict_of(sleepers(world, 0.15), 205.0)
    assert verdict.rounds == 5
    assert (verdict.decision, verdict.exit_code) == (Decision.NO_VERDICT, 0)
    rounds = {row.unconfirmed for row in verdict.rows if row.unconfirmed}
    assert rounds == {ConfirmationCost(14, 140.0)}
    assert verdict.summary.startswith(
        "no verdict: 4 of 4 benchmarks look slower, and measuring ended before this was "
        "confirmed or ruled out: most of all sleep/"
    )
    assert verdict.summary.endswith("; deciding it takes 14 more rounds, about 9 min 20 s")


@pytest.mark.parametrize("budget_s", [45.0, 205.0, 245.0, 405.0])
def test_nothing_fails_where_nothing_changed(
    budget_s: float, world: World, verdict_of: Callable[..., Verdict]
) -> None:
    assert verdict_of(sleepers(world, 0.0), budget_s).decision is not Decision.FAIL


def told_after_the_first_round(world: World, budget_s: float) -> list[tuple[int, BudgetForecast]]:
    session, engine = world.open(sleepers(world, 0.0))
    told: list[tuple[int, BudgetForecast]] = []
    measure_rounds(
        session,
        FixedRounds(session, 3),
        budget_s=budget_s,
        clock=world.clock,
        progress=world.progress,
        save=lambda: None,
        foresee=lambda spending: told.append((len(engine.rounds), spending)),
    )
    return told


def test_what_the_budget_can_show_is_asked_once_after_the_first_round(world: World) -> None:
    ((rounds, spending),) = told_after_the_first_round(world, 100.0)
    assert rounds == 1
    assert (spending.round_s, spending.left_s, spending.budget_s) == (40.0, 60.0, 100.0)
    assert spending.rounds == 2


def test_without_a_budget_nothing_is_foretold(world: World) -> None:
    assert told_after_the_first_round(world, float("inf")) == []
