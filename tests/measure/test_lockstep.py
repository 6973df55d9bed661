from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any

import pytest

from benchgate.measure.contract.sharing_a_cpu import OF_SEVERAL
from benchgate.measure.functions.sample_plan import (
    SamplePlan,
    Work,
    make_plan,
    shared_loops,
    target_interval_ns,
)
from benchgate.measure.functions.samples import take_samples, warm_up_until_settled
from benchgate.model.notes import OF_ONE_THREAD

if TYPE_CHECKING:
    from collections.abc import Callable

MS = 1_000_000
LAUNCH_NS = 50 * MS


@dataclass
class FakePlayer:
    """Notes its name when a sample begins; its samples follow from their number."""

    name: str
    log: list[str]
    wall_ns: Callable[[int], int] = lambda _: 1000
    taken: int = field(default=0)

    def begin_sample(self) -> None:
        self.log.append(self.name)
        self.taken += 1

    def end_sample(self) -> tuple[int, int]:
        self.log.append(f"{self.name} ends")
        return self.wall_ns(self.taken), self.taken


def rng(seed: int = 1) -> random.Random:
    return random.Random(seed)  # noqa: S311 - repeatable on purpose


@pytest.mark.parametrize(
    ("timer_cost_ns", "launch_ns", "samples", "expected_ns"),
    [
        (50, LAUNCH_NS, 45, 1_111_111),
        (50, LAUNCH_NS, 50_000, 5_000),
        (20_000, LAUNCH_NS, 45, 2_000_000),
    ],
)
def test_a_sample_is_a_hundred_times_the_timers_cost(
    timer_cost_ns: int, launch_ns: int, samples: int, expected_ns: int
) -> None:
    assert target_interval_ns(timer_cost_ns, launch_ns, samples) == expected_ns


@pytest.mark.parametrize(
    ("calibrated", "loops"),
    [
        ([(7, 1_100_000)], 7),
        ([(7, 1_100_000), (8, 1_100_000)], 8),
        # The head is eight times faster: the base's samples take eight times longer.
        ([(10, 1_100_000), (80, 1_100_000)], 80),
        # From ten times on, they take no longer.
        ([(10, 1_000_000), (1000, 1_100_000)], 100),
        # A call of the base takes longer than ten samples should: one call is a sample.
        ([(1, 3_700_000), (16_000, 1_100_000)], 2),
        ([(16_000, 1_100_000), (1, 12_000_000)], 1),
    ],
)
def test_the_faster_arm_sets_the_loops_unless_the_other_would_take_forever(
    calibrated: list[tuple[int, int]], loops: int
) -> None:
    assert shared_loops(calibrated, target_ns=1_000_000) == loops


def plan_of(
    loops: int,
    *samples_ns: int,
    launch_ns: int = LAUNCH_NS,
    warmup: int | None = 3,
    beside_ns: int = 0,
    start_ns: int = 0,
    **like: bool,
) -> SamplePlan:
    return make_plan(
        Work(loops, samples_ns, beside_ns, **like),
        timer_cost_ns=50,
        launch_ns=launch_ns,
        start_ns=start_ns,
        samples=45,
        warmup=warmup,
    )


@pytest.mark.parametrize(
    ("loops", "sample_ns", "samples", "warmup"),
    [
        (1000, 1_200_000, 45, 3),
        # Four times the launch's time is spent to keep the samples that the tail needs.
        (1, 4_400_000, 45, 3),
        (1, 6_000_000, 33, 3),
        (1, 60_000_000, 3, 3),
        (1, 330_000_000, 3, 3),
        (1, 340_000_000, 1, 1),
        (1, 9_000_000_000, 1, 1),
    ],
)
def test_slow_work_gets_fewer_samples(
    loops: int, sample_ns: int, samples: int, warmup: int
) -> None:
    plan = plan_of(loops, sample_ns, sample_ns)
    assert (plan.loops, plan.samples, plan.warmup) == (loops, samples, warmup)
    assert not plan.together


