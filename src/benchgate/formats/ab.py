"""ab, ApacheBench: what it prints, or the percentiles of `ab -e FILE`.

The time of a benchmark is the mean. Percentiles are read from the file of `-e` alone: in the output
and in the file of `-g` they are whole milliseconds. Several outputs one after the other are several
launches.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchgate.formats.best_input import APPEND, Advice
from benchgate.formats.lines import number_in, read_lines
from benchgate.formats.load_metrics import (
    NO_ANSWER,
    THROUGHPUT,
    TIME,
    LoadRun,
    benchmarks,
    no_answer,
    percentile,
)
from benchgate.formats.parsed import Reading, RowError, shown

if TYPE_CHECKING:
    from benchgate.formats.parsed import Source
    from benchgate.model.run import Metric

NAME = "ab"
ADVICE = Advice("ab -n 1000 URL > FILE", has_samples=False, launches=APPEND)

_START = "This is ApacheBench"
# Before it may be what another program printed.
_VALUE = re.compile(
    r"(Complete requests|Failed requests|Non-2xx responses|Time per request|Requests per second"
    r"|Total transferred|SSL/TLS Protocol|Server Hostname|Server Port|Document Path|apr_\w+):(.*)"
)
_STOPPED = "Total of "
_COMPLETE = "Complete requests"
_TWICE = "twice"
_PERCENTILES = "Percentage served,Time in ms"
_GNUPLOT = b"starttime\tseconds\tctime\t"
_READ_PERCENTILES = frozenset({"50", "75", "90", "95", "99"})
_UNIT_S = 1e-3


def sniff(source: Source) -> bool:
    """Whether the content is that of ab."""
    head = source.head
    return _START.encode() in head or head.startswith((_PERCENTILES.encode(), _GNUPLOT))


def parse(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it has no output of ab and no percentiles, or it is the file of `-g`.
    """
    if source.head.startswith(_GNUPLOT):
        raise source.error(
            "",
            "has times in whole milliseconds, which is too coarse to compare",
            hint="Let ab write the percentiles instead: ab -e FILE.",
        )
    if source.head.startswith(_PERCENTILES.encode()):
        return Reading(NAME, benchmarks(NAME, [_percentiles(source)]))
    outputs: list[tuple[str, dict[str, str]]] = []
    for place, line in read_lines(source):
        found = _VALUE.search(line)
        if _START in line:
            outputs.append((place, {}))
        elif outputs and line.startswith(_STOPPED):
            outputs[-1][1][_STOPPED] = line
        elif outputs and found:
            values = outputs[-1][1]
            if found[1] in values and found[1] == _COMPLETE:
                values[_TWICE] = place
            # Of two lines "Time per request", the first one is what a client waits for.
            values.setdefault(found[1], found[2].strip())
    if not outputs:
        raise source.error("", f"has no line {_START!r}")
    return Reading(NAME, benchmarks(NAME, (_run(*each) for each in outputs)))


def _percentiles(source: Source) -> LoadRun:
    figures: dict[Metric, float] = {}
    rows = [(place, line) for place, line in read_lines(source) if line.strip()]
    try:
        for place, line in rows[1:]:
            percent, _, time_ms = line.partition(",")
            if percent in _READ_PERCENTILES:
                figures[percentile(percent)] = number_in(time_ms, place) * _UNIT_S
    except RowError as error:
        return LoadRun(NAME, source.name, {}, str(error))
    if len(figures) < len(_READ_PERCENTILES):
        raise source.error("", "is cut off: the row of a percentile is missing")
    return LoadRun(NAME, source.name, figures)


def _run(place: str, values: dict[str, str]) -> LoadRun:
    """Read one output, of which the values have their units behind them."""
    id_ = _url(values)
    if why := next((values[key] for key in values if key.startswith("apr_")), ""):
        what = "ab stopped" if _STOPPED in values else NO_ANSWER
        return LoadRun(id_, place, {}, f"{place}: {what}: {why}")
    if again := values.get(_TWICE):
        return LoadRun(id_, place, {}, f"{again}: a second run has no line {_START!r}")
    try:
        requests = _number(values, _COMPLETE, place)
        # With -r, a request without an answer is complete, too.
        if not requests > 0 or values.get("Total transferred") == "0 bytes":
            raise no_answer(place, _number(values, "Failed requests", place))
        # A request may count as both.
        failures = max(
            _number(values, key, place)
            for key in ("Failed requests", "Non-2xx responses")
            if key in values or key == "Failed requests"
        )
        figures = {
            TIME: _number(values, "Time per request", place) * _UNIT_S,
            THROUGHPUT: _number(values, "Requests per second", place),
        }
    except RowError as error:
        return LoadRun(id_, place, {}, str(error))
    return LoadRun(id_, place, figures, errors=failures, requests=requests)


def _url(values: dict[str, str]) -> str:
    scheme = "https" if "SSL/TLS Protocol" in values else "http"
    host, path = values.get("Server Hostname", ""), values.get("Document Path", "")
    return f"{scheme}://{host}:{values.get('Server Port', '')}{path}" if host else ""


def _number(values: dict[str, str], key: str, place: str) -> float:
    found = values.get(key, "").split()
    if not found:
        raise RowError(f"{place}: ab failed, or the output is cut off: there is no {shown(key)}")
    return number_in(found[0], place)
