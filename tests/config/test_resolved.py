from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from benchgate.config import Config, loads
from benchgate.errors import UsageError
from benchgate.model.policy import Options

TEXT = """
[gate]
margin = "3%"
alpha = 0.05

[measure]
budget = "1m"

[baseline]
source = "file"
path = "old.json"
required = true

[[benchmark]]
name = "x"
command = "true"

[[rule]]
benchmark = "x"
tail_margin = "9%"
"""


@pytest.fixture
def config() -> Config:
    return loads(TEXT, "benchgate.toml")


def test_options_replace_what_the_file_says(config: Config) -> None:
    changed = config.with_overrides(
        Options(
            rule="classical",
            alpha=0.02,
            margin="5%",
            fail_on=("regressed", "missing"),
            budget="30s",
            rounds=4,
            seed=7,
        )
    )
    assert (changed.gate.rule, changed.gate.alpha, changed.gate.margin) == ("classical", 0.02, 0.05)
    assert changed.gate.fail_on == ("regressed", "missing")
    measure = changed.measure
    assert (measure.budget_s, measure.rounds, measure.seed) == (30, 4, 7)
    assert changed.benchmarks == config.benchmarks
    assert changed.effective("x").margin == 0.05
    assert changed.effective("x").tail_margin == 0.09


@pytest.mark.parametrize(
    ("text", "options", "limit_s", "rounds", "until_decided"),
    [
        ("", {}, 600, None, False),
        ("", {"until_decided": True}, math.inf, None, True),
        ("", {"until_decided": True, "budget": "2m"}, 120, None, True),
        ('budget = "1m"\nrounds = 9', {"until_decided": True}, math.inf, None, True),
        ("until_decided = true", {}, math.inf, None, True),
        ('until_decided = true\nbudget = "1m"', {}, 60, None, True),
        ('until_decided = true\nbudget = "1m"', {"rounds": 8}, 60, 8, False),
        ('budget = "1m"', {"until_decided": False}, 60, None, False),
    ],
)
def test_going_on_until_all_is_decided(
    text: str, options: dict[str, Any], limit_s: float, rounds: int | None, *, until_decided: bool
) -> None:
    written = loads(f"[measure]\n{text}", "benchgate.toml")
    measure = written.with_overrides(Options(**options)).measure
    assert (measure.limit_s, measure.rounds, measure.until_decided) == (
        limit_s,
        rounds,
        until_decided,
    )


def test_what_is_not_given_stays(config: Config) -> None:
    assert config.with_overrides(Options()) is config
    assert config.with_overrides(Options(fail_on=())) is config
    changed = config.with_overrides(Options(seed=0))
    assert (changed.gate, changed.baseline, changed.measure.seed) == (
        config.gate,
        config.baseline,
        0,
    )


def test_the_configuration_it_came_from_is_not_touched(config: Config) -> None:
    config.with_overrides(Options(margin="9%", against="main"))
    assert (config.gate.margin, config.baseline.source) == (0.03, "file")
    assert config.where("gate.margin") == "benchgate.toml:3: gate.margin"


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("gate.margin", "--margin"),
        ("gate.alpha", "benchgate.toml:4: gate.alpha"),
        ("measure.seed", "--seed"),
        ("measure.budget", "benchgate.toml:7: measure.budget"),
        ("baseline.source", "--against"),
        ("baseline.required", "benchgate.toml:12: baseline.required"),
        ("benchmark[0].name", "benchgate.toml:15: benchmark[0].name"),
        ("benchmark[0].timeout", "benchmark[0].timeout (default)"),
        ("gate.rule", "gate.rule (default)"),
    ],
)
def test_where_a_value_came_from(config: Config, key: str, place: str) -> None:
    changed = config.with_overrides(Options(margin="5%"))
    changed = changed.with_overrides(Options(seed=3, against="main"))
    assert changed.where(key) == place


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": "5"}, '--margin "5": is not a percentage: write it as 2% or 0.5%'),
        ({"margin": "0%"}, '--margin "0%": must be more than 0%'),
        ({"alpha": 2.0}, "--alpha 2.0: must be less than 0.5"),
        (
            {"rule": "lanch"},
            '--rule "lanch": must be "launch" or "classical"; did you mean \'launch\'?',
        ),
        (
            {"fail_on": ["failed", "mising"]},
            '--fail-on "mising": must be "regressed", "improved", "failed"',
        ),
        ({"fail_on": ["failed", "failed"]}, '--fail-on ["failed", "failed"]: \'failed\' is listed'),
        ({"budget": "10"}, '--budget "10": is not a duration'),
        ({"rounds": 0}, "--rounds 0: must be at least 1"),
        ({"seed": -1}, "--seed -1: must be at least 0"),
        (
            {"baseline": "artifact:x"},
            '--baseline "artifact:x": must be auto, artifact, git, git:REF, dir:PATH',
        ),
        ({"baseline": "gti:main"}, "did you mean 'git'?"),
        ({"baseline": "auto:x"}, '--baseline "auto:x": must be auto'),
        ({"baseline": "file:"}, '--baseline "file:": must be auto'),
        ({"baseline": "git", "against": "main"}, "--against and --baseline both say"),
        ({"against": ""}, '--against "": must not be empty'),
    ],
)
def test_a_wrong_option_is_named(config: Config, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        config.with_overrides(Options(**options))
    assert "benchgate.toml" not in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("options", "source", "against", "path"),
    [
        ({"against": "v1.0"}, "git", "v1.0", None),
        ({"baseline": "auto"}, "auto", None, None),
        ({"baseline": "git"}, "git", None, None),
        ({"baseline": "git:origin/main"}, "git", "origin/main", None),
        ({"baseline": "dir"}, "directory", None, None),
        ({"baseline": "dir:results"}, "directory", None, "results"),
        ({"baseline": "file:a:b.json"}, "file", None, "a:b.json"),
    ],
)
def test_another_baseline(
    config: Config, options: dict[str, Any], source: str, against: str | None, path: str | None
) -> None:
    baseline = config.with_overrides(Options(**options)).baseline
    assert (baseline.source, baseline.against) == (source, against)
    assert baseline.path == (path and str(Path.cwd() / path))
    assert baseline.required
