"""A check that goes on after an interruption decides what it would have decided without one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from benchgate import __version__
from benchgate.config import loads
from benchgate.errors import Interrupted, UsageError
from benchgate.gate.judging import judge_runs
from benchgate.gate.verdict import judge
from benchgate.gate.waves import WaveSettings
from benchgate.measure.arm import ArmName
from benchgate.model.codec import decode_result, encode_result
from benchgate.model.run import Source
from benchgate.session.result_file import ResultFile
from benchgate.session.rounds import RoundLoop, ScreenAndConfirm
from benchgate.session.unfinished import Unfinished

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.world import Fake, World

    from benchgate.model.result import Result
    from benchgate.session.session import Session

CONFIG = loads("", "benchgate.toml")
WAVES = WaveSettings.of(CONFIG)
BASE, HEAD = Source(sha="b" * 40), Source(sha="a" * 40, dirty=True, content="c" * 64)
SOURCES = {ArmName.BASE: BASE, ArmName.HEAD: HEAD}


def check(
    world: World, session: Session, unfinished: Unfinished | None = None, budget_s: float = 1e6
) -> Result:
    """Measure until all is decided, or until the engine is interrupted."""
    once = frozenset(id_ for id_ in session.ids if not session.is_on_all_arms(id_))
    file = ResultFile(
        session=session,
        sources=SOURCES,
        effects=world.effects,
        began_s=world.clock(),
        started="2026-01-02T03:04:05Z",
        screen_rounds=WAVES.screen_rounds,
        output=None,
        warnings=(),
    )
    planner = ScreenAndConfirm(
        session, WAVES, lambda: judge_runs(file.result(), CONFIG).needs, once
    )
    if unfinished:
        file.warnings += unfinished.restore(session)
        planner.go_on(
            session.full_rounds, lambda rounds: judge_runs(unfinished.until(rounds), CONFIG).needs
        )
    try:
        with file.kept_when_interrupted():
            RoundLoop(
                session,
                planner,
                budget_s=budget_s,
                clock=world.clock,
                phases=world.phases,
                progress=world.progress,
                save=file.save,
                spent_s=unfinished.spent_s if unfinished else 0.0,
            ).measure()
    except Interrupted:
        return file.result()
    file.finish()
    return file.result()


def stored(result: Result) -> Unfinished:
    return Unfinished.of(decode_result(encode_result(result, str), "it"), "it")


def launches(result: Result) -> dict[tuple[str, str, str], list[tuple[int, int, list[float]]]]:
    assert result.base is not None
    return {
        (arm, one.id, series.metric.name): [
            (launch.round, launch.order, launch.samples.tolist()) for launch in series.launches
        ]
        for arm, run in (("base", result.base), ("head", result.head))
        for one in run.benchmarks
        for series in one.series
    }


def decided(result: Result) -> tuple[Any, ...]:
    verdict = judge(result, CONFIG)
    return (
        verdict.exit_code,
        [
            (row.benchmark, row.metric, row.statistic, row.outcome, row.ratio, row.interval)
            for row in verdict.rows
        ],
    )


def fakes(world: World) -> Mapping[str, Fake]:
    return {
        "same": world.fake(),
        "slower": world.fake(head_s=1.2e-3, cost_s=2.0),
        "faster": world.fake(head_s=0.9e-3),
        "new": world.fake(base_s=None),
        "fails": world.fake(fails_in=3),
    }


ROUNDS = 18


@pytest.mark.parametrize("interrupted_in", range(ROUNDS))
def test_it_decides_what_it_would_have_decided(world: World, interrupted_in: int) -> None:
    whole = check(world, world.open(fakes(world))[0])
    assert 1 + max(one[-1][0] for one in launches(whole).values()) == ROUNDS

    session, _ = world.open(fakes(world), interrupted_in=interrupted_in)
    part = check(world, session)
    assert (part.head.complete, part.head.full_rounds) == (False, interrupted_in)
    session, _ = world.open(fakes(world))
    joined = check(world, session, stored(part))

    assert launches(joined) == launches(whole)
    assert decided(joined) == decided(whole)
    assert joined.head.complete


def test_it_can_be_interrupted_again(world: World) -> None:
    whole = check(world, world.open(fakes(world))[0])
    part: Unfinished | None = None
    for interrupted_in in (1, 1, 6, 16, None):
        session, _ = world.open(fakes(world), interrupted_in=interrupted_in)
        result = check(world, session, part)
        part = None if interrupted_in is None else stored(result)
    assert launches(result) == launches(whole)


def test_a_launch_of_a_round_in_part_is_measured_again(world: World) -> None:
    session, engine = world.open(fakes(world), interrupted_in=4)
    part = check(world, session)
    kept = next(one for one in part.head.benchmarks if one.id == "same").series[0]
    extra = replace(kept, launches=(*kept.launches, replace(kept.launches[-1], round=4)))
    damaged = replace(
        part,
        head=replace(
            part.head,
            benchmarks=tuple(
                replace(one, series=(extra,)) if one.id == "same" else one
                for one in part.head.benchmarks
            ),
        ),
    )
    session, engine = world.open(fakes(world))
    check(world, session, stored(damaged))
    assert "same" in engine.rounds[0]


def test_the_budget_counts_what_was_spent(world: World) -> None:
    session, _ = world.open({"a": world.fake(cost_s=10.0)}, interrupted_in=3)
    unfinished = stored(check(world, session))
    assert unfinished.spent_s == pytest.approx(30.0)
    session, engine = world.open({"a": world.fake(cost_s=10.0)})
    check(world, session, unfinished, budget_s=55.0)
    assert len(engine.rounds) == 2


def test_what_the_first_round_had_no_time_for_stays_left_out(world: World) -> None:
    slow = {"a": world.fake(cost_s=10.0), "b": world.fake(cost_s=10.0)}
    session, engine = world.open(slow)
    session.measure_round(0, ["a", "b"], lambda _: None, is_over=lambda: len(engine.rounds) > 0)
    session, _ = world.open(slow)
    over = iter([False, True])
    session.measure_round(0, ["a", "b"], lambda _: None, is_over=lambda: next(over))
    (left_out,) = session.left_out
    earlier = session.results()
    session, _ = world.open(slow)
    session.restore(earlier, 1)
    assert session.left_out == (left_out,)
    assert left_out not in session.ids


@pytest.fixture
def part(world: World) -> Result:
    return check(world, world.open(fakes(world), interrupted_in=7)[0])


def test_a_benchmark_that_it_began_without_is_left_out_and_named(
    world: World, part: Result
) -> None:
    session, engine = world.open({**fakes(world), "more": world.fake()})
    result = check(world, session, stored(part))
    assert "more" not in {id_ for ids in engine.rounds for id_ in ids}
    assert result.warnings == (
        "this check was interrupted in round 8, and continued",
        "not continued, because the check began without them or skipped them: more",
    )


def test_a_benchmark_that_is_gone_is_refused(world: World, part: Result) -> None:
    session, _ = world.open({id_: one for id_, one in fakes(world).items() if id_ != "same"})
    with pytest.raises(UsageError, match="same of the base is not measured now"):
        stored(part).restore(session)


def test_a_benchmark_that_is_not_chosen_any_more_is_refused(world: World, part: Result) -> None:
    session, _ = world.open(fakes(world))
    session.leave_out(["slower"])
    with pytest.raises(UsageError, match="slower of the base is not measured now"):
        stored(part).restore(session)


def test_another_workload_is_refused(world: World, part: Result) -> None:
    benchmarks = tuple(
        replace(one, workload="x") if one.id == "slower" else one for one in part.head.benchmarks
    )
    session, _ = world.open(fakes(world))
    changed = replace(part, head=replace(part.head, benchmarks=benchmarks))
    with pytest.raises(UsageError, match="slower of the head is another one now"):
        stored(changed).restore(session)


@pytest.mark.parametrize(
    ("arm", "source", "said"),
    [
        (ArmName.BASE, Source(sha="d" * 40), f"the base was {'b' * 12}, and now it is {'d' * 12}"),
        (ArmName.HEAD, Source(sha="d" * 40), f"the head was {'a' * 12}, and now it is {'d' * 12}"),
        (ArmName.HEAD, replace(HEAD, content="d" * 64), "uncommitted changes are not those"),
        (ArmName.HEAD, Source(sha="a" * 40), "uncommitted changes are not those"),
    ],
)
def test_other_code_is_refused(part: Result, arm: ArmName, source: Source, said: str) -> None:
    unfinished = stored(part)
    unfinished.require_code(SOURCES)
    with pytest.raises(UsageError, match=said):
        unfinished.require_code({**SOURCES, arm: source})


def test_another_machine_is_refused(part: Result) -> None:
    here = replace(part.head.environment, toolchains={"python": "3.11"})
    unfinished = stored(replace(part, head=replace(part.head, environment=here)))
    assert part.base is not None
    same = {ArmName.BASE: part.base.environment, ArmName.HEAD: here}
    unfinished.require_machine(same)
    other = replace(here, cpu_model="other", toolchains={"python": "2.7"})
    with pytest.raises(UsageError, match=r"CPU: .* and 'other'; python: .* and '2.7'"):
        unfinished.require_machine({**same, ArmName.HEAD: other})


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ((8, 7, False), "screen_rounds was 5, and now it is 8"),
        ((5, 9, False), "seed was 7, and now it is 9"),
        ((5, 7, True), "--until-decided was off, and now it is on"),
    ],
)
def test_other_settings_are_refused(
    part: Result, settings: tuple[int, int, bool], said: str
) -> None:
    screen_rounds, seed, until_decided = settings
    unfinished = stored(part)
    unfinished.require_settings(5, 7, until_decided=False)
    with pytest.raises(UsageError, match=said):
        unfinished.require_settings(screen_rounds, seed, until_decided=until_decided)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"base": None}, "only a check that measures base and head in turn"),
        ({"tool": "benchgate 0.0.1"}, f"benchgate 0.0.1 .* this is benchgate {__version__}"),
    ],
)
def test_what_cannot_go_on_is_refused(part: Result, change: Mapping[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        stored(replace(part, **change))


def test_a_check_that_ended_is_refused(world: World) -> None:
    with pytest.raises(UsageError, match="was not interrupted, so there is nothing to continue"):
        stored(check(world, world.open(fakes(world))[0]))
