"""The badge: what it says, and that it is a harmless picture of the right size."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from tests.report.conftest import changed, unchanged, verdict

from benchgate.model.policy import Outcome
from benchgate.model.verdict import Decision
from benchgate.report.history import (
    NOT_CHECKED,
    Badge,
    BadgeState,
    badge_of,
    render_badge,
    render_endpoint,
)

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    '"/><script>alert(1)</script>',
    "]]> &lt; & <![CDATA[",
    "\x1b[31mred\x1b[0m\nline\r\x00\u202egnp.exe",
    "x" * 5000,
    "\ud800",
    "",
]


def drawn(badge: Badge) -> ET.Element:
    text = render_badge(badge)
    assert "\n" not in text.rstrip("\n")
    return ET.fromstring(text.encode())  # noqa: S314 - our own picture


def test_says_what_fails() -> None:
    slower = changed("parse/small", Outcome.REGRESSED, 1.2)
    judged = verdict(Decision.FAIL, slower, replace(slower, benchmark="b"), unchanged("c"))
    assert badge_of([judged]) == Badge("2 slower", BadgeState.FAIL)


def test_counts_each_benchmark_once_and_by_outcome() -> None:
    slower = changed("a", Outcome.REGRESSED, 1.2)
    tail = replace(slower, statistic="p95")
    failed = changed("b", Outcome.FAILED, 1.0)
    judged = verdict(Decision.FAIL, slower, tail, failed)
    assert badge_of([judged]).message == "1 failed, 1 slower"


def test_an_advisory_regression_is_not_blamed() -> None:
    slower = replace(changed("a", Outcome.REGRESSED, 1.2), advisory=True)
    assert badge_of([verdict(Decision.FAIL, slower)]).message == "fail"


@pytest.mark.parametrize(
    ("decision", "state"),
    [(Decision.PASS, BadgeState.PASS), (Decision.NO_VERDICT, BadgeState.NO_VERDICT)],
)
def test_says_the_decision(decision: Decision, state: BadgeState) -> None:
    judged = verdict(decision, unchanged("a"))
    assert badge_of([judged]) == Badge(decision.value, state)


def test_the_worst_of_several_verdicts_counts() -> None:
    passed = verdict(Decision.PASS, unchanged("a"))
    open_ = verdict(Decision.NO_VERDICT, unchanged("a"))
    failed = verdict(Decision.FAIL, changed("a", Outcome.REGRESSED, 1.2))
    assert badge_of([passed, open_]).state is BadgeState.NO_VERDICT
    assert badge_of([passed, failed, open_, failed]) == Badge("2 slower", BadgeState.FAIL)


def test_without_a_verdict_it_says_that_nothing_was_checked() -> None:
    assert badge_of([]) == NOT_CHECKED
    assert NOT_CHECKED.state is BadgeState.NOT_CHECKED


@pytest.mark.parametrize("state", BadgeState)
@pytest.mark.parametrize("text", ["pass", "2 slower", "12 slower, 3 failed", *HOSTILE])
def test_the_picture_is_valid_and_has_no_script(state: BadgeState, text: str) -> None:
    root = drawn(Badge(text, state, label=text))
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags == {"svg", "title", "rect", "path", "g", "text"}
    names = {name for element in root.iter() for name in element.attrib}
    assert not any(name.startswith("on") or "href" in name for name in names)


@pytest.mark.parametrize("text", ["pass", "2 slower", "WWW %%%", "\u6027\u80fd", *HOSTILE])
def test_its_parts_fit_and_do_not_overlap(text: str) -> None:
    root = drawn(Badge(text, BadgeState.FAIL))
    texts = root.findall(f".//{SVG}text")
    ends = [0.0]
    for one in texts:
        ends += [float(one.attrib["x"]), float(one.attrib["x"]) + float(one.attrib["textLength"])]
    ends.append(float(root.attrib["width"]))
    gaps = [after - before for before, after in pairwise(ends)][::2]
    assert all(gap > 5.8 for gap in gaps)
    assert gaps[1] > 11.8
    assert float(root.attrib["width"]) < 1000
    assert root.attrib["height"] == "20"


def test_it_is_read_out() -> None:
    root = drawn(Badge("2 slower", BadgeState.FAIL))
    title = root.find(f"{SVG}title")
    assert title is not None
    assert title.text == root.attrib["aria-label"] == "performance: 2 slower"


@pytest.mark.parametrize("text", ["2 slower", *HOSTILE])
def test_the_endpoint_is_what_shields_reads(text: str) -> None:
    found = json.loads(render_endpoint(Badge(text, BadgeState.FAIL)).encode())
    assert found.keys() == {"schemaVersion", "label", "message", "color"}
    assert found["schemaVersion"] == 1
    assert found["label"] == "performance"
    assert found["message"]
