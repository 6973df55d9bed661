"""Builds made of recorded launches: what they take, and that the gate's own code judges them."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING

import numpy as np
import pytest
from benchmarks.gate.answers import LAUNCH_RULES, ask, ask_rules, launch_p25
from benchmarks.gate.answers_page import ask_all, sections
from benchmarks.gate.independent import (
    against_another_way,
    against_session_before,
    in_any_order,
    in_blocks,
    in_distant_blocks,
    in_shuffled_turns,
    in_turn,
    lockstep,
    rounds_changed,
    session,
    unchanged,
)
from benchmarks.gate.ways import RULED, STORED, TURNS, draw

from benchgate.stats.spread import nearest_rank

if TYPE_CHECKING:
    from benchmarks.gate.independent import Arrangement
    from benchmarks.gate.ways import Way

    from benchgate.arrays import FloatArray

WAYS = (*STORED, *TURNS, *RULED)
CHANGED = [way for way in WAYS if way.percents]
ARRANGEMENTS = (in_any_order, in_blocks, in_distant_blocks, in_turn, in_shuffled_turns)


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def change_of(samples: FloatArray) -> float:
    """The median over launches of p25, head against base."""
    base, head = np.median(nearest_rank(samples, 0.25), axis=1)
    return float(head / base - 1)


@pytest.mark.parametrize(
    ("name", "shape", "percents"),
    [
        ("aa1", (300, 45), [0]),
        ("inj1", (5, 60, 45), [0, 2, 3, 5, 10]),
        ("lock1", (2, 2, 30, 45), [0, 3]),
    ],
)
def test_a_session_holds_what_it_says(
    name: str, shape: tuple[int, ...], percents: list[int]
) -> None:
    found = session(name)
    assert len(found.samples) == 10
    assert {values.shape for values in found.samples.values()} == {shape}
    assert all(1e-4 < values.min() < values.max() < 1 for values in found.samples.values())
    assert found.about["changes_percent"] == percents
    assert len(found.about["shape"]) == len(shape)


@pytest.mark.parametrize("name", ["aa1", "inj1", "lock1"])
def test_the_samples_in_which_a_process_warms_up_are_left_out(name: str) -> None:
    # Of all 50 the first of sorting takes 40 % longer, and the first of the queries 23 %.
    for values in session(name).samples.values():
        typical = np.median(values, axis=-1, keepdims=True)
        assert np.median(values[..., :1] / typical) < 1.04


@pytest.mark.parametrize("arrange", ARRANGEMENTS)
@pytest.mark.parametrize(("total", "n"), [(300, 12), (60, 30), (2, 1)])
def test_no_launch_is_in_a_build_twice(arrange: Arrangement, total: int, n: int) -> None:
    for seed in range(20):
        chosen = arrange(rng(seed), total, n)
        assert chosen.shape == (2, n)
        assert len(np.unique(chosen)) == 2 * n
        assert chosen.min() >= 0
        assert chosen.max() < total


@pytest.mark.parametrize("seed", range(5))
def test_blocks_follow_each_other(seed: int) -> None:
    assert (np.diff(in_blocks(rng(seed), 300, 12).ravel()) == 1).all()
    base, head = in_distant_blocks(rng(seed), 300, 12)
    assert (np.diff([base, head]) == 1).all()
    assert base.max() < head.min()


@pytest.mark.parametrize("arrange", [in_turn, in_shuffled_turns])
def test_a_round_is_two_neighbours_in_random_order(arrange: Arrangement) -> None:
    base, head = arrange(rng(), 300, 100)
    assert (np.abs(head - base) == 1).all()
    assert 20 < (head > base).sum() < 80


def test_rounds_in_turn_follow_each_other() -> None:
    chosen = in_turn(rng(), 300, 30)
    assert (np.diff(np.sort(chosen.ravel())) == 1).all()
    assert (np.diff(chosen.min(axis=0)) == 2).all()


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_a_seed_draws_a_build_again_and_every_build_is_another(way: Way) -> None:
    (_, first), (_, again), (_, other) = (draw(way, 0, 1, index) for index in (0, 0, 1))
    assert len(first) == 10
    for id_, values in first.items():
        assert values.shape[::2] == (2, 45)
        assert np.array_equal(values, again[id_])
    assert any(not np.array_equal(values, other[id_]) for id_, values in first.items())


@pytest.mark.parametrize("way", CHANGED, ids=lambda way: way.name)
def test_one_benchmark_changes_and_another_one_in_each_build(way: Way) -> None:
    percent = way.percents[-1]
    slower = [draw(way, percent, 1, index)[0] for index in range(10)]
    assert sorted(slower) == sorted(session("aa1").samples)
    name, drawn = draw(way, percent, 1, 4)
    clean = draw(way, 0, 1, 4)[1]
    unlike = {id_ for id_ in drawn if not np.array_equal(drawn[id_], clean[id_])}
    assert unlike == {name}


def test_nothing_changes_where_no_change_was_recorded() -> None:
    with pytest.raises(ValueError, match="directly after"):
        draw(STORED[1], 3, 1, 0)


@pytest.mark.parametrize("percent", [0, 2, 3, 5, 10])
def test_the_head_has_the_change_and_the_base_has_none(percent: int) -> None:
    rounds = rounds_changed(60, rng(), percent).values()
    assert np.median([change_of(x) for x in rounds]) == pytest.approx(percent / 100, abs=0.006)
    later = against_session_before(30, rng(), percent).values()
    assert np.median([change_of(x) for x in later]) == pytest.approx(percent / 100, abs=0.012)


def test_lockstep_pairs_have_the_change_and_are_drawn_again() -> None:
    for percent in (0, 3):
        pairs = lockstep(200, rng(), percent)
        changes = [change_of(x) for x in pairs.values()]
        assert np.median(changes) == pytest.approx(percent / 100, abs=0.004)
        assert len(np.unique(next(iter(pairs.values()))[0], axis=0)) == 30


def test_the_arms_of_unchanged_launches_are_alike_but_not_if_measured_in_another_way() -> None:
    alike = [change_of(x) for x in unchanged(in_any_order, 150, rng()).values()]
    assert np.abs(alike).max() < 0.01
    otherwise = [change_of(x) for x in against_another_way(30, rng()).values()]
    assert np.max(otherwise) > 0.02


@pytest.mark.parametrize("way", STORED, ids=lambda way: way.name)
def test_stored_launches_are_advisory_and_fail_no_build(way: Way) -> None:
    answers = ask(way, 0, 4, seed=1)
    assert not any(answer.fails for answer in answers)
    assert all(len(answer.replayed.build.rows) == 20 for answer in answers)


def test_another_way_of_measuring_looks_like_a_change_of_the_code() -> None:
    answers = ask(STORED[-1], 0, 4, seed=1)
    assert any(answer.replayed.is_false_alarm for answer in answers)


@pytest.mark.parametrize(("way", "percent"), [(TURNS[2], 10), (TURNS[2], 5), (TURNS[4], 3)])
def test_a_change_is_found_where_it_is_and_fails_the_build(way: Way, percent: int) -> None:
    for answer in ask(way, percent, 2, seed=1):
        assert answer.replayed.is_found
        assert not answer.replayed.is_false_alarm
        assert answer.fails
        ratios = [
            row.ratio
            for row in answer.replayed.build.rows
            if row.benchmark == answer.replayed.slower and row.statistic == "p25"
        ]
        assert ratios == [pytest.approx(1 + percent / 100, abs=0.025)]


def test_other_processes_say_the_same() -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        assert ask(TURNS[0], 3, 3, seed=1, pool=pool) == ask(TURNS[0], 3, 3, seed=1)


@pytest.mark.parametrize(
    ("head", "is_slower"), [(1.0, False), (1.015, False), (1.06, True), (0.9, False)]
)
def test_launches_are_compared_against_the_margin(head: float, *, is_slower: bool) -> None:
    base = np.linspace(1, 1.01, 40).reshape(8, 5)
    assert launch_p25(base, head * base) is is_slower


def test_of_a_change_each_rule_is_asked_where_it_is() -> None:
    answers = ask_rules(RULED[2], 10, 3, seed=1)
    assert set(answers) == set(LAUNCH_RULES)
    for builds in answers.values():
        assert all(one.called <= {one.slower} for one in builds)
    assert all(one.is_found for one in answers[list(LAUNCH_RULES)[-1]])


def test_the_tables_have_a_line_for_each_way_and_each_change() -> None:
    said: list[str] = []
    found = ask_all(1, seed=1, processes=1, say=said.append)
    assert len(said) == sum(1 + len(way.percents) for way in WAYS)
    assert all(builds.trials == 1 for builds in found.called.values())
    blocks = sections(found)
    assert [block[:3] for block in blocks[::3]] == ["## "] * 3
    lines = [sum(1 + len(way.percents) for way in ways) for ways in (STORED, TURNS)]
    for table, expected in zip(blocks[2::3], (*lines, len(LAUNCH_RULES)), strict=True):
        cells = [line.count("|") for line in table.splitlines()]
        assert len(cells) == expected + 2
        assert len(set(cells)) == 1
