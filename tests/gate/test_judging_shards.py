"""The verdict on a suite that several machines measured."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import binom
from tests.results import of_benchmarks, of_series, series_of

from benchgate.config import loads
from benchgate.gate.judging import judge_runs
from benchgate.gate.stored import EarlierResult, StoredResults
from benchgate.gate.verdict import judge
from benchgate.model.environment import Environment
from benchgate.model.policy import Outcome
from benchgate.model.result import Result, Shard, join
from benchgate.model.run import CANARY_ID, Run, Source
from benchgate.model.verdict import Decision, Reason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.arrays import FloatArray

CONFIG = loads('[gate]\nstatistics = ["p25"]\n', "benchgate.toml")
SUITE = ("a", "b", "c", "d")
ROUNDS = 29


def arm(values: Mapping[str, FloatArray], screen_rounds: int = 5) -> Run:
    """A run of benchmarks with one sample in each launch."""
    benchmarks = (of_series(id_, series_of(of_one)) for id_, of_one in values.items())
    return of_benchmarks(*benchmarks, source=Source("a" * 40), screen_rounds=screen_rounds)


def noise(rng: np.random.Generator, ids: Sequence[str]) -> dict[str, FloatArray]:
    return {id_: np.exp(0.002 * rng.standard_normal(ROUNDS)) for id_ in ids}


def shard(
    number: int,
    changes: Mapping[str, float] | None = None,
    suite: Sequence[str] = SUITE,
    count: int = 2,
) -> Result:
    """A part of a suite, with a canary; the head of some benchmarks is changed."""
    rng = np.random.default_rng(number)
    own = (*suite[number - 1 :: count], CANARY_ID)
    head = noise(rng, own)
    for id_, change in (changes or {}).items():
        if id_ in head:
            head[id_] *= 1 + change
    base = replace(arm(noise(rng, own)), source=Source("b" * 40))
    return Result(arm(head), base, duration_s=1.0, shard=Shard(number, count, tuple(suite)))


def joined(*parts: Result) -> Result:
    return join((str(index), part) for index, part in enumerate(parts))


def test_each_row_is_what_its_own_shard_made_of_it() -> None:
    parts = [shard(number, {"b": 0.1, "c": -0.1}) for number in (1, 2)]
    verdict = judge(joined(*parts), CONFIG)
    assert (verdict.decision, verdict.exit_code) == (Decision.FAIL, 3)
    assert {row.benchmark: row.outcome for row in verdict.rows} == {
        "a": Outcome.UNCHANGED,
        "b": Outcome.REGRESSED,
        "c": Outcome.IMPROVED,
        "d": Outcome.UNCHANGED,
    }
    of_parts = [row for part in parts for row in judge_runs(part, CONFIG).judgment.rows]
    assert set(verdict.rows) == set(of_parts)
    assert verdict.settings.correction == "holm, bonferroni over 2 shards"
    assert verdict.settings.alpha == CONFIG.gate.alpha
    assert verdict.settings.min_compared == len(SUITE)
    assert (verdict.rounds, verdict.duration_s, verdict.warnings) == (ROUNDS, 2.0, ())


def test_a_part_says_so() -> None:
    verdict = judge(shard(2, {"b": 0.1}), CONFIG)
    assert (verdict.decision, verdict.exit_code) == (Decision.FAIL, 3)
    assert verdict.settings.correction == "holm, bonferroni over 2 shards"
    (warning,) = verdict.warnings
    assert warning.startswith("shard 2 of 2: 2 of 4 benchmarks; `benchgate merge` joins")


def test_a_shard_without_benchmarks_fails_nothing_and_passes_nothing() -> None:
    empty = shard(5, count=5)
    verdict = judge(empty, CONFIG)
    assert (verdict.decision, verdict.exit_code) == (Decision.NO_VERDICT, 0)
    assert verdict.warnings[0].startswith("shard 5 of 5: 0 of 4 benchmarks")
    whole = joined(empty, *(shard(number, count=5) for number in range(1, 5)))
    verdict = judge(whole, CONFIG)
    assert verdict.decision is Decision.PASS
    assert len(verdict.rows) == len(SUITE)


@pytest.mark.parametrize(
    ("wanted", "of_part", "of_whole"),
    [
        ('"all"', (Decision.PASS, 0), (Decision.PASS, 0)),
        ("4", (Decision.PASS, 0), (Decision.PASS, 0)),
        ("5", (Decision.PASS, 0), (Decision.NO_VERDICT, 4)),
    ],
)
def test_a_number_to_be_compared_is_one_of_the_whole_suite(
    wanted: str, of_part: tuple[Decision, int], of_whole: tuple[Decision, int]
) -> None:
    config = loads(f'[gate]\nstatistics = ["p25"]\nmin_compared = {wanted}', "x")
    parts = [shard(1), shard(2)]
    for result, expected in ((parts[0], of_part), (joined(*parts), of_whole)):
        verdict = judge(result, config)
        assert (verdict.decision, verdict.exit_code) == expected


def test_a_canary_judges_the_shard_that_it_was_measured_in() -> None:
    slower = {"a": 0.1, "b": 0.1}
    parts = [shard(1, slower), shard(2, slower | {CANARY_ID: 0.1})]
    verdict = judge(joined(*parts), CONFIG)
    outcomes = {row.benchmark: row.outcome for row in verdict.rows}
    assert (outcomes["a"], outcomes["b"]) == (Outcome.REGRESSED, Outcome.INCONCLUSIVE)
    (warning,) = verdict.warnings
    assert warning.startswith("shard 2: the canary")
    parts[0] = shard(1)
    verdict = judge(joined(*parts), CONFIG)
    assert (verdict.decision, verdict.exit_code) == (Decision.NO_VERDICT, 4)


def stored(*results: Result) -> StoredResults:
    return StoredResults(
        "file", tuple(EarlierResult(f"{i}.json", one) for i, one in enumerate(results))
    )


def test_a_part_is_held_against_its_part_of_a_stored_result() -> None:
    whole, part = joined(shard(1), shard(2)), shard(2, {"b": 0.1})
    earlier = replace(whole, head=replace(whole.head, source=Source("c" * 40)), shards=())
    verdict = judge(part, CONFIG, stored(earlier))
    assert {row.benchmark: row.outcome for row in verdict.rows} == {
        "b": Outcome.REGRESSED,
        "d": Outcome.UNCHANGED,
    }
    assert verdict.settings.correction == "holm, bonferroni over 2 shards"
    assert verdict.settings.min_compared == 2
    assert verdict.warnings[0].startswith("shard 2 of 2: 2 of 4 benchmarks")
    first = judge(part, CONFIG, stored())
    assert {row.outcome for row in first.rows} == {Outcome.NEW}
    assert (first.decision, first.exit_code) == (Decision.NO_VERDICT, 0)
    assert first.warnings[0].startswith("shard 2 of 2: 2 of 4 benchmarks")


@pytest.mark.parametrize("cpu", ["one", "another"])
def test_stored_results_of_machines_that_differ_are_not_compared(cpu: str) -> None:
    parts = [
        replace(part, head=replace(part.head, environment=Environment(cpu_model=name)))
        for part, name in ((shard(1), "one"), (shard(2, {"b": 0.1}), cpu))
    ]
    whole = joined(*parts)
    earlier = replace(whole, head=replace(whole.head, source=Source("c" * 40)))
    twelve = [
        replace(earlier, head=replace(earlier.head, started=f"2025-12-{day:02}T00:00:00Z"))
        for day in range(1, 13)
    ]
    verdict = judge(whole, CONFIG, stored(*twelve))
    assert verdict.settings.correction == "holm"
    assert not any(row.advisory for row in verdict.rows)
    differ = cpu != "one"
    assert {row.outcome is Outcome.INCOMPARABLE for row in verdict.rows} == {differ}
    assert verdict.exit_code == (4 if differ else 0)
    unlike = "the parts of one of them ran on machines that differ"
    assert any(unlike in warning for warning in verdict.warnings) == differ


@pytest.mark.parametrize(("screen_rounds", "shards", "own"), [(5, 16, 4), (0, 6, 1)])
def test_all_shards_together_keep_to_alpha(screen_rounds: int, shards: int, own: int) -> None:
    config = loads('[gate]\nalpha = 0.2\nmargin = "0.01%"\nstatistics = ["p25"]', "x")
    changed = {Outcome.REGRESSED, Outcome.IMPROVED}
    rng = np.random.default_rng(5)
    suite = tuple(f"b{i}" for i in range(shards * own))
    builds, alarms, without_shares = 30, 0, 0
    for _ in range(builds):
        parts = []
        for number in range(1, shards + 1):
            ids = suite[number - 1 :: shards]
            head, base = (arm(noise(rng, ids), screen_rounds) for _ in "hb")
            parts.append(Result(head, base, shard=Shard(number, shards, suite)))
        rows = judge_runs(joined(*parts), config).judgment.rows
        alarms += any(row.outcome in changed for row in rows)
        as_suites = [judge_runs(replace(part, shard=None), config) for part in parts]
        rows = tuple(row for one in as_suites for row in one.judgment.rows)
        without_shares += any(row.outcome in changed for row in rows)
    # A rate of alpha gives more in one of a thousand simulations; each shard at alpha does.
    limit = binom.ppf(0.999, builds, config.gate.alpha)
    assert alarms <= limit < without_shares


def test_one_interrupted_shard_keeps_the_suite_from_a_pass() -> None:
    parts = [shard(number) for number in (1, 2)]
    parts[1] = replace(parts[1], head=replace(parts[1].head, complete=False))
    for result in (parts[1], joined(*parts)):
        verdict = judge(result, CONFIG)
        assert {row.outcome for row in verdict.rows} == {Outcome.UNCHANGED}
        assert (verdict.decision, verdict.exit_code) == (Decision.NO_VERDICT, 4)
        assert verdict.reason is Reason.INTERRUPTED