@pytest.mark.parametrize(
    ("sample_ns", "loops", "samples", "warmup"),
    [
        (3 * MS, 8, 5, 1),
        (11 * MS, 2, 5, 1),
        (20 * MS, 1, 6, 1),
        (50 * MS, 1, 2, 1),
        (90 * MS, 1, 1, 1),
        (9000 * MS, 1, 1, 1),
    ],
)
def test_slow_work_that_only_computes_takes_few_long_samples_in_both_arms_at_the_same_time(
    sample_ns: int, loops: int, samples: int, warmup: int
) -> None:
    slow: Any = {"launch_ns": 15 * MS, "warmup": None, "only_computes": True}
    plan = plan_of(1, sample_ns, sample_ns + 1, **slow)
    assert plan == SamplePlan(loops, samples, warmup, (OF_ONE_THREAD,), together=True)
    warm = plan_of(1, sample_ns, sample_ns, is_warm=True, **slow)
    assert warm.warmup == (0 if samples == 1 else 1)
    several = plan_of(1, sample_ns, sample_ns, is_several=True, **slow)
    assert several.of_cpu
    assert several.notes == (OF_SEVERAL,)
    assert plan_of(7, sample_ns, sample_ns, has_number=True, **slow).loops == 7


@pytest.mark.parametrize(
    ("start_ms", "samples"), [(0, 20), (60, 20), (100, 33), (9000, 45)], ids=str
)
def test_a_launch_that_was_slow_to_start_takes_more_samples(start_ms: int, samples: int) -> None:
    plan = plan_of(1, 3 * MS, 3 * MS, launch_ns=15 * MS, start_ns=start_ms * MS)
    assert plan.samples == samples
    slow = plan_of(1, 100 * MS, 100 * MS, launch_ns=15 * MS, start_ns=start_ms * MS)
    assert slow.samples == 3, "never more than 20 times the launch's time"


def test_fast_work_and_work_that_waits_take_samples() -> None:
    assert not plan_of(1, 2_999_999, 99 * MS, only_computes=True).together
    assert not plan_of(1, 9000 * MS, 9000 * MS).together


def test_what_is_not_timed_leaves_time_for_fewer_samples() -> None:
    def samples_beside(beside_ns: int, sample_ns: int = 100_000, **like: bool) -> int:
        return plan_of(1, sample_ns, launch_ns=15 * MS, beside_ns=beside_ns, **like).samples

    assert [samples_beside(each) for each in (0, 2_900_000, 50_000_000)] == [45, 20, 3]
    assert samples_beside(1_000_000_000) == 1
    assert samples_beside(20 * MS, 20 * MS, only_computes=True) == 3


def test_a_single_sample_needs_no_warm_up_where_first_calls_are_as_fast() -> None:
    def warmup_of(sample_ns: int, warmup: int | None) -> int | None:
        plan = plan_of(1, sample_ns, warmup=warmup, is_warm=True)
        assert plan.notes == ()
        return plan.warmup

    assert warmup_of(9_000_000_000, 3) == 0
    assert warmup_of(9_000_000_000, None) == 0
    assert warmup_of(330_000_000, 3) == 3  # of three samples


def test_a_sample_that_is_too_short_for_the_timer_is_noted() -> None:
    assert plan_of(1, 4_999).notes == (
        "reading the clock costs 50 ns, 1.0 % of a sample of 4999 ns: raise `number`",
    )
    assert plan_of(1, 5_000).notes == ()


@pytest.mark.parametrize(
    ("is_limited", "advice"),
    [(False, "raise `number`"), (True, "the other side is too slow for more calls in a sample")],
)
def test_the_shortest_sample_of_an_arm_is_noted(advice: str, *, is_limited: bool) -> None:
    plan = plan_of(1, 1_000, 6_000_000, is_limited=is_limited)
    note = f"reading the clock costs 50 ns, 5.0 % of a sample of 1000 ns: {advice}"
    assert plan == SamplePlan(1, 33, 3, (note,))


