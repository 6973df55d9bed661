"""Which tables are the base's, and what a configuration of two sides says of itself."""

from __future__ import annotations

import math
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from benchgate.config import loads, policy_from
from benchgate.config.keys import Side
from benchgate.config.tables import DECIDED_BY
from benchgate.model.policy import Options

DOCUMENT = Path(__file__).parents[2] / "docs" / "configuration.md"
BASE = """
[gate]
margin = "1%"
fail_on = ["regressed", "missing"]

[measure]
samples = 10

[baseline]
required = true

[[benchmark]]
name = "old"
command = "true"

[[rule]]
benchmark = "db/*"
margin = "3%"

[[waive]]
benchmark = "sort"
ceiling = "10%"
until = 2026-06-30
reason = "known"

[aliases]
"db/gone" = "db/put"
"""
HEAD = """
[gate]
margin = "50%"
fail_on = []

[measure]
samples = 20

[build]
command = "make"

[[benchmark]]
name = "new"
command = "true"

[aliases]
"db/insert" = "storage/insert"
"db/gone" = "db/put"
"""


def test_every_table_says_whose_it_is() -> None:
    assert all(isinstance(side, Side) for side in DECIDED_BY.values())


def test_the_documentation_says_the_same() -> None:
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    named = [re.findall(r"`\[+(\w+)\]+`", line) for line in lines if re.match(r"\| `\[+\w", line)]
    assert [set(names) for names in named] == [
        {table for table, side in DECIDED_BY.items() if side is one} for one in Side
    ]


def test_the_base_judges_what_each_side_measures() -> None:
    base, head = loads(BASE, "a1b2c3d:benchgate.toml"), loads(HEAD, "benchgate.toml")
    config = policy_from(base, head)
    for taken in ("gate", "measure", "rules", "waivers", "baseline"):
        assert getattr(config, taken) == getattr(base, taken)
    for own in ("build", "benchmarks", "aliases"):
        assert getattr(config, own) == getattr(head, own)
        assert getattr(config.base, own) == getattr(base, own)
    assert config.effective("db/x").margin == 0.03
    assert config.source == head.source


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        ("", "rounds = 1\nsamples = 1\npin = false\ncanary = false", {}),
        ("", 'timeout = "1ms"\nbudget = "1s"\nscreen_rounds = 4\nmax_rounds = 20', {}),
        # More of one thing leaves less time for the others.
        ("", "warmup = 9000\ncommand_warmup = 9000\nsamples = 9000\nuntil_decided = true", {}),
        ("", 'timeout = "5m"\nbudget = "1h"', {"timeout_s": 300.0, "budget_s": 3600.0}),
        ("pin = false\ncanary = false", "", {"pin": True, "canary": True}),
        ('budget = "1h"', "", {}),
        ("until_decided = true", 'budget = "1h"', {}),
        ('until_decided = true\nbudget = "30m"', 'budget = "1h"', {"budget_s": 3600.0}),
    ],
)
def test_a_change_may_measure_more_carefully_but_not_less(
    base: str, head: str, expected: dict[str, object]
) -> None:
    base_config, head_config = (loads(f"[measure]\n{text}\n", "x") for text in (base, head))
    config = policy_from(base_config, head_config)
    assert config.measure == base_config.measure.model_copy(update=expected)
    assert math.isinf(config.measure.limit_s) == math.isinf(base_config.measure.limit_s)


def test_messages_name_the_file_that_a_key_was_taken_from() -> None:
    config = policy_from(loads(BASE, "a1b2c3d:benchgate.toml"), loads(HEAD, "benchgate.toml"))
    assert config.where("gate.margin") == "a1b2c3d:benchgate.toml:3: gate.margin"
    assert config.where("measure.samples") == "a1b2c3d:benchgate.toml:7: measure.samples"
    assert config.where("build.command") == "benchgate.toml:10: build.command"
    (expired,) = config.expired(date(2026, 7, 1))
    assert expired.startswith("a1b2c3d:benchgate.toml:20: waive[0]: ")
    (waiver,) = config.unmatched(["other"])
    assert waiver.startswith("a1b2c3d:benchgate.toml:21: waive[0].benchmark")


def test_an_option_holds_over_both() -> None:
    head = loads(HEAD, "benchgate.toml").with_overrides(
        Options(margin="7%", against="v1.0", rounds=9)
    )
    config = policy_from(loads(BASE, "base"), head)
    assert (config.gate.margin, config.gate.fail_on) == (0.07, ("regressed", "missing"))
    assert (config.baseline.source, config.baseline.against) == ("git", "v1.0")
    assert config.baseline.required
    assert config.measure.rounds == 9
    assert config.where("gate.margin") == "--margin"
    assert config.where("gate.fail_on") == "base:4: gate.fail_on"


@pytest.mark.parametrize(
    ("base", "given", "limit_s", "rounds"),
    [
        ("rounds = 9", {"until_decided": True}, math.inf, None),
        ('rounds = 9\nbudget = "1m"', {"until_decided": True}, math.inf, None),
        ("", {"until_decided": True, "budget": "2m"}, 120, None),
        ("until_decided = true", {"rounds": 7}, 600, 7),
    ],
)
def test_what_an_option_contradicts_in_the_base_gives_way(
    base: str, given: dict[str, Any], limit_s: float, rounds: int | None
) -> None:
    head = loads("", "head").with_overrides(Options(**given))
    measure = policy_from(loads(f"[measure]\n{base}", "base"), head).measure
    assert (measure.limit_s, measure.rounds) == (limit_s, rounds)
    assert measure.until_decided == bool(given.get("until_decided"))


def test_an_option_that_the_base_contradicts_is_no_error_of_the_base() -> None:
    base = loads('[gate]\nrule = "classical"', "base")
    config = policy_from(base, loads("", "head").with_overrides(Options(until_decided=True)))
    assert (config.gate.rule, config.measure.until_decided) == ("classical", True)


def test_an_option_that_comes_too_late_is_no_way_round() -> None:
    config = policy_from(loads(BASE, "base"), loads(HEAD, "head"))
    with pytest.raises(ValueError, match="policy of the base"):
        config.with_overrides(Options(seed=1))


@pytest.mark.parametrize(
    ("benchmark", "renamed_from", "known_as"),
    [
        ("sort", None, "sort"),
        ("storage/insert", "db/insert", "db/insert"),
        # The base itself has renamed it: of the old name only older runs know.
        ("db/put", "db/gone", "db/put"),
    ],
)
def test_the_base_knows_a_benchmark_by_the_name_it_has_there(
    benchmark: str, renamed_from: str | None, known_as: str
) -> None:
    base, head = loads(BASE, "base"), loads(HEAD, "head")
    assert policy_from(base, head).name_in_policy(benchmark, renamed_from) == known_as
    assert head.name_in_policy(benchmark, renamed_from) == benchmark
