"""Tools that put load on a server: ab, autocannon, wrk and locust.

The time of a benchmark is the mean. Percentiles are read from the file of `-e` alone: in the output
and in the file of `-g` they are whole milliseconds. Several outputs one after the other are several
launches.

autocannon counts response times in whole milliseconds. A time of fewer than fifty of them is not
read: the next possible value would look like a change.

The time of a benchmark is the mean. Several outputs one after the other are several launches.

There is no JSON of wrk itself: a script writes it in its function `done`. It is read if its keys
are `rps` (requests in a second), `mean_us` and `p99_us` (any percentile; microseconds), `requests`
and `errors` (counts), and `url` or another name for the benchmark. All of them are optional.

The time of a benchmark is the mean: locust rounds the median and the percentiles to two digits.
Several CSV files one after the other are several launches.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from benchgate.formats.contents import number_in, read_json, read_json_lines, read_lines
from benchgate.formats.parsed import (
    APPEND,
    Advice,
    ForeignFormat,
    Reading,
    RowError,
    benchmark,
    failed,
    sampled,
    shown,
    usual_loops,
)
from benchgate.model.run import ERROR_RATIO, Better, Kind, Metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchgate.formats.contents import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult, Series


TIME: Final = Metric("time", "s", kind=Kind.SUMMARY)
"""The mean or the median of the response times."""
THROUGHPUT: Final = Metric("throughput", "1/s", Better.HIGHER, Kind.SUMMARY)
NO_ANSWER: Final = "the server answered no request"


def percentile(percent: str) -> Metric:
    """The response time that this many percent of the requests do not exceed, such as "99.9"."""
    return Metric(f"time_p{percent}", "s", kind=Kind.SUMMARY)


def no_answer(place: str, errors: float = 0) -> RowError:
    """The error of a run without a single answer, with what the tool counted instead."""
    counted_errors = f"; the tool counted {errors:.0f} errors" if errors > 0 else ""
    return RowError(f"{place}: {NO_ANSWER}{counted_errors}")


@dataclass(frozen=True, slots=True)
class LoadRun:
    """One run of a tool, or why it failed.

    Attributes:
        id: of the benchmark.
        figures: in the unit of the metric.
        place: in the file.
        error: with its place.
        errors: how many requests failed; None if the tool does not tell. It may count a request
            several times.
        requests: all of them, if the errors are known.
    """

    id: str
    place: str
    figures: Mapping[Metric, float]
    error: str | None = None
    errors: float | None = None
    requests: float = 0

    def metrics(self) -> dict[Metric, float]:
        """The figures with the error ratio.

        Raises:
            RowError: the run failed, nothing was answered, or the counts are not possible.
        """
        if self.error is not None:
            raise RowError(self.error)
        if self.figures.get(THROUGHPUT) == 0:
            raise no_answer(self.place, self.errors or 0)
        if self.errors is None:
            return dict(self.figures)
        if not (self.requests > 0 and self.errors >= 0):
            what = f"{self.errors:g} errors in {self.requests:g} requests are not possible"
            raise RowError(f"{self.place}: {what}")
        return {**self.figures, ERROR_RATIO: min(1.0, self.errors / self.requests)}


def benchmarks(tool: str, runs: Iterable[LoadRun]) -> tuple[BenchmarkResult, ...]:
    """Join the runs of the same benchmark: each was a process of its own, and is a launch."""
    by_id: dict[str, list[LoadRun]] = {}
    for run in runs:
        by_id.setdefault(run.id, []).append(run)
    return tuple(_joined(tool, id_, same) for id_, same in by_id.items())


def _joined(tool: str, id_: str, runs: list[LoadRun]) -> BenchmarkResult:
    try:
        found = [(run, run.metrics()) for run in runs]
        metrics = dict.fromkeys(metric for _, figures in found for metric in figures)
        return benchmark(tool, id_, [_series(metric, found) for metric in metrics])
    except RowError as error:
        return failed(tool, id_, str(error))


def _series(metric: Metric, runs: list[tuple[LoadRun, dict[Metric, float]]]) -> Series:
    found = [(run, figures[metric]) for run, figures in runs if metric in figures]
    return sampled(
        metric,
        [[value] for _, value in found],
        [f"{run.place}: {metric.name}" for run, _ in found],
        loops=usual_loops([run.requests for run, _ in found]) if metric == ERROR_RATIO else 1,
    )


_AB_NAME = "ab"
_AB_ADVICE = Advice("ab -n 1000 URL > FILE", has_samples=False, launches=APPEND)

_AB_START = "This is ApacheBench"
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


def _is_ab(source: Source) -> bool:
    """Whether the content is that of ab."""
    head = source.head
    return _AB_START.encode() in head or head.startswith((_PERCENTILES.encode(), _GNUPLOT))


def _parse_ab(source: Source) -> Reading:
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
        return Reading(_AB_NAME, benchmarks(_AB_NAME, [_percentiles(source)]))
    outputs: list[tuple[str, dict[str, str]]] = []
    for place, line in read_lines(source):
        found = _VALUE.search(line)
        if _AB_START in line:
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
        raise source.error("", f"has no line {_AB_START!r}")
    return Reading(_AB_NAME, benchmarks(_AB_NAME, (_ab_run(*each) for each in outputs)))


def _percentiles(source: Source) -> LoadRun:
    figures: dict[Metric, float] = {}
    rows = [(place, line) for place, line in read_lines(source) if line.strip()]
    try:
        for place, line in rows[1:]:
            percent, _, time_ms = line.partition(",")
            if percent in _READ_PERCENTILES:
                figures[percentile(percent)] = number_in(time_ms, place) * _UNIT_S
    except RowError as error:
        return LoadRun(_AB_NAME, source.name, {}, str(error))
    if len(figures) < len(_READ_PERCENTILES):
        raise source.error("", "is cut off: the row of a percentile is missing")
    return LoadRun(_AB_NAME, source.name, figures)


def _ab_run(place: str, values: dict[str, str]) -> LoadRun:
    """Read one output, of which the values have their units behind them."""
    id_ = _url(values)
    if why := next((values[key] for key in values if key.startswith("apr_")), ""):
        what = "ab stopped" if _STOPPED in values else NO_ANSWER
        return LoadRun(id_, place, {}, f"{place}: {what}: {why}")
    if again := values.get(_TWICE):
        return LoadRun(id_, place, {}, f"{again}: a second run has no line {_AB_START!r}")
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


AB = ForeignFormat(_AB_NAME, _AB_ADVICE, _is_ab, _parse_ab)


_AUTOCANNON_NAME = "autocannon"
_AUTOCANNON_ADVICE = Advice("autocannon --json URL > FILE", has_samples=False, launches=APPEND)

_LEAST_S = 0.05
_TIMES = {"average": TIME, **{f"p{p}": percentile(p) for p in ("50", "75", "90", "99")}}


def _is_autocannon(source: Source) -> bool:
    """Whether the content is that of autocannon."""
    head = source.head
    return head.startswith(b"{") and b'"pipelining"' in head and b'"non2xx"' in head


def _parse_autocannon(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or a result has no URL.
    """
    lines = [line for _, line in read_json_lines(source)]
    results = [line for line in lines if line is not None]
    if len(results) < len(lines) or not lines:
        results = [read_json(source)]
    try:
        runs = [_autocannon_run(result) for result in results]
    except RowError as error:
        raise source.error("", str(error)) from None
    # All runs or none: those above the limit alone would not be typical.
    coarse = dict.fromkeys(
        (run.id, metric)
        for run in runs
        for metric, value in run.figures.items()
        if metric.unit == "s" and 0 <= value < _LEAST_S
    )
    fine = [
        replace(run, figures={m: v for m, v in run.figures.items() if (run.id, m) not in coarse})
        for run in runs
    ]
    names: dict[str, list[str]] = {}
    for id_, metric in coarse:
        names.setdefault(id_, []).append(metric.name)
    skipped = [
        f"{id_}: too coarse in whole milliseconds (less than 50 ms): {', '.join(found)}"
        for id_, found in names.items()
    ]
    return Reading(_AUTOCANNON_NAME, benchmarks(_AUTOCANNON_NAME, fine), tuple(skipped))


