"""The figures in docs/how-it-decides.md against the code that they describe."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

from benchgate.config import loads
from benchgate.config.resolved import LEAST_TAIL_SAMPLES
from benchgate.gate import waves
from benchgate.gate.single_runs import prediction_reach
from benchgate.gate.waves import LOOKING_LONGER_SHARE, LOOKING_SHARE, unspent_families
from benchgate.stats.differences import least_launches
from benchgate.units import format_percent

TEXT = (Path(__file__).parents[2] / "docs" / "how-it-decides.md").read_text(encoding="utf-8")
CONFIG = loads("", "benchgate.toml")


def table(mark: str) -> list[list[str]]:
    """The rows of a marked table, without its head."""
    block = TEXT.split(f"<!-- {mark} -->\n")[1].split("<!-- end -->")[0]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in block.splitlines()[2:]]


def test_the_constants() -> None:
    assert [float(row[1]) for row in table("constants")] == [
        waves.LOOKS,
        waves.TESTS,
        waves.SUSPECT_P,
        waves.SUSPECT_TAIL_P,
        waves.SUSPECT_MARGIN_SHARE,
        waves._SPARE_ROUNDS,  # noqa: SLF001 - the page tells what only the procedure needs to know
        LEAST_TAIL_SAMPLES["p95"],
    ]


def test_the_rounds_to_confirm() -> None:
    measure = CONFIG.measure
    settings = waves.WaveSettings(
        alpha=CONFIG.gate.alpha,
        screen_rounds=measure.screen_rounds,
        confirm_rounds=measure.confirm_rounds,
        max_rounds=measure.max_rounds,
    )
    for suspects, rounds in table("rounds to confirm"):
        for wave in range(waves.LOOKS):
            found = waves.rounds_to_confirm(int(suspects), settings.look(wave), settings)
            assert found == int(rounds)


def test_what_limits_the_rounds_to_confirm() -> None:
    default = waves.WaveSettings.of(CONFIG)
    look = default.look(1)
    fewer = waves.rounds_to_confirm(1, look, replace(default, confirm_rounds=1))
    assert fewer == waves.rounds_to_confirm(1, look, default)
    least = waves.rounds_to_confirm(1, look, replace(default, max_rounds=17))
    assert "With `max_rounds = 17`, for example" in TEXT
    assert f"is measured in {look} + {least} = {look + least} rounds." in " ".join(TEXT.split())


def test_what_the_test_on_all_rounds_may_spend() -> None:
    settings = waves.WaveSettings.of(CONFIG)
    words = {4: "all", 3: "three quarters", 2: "a half", 1: "a quarter", 0: "none"}
    spans: dict[str, list[int]] = {}
    for rounds in range(1, 31):
        spans.setdefault(words[unspent_families(rounds, settings)], []).append(rounds)
    told = {share: rounds for rounds, share in table("unspent")}
    assert told == {
        share: f"up to {span[-1]}"
        if span[0] == 1
        else f"{span[0]} and more"
        if span[-1] == 30
        else f"{span[0]} to {span[-1]}"
        for share, span in spans.items()
    }


def test_the_least_rounds_of_the_test_on_all_rounds() -> None:
    for rows, rounds in table("least rounds"):
        level = CONFIG.gate.alpha / int(rows) / 2
        assert least_launches(level, "mann-whitney") == int(rounds)
        of_one_more = CONFIG.gate.alpha / (int(rows) + 1) / 2
        assert least_launches(of_one_more, "mann-whitney") == int(rounds) + 1


def test_the_late_looks() -> None:
    *most, last = map(str, waves.LATE_LOOKS)
    text = re.sub(r"\s+", " ", TEXT)
    assert f"after {', '.join(most)} and {last} rounds" in text
    assert f"not before {most[0]} rounds, when even {last} would not" in text
    assert (len(waves.LATE_LOOKS), waves.LOOKS * waves.TESTS) == (5, 4)
    assert "five *late looks*" in text
    assert "each of the nine spends a ninth of alpha" in text
    assert (LOOKING_LONGER_SHARE, LOOKING_SHARE) == (1 / 8, 2 / 3)
    assert "each look may err with two thirds of what `confidence` leaves" in text
    assert "an eighth of what `confidence` leaves, instead of two thirds" in text


def test_the_floors_of_stored_runs() -> None:
    for spread, *floors in table("floors"):
        tau = float(spread.removesuffix(" %")) / 100
        reaches = [prediction_reach(tau, runs, CONFIG.gate.alpha / 10) for runs in (10, 20, 30)]
        assert floors == [format_percent(math.expm1(reach)) for reach in reaches]


def test_the_defaults_that_it_names() -> None:
    gate, measure = CONFIG.gate, CONFIG.measure
    assert (measure.samples, measure.launch_time_s, measure.warmup) == (45, 0.015, 3)
    assert (measure.screen_rounds, measure.max_rounds, measure.executions) == (5, 30, 6)
    assert (gate.alpha, gate.confidence, gate.statistics) == (0.01, 0.95, ("p25", "p95"))
    assert f"any test needs (2^-n <= alpha: {least_launches(gate.alpha, 'wilcoxon')})" in re.sub(
        r"\s+", " ", TEXT
    )
