"""Writes the verdict as files for other programs: JUnit XML and CSV.

The file is valid under two schemas: that of Jenkins, and the stricter one for Apache Ant. The
latter allows no text in a test that passed, no type of what is skipped, no attribute of the whole
file, and no test without a time.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias
from xml.etree import ElementTree as ET

from benchgate import __version__
from benchgate.escape import spreadsheet_cell
from benchgate.model.policy import Outcome
from benchgate.model.verdict import Decision
from benchgate.report.columns import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.model.verdict import Verdict
    from benchgate.report.columns import CsvValue
    from benchgate.report.row_view import BenchmarkView, RowView
    from benchgate.report.view import VerdictView


_State: TypeAlias = Literal["passed", "failure", "error", "skipped"]
_SUITE: Final = "benchgate"
_HOST: Final = "localhost"  # what the schema says if the name is not known: results hold none
_SHOWN_TO_BE_FINE: Final = frozenset({Outcome.UNCHANGED, Outcome.IMPROVED, Outcome.WITHIN_LIMIT})


@dataclass(frozen=True, slots=True)
class _Case:
    """A test case.

    Attributes:
        kind: the outcome, as a word.
        message: what was found, one line.
        more: what else a reader needs, several lines.
        seconds: how long it took.
    """

    group: str
    name: str
    state: _State
    kind: str
    message: str
    more: str = ""
    seconds: float = 0.0


def render_junit(
    verdict: VerdictView, seconds: Mapping[str, float] = MappingProxyType({})
) -> bytes:
    """A suite with a test case for each benchmark that decides; UTF-8, ends in a newline.

    Args:
        seconds: how long measuring each benchmark took; 0 of one that is not there.
    """
    cases = _cases(verdict, seconds)
    states = Counter(case.state for case in cases)
    about = {
        "name": _SUITE,
        "package": _SUITE,
        "id": "0",
        "timestamp": verdict.started,
        "hostname": _HOST,
        "tests": str(len(cases)),
        "failures": str(states["failure"]),
        "errors": str(states["error"]),
        "skipped": str(states["skipped"]),
        "time": verdict.duration_s,
    }
    root = ET.Element("testsuites")
    suite = ET.SubElement(root, "testsuite", {name: one for name, one in about.items() if one})
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(verdict).items():
        if value:
            ET.SubElement(properties, "property", name=name, value=value)
    for case in cases:
        _add(suite, case)
    passed = (f"{case.name}: {case.message}" for case in cases if case.state == "passed")
    ET.SubElement(suite, "system-out").text = "\n".join((*_about(verdict), *passed))
    ET.SubElement(suite, "system-err")
    ET.indent(root)
    written: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _properties(verdict: VerdictView) -> dict[str, str]:
    return {
        "benchgate_version": __version__,
        "decision": verdict.decision.value,
        "exit_code": str(verdict.exit_code),
        "base_commit": verdict.base_commit,
        "head_commit": verdict.head_commit,
        "uncommitted": str(verdict.uncommitted).lower(),
    }


def _cases(verdict: VerdictView, seconds: Mapping[str, float]) -> list[_Case]:
    """The benchmarks; before them the verdict, if it is no pass and no row fails.

    Without that, a suite in which too little was compared would look like one that passed.
    """
    folded = (one for group in verdict.folded for one in group.benchmarks)
    cases = [
        _case(one, verdict.interval_title, seconds.get(one.first.benchmark, 0.0))
        for one in (*verdict.shown, *folded, *verdict.same_code)
        if any(row.decides for row in one.rows)
    ]
    if verdict.decision is Decision.PASS or any(row.fails for row in verdict.rows):
        return cases
    state: _State = "failure" if verdict.exit_code else "skipped"
    of_suite = _Case(_SUITE, "verdict", state, verdict.decision.value, verdict.sentence)
    return [of_suite, *cases]


def _case(one: BenchmarkView, interval_title: str, seconds: float) -> _Case:
    """A benchmark, of which a row that fails stands for all."""
    row = next((row for row in one.rows if row.decides and row.fails), one.first)
    others = one.about_others if row is one.first else ()
    place = row.location and f"defined at {row.location}"
    return _Case(
        _group(row.benchmark),
        row.benchmark,
        _state(row),
        row.word,
        _message(row, interval_title),
        "\n".join(filter(None, (*others, place, row.error))),
        seconds,
    )


def _group(benchmark: str) -> str:
    """The group of an id, whose parameters may hold slashes."""
    path = benchmark.partition("[")[0]
    return path.rpartition("/")[0] or _SUITE


def _state(row: RowView) -> _State:
    if row.fails:
        return "error" if row.outcome is Outcome.FAILED else "failure"
    return "passed" if row.outcome in _SHOWN_TO_BE_FINE else "skipped"


def _message(row: RowView, interval_title: str) -> str:
    """The outcome and why: "slower: tail (p95): +14.6 % (...), 12.30 → 14.10 ms; ..."."""
    why = "; ".join(filter(None, (row.compared(interval_title), row.note)))
    return ": ".join(filter(None, (row.word, row.about, why)))


def _add(suite: ET.Element, case: _Case) -> None:
    """Add a test case; some systems show only attributes, others only the text."""
    time = f"{case.seconds:.6f}" if case.seconds else "0"
    added = ET.SubElement(suite, "testcase", classname=case.group, name=case.name, time=time)
    if case.state != "passed":
        kind = {} if case.state == "skipped" else {"type": case.kind}
        why = ET.SubElement(added, case.state, {**kind, "message": case.message})
        why.text = "\n".join(filter(None, (case.message, case.more)))


def _about(verdict: VerdictView) -> list[str]:
    """What concerns the whole suite, a line each."""
    loosened = (f"{one.title}: {'; '.join(one.changes)}" for one in verdict.loosening)
    warnings = (f"warning: {text}" for text in verdict.warnings)
    said = filter(None, (verdict.sentence, verdict.not_measured))
    return [*said, *loosened, *warnings, verdict.last_line]


def render_csv(verdict: Verdict, redact: Callable[[str], str]) -> bytes:
    """A line for each row, worst first, below a line of names, as RFC 4180 says; UTF-8.

    What does not apply is empty. Changes are fractions: 0.146 is 14.6 %.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    columns = [column for column in COLUMNS if column.csv]
    writer.writerow([column.csv for column in columns])
    for row in verdict.rows:
        writer.writerow([_cell(column.value(row, verdict), redact) for column in columns])
    return text.getvalue().encode()


def _cell(value: CsvValue, redact: Callable[[str], str]) -> str:
    if isinstance(value, str):
        return spreadsheet_cell(redact(value))
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if value is not None and math.isfinite(value) else ""
