"""The figures in docs/how-it-decides.md against the code that they describe."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

from benchgate.config import loads
from benchgate.config.resolved import LEAST_TAIL_SAMPLES
from benchgate.gate import suspects, waves
from benchgate.gate.single_runs import prediction_reach
from benchgate.gate.wave_findings import LOOKING_LONGER_SHARE, LOOKING_SHARE
from benchgate.gate.waves import unspent_families
from benchgate.stats.detectable import least_launches
from benchgate.units import format_percent

TEXT = " ".join(
    (Path(__file__).parents[2] / "docs" / "how-it-decides.md").read_text(encoding="utf-8").split()
)
CONFIG = loads("", "benchgate.toml")


def test_the_constants() -> None:
    assert waves.LOOKS == waves.TESTS == 2
    assert "Two waves of two tests and the [late look](#the-late-look) make five" in TEXT
    assert f"at most {suspects.MOST_P} (for a tail {suspects.MOST_TAIL_P})" in TEXT
    assert suspects.MARGIN_SHARE == 0.5
    assert "the estimated change is beyond half the margin" in TEXT
    assert f"L + {waves._SPARE_ROUNDS})" in TEXT  # noqa: SLF001 - only the procedure needs it
    assert [LEAST_TAIL_SAMPLES[name] for name in ("p95", "max", "p99", "p99.9")] == [
        *(40, 40, 200, 2000)
    ]
    assert (
        "p95 and max need 40 samples in every launch, p99 needs 200, and p99.9 needs 2000" in TEXT
    )


def test_the_rounds_to_confirm() -> None:
    settings = waves.WaveSettings.of(CONFIG)
    told = TEXT.partition("With the defaults, n is ")[2].partition(".")[0]
    pairs = re.findall(r"(\d+) for (\d+) suspect", told)
    assert len(pairs) == 3
    for rounds, count in pairs:
        for wave in range(waves.LOOKS):
            found = waves.rounds_to_confirm(int(count), settings.look(wave), settings)
            assert found == int(rounds)


def test_what_limits_the_rounds_to_confirm() -> None:
    default = waves.WaveSettings.of(CONFIG)
    look = default.look(1)
    fewer = waves.rounds_to_confirm(1, look, replace(default, confirm_rounds=1))
    assert fewer == waves.rounds_to_confirm(1, look, default)
    least = waves.rounds_to_confirm(1, look, replace(default, max_rounds=1))
    assert 2**-least <= CONFIG.gate.alpha / 5 < 2 ** (1 - least)
    assert "`confirm_rounds` only raises the number, and `max_rounds` takes away none of the L" in (
        TEXT
    )


def test_what_the_test_on_all_rounds_may_spend() -> None:
    settings = waves.WaveSettings.of(CONFIG)
    shares = ("none", "a fifth", "two fifths", "three fifths", "four fifths", "all of alpha")
    last: dict[str, int] = {}
    for rounds in range(1, 61):
        last[shares[unspent_families(rounds, settings)]] = rounds
    assert tuple(last) == shares[::-1]
    *most, fifth = (f"{share} up to {rounds}" for share, rounds in list(last.items())[:-1])
    assert f"{', '.join(most)}, and {fifth}.".replace("13,", "13 rounds,") in TEXT


def test_the_least_rounds_of_the_test_on_all_rounds() -> None:
    told = TEXT.partition("With all of alpha, it needs ")[2].partition(".")[0]
    pairs = re.findall(r"(\d+) rounds for (\d+) row", told)
    assert len(pairs) == 3
    for rounds, rows in pairs:
        level = CONFIG.gate.alpha / int(rows) / 2
        assert least_launches(level, "mann-whitney") == int(rounds)
        of_one_more = CONFIG.gate.alpha / (int(rows) + 1) / 2
        assert least_launches(of_one_more, "mann-whitney") == int(rounds) + 1


def test_the_late_looks() -> None:
    *most, last = map(str, waves.LATE_LOOKS)
    assert f"after {', '.join(most)} and {last} rounds" in TEXT
    assert f"not before {most[0]} rounds, when even {last} would not" in TEXT
    assert (len(waves.LATE_LOOKS), waves.LOOKS * waves.TESTS) == (5, 4)
    assert "Each of these five is a family" in TEXT
    assert "each of the nine spends a ninth of alpha" in TEXT
    assert (LOOKING_LONGER_SHARE, LOOKING_SHARE) == (1 / 8, 2 / 3)
    assert "each look may err with two thirds of what `confidence` leaves" in TEXT
    assert "an eighth of what `confidence` leaves, instead of two thirds" in TEXT


def test_the_floors_of_stored_runs() -> None:
    ten, thirty = (
        format_percent(math.expm1(prediction_reach(0.01, runs, CONFIG.gate.alpha / 10)))
        for runs in (10, 30)
    )
    assert "of 10 rows whose runs differ by 1 %," in TEXT
    assert f"it is {ten} for 10 runs and {thirty} for 30 runs." in TEXT


def test_the_defaults_that_it_names() -> None:
    gate, measure = CONFIG.gate, CONFIG.measure
    assert (measure.samples, measure.launch_time_s, measure.warmup) == (45, 0.015, 3)
    assert (measure.screen_rounds, measure.max_rounds, measure.executions) == (5, 30, 6)
    assert (gate.alpha, gate.confidence, gate.statistics) == (0.01, 0.95, ("p25", "p95"))
    assert f"any test needs (2^-n <= alpha: {least_launches(gate.alpha, 'wilcoxon')})" in TEXT
