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
from typing import TYPE_CHECKING, Final, Literal, TypeAlias
from xml.etree import ElementTree as ET

from benchgate import __version__
from benchgate.escape import spreadsheet_cell
from benchgate.model.policy import Outcome
from benchgate.model.verdict import Decision
from benchgate.report.columns import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.model.verdict import Verdict
    from benchgate.report.columns import CsvValue
    from benchgate.report.view import RowView, VerdictView


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
    """

    group: str
    name: str
    state: _State
    kind: str
    message: str
    more: str = ""


def render_junit(verdict: VerdictView) -> bytes:
    """A suite with a test case for each row that decides; UTF-8, ends in a newline.

    The time of a test case is 0: JUnit means how long the test took, and not what it measured.
    """
    cases = _cases(verdict)
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


def _cases(verdict: VerdictView) -> list[_Case]:
    """The rows that decide; before them the verdict, if it is no pass and no row fails.

    Without that, a suite in which too little was compared would look like one that passed.
    """
    cases = [_case(row, verdict.interval_title) for row in verdict.rows if row.decides]
    if verdict.decision is Decision.PASS or any(row.fails for row in verdict.rows):
        return cases
    state: _State = "failure" if verdict.exit_code else "skipped"
    of_suite = _Case(_SUITE, "verdict", state, verdict.decision.value, verdict.sentence)
    return [of_suite, *cases]


def _case(row: RowView, interval_title: str) -> _Case:
    return _Case(
        _group(row.benchmark),
        ": ".join(filter(None, (row.benchmark, row.statistic))),
        _state(row),
        row.outcome.value,
        _message(row, interval_title),
        "\n".join(filter(None, (row.location and f"defined at {row.location}", row.error))),
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
    """The outcome and why: "regressed: +14.6 % (...), 12.30 ms to 14.10 ms; slower in ..."."""
    why = "; ".join(filter(None, (row.compared(interval_title), row.note)))
    return ": ".join(filter(None, (row.outcome.value, why)))


def _add(suite: ET.Element, case: _Case) -> None:
    """Add a test case; some systems show only attributes, others only the text."""
    added = ET.SubElement(suite, "testcase", classname=case.group, name=case.name, time="0")
    if case.state != "passed":
        kind = {} if case.state == "skipped" else {"type": case.kind}
        why = ET.SubElement(added, case.state, {**kind, "message": case.message})
        why.text = "\n".join(filter(None, (case.message, case.more)))


def _about(verdict: VerdictView) -> list[str]:
    """What concerns the whole suite, a line each."""
    loosened = (f"{one.title}: {'; '.join(one.changes)}" for one in verdict.loosening)
    warnings = (f"warning: {text}" for text in verdict.warnings)
    return [verdict.sentence, *loosened, *warnings, verdict.last_line]


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
