from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gate.arms import bench
from tests.results import series_of

from benchgate.config import loads
from benchgate.gate.sensitivity import Procedure, sensitivities
from benchgate.gate.suite import gather_rows
from benchgate.model.environment import Environment
from benchgate.model.metrics import CPU_TIME, INSTRUCTIONS
from benchgate.model.run import Run, Source, Tier
from benchgate.stats.detectable import detectable_ratio
from benchgate.stats.signed_rank import paired_shift
from benchgate.stats.spread import robust_spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray
    from benchgate.model.run import Series
    from benchgate.model.self_check_findings import Sensitivity

DEFAULT = Procedure(rounds=12, level=0.002, confidence=1 - (1 - 0.95) * 2 / 3, limit=30)


def noise(spread: float, n: int = 30, seed: int = 1) -> FloatArray:
    return np.exp(np.random.default_rng(seed).normal(0, spread, n))


def found(
    toml: str = "",
    *,
    samples: int = 45,
    more: tuple[Sequence[Series], Sequence[Series]] = ((), ()),
    **heads: FloatArray,
) -> list[Sensitivity]:
    """Judge benchmarks of one metric or more by the head's values; the base is 1."""
    arms = []
    bases = {id_: np.ones(len(x)) for id_, x in heads.items()}
    for of_arm, others in zip((bases, heads), more, strict=True):
        made = [bench(id_, x.tolist(), samples=samples) for id_, x in of_arm.items()]
        arms.append(tuple(replace(b, series=(*b.series, *others)) for b in made))
    runs = [Run(Source(), "", Environment(), arm) for arm in arms]
    config = loads(toml, "test.toml")
    evidences = gather_rows(runs[0], runs[1], config, paired=True)[1]
    return sensitivities(evidences, Procedure.of(config, len(evidences), None))


class TestProcedure:
    def test_of_the_screen(self) -> None:
        assert Procedure.of(loads("", "x"), 20, None) == DEFAULT

    def test_of_fixed_rounds(self) -> None:
        found = Procedure.of(loads("", "x"), 20, 8)
        assert found == Procedure(rounds=8, level=0.00025, confidence=0.95, limit=8)

    def test_what_goes_on_until_it_is_decided_begins_like_any_check(self) -> None:
        assert Procedure.of(loads("[measure]\nuntil_decided = true", "x"), 20, None) == DEFAULT

    def test_a_change_has_to_reach_the_margin_to_be_seen(self) -> None:
        spread = np.array([0.004])
        seen = DEFAULT.detectable(spread, 0.02)
        assert seen is not None
        rng = np.random.default_rng(3)
        d = rng.normal(np.log(seen), 0.004, (2000, DEFAULT.rounds))
        assert (paired_shift(d, 0.5).estimate >= np.log1p(0.02)).mean() == pytest.approx(
            0.9, abs=0.03
        )

    def test_its_rounds_are_enough_for_its_least_margin(self) -> None:
        spread = np.array([0.03])
        margin = DEFAULT.least_margin(spread)
        assert margin is not None
        assert DEFAULT.rounds_for(spread, margin) == DEFAULT.limit

    @given(st.floats(1e-4, 0.1), st.floats(0.005, 0.2))
    def test_a_wider_spread_needs_more_and_sees_less(self, spread: float, margin: float) -> None:
        once, twice = np.array([spread]), np.array([2 * spread])
        few, many = DEFAULT.rounds_for(once, margin), DEFAULT.rounds_for(twice, margin)
        assert many is None or (few is not None and few <= many)
        small, large = DEFAULT.detectable(once, margin), DEFAULT.detectable(twice, margin)
        assert large is None or (small is not None and small <= large)

    @pytest.mark.parametrize("spread", [0.015, 0.03])
    def test_its_rounds_show_in_nine_of_ten_cases_that_nothing_changed(self, spread: float) -> None:
        rounds = DEFAULT.rounds_for(np.array([spread]), 0.02)
        assert rounds is not None
        d = np.random.default_rng(2).normal(0, spread, (2000, rounds))
        shift, limit = paired_shift(d, DEFAULT.confidence), np.log1p(0.02)
        inside = ((-limit < shift.low) & (shift.high < limit)).mean()
        assert inside == pytest.approx(0.9, abs=0.03)

    @pytest.mark.parametrize("spread", [0.0, 5e-324, 1e300])
    def test_any_spread_is_answered(self, spread: float) -> None:
        values = np.array([spread])
        answers = [
            DEFAULT.detectable(values, 0.02),
            DEFAULT.rounds_for(values, 0.02),
            DEFAULT.least_margin(values),
        ]
        assert answers == ([None] * 3 if spread > 1 else [1.02, 6, 0.0])

    def test_one_round_shows_nothing(self) -> None:
        single = Procedure(1, 0.01, 0.95, 1)
        assert single.detectable(np.array([0.01]), 0.02) is None
        assert single.least_margin(np.array([0.01])) is None


