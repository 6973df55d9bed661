"""From a budget that ends early to the verdict, and to the same verdict from the file alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.baselines.stored_files import read_result
from benchgate.config import loads
from benchgate.gate.judging import judge_runs
from benchgate.gate.verdict import judge
from benchgate.gate.waves import WaveSettings
from benchgate.measure.arm import ArmName
from benchgate.model.row import ConfirmationCost
from benchgate.model.run import Source
from benchgate.model.verdict import Decision
from benchgate.report.headline import headline
from benchgate.session.outlook import of_fixed_rounds
from benchgate.session.result_file import ResultFile
from benchgate.session.rounds import FixedRounds, RoundLoop, ScreenAndConfirm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.world import Fake, World

    from benchgate.model.verdict import Verdict

CONFIG = loads("", "test.toml")


@pytest.fixture
def verdict_of(world: World, tmp_path: Path) -> Callable[[Mapping[str, Fake], float], Verdict]:
    """Measure as `check` does, and judge twice: what is in memory, and what was saved."""

    def make(fakes: Mapping[str, Fake], budget_s: float, pause_s: float = 0.0) -> Verdict:
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
            lambda: judge_runs(record.result(), CONFIG).needs,
            frozenset(),
        )

        def save() -> None:
            record.save()
            world.clock.now_s += pause_s

        RoundLoop(
            session,
            planner,
            budget_s=budget_s,
            clock=world.clock,
            phases=world.phases,
            progress=world.progress,
            save=save,
        ).measure()
        record.finish()
        verdict = judge(record.result(), CONFIG)
        again = judge(read_result(output), CONFIG)
        assert again.rows == verdict.rows
        assert (again.decision, again.exit_code, headline(again)) == (
            verdict.decision,
            verdict.exit_code,
            headline(verdict),
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
    assert "Slower: " in headline(verdict)


def test_with_fewer_there_is_no_verdict_and_the_reader_learns_what_it_takes(
    world: World, verdict_of: Callable[..., Verdict]
) -> None:
    # The first round shows what the benchmarks take, but not that saving takes long.
    verdict = verdict_of(sleepers(world, 0.15), 245.0, pause_s=8.0)
    assert verdict.rounds == 5
    assert (verdict.decision, verdict.exit_code) == (Decision.NO_VERDICT, 4)
    rounds = {row.unconfirmed for row in verdict.rows if row.unconfirmed}
    assert rounds == {ConfirmationCost(14, 140.0)}
    assert headline(verdict).startswith("No verdict yet: sleep/")
    assert headline(verdict).endswith("; deciding them takes 14 more rounds, about 9 min 20 s")


@pytest.mark.parametrize("budget_s", [45.0, 205.0, 245.0, 405.0])
def test_nothing_fails_where_nothing_changed(
    budget_s: float, world: World, verdict_of: Callable[..., Verdict]
) -> None:
    assert verdict_of(sleepers(world, 0.0), budget_s).decision is not Decision.FAIL


def told_in(world: World, budget_s: float, fakes: Mapping[str, Fake]) -> list[tuple[int, str]]:
    """Measure 20 rounds; return what is said, with the number of benchmarks begun before."""
    session, _ = world.open(fakes)
    RoundLoop(
        session,
        FixedRounds(session, 20),
        budget_s=budget_s,
        clock=world.clock,
        phases=world.phases,
        progress=world.progress,
        save=lambda: None,
        foresee=lambda spending: of_fixed_rounds(spending, 20),
    ).measure()
    return world.progress.messages


def test_a_budget_that_is_too_short_is_told_after_the_first_round(world: World) -> None:
    # Three rounds of four times 10 s.
    ((begun, text),) = told_in(world, 120.0, sleepers(world, 0.0))
    assert begun == 4
    assert text == (
        "the budget of 2 min allows only 3 of 20 rounds, because a round takes about 40 s: use "
        "--budget 15m"
    )


def test_benchmarks_that_differ_much_are_forecast_when_all_are_known(world: World) -> None:
    fakes = {f"{n}": world.fake(cost_s=cost_s) for n, cost_s in enumerate([1.0] * 9 + [100.0])}
    ((begun, text),) = told_in(world, 195.0, fakes)
    assert begun == 10
    assert text.endswith("because a round takes about 1 min 49 s: use --budget 40m")


def test_without_a_budget_nothing_is_foretold(world: World) -> None:
    assert told_in(world, float("inf"), sleepers(world, 0.0)) == []


def test_a_budget_that_suffices_needs_no_word(world: World) -> None:
    assert told_in(world, 900.0, sleepers(world, 0.0)) == []
