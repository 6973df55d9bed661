"""The verdict as JUnit XML, against the schema of Jenkins and the stricter one for Apache Ant.

junit-10.xsd is that of Jenkins' xUnit plugin, with its license, as the sources of pytest hold it.
junit-ant.xsd says what https://github.com/windyroad/JUnit-Schema asks for.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree as ET

import pytest
import xmlschema
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import results
from tests.report.conftest import SAMPLES, golden
from tests.report.page import STATES

from benchgate import __version__
from benchgate.model.policy import Outcome
from benchgate.model.row import Row
from benchgate.model.run import Source
from benchgate.model.verdict import Decision, GateSettings, Reason, Verdict
from benchgate.report import words
from benchgate.report.verdict_files import render_junit
from benchgate.report.view import view_verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMAS = tuple(
    xmlschema.XMLSchema(Path(__file__).with_name(name))
    for name in ("junit-10.xsd", "junit-ant.xsd")
)
FAIL_ON = ("regressed", "failed")


class Case(NamedTuple):
    classname: str
    name: str
    state: str
    kind: str
    text: str


def suite_of(verdict: Verdict, seconds: Mapping[str, float] | None = None) -> ET.Element:
    """The only suite, of a file that is valid and counts what it has."""
    written = render_junit(view_verdict(verdict), seconds or {})
    assert written.startswith(b"<?xml version='1.0' encoding='utf-8'?>\n")
    for schema in SCHEMAS:
        schema.validate(written.decode())
    root = ET.fromstring(written)  # noqa: S314 - just written
    (suite,) = root
    found = [case.state for case in cases_in(suite)]
    assert int(suite.attrib["tests"]) == len(found)
    for name, state in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(suite.attrib[name]) == found.count(state)
    return suite


def cases_in(suite: ET.Element) -> list[Case]:
    cases = []
    about = (suite.findtext("system-out") or "").splitlines()
    for one in suite.iter("testcase"):
        name = one.attrib["name"]
        if len(one) == 0:
            (line,) = (line for line in about if line.startswith(f"{name}: "))
            cases.append(Case(one.attrib["classname"], name, "passed", "", line[len(name) + 2 :]))
            continue
        (said,) = one
        text = said.text or ""
        assert said.attrib["message"] == text.splitlines()[0]
        cases.append(Case(one.attrib["classname"], name, said.tag, said.get("type", ""), text))
    return cases


def cases_of(verdict: Verdict) -> list[Case]:
    return cases_in(suite_of(verdict))


verdict_of = partial(
    results.verdict_of,
    decision=Decision.PASS,
    exit_code=0,
    started="2026-01-02T03:04:05.678Z",
    duration_s=1234.5,
)


@pytest.mark.parametrize("state", STATES)
def test_every_verdict_is_valid(state: str) -> None:
    suite_of(SAMPLES[state])


@pytest.mark.parametrize("state", ["fail", "failed", "inconclusive", "first-run", "edited"])
def test_looks(state: str) -> None:
    written = render_junit(view_verdict(SAMPLES[state]), {"parse/large": 4.25}).decode()
    golden(f"{state}.junit.xml", written.replace(__version__, "VERSION"))


@pytest.mark.parametrize(
    ("row", "fail_on", "state"),
    [
        (Row("x", Outcome.UNCHANGED), FAIL_ON, "passed"),
        (Row("x", Outcome.IMPROVED), FAIL_ON, "passed"),
        (Row("x", Outcome.REGRESSED), FAIL_ON, "failure"),
        (Row("x", Outcome.REGRESSED, advisory=True), FAIL_ON, "skipped"),
        (Row("x", Outcome.REGRESSED), (), "skipped"),
        (Row("x", Outcome.FAILED), FAIL_ON, "error"),
        (Row("x", Outcome.FAILED), (), "skipped"),
        (Row("x", Outcome.BASE_FAILED), FAIL_ON, "skipped"),
        (Row("x", Outcome.MISSING), FAIL_ON, "skipped"),
        (Row("x", Outcome.MISSING), ("missing",), "failure"),
        (Row("x", Outcome.INCONCLUSIVE), FAIL_ON, "skipped"),
        (Row("x", Outcome.INCONCLUSIVE), ("inconclusive",), "failure"),
        (Row("x", Outcome.INCOMPARABLE), FAIL_ON, "skipped"),
        (Row("x", Outcome.INCOMPARABLE), ("incomparable",), "failure"),
        (Row("x", Outcome.NOT_TESTED), FAIL_ON, "skipped"),
        (Row("x", Outcome.NEW), FAIL_ON, "skipped"),
        (Row("x", Outcome.WAIVED), FAIL_ON, "skipped"),
    ],
)
def test_the_state_of_a_row(row: Row, fail_on: tuple[str, ...], state: str) -> None:
    (case,) = cases_of(verdict_of(row, settings=GateSettings(fail_on=fail_on)))
    assert case.state == state
    assert case.text.startswith(words.outcome(row))


def test_an_advisory_row_fails_where_the_user_wants_that() -> None:
    row = Row("x", Outcome.REGRESSED, advisory=True)
    (case,) = cases_of(verdict_of(row, settings=GateSettings(advisory_fails=True)))
    assert case.state == "failure"


@pytest.mark.parametrize(
    ("benchmark", "group"),
    [
        ("logs/parse[lines=10]", "logs"),
        ("a/b/c", "a/b"),
        ("text/slug[path=/etc/hosts]", "text"),
        ("sort", "benchgate"),
        ("sort[path=/tmp]", "benchgate"),
    ],
)
def test_the_group_is_the_class(benchmark: str, group: str) -> None:
    rows = (
        Row(benchmark, Outcome.UNCHANGED, metric="time", statistic="p25"),
        Row(benchmark, Outcome.UNCHANGED, metric="peak_rss", statistic="median"),
    )
    assert [(case.classname, case.name) for case in cases_of(verdict_of(*rows))] == [
        (group, benchmark)
    ]


def test_a_row_that_fails_stands_for_its_benchmark() -> None:
    typical = Row("x", Outcome.UNCHANGED, metric="time", statistic="p25", unit="s")
    memory = Row("x", Outcome.REGRESSED, metric="peak_rss", statistic="median", unit="B")
    (case,) = cases_of(verdict_of(typical, memory, settings=GateSettings(fail_on=FAIL_ON)))
    assert (case.state, case.kind) == ("failure", "larger")
    assert case.text.startswith("larger: peak_rss, typical (median)")
    (case,) = cases_of(verdict_of(typical, memory, settings=GateSettings(fail_on=())))
    assert case.state == "skipped"


def test_what_is_only_shown_is_no_test() -> None:
    shown = Row("x", Outcome.NOT_TESTED, metric="cpu_time", decides=False)
    cases = cases_of(verdict_of(Row("x", Outcome.UNCHANGED, metric="time"), shown))
    assert [case.name for case in cases] == ["x"]


def test_a_failure_says_why_and_where() -> None:
    slow = next(case for case in cases_of(SAMPLES["fail"]) if case.state == "failure")
    assert slow.text == (
        "slower: +14.6 % (95 % interval +12.3 to +16.9 %), 12.30 → 14.10 ms; "
        "confirmed in 12 of 12 rounds"
    )
    broken = next(case for case in cases_of(SAMPLES["failed"]) if case.state == "error")
    assert broken.text.splitlines()[:4] == [
        "crashed: ValueError: the fixture is gone",
        "defined at benchmarks/bench_db.py:10",
        "ValueError: the fixture is gone",
        "Traceback (most recent call last):",
    ]
    assert "\x1b" not in broken.text


def test_a_suite_that_does_not_pass_never_looks_green() -> None:
    compared_nothing = cases_of(SAMPLES["nothing"])
    assert [case[:4] for case in compared_nothing] == [
        ("benchgate", "verdict", "failure", "no verdict")
    ]
    assert compared_nothing[0].text == "No verdict: nothing to compare"

    first, *rest = cases_of(SAMPLES["first-run"])
    assert first[:3] == ("benchgate", "verdict", "skipped")
    assert first.text.startswith("First run of ")
    assert {case.state for case in rest} == {"skipped"}

    few = replace(
        SAMPLES["pass"],
        decision=Decision.NO_VERDICT,
        exit_code=4,
        reason=Reason.TOO_FEW_COMPARED,
        settings=GateSettings(min_compared=9),
    )
    assert cases_of(few)[0].state == "failure"
    assert "only 7 of 7 benchmarks could be compared, but 9 must be" in cases_of(few)[0].text


def test_a_row_that_fails_stands_for_the_suite() -> None:
    left_open = cases_of(SAMPLES["inconclusive"])
    assert "verdict" not in {case.name for case in left_open}
    assert [case.state for case in left_open].count("failure") == 2


def test_the_suite_says_what_was_compared() -> None:
    suite = suite_of(SAMPLES["loosened"])
    properties = {one.attrib["name"]: one.attrib["value"] for one in suite.iter("property")}
    assert properties == {
        "benchgate_version": __version__,
        "decision": "fail",
        "exit_code": "3",
        "base_commit": "a1b2c3d4e5f60718293a4b5c6d7e8f9012345678",
        "head_commit": "e4f5a6b7c8d90112233445566778899aabbccdde",
        "uncommitted": "true",
    }
    about = suite.findtext("system-out") or ""
    assert about.startswith("Slower: ")
    assert "gate.margin" in about
    assert "\nCompared a1b2c3d (merge base with main)" in about


def test_times_are_in_seconds() -> None:
    suite = suite_of(verdict_of(Row("x", Outcome.UNCHANGED), Row("y", Outcome.NEW)), {"x": 2.5})
    assert suite.attrib["time"] == "1234.500"
    assert suite.attrib["timestamp"] == "2026-01-02T03:04:05"
    times = {case.attrib["name"]: case.attrib["time"] for case in suite.iter("testcase")}
    assert times == {"x": "2.500000", "y": "0"}


def test_the_schemas_tell_files_apart() -> None:
    written = render_junit(view_verdict(SAMPLES["fail"])).decode()
    unlike = {
        ' hostname="localhost"': "",
        ' timestamp="2026-01-02T03:04:05"': ' timestamp="2026-01-02T03:04:05Z"',
        "<testsuites>": '<testsuites name="x">',
        "<system-err />": "",
        ' time="0"': "",
    }
    for part, instead in unlike.items():
        assert part in written
        changed = written.replace(part, instead)
        assert [schema.is_valid(changed) for schema in SCHEMAS] == [True, False]


def test_an_unknown_start_is_not_made_up() -> None:
    written = render_junit(view_verdict(replace(SAMPLES["fail"], started=None)))
    assert b"timestamp" not in written


anything = st.text(st.characters(), max_size=30)


@settings(deadline=None)
@given(anything, anything, anything)
def test_no_text_breaks_the_file(name: str, metric: str, error: str) -> None:
    row = Row(
        name,
        Outcome.FAILED,
        metric=metric,
        notes=(error,),
        error=error,
        location=metric,
    )
    ((*_, state, kind, text),) = cases_of(
        replace(verdict_of(row), base=Source(sha=name), warnings=(error,))
    )
    assert (state, kind) == ("error", "crashed")
    assert not any(c < " " and c != "\n" for c in text)


def test_what_was_not_measured_is_skipped_and_says_why() -> None:
    suite = suite_of(SAMPLES["all-same-code"])
    said = "same code: it runs no code that changed"
    assert {(one.state, one.text) for one in cases_in(suite)} == {("skipped", said)}
    assert len(cases_in(suite)) == len(SAMPLES["all-same-code"].rows)
    about = (suite.findtext("system-out") or "").splitlines()
    assert about[:2] == ["Nothing that 7 benchmarks run has changed", "So they were not measured."]
