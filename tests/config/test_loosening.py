"""Every way in which a change can make its own gate laxer, and what is none."""

from __future__ import annotations

import sys
from dataclasses import astuple
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.config import loads, loosening, policy_from
from benchgate.config.keys import elsewhere, said_of
from benchgate.config.resolved import covers
from benchgate.config.tables import RULE_SETTINGS, TABLES
from benchgate.model.policy import Options, PolicyChange

IDS = ("db/insert", "db/select", "sort[n=10]")
COMMAND = '[[benchmark]]\nname = "cli"\ncommand = "true"\n'
PYTHON = '[[benchmark]]\npython = ["benchmarks/parse", "bench_x.py"]\n'


def rule(benchmark: str, **keys: str) -> str:
    lines = "".join(f"{key} = {value}\n" for key, value in keys.items())
    return f'[[rule]]\nbenchmark = "{benchmark}"\n{lines}'


def waive(benchmark: str, ceiling: str, until: str = "2026-12-31", metric: str = "") -> str:
    only = f'metric = "{metric}"\n' if metric else ""
    return (
        f'[[waive]]\nbenchmark = "{benchmark}"\n{only}ceiling = "{ceiling}"\nuntil = {until}\n'
        'reason = "why"\n'
    )


REMOVED = (
    '[[waive]]\nbenchmark = "db/select"\noutcome = "missing"\nuntil = 2026-12-31\nreason = "why"\n'
)


def found(base: str, head: str) -> list[tuple[str, str, str, str]]:
    """The key, what it is about, what was and what is."""
    changes = loosening(loads(base, "base.toml"), loads(head, "benchgate.toml"), IDS)
    return [(one.key, one.about, one.before, one.after) for one in changes]


def test_every_key_says_when_it_is_laxer() -> None:
    for place in TABLES.keys() - {()}:
        for name, info in TABLES[place].model_fields.items():
            assert callable(said_of(info)), (place, name)
            is_compared_apart = place in {("gate",), ("rule",), ("limit",), ("waive",)}
            assert said_of(info) is not elsewhere or is_compared_apart, (place, name)


