"""The badge: what it says."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.report.conftest import changed, unchanged, verdict

from benchgate.model.policy import Outcome
from benchgate.model.verdict import Decision
from benchgate.report.badge import NOT_CHECKED, Badge, BadgeState, badge_of, render_endpoint

HOSTILE = [
    '"/><script>alert(1)</script>',
    "]]> &lt; & <![CDATA[",
    "\x1b[31mred\x1b[0m\nline\r\x00\u202egnp.exe",
    "x" * 5000,
    "\ud800",
    "",
]


def test_says_what_fails() -> None:
    slower = changed("parse/small", Outcome.REGRESSED, 1.2)
    judged = verdict(Decision.FAIL, slower, replace(slower, benchmark="b"), unchanged("c"))
    assert badge_of([judged]) == Badge("❌ 2 slower", BadgeState.FAIL)


def test_counts_each_benchmark_once_and_by_outcome() -> None:
    slower = changed("a", Outcome.REGRESSED, 1.2)
    tail = replace(slower, statistic="p95")
    failed = changed("b", Outcome.FAILED, 1.0)
    judged = verdict(Decision.FAIL, slower, tail, failed)
    assert badge_of([judged]).message == "❌ 1 crashed, 1 slower"


def test_an_advisory_regression_is_not_blamed() -> None:
    slower = replace(changed("a", Outcome.REGRESSED, 1.2), advisory=True)
    assert badge_of([verdict(Decision.FAIL, slower)]).message == "❌ fail"


@pytest.mark.parametrize(
    ("decision", "badge"),
    [
        (Decision.PASS, Badge("✅ pass", BadgeState.PASS)),
        (Decision.NO_VERDICT, Badge("❓ no verdict", BadgeState.NO_VERDICT)),
    ],
)
def test_says_the_decision(decision: Decision, badge: Badge) -> None:
    assert badge_of([verdict(decision, unchanged("a"))]) == badge


def test_the_worst_of_several_verdicts_counts() -> None:
    passed = verdict(Decision.PASS, unchanged("a"))
    open_ = verdict(Decision.NO_VERDICT, unchanged("a"))
    failed = verdict(Decision.FAIL, changed("a", Outcome.REGRESSED, 1.2))
    assert badge_of([passed, open_]).state is BadgeState.NO_VERDICT
    assert badge_of([passed, failed, open_, failed]) == Badge("❌ 2 slower", BadgeState.FAIL)


def test_without_a_verdict_it_says_that_nothing_was_checked() -> None:
    assert badge_of([]) == NOT_CHECKED
    assert NOT_CHECKED.state is BadgeState.NOT_CHECKED


@pytest.mark.parametrize("text", ["2 slower", *HOSTILE])
def test_the_endpoint_is_what_shields_reads(text: str) -> None:
    found = json.loads(render_endpoint(Badge(text, BadgeState.FAIL)).encode())
    assert found.keys() == {"schemaVersion", "label", "message", "color"}
    assert found["schemaVersion"] == 1
    assert found["label"] == "performance"
    assert found["message"]