def test_of_calls_that_are_timed_one_by_one_each_must_be_long_enough() -> None:
    (note,) = plan_of(10, 40_000, 50_000, times_each=True).notes
    assert note == (
        "reading the clock costs 50 ns, 1.2 % of a sample of 4000 ns: each call is timed by "
        "itself, so let it do more work"
    )


def test_the_warm_up_is_left_open_only_where_it_can_settle() -> None:
    assert plan_of(1, 1_200_000, warmup=0).warmup == 0
    assert plan_of(1, 1_200_000, warmup=None) == SamplePlan(1, 45, None)
    slow = plan_of(1, 40_000_000, warmup=None)
    assert (slow.samples, slow.warmup) == (5, 3)
    assert slow.notes == ("too slow to see whether the warm-up settles: 3 discarded",)
    assert plan_of(1, 10**10, warmup=None) == SamplePlan(1, 1, 1)


def test_players_take_turns_sample_by_sample() -> None:
    log: list[str] = []
    players = [FakePlayer("a", log, lambda n: n), FakePlayer("b", log, lambda n: 10 * n)]
    first, second = take_samples(players, 400, rng())
    assert first == [(n, n) for n in range(1, 401)]
    assert second == [(10 * n, n) for n in range(1, 401)]
    assert log[1::2] == [f"{name} ends" for name in log[::2]]
    pairs = list(zip(log[::4], log[2::4], strict=True))
    assert {frozenset(pair) for pair in pairs} == {frozenset("ab")}
    # Which goes first is drawn anew each time: about half, and not in turn.
    assert 160 < pairs.count(("a", "b")) < 240
    assert 160 < sum(one != other for one, other in pairwise(pairs)) < 240


def test_the_order_of_turns_follows_from_the_seed() -> None:
    def order(seed: int) -> list[str]:
        log: list[str] = []
        take_samples([FakePlayer("a", log), FakePlayer("b", log)], 20, rng(seed))
        return log

    assert order(1) == order(1)
    assert order(1) != order(2)


def test_one_player_plays_alone() -> None:
    assert take_samples([FakePlayer("a", [])], 3, rng()) == [[(1000, 1), (1000, 2), (1000, 3)]]
    assert take_samples([FakePlayer("a", [])], 0, rng()) == [[]]


@pytest.mark.parametrize(
    ("first", "second", "samples", "settled"),
    [
        (lambda _: 1000, lambda _: 1000, 10, True),
        # Slow at first, on one side only: both discard as many.
        (lambda n: 9000 if n <= 5 else 1000, lambda _: 1000, 15, True),
        (lambda _: 1000, lambda n: max(1000, 9000 - 400 * n), 29, True),
        # A steady ramp of 1 % a step has little scatter, and has not settled.
        (lambda n: round(100_000 * 1.01**n), lambda _: 1000, 60, False),
        (lambda n: 1000 * (1 + n % 2), lambda _: 1000, 60, False),
    ],
)
def test_the_warm_up_lasts_until_all_have_settled(
    first: Callable[[int], int], second: Callable[[int], int], samples: int, *, settled: bool
) -> None:
    players = [FakePlayer("a", [], first), FakePlayer("b", [], second)]
    discarded, has_settled = warm_up_until_settled(players, rng())
    assert has_settled is settled
    assert [len(each) for each in discarded] == [samples, samples]


def test_players_that_play_together_all_begin_before_one_has_ended() -> None:
    log: list[str] = []
    players = [FakePlayer("a", log), FakePlayer("b", log)]
    first, second = take_samples(players, 100, rng(), together=True)
    assert first == second == [(1000, n) for n in range(1, 101)]
    groups = {tuple(log[index : index + 4]) for index in range(0, 400, 4)}
    assert groups == {("a", "b", "a ends", "b ends"), ("b", "a", "b ends", "a ends")}


def test_a_failing_player_stops_the_turns() -> None:
    numbers = count()

    def fail_late(_: int) -> int:
        if next(numbers) == 5:
            raise RuntimeError
        return 1

    other = FakePlayer("b", [])
    with pytest.raises(RuntimeError):
        take_samples([FakePlayer("a", [], fail_late), other], 100, rng())
    assert other.taken in {5, 6}