def test_what_gate_leaves_to_the_comparison_of_rows_is_what_a_rule_sets() -> None:
    fields = TABLES["gate",].model_fields.items()
    assert {name for name, info in fields if said_of(info) is elsewhere} == set(RULE_SETTINGS)


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        ("", '[gate]\nmargin = "10%"', ("gate.margin", "", "2 %", "10 %")),
        (
            "",
            (
                '[[rule]]\nbenchmark = "new/*"\nmargin = "50%"\n'
                '[[rule]]\nbenchmark = "new/?"\nmargin = "2%"'
            ),
            ("rule[0].margin", "new/*", "2 %", "50 %"),
        ),
        ("", '[gate]\ntail_margin = "10%"', ("gate.tail_margin", "", "5 %", "10 %")),
        (
            '[[limit]]\nbenchmark = "api/*"\nmax = "20ms"',
            "",
            ("limit", "api/* (time)", "at most 20ms", "none"),
        ),
        (
            '[[limit]]\nbenchmark = "api/*"\nmax = "20ms"',
            '[[limit]]\nbenchmark = "api/*"\nmax = "1s"',
            ("limit[0]", "api/* (time)", "at most 20ms", "at most 1s"),
        ),
        (
            '[[limit]]\nbenchmark = "*"\nmetric = "throughput"\nmin = "20/s"',
            '[[limit]]\nbenchmark = "*"\nmetric = "throughput"\nmin = 10',
            ("limit[0]", "* (throughput)", "at least 20/s", "at least 10"),
        ),
        ("", '[gate]\ntolerance = "1%"', ("gate.tolerance", "", "0 %", "1 %")),
        ("", '[gate]\nstatistics = ["p95"]', ("gate.statistics", "", "p25, p95", "p95")),
        (
            '[gate]\nsettle = ["p25", "p95"]',
            "",
            ("gate.settle", "", "p25, p95", "p25"),
        ),
        (
            '[gate]\nmetrics = ["time", "peak_rss"]',
            "",
            ("gate.metrics", "", "time, peak_rss", "time"),
        ),
        ("", "[gate]\nalpha = 0.001", ("gate.alpha", "", "0.01", "0.001")),
        ("", "[gate]\nconfidence = 0.5", ("gate.confidence", "", "0.95", "0.5")),
        ("", '[gate]\nrule = "classical"', ("gate.rule", "", "launch", "classical")),
        ("", "[gate]\nfail_on = []", ("gate.fail_on", "", "regressed, failed", "none")),
        ("", "[gate]\nmin_compared = 3", ("gate.min_compared", "", "all", "3")),
        (
            "[gate]\nmin_compared = 3",
            "[gate]\nmin_compared = 0",
            ("gate.min_compared", "", "3", "0"),
        ),
        ("", '[baseline]\nsource = "directory"', ("baseline.source", "", "auto", "directory")),
        ("[baseline]\nrequired = true", "", ("baseline.required", "", "true", "false")),
        (
            "[baseline]\nadvisory_fails = true",
            "[baseline]\nadvisory_fails = false",
            ("baseline.advisory_fails", "", "true", "false"),
        ),
        ("", "[accept]\nforks = true", ("accept.forks", "", "false", "true")),
        ("[accept]\nreview = false", "", ("accept.review", "", "false", "true")),
        ("", '[accept]\nlabel = "ok"', ("accept.label", "", "none", "ok")),
        ("", REMOVED, ("waive[0]", "db/select", "none", "missing until 2026-12-31")),
        ("", '[measure]\nbudget = "1m"', ("measure.budget", "", "10m", "1m")),
        ("", "[measure]\nscreen_rounds = 4", ("measure.screen_rounds", "", "5", "4")),
        ("", "[measure]\nconfirm_rounds = 2", ("measure.confirm_rounds", "", "12", "2")),
        ("", "[measure]\nmax_rounds = 20", ("measure.max_rounds", "", "30", "20")),
        ("", "[measure]\nrounds = 12", ("measure.rounds", "", "none", "12")),
        ("[measure]\nrounds = 50", "[measure]\nrounds = 40", ("measure.rounds", "", "50", "40")),
        ("", "[measure]\nsamples = 20", ("measure.samples", "", "45", "20")),
        ("", '[measure]\nlaunch_time = "5ms"', ("measure.launch_time", "", "15ms", "5ms")),
        ("", "[measure]\npin = false", ("measure.pin", "", "true", "false")),
        ("", "[measure]\ncanary = false", ("measure.canary", "", "true", "false")),
        (
            '[measure]\ncounter = "valgrind"',
            "",
            ("measure.counter", "", "valgrind", "auto"),
        ),
        ("", '[measure]\ncounter = "none"', ("measure.counter", "", "auto", "none")),
        ("", "[measure]\nexecutions = 2", ("measure.executions", "", "6", "2")),
        (COMMAND, "", ("benchmark", "cli", "measured", "left out")),
        (
            PYTHON,
            '[[benchmark]]\npython = "benchmarks/parse/"',
            ("benchmark", "bench_x.py", "measured", "left out"),
        ),
        (COMMAND, f"{COMMAND}executions = 3", ("benchmark[0].executions", "cli", "none", "3")),
        (
            f"{COMMAND}executions = 20",
            COMMAND,
            ("benchmark[0].executions", "cli", "20", "none"),
        ),
        (
            COMMAND + PYTHON,
            f"{PYTHON}{COMMAND}ok_exit_codes = [0, 1]",
            ("benchmark[1].ok_exit_codes", "cli", "0", "0, 1"),
        ),
        (f'{COMMAND}tags = ["ci"]', COMMAND, ("benchmark[0].tags", "cli", "ci", "none")),
        ("", rule("db/*", margin='"9%"'), ("rule[0].margin", "db/*", "2 %", "9 %")),
        (rule("db/*", margin='"1%"'), "", ("gate.margin", "db/*", "1 %", "2 %")),
        (
            rule("db/*", margin='"1%"'),
            rule("db/insert", margin='"1%"'),
            ("gate.margin", "db/*", "1 %", "2 %"),
        ),
        (
            rule("db/insert", margin='"9%"'),
            rule("db/*", margin='"9%"'),
            ("rule[0].margin", "db/*", "2 %", "9 %"),
        ),
        (
            "",
            rule("db/insert", margin='"9%"') + rule("sort*", margin='"9%"'),
            ("rule[0].margin", "db/insert, sort*", "2 %", "9 %"),
        ),
        (
            '[gate]\nmetrics = ["time", "alloc_peak"]',
            '[gate]\nmetrics = ["time", "alloc_peak"]\n'
            + rule("*", metric='"alloc*"', tolerance='"3%"'),
            ("rule[0].tolerance", "(alloc_peak)", "0 %", "3 %"),
        ),
        ("", waive("db/*", "5%"), ("waive[0]", "db/*", "none", "up to 5 % until 2026-12-31")),
        (
            waive("db/*", "5%"),
            waive("db/*", "5%", "2027-01-01"),
            ("waive[0]", "db/*", "up to 5 % until 2026-12-31", "up to 5 % until 2027-01-01"),
        ),
        ("", '[aliases]\n"a/b" = "c"', ('aliases."a/b"', "", "none", "c")),
    ],
)
def test_what_is_laxer(base: str, head: str, expected: tuple[str, str, str, str]) -> None:
    assert found(base, head) == [expected]
    assert found(head, base) == []


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        (
            "",
            '[gate]\nstatistics = ["min", "p95"]',
            ("gate.statistics", "", "p25, p95", "min, p95"),
        ),
        (
            "",
            '[gate]\nfail_on = ["failed", "missing"]',
            ("gate.fail_on", "", "regressed, failed", "failed, missing"),
        ),
        ("", '[baseline]\nagainst = "HEAD"', ("baseline.against", "", "none", "HEAD")),
        (
            waive("db/*", "5%"),
            waive("db/*", "8%", "2026-06-30"),
            ("waive[0]", "db/*", "up to 5 % until 2026-12-31", "up to 8 % until 2026-06-30"),
        ),
        (
            waive("db/*", "5%", metric="time"),
            waive("db/insert", "5%"),
            ("waive[0]", "db/insert", "none", "up to 5 % until 2026-12-31"),
        ),
        (
            waive("db/?", "5%"),
            waive("db/*", "5%", metric="alloc*"),
            ("waive[0]", "db/* (alloc*)", "none", "up to 5 % until 2026-12-31"),
        ),
        ('[aliases]\na = "b"', '[aliases]\na = "c"', ("aliases.a", "", "b", "c")),
    ],
)
def test_what_is_another(base: str, head: str, expected: tuple[str, str, str, str]) -> None:
    assert found(base, head) == [expected]
    assert len(found(head, base)) == 1