def _autocannon_run(result: Node) -> LoadRun:
    id_ = (result.get("title") or result["url"]).text
    place = result.place or "the result"
    try:
        requests = result["requests"]["total"].number
        errors = result["errors"].number  # without any answer; timeouts are among them
        if not requests > 0:
            raise no_answer(place, errors)
        figures: dict[Metric, float] = {
            THROUGHPUT: result["requests"]["average"].number,
        }
        failures = errors + result["non2xx"].number
        if mismatches := result.get("mismatches"):  # with --expectBody, a body that is another one
            failures += mismatches.number
        for key, metric in _TIMES.items():
            figures[metric] = result["latency"][key].number * 1e-3
    except RowError as error:
        return LoadRun(id_, place, {}, str(error))
    return LoadRun(id_, place, figures, errors=failures, requests=requests + errors)


AUTOCANNON = ForeignFormat(_AUTOCANNON_NAME, _AUTOCANNON_ADVICE, _is_autocannon, _parse_autocannon)


_WRK_NAME = "wrk"
_WRK_ADVICE = Advice("wrk --latency URL > FILE", has_samples=False, launches=APPEND)

_UNITS_S = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_WRK_START = " test @ "
_REFUSED = b"unable to connect to "
_DISTRIBUTION = "Latency Distribution"
_LEAST_PERCENTILES = 4
_LATENCY = re.compile(r"Latency\s+(\S+)\s+\S+\s+\S+\s+\S+%\s*$")
_PERCENTILE = re.compile(r"(?:^|\s)(\d[\d.]*)%\s+(\d\S*)\s*$")
_REQUESTS = re.compile(r"(?<!\S)(\S+) requests in ")
_SOCKET_ERRORS = re.compile(
    r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)\s*$"
)
_STATUS_ERRORS = re.compile(r"Non-2xx or 3xx responses:\s*(\S+)")
_RATE = re.compile(r"Requests/sec:\s*(\S+)")
_RESULTS = ("Socket errors:", "Non-2xx or 3xx responses:", "Requests/sec:")