def test_what_a_benchmark_shows() -> None:
    head = noise(0.01)
    (one,) = found(a=head)
    spread = robust_spread(np.log(head)[None])
    assert (one.benchmark, one.metric, one.margin, one.limit) == ("a", "time", 0.02, 30)
    assert one.pair_spread == pytest.approx(spread[0])
    # The base does not vary at all, the head as the ratios do.
    assert one.launch_spread == pytest.approx(spread[0] / 2)
    beyond = np.exp(1.2816 * spread[0] / np.sqrt(12))
    assert one.detectable is not None
    assert one.detectable == pytest.approx(1.02 * beyond)
    assert one.detectable > detectable_ratio(spread, 12, 0.0025)[0]
    assert one.is_decidable
    assert one.tail
    assert one.tail.obstacle == ""
    assert (one.tail.samples, one.tail.loops) == (45, 1)
    assert one.tail.detectable is not None
    assert one.detectable < one.tail.detectable < 1.06
    assert (one.steadier, one.counted, one.unpinned, one.is_command) == (None, False, "", False)


def test_a_tail_that_should_be_settled_must_be_steady_enough() -> None:
    for toml, settles in (("", False), ('gate.settle = ["p25", "p95"]', True)):
        quiet, wide = sorted(
            found(
                f'{toml}\ngate.margin = "20%"\ngate.tail_margin = "1%"',
                a=noise(0.001),
                b=noise(0.05),
            ),
            key=lambda row: row.benchmark,
        )
        assert quiet.open_tail is None
        assert wide.is_decidable
        assert (wide.open_tail is not None) is settles
        assert wide.tail is not None
        assert wide.tail.rounds is not None
        assert wide.tail.rounds > wide.limit


def test_the_noisiest_come_first_and_those_that_are_too_noisy_before_all() -> None:
    rows = found(
        '[[rule]]\nbenchmark = "wide"\nmargin = "50%"\n',
        quiet=noise(0.001),
        usual=noise(0.02),
        wide=noise(0.1),
        noisy=noise(0.06),
        hopeless=noise(0.5),
    )
    assert [row.benchmark for row in rows] == ["hopeless", "noisy", "usual", "wide", "quiet"]
    assert [row.is_decidable for row in rows] == [False, False, True, True, True]
    assert rows[0].rounds is None


def test_a_tail_that_was_not_tested_says_why() -> None:
    (one,) = found(samples=5, a=noise(0.01) * 0.002)
    assert one.tail
    assert one.tail.obstacle == "tail not tested: needs 40 samples per launch"
    assert (one.tail.samples, one.tail.detectable) == (5, None)
    assert one.tail.sample_s == pytest.approx(0.5, rel=0.01)  # the base's, too


def test_without_a_tail_there_is_none() -> None:
    (one,) = found('[gate]\nstatistics = ["median"]', a=noise(0.01))
    assert one.tail is None


def test_a_tail_alone_is_judged_by_its_own_margin() -> None:
    (one,) = found('[gate]\nstatistics = ["p95"]', a=noise(0.01))
    assert one.margin == 0.05
    assert one.tail


@pytest.mark.parametrize(("share", "is_steadier"), [(0.49, True), (0.51, False)])
def test_a_metric_that_is_much_steadier(share: float, *, is_steadier: bool) -> None:
    head = noise(0.05)
    sides = (np.full(30, 0.3), 0.3 * head**share)
    cpu = [[series_of(x.tolist(), metric=CPU_TIME, samples=45)] for x in sides]
    (one,) = found(a=head, more=(cpu[0], cpu[1]))
    assert bool(one.steadier) is is_steadier
    if one.steadier:
        assert one.steadier.metric == "cpu_time"
        assert one.steadier.pair_spread == pytest.approx(share * one.pair_spread)
        assert one.steadier.rounds
        assert one.rounds
        assert one.steadier.rounds < one.rounds
        assert one.steadier.share == pytest.approx(0.3, rel=0.05)


def test_what_is_known_of_it_besides() -> None:
    counted = series_of([100.0] * 30, metric=INSTRUCTIONS)
    (one,) = found(a=noise(0.01), more=([counted], [counted]))
    assert one.counted


def test_notes_and_tier_of_the_head() -> None:
    base = bench("a", np.ones(30).tolist(), samples=45)
    notes = ("note", "not pinned: pin = false in [measure]")
    head = replace(bench("a", noise(0.01).tolist(), samples=45), tier=Tier.INTERLEAVED, notes=notes)
    runs = [Run(Source(), "", Environment(), (arm,)) for arm in (base, head)]
    evidences = gather_rows(runs[0], runs[1], loads("", "x"), paired=True)[1]
    (one,) = sensitivities(evidences, DEFAULT)
    assert (one.unpinned, one.is_command) == ("pin = false in [measure]", True)


@pytest.mark.parametrize("head", [np.ones(1), np.zeros(9)])
def test_too_little_says_nothing(head: FloatArray) -> None:
    assert found(a=head) == []