def test_rules_are_compared_by_what_they_come_to() -> None:
    insert = rule("*insert", margin='"4%"')
    base = rule("db/*", margin='"1%"') + insert
    assert found(base, insert + rule("db/*", margin='"5%"')) == [
        ("rule[1].margin", "db/*", "1 %", "5 %"),
        ("rule[1].margin", "db/insert", "4 %", "5 %"),
    ]


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ('[gate]\nmargin = "2%"', ""),
        ('[gate]\nrule = "classical"', ""),
        ("", '[gate]\nfail_on = ["missing", "failed", "regressed"]'),
        ("", "[measure]\nrounds = 30"),
        ("[measure]\nrounds = 5", ""),
        ("", "[measure]\nuntil_decided = true"),
        ("", '[baseline]\nsource = "git"'),
        (PYTHON, '[[benchmark]]\npython = "."'),
        (COMMAND, f'{COMMAND}tags = ["ci"]\ntimeout = "1s"'),
        (rule("db/*", margin='"1%"'), rule("*", margin='"1%"')),
        (rule("nothing", margin='"3%"'), '[gate]\nmargin = "1%"'),
        # Whatever the rules are called, what they come to is the same.
        (rule("a", margin='"3%"') + rule("b", margin='"3%"'), rule("?", margin='"2%"')),
        (waive("db/*", "5%"), waive("db/insert", "4%", "2026-01-01", "time")),
        (waive("*", "5%", metric="t*"), waive("db/?", "5%", metric="time")),
        (waive("db/*", "5%"), ""),
        ('[aliases]\na = "b"', ""),
    ],
)
def test_what_is_not(base: str, head: str) -> None:
    assert found(base, head) == []