def _is_wrk(source: Source) -> bool:
    """Whether the content is that of wrk."""
    head = source.head
    if head.startswith(b"{"):
        return b'"rps"' in head[:1000] and b'_us"' in head[:1000]
    return (_WRK_START.encode() in head and b"Thread Stats" in head) or head.startswith(_REFUSED)


def _parse_wrk(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it has no output of wrk, or is JSON with none of its keys.
    """
    if source.head.startswith(b"{"):
        try:
            return _wrk_document(source)
        except RowError as error:
            raise source.error("", str(error)) from None
    if source.head.startswith(_REFUSED):
        raise source.error(
            "", f"{NO_ANSWER}: {shown(source.head.decode(errors='replace').strip())}"
        )
    runs: list[_Output] = []
    for place, line in read_lines(source):
        if "Running " in line and _WRK_START in line:
            runs.append(_Output(line.partition(_WRK_START)[2].strip(), place))
        elif runs and not runs[-1].error:
            try:
                runs[-1].read(line, place)
            except RowError as error:
                runs[-1].error = str(error)
    if not runs:
        raise source.error("", "has no line such as 'Running 10s test @ URL'")
    return Reading(_WRK_NAME, benchmarks(_WRK_NAME, (run.result() for run in runs)))


@dataclass(slots=True)
class _Output:
    """What one run printed, as far as it was read."""

    url: str
    place: str
    figures: dict[Metric, float] = field(default_factory=dict)
    requests: float = -1
    distributions: int = 0
    percentiles: int = 0
    unanswered: float = 0
    errors: float = 0
    error: str | None = None

    def read(self, line: str, place: str) -> None:
        """Read a line, before which may be what another program printed.

        Raises:
            RowError: it looks like a result, and is none.
        """
        if (found := _LATENCY.search(line)) and TIME not in self.figures:
            self.figures[TIME] = _seconds(found[1], place)
        elif found := _PERCENTILE.search(line):
            metric = percentile(f"{number_in(found[1], place):g}")
            # wrk2 may print a second distribution, without its correction.
            self.figures.setdefault(metric, _seconds(found[2], place))
            self.percentiles += 1
        elif _DISTRIBUTION in line:
            self.distributions += 1
        elif found := _REQUESTS.search(line):
            if self.requests >= 0:
                why = "a second run has no line such as 'Running 10s test @ URL'"
                raise RowError(f"{place}: {why}: {shown(line.strip())}")
            self.requests = number_in(found[1], place)
        elif found := _SOCKET_ERRORS.search(line):
            *unanswered, late = (number_in(text, place) for text in found.groups())
            self.unanswered = sum(unanswered)
            self.errors += self.unanswered + late
        elif found := _STATUS_ERRORS.search(line):
            self.errors += number_in(found[1], place)
        elif found := _RATE.search(line):
            self.figures[THROUGHPUT] = number_in(found[1], place)
        elif any(sign in line for sign in _RESULTS):
            raise RowError(f"{place}: the result cannot be read: {shown(line.strip())}")

    def result(self) -> LoadRun:
        error = self.error or self._missing()
        if error is None and not self.requests > 0:
            error = str(no_answer(self.place, self.errors))
        requests = self.requests + self.unanswered
        return LoadRun(self.url, self.place, self.figures, error, self.errors, requests)

    def _missing(self) -> str | None:
        there = {
            "Requests/sec:": THROUGHPUT in self.figures,
            "Latency": TIME in self.figures,
            "N requests in N s": self.requests >= 0,
            "N% N ms": self.percentiles >= self.distributions * _LEAST_PERCENTILES,
        }
        lacking = next((repr(line) for line, is_there in there.items() if not is_there), None)
        return lacking and f"{self.place}: the output is cut off: there is no line {lacking}"


def _seconds(text: str, place: str) -> float:
    number = text.rstrip("".join(_UNITS_S))
    scale = _UNITS_S.get(text[len(number) :])
    if scale is None:
        raise RowError(f"{place}: {shown(text)} is not a time such as 1.25ms")
    return number_in(number, place) * scale


def _wrk_document(source: Source) -> Reading:
    root = read_json(source)
    keys = dict(root.items())
    name = keys.pop("url", None) or keys.pop("name", None)
    figures: dict[Metric, float] = {}
    if rate := keys.pop("rps", None):
        figures[THROUGHPUT] = rate.number
    for key in [key for key in keys if key.endswith("_us")]:
        stem = key.removesuffix("_us")
        if stem == "mean":
            figures[TIME] = keys.pop(key).number * 1e-6
        elif stem.startswith("p") and stem[1:].replace(".", "", 1).isdecimal():
            figures[percentile(stem[1:])] = keys.pop(key).number * 1e-6
    if not figures:
        raise RowError("there is neither 'rps' nor a time such as 'mean_us' or 'p99_us'")
    requests, errors = keys.pop("requests", None), keys.pop("errors", None)
    skipped = [f"{key}: the key is unknown" for key in keys]
    run = LoadRun(name.text if name else _WRK_NAME, source.name, figures)
    if requests and not requests.number > 0:
        run = replace(run, error=str(no_answer(requests.place)))
    elif requests and errors:
        run = replace(run, errors=errors.number, requests=requests.number)
    elif errors:
        skipped.append("errors: the file does not say of how many requests")
    return Reading(_WRK_NAME, benchmarks(_WRK_NAME, [run]), tuple(skipped))


WRK = ForeignFormat(_WRK_NAME, _WRK_ADVICE, _is_wrk, _parse_wrk)


_LOCUST_NAME = "locust"
_LOCUST_ADVICE = Advice("locust --headless --json > FILE", has_samples=False)

_COLUMNS = (
    "Type",
    "Name",
    "Request Count",
    "Failure Count",
    "Average Response Time",
    "Average Content Size",
    "Requests/s",
)
_CSV = b"Type,Name,Request Count,"


def _is_locust(source: Source) -> bool:
    """Whether the content is that of locust."""
    head = source.head
    return head.startswith(_CSV) or (head.startswith(b"[") and b'"num_none_requests"' in head)


def _parse_locust(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is neither JSON nor CSV, or lacks a column or a key.
    """
    try:
        found = _table(source) if source.head.startswith(b"Type,") else _locust_document(source)
        return Reading(_LOCUST_NAME, benchmarks(_LOCUST_NAME, found))
    except RowError as error:
        raise source.error("", str(error)) from None
    except csv.Error as error:
        raise source.error("", f"is not CSV: {error}") from None


def _table(source: Source) -> Iterator[LoadRun]:
    rows = csv.reader(io.StringIO(source.text("backslashreplace"), newline=""))
    header = next(rows)
    for column in _COLUMNS:
        if column not in header:
            raise RowError(f"line 1: the column {column!r} is missing")
    indexes = [header.index(column) for column in _COLUMNS]
    for row in rows:
        place = f"line {rows.line_num}"
        if not row or row in (header, [""]) or row[:2] == ["", "Aggregated"]:
            continue
        if len(row) <= max(indexes):
            raise RowError(f"{place}: the row is cut off")
        type_, name, *texts = (row[index] for index in indexes)
        id_ = f"{type_} {name}".strip()
        try:
            requests, failures, mean_ms, content, per_s = (number_in(text, place) for text in texts)
        except RowError as error:
            yield LoadRun(id_, place, {}, str(error))
        else:
            yield _locust_run(
                id_,
                place,
                requests=requests,
                failures=failures,
                mean_ms=mean_ms,
                content=content,
                per_s=per_s,
            )


def _locust_document(source: Source) -> Iterator[LoadRun]:
    rows = list(read_json(source).each())
    # As locust does: the rate of each request is over the time of all of them.
    start_s = min((row["start_time"].number for row in rows), default=0)
    end_s = max((_end_s(row) for row in rows), default=0)
    for row in rows:
        id_ = f"{row['method'].text} {row['name'].text}".strip()
        try:
            yield _entry(id_, row, end_s - start_s)
        except RowError as error:
            yield LoadRun(id_, row.place, {}, str(error))


def _entry(id_: str, row: Node, duration_s: float) -> LoadRun:
    requests = row["num_requests"].number
    timed = requests - row["num_none_requests"].number
    mean_ms = row["total_response_time"].number / timed if timed > 0 else 0
    return _locust_run(
        id_,
        row.place,
        requests=requests,
        failures=row["num_failures"].number,
        mean_ms=mean_ms,
        content=row["total_content_length"].number,
        per_s=requests / duration_s if duration_s > 0 else 0,
    )


def _end_s(row: Node) -> float:
    end = row.get("last_request_timestamp")
    return end.number if end else 0


def _locust_run(
    id_: str,
    place: str,
    *,
    requests: float,
    failures: float,
    mean_ms: float,
    content: float,
    per_s: float,
) -> LoadRun:
    if not requests > 0:
        return LoadRun(id_, place, {}, str(no_answer(place)))
    # locust counts a refused connection as a failed request with a time.
    if failures >= requests and content == 0:
        why = f"all {failures:.0f} requests failed, and no answer has content"
        return LoadRun(id_, place, {}, f"{place}: {why}: {NO_ANSWER}, or only with empty answers")
    figures: dict[Metric, float] = {}
    if mean_ms != 0:  # locust shows 0 if a request has no time
        figures[TIME] = mean_ms * 1e-3
    if per_s != 0:
        figures[THROUGHPUT] = per_s
    return LoadRun(id_, place, figures, errors=failures, requests=requests)


LOCUST = ForeignFormat(_LOCUST_NAME, _LOCUST_ADVICE, _is_locust, _parse_locust)