@pytest.mark.parametrize(
    ("base", "head"),
    [
        (rule("old", margin='"1%"'), rule("new", margin='"1%"')),
        (waive("old", "5%"), waive("new", "5%")),
        (COMMAND.replace("cli", "old"), COMMAND.replace("cli", "new")),
    ],
)
def test_what_was_renamed_with_its_benchmark_is_the_alias_alone(base: str, head: str) -> None:
    alias = '[aliases]\nold = "new"\n'
    assert found(base, head + alias) == [("aliases.old", "", "none", "new")]


def test_a_rule_that_a_benchmark_loses_with_its_name_is_told() -> None:
    margin = rule("old", margin='"1%"')
    assert ("gate.margin", "new", "1 %", "2 %") in found(
        margin, f'{margin}[aliases]\nold = "new"\n'
    )


@pytest.mark.parametrize(
    ("most_steps", "about"), [(40, "sort, sart"), (39, "sort"), (20, "sort"), (19, None)]
)
def test_ids_that_would_take_too_long_are_left_out(
    monkeypatch: pytest.MonkeyPatch, most_steps: int, about: str | None
) -> None:
    base = loads(rule("*rt", margin='"1%"'), "base.toml")
    head = loads(rule("s*", margin='"9%"'), "benchgate.toml")
    monkeypatch.setattr(sys.modules["benchgate.config.loosening"], "MOST_STEPS", most_steps)
    found = {one.about: (one.before, one.after) for one in loosening(base, head, ("sort", "sart"))}
    of_globs = {"s*": ("2 %", "9 %"), "*rt": ("1 %", "2 %")}
    assert found == (of_globs | {about: ("1 %", "9 %")} if about else of_globs)


def test_going_on_until_all_is_decided_has_no_limit() -> None:
    assert found("[measure]\nuntil_decided = true", "") == [
        ("measure.budget", "", "10m", "10m"),
        ("measure.until_decided", "", "true", "false"),
    ]


def test_the_place_and_whether_it_holds_already() -> None:
    text = '[gate]\nmargin = "9%"\n[measure]\npin = false\n[aliases]\nold = "new"\n'
    head = loads(text, "benchgate.toml")
    assert list(map(astuple, loosening(loads(COMMAND, "x"), head))) == [
        ("gate.margin", "", "2 %", "9 %", "benchgate.toml:2", False),
        ("measure.pin", "", "true", "false", "benchgate.toml:4", False),
        ("benchmark", "cli", "measured", "left out", "benchgate.toml", False),
        ("aliases.old", "", "none", "new", "benchgate.toml:6", True),
    ]


def test_options_are_no_part_of_the_change() -> None:
    base = loads("[measure]\nuntil_decided = true\n", "x")
    for options in (
        {"margin": "50%"},
        {"against": "HEAD"},
        {"rounds": 7},
        {"fail_on": ("missing",)},
    ):
        given: dict[str, Any] = options
        assert loosening(base, base.with_overrides(Options(**given))) == ()
    head = loads('[gate]\nmargin = "9%"', "x").with_overrides(Options(margin="50%"))
    config = policy_from(base, head)
    assert config.sides is not None
    assert [one.key for one in loosening(config.sides.base, config.sides.head)] == [
        "measure.budget",
        "measure.until_decided",
    ]


def test_many_benchmarks_are_counted() -> None:
    rules = "".join(rule(name, margin='"9%"') for name in "abcde")
    (one,) = loosening(loads("", "x"), loads(rules, "x"))
    assert one == PolicyChange("rule[0].margin", "a, b, c and 2 more", "2 %", "9 %", "x:3")


@pytest.mark.parametrize(
    ("glob", "other", "expected"),
    [
        ("*", "a*", True),
        ("db/*", "db/insert*", True),
        ("db/insert*", "db/*", False),
        ("db/?", "db/*", False),
        ("db/?", "db/a", True),
        ("db/?", "db/?", True),
        ("a[n=*]", "a[n=1*]", True),
        ("a[n]", "an", False),
        ("a", "a", True),
    ],
)
def test_a_glob_that_speaks_for_another(glob: str, other: str, *, expected: bool) -> None:
    assert covers(glob, other) is expected


PERCENT = st.integers(1, 5).map(lambda number: f'"{number}%"')
GLOBS = st.sampled_from(["*", "db/*", "*insert", "db/insert", "sort*", "s?rt*", "nothing"])
GATES = st.fixed_dictionaries(
    {},
    optional={
        "margin": PERCENT,
        "tail_margin": PERCENT,
        "alpha": st.sampled_from(["0.001", "0.01", "0.05"]),
        "fail_on": st.sampled_from(["[]", '["failed"]', '["failed", "regressed", "missing"]']),
        "min_compared": st.sampled_from(["0", "2", '"all"']),
        "statistics": st.sampled_from(['["p25"]', '["p25", "p95"]', '["median"]']),
    },
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    gate = "".join(f"{key} = {value}\n" for key, value in draw(GATES).items())
    rules = [rule(draw(GLOBS), margin=draw(PERCENT)) for _ in range(draw(st.integers(0, 3)))]
    waivers = [
        waive(draw(GLOBS), f"{draw(st.integers(1, 9))}%", f"2026-0{draw(st.integers(1, 9))}-01")
        for _ in range(draw(st.integers(0, 3)))
    ]
    return f"[gate]\n{gate}{''.join(rules)}{''.join(waivers)}"


@given(documents())
def test_nothing_is_laxer_than_itself(text: str) -> None:
    assert found(text, text) == []


@given(documents(), documents())
def test_what_is_not_told_is_not_laxer(base: str, head: str) -> None:
    one, other = loads(base, "base"), loads(head, "head")
    told = {key.rpartition(".")[2] for key, *_ in found(base, head)}
    for name in IDS:
        was, now = one.effective(name, "time"), other.effective(name, "time")
        if now.margin > was.margin:
            assert "margin" in told
        if not set(was.statistics) <= set(now.statistics):
            assert "statistics" in told
    if other.gate.alpha < one.gate.alpha:
        assert "alpha" in told


@given(documents(), st.integers(1, 9))
def test_what_is_only_stricter_is_not_told(text: str, percent: int) -> None:
    stricter = text.replace(f'"{percent}%"', '"1%"')
    assert found(text, stricter) == []


def test_one_label_in_place_of_another_is_told() -> None:
    (change,) = found('[accept]\nlabel = "no"', '[accept]\nlabel = "ok"')
    assert change == ("accept.label", "", "no", "ok")


def test_a_waived_regression_waives_no_removal() -> None:
    assert len(found(waive("db/*", "20%"), REMOVED)) == 1
    assert len(found(REMOVED, waive("db/select", "20%"))) == 1


def test_a_suite_that_is_left_out_is_laxer() -> None:
    suite = "[[benchmark]]\nsuite = 'go test'\n"
    (change,) = loosening(loads(suite, "base"), loads(COMMAND, "head"), [])
    assert (change.about, change.after) == ("go test", "left out")
    grouped = "[[benchmark]]\nsuite = '{}'\ngroup = 'unit'\n{}"
    base = loads(grouped.format("old", "data = ['x']"), "base")
    (change,) = loosening(base, loads(grouped.format("new", ""), "head"), [])
    assert (change.key, change.about) == ("benchmark[0].data", "unit")
