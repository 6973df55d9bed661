"""Tools that put load on a server over HTTP: ab, autocannon, locust and wrk."""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from benchgate.formats.contents import (
    RowError,
    number_in,
    read_json,
    read_json_lines,
    read_lines,
    shown,
    unread,
)
from benchgate.formats.rows import APPEND, MEAN_TIME, begins, reads, sampled, usual_loops
from benchgate.model.metrics import ERROR_RATIO, Better, Kind, Metric

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.formats.contents import ForeignFile, Node
    from benchgate.formats.rows import ReadRow, ReadRows

THROUGHPUT: Final = Metric("throughput", "1/s", Better.HIGHER, Kind.SUMMARY)
NO_ANSWER: Final = "the server answered no request"
_MS = 1e-3


def percentile(percent: str) -> Metric:
    """The response time that this many percent of the requests do not exceed, such as "99.9"."""
    return Metric(f"time_p{percent}", "s", kind=Kind.SUMMARY)


def no_answer(place: str, errors: float = 0) -> RowError:
    """The error of a run without a single answer, with what the tool counted instead."""
    counted_errors = f"; the tool counted {errors:.0f} errors" if errors > 0 else ""
    return RowError(f"{place}: {NO_ANSWER}{counted_errors}")


@dataclass(slots=True)
class LoadRun:
    """One run of a tool, while it is read.

    Attributes:
        id: of the benchmark.
        place: in the file.
        figures: in the unit of the metric.
        error: why it failed, with its place.
        errors: how many requests failed; None if the tool does not tell. It may count a request
            several times.
        requests: all of them, if the errors are known.
    """

    id: str
    place: str
    figures: dict[Metric, float] = field(default_factory=dict)
    error: str | None = None
    errors: float | None = None
    requests: float = 0

    def finish(self) -> None:
        """Add the error ratio; RowError if the run failed, or its counts are not possible."""
        if self.error is not None:
            raise RowError(self.error)
        if self.figures.get(THROUGHPUT) == 0:
            raise no_answer(self.place, self.errors or 0)
        if self.errors is None:
            return
        if not (self.requests > 0 and self.errors >= 0):
            what = f"{self.errors:g} errors in {self.requests:g} requests are not possible"
            raise RowError(f"{self.place}: {what}")
        self.figures[ERROR_RATIO] = min(1.0, self.errors / self.requests)


class LoadRuns(list[LoadRun]):
    """The runs in a file."""

    @contextmanager
    def run(self, id_: str, place: str) -> Iterator[LoadRun]:
        """Read a run; a RowError is its own."""
        run = LoadRun(id_, place)
        self.append(run)
        try:
            yield run
        except RowError as error:
            run.figures.clear()
            run.error = str(error)

    def join(self, rows: ReadRows) -> None:
        """Join the runs of the same benchmark: each was a process of its own, and is a launch."""
        by_id: dict[str, list[LoadRun]] = {}
        for run in self:
            by_id.setdefault(run.id, []).append(run)
        for id_, runs in by_id.items():
            with rows.row(id_) as row:
                for run in runs:
                    run.finish()
                for metric in dict.fromkeys(metric for run in runs for metric in run.figures):
                    _add_series(row, metric, [run for run in runs if metric in run.figures])


def _add_series(row: ReadRow, metric: Metric, runs: list[LoadRun]) -> None:
    series = sampled(
        metric,
        [[run.figures[metric]] for run in runs],
        [f"{run.place}: {metric.name}" for run in runs],
        loops=usual_loops([run.requests for run in runs]) if metric == ERROR_RATIO else 1,
    )
    row.series.append(series)


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


def _is_ab(source: ForeignFile) -> bool:
    head = source.head
    return _AB_START.encode() in head or head.startswith((_PERCENTILES.encode(), _GNUPLOT))


@reads("ab", "ab -n 1000 URL > FILE", _is_ab, has_samples=False, launches=APPEND)
def ab(source: ForeignFile, rows: ReadRows) -> None:
    """ab, ApacheBench: what it prints, or the percentiles of `ab -e FILE`.

    The time of a benchmark is the mean. Percentiles are read from the file of `-e` alone: in the
    output and in the file of `-g` they are whole milliseconds. Several outputs one after the other
    are several launches.
    """
    if source.head.startswith(_GNUPLOT):
        raise source.error(
            "",
            "has times in whole milliseconds, which is too coarse to compare",
            hint="Let ab write the percentiles instead: ab -e FILE.",
        )
    runs = LoadRuns()
    if source.head.startswith(_PERCENTILES.encode()):
        _, *lines = [each for each in read_lines(source) if each[1].strip()]
        with runs.run(rows.tool, source.name) as run:
            for place, line in lines:
                percent, _, time_ms = line.partition(",")
                if percent in _READ_PERCENTILES:
                    run.figures[percentile(percent)] = number_in(time_ms, place) * _MS
        if not run.error and len(run.figures) < len(_READ_PERCENTILES):
            raise RowError("is cut off: the row of a percentile is missing")
    else:
        for place, values in _ab_outputs(source):
            with runs.run(_ab_url(values), place) as run:
                _read_ab_output(run, values)
        if not runs:
            raise RowError(f"has no line {_AB_START!r}")
    runs.join(rows)


def _ab_outputs(source: ForeignFile) -> list[tuple[str, dict[str, str]]]:
    """The values in each output, with their units behind them, and the place of the output."""
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
    return outputs


def _read_ab_output(run: LoadRun, values: Mapping[str, str]) -> None:
    if why := next((values[key] for key in values if key.startswith("apr_")), ""):
        what = "ab stopped" if _STOPPED in values else NO_ANSWER
        raise RowError(f"{run.place}: {what}: {why}")
    if again := values.get(_TWICE):
        raise RowError(f"{again}: a second run has no line {_AB_START!r}")

    def number(key: str) -> float:
        found = values.get(key, "").split()
        if not found:
            what = f"ab failed, or the output is cut off: there is no {shown(key)}"
            raise RowError(f"{run.place}: {what}")
        return number_in(found[0], run.place)

    run.requests = number(_COMPLETE)
    # With -r, a request without an answer is complete, too.
    if not run.requests > 0 or values.get("Total transferred") == "0 bytes":
        raise no_answer(run.place, number("Failed requests"))
    run.errors = number("Failed requests")
    if "Non-2xx responses" in values:  # a request may count as both
        run.errors = max(run.errors, number("Non-2xx responses"))
    run.figures[MEAN_TIME] = number("Time per request") * _MS
    run.figures[THROUGHPUT] = number("Requests per second")


def _ab_url(values: Mapping[str, str]) -> str:
    scheme = "https" if "SSL/TLS Protocol" in values else "http"
    host, path = values.get("Server Hostname", ""), values.get("Document Path", "")
    return f"{scheme}://{host}:{values.get('Server Port', '')}{path}" if host else ""


_LEAST_S = 0.05
_LATENCIES = {"average": MEAN_TIME, **{f"p{p}": percentile(p) for p in ("50", "75", "90", "99")}}


@reads(
    "autocannon",
    "autocannon --json URL > FILE",
    begins(b"{", b'"pipelining"', b'"non2xx"'),
    has_samples=False,
    launches=APPEND,
)
def autocannon(source: ForeignFile, rows: ReadRows) -> None:
    """autocannon: `autocannon --json`; several results on lines of their own are several launches.

    autocannon counts response times in whole milliseconds. A time of fewer than fifty of them is
    not read: the next possible value would look like a change.
    """
    lines = [line for _, line in read_json_lines(source)]
    results = [line for line in lines if line is not None]
    if len(results) < len(lines) or not lines:
        results = [read_json(source)]
    runs = LoadRuns()
    for result in results:
        id_ = (result.get("title") or result["url"]).text
        with runs.run(id_, result.place or "the result") as run:
            _read_autocannon_result(run, result)
    # All runs or none: those above the limit alone would not be typical.
    coarse: dict[str, dict[Metric, None]] = {}
    for run in runs:
        for metric, value in run.figures.items():
            if metric.unit == "s" and 0 <= value < _LEAST_S:
                coarse.setdefault(run.id, {})[metric] = None
    for run in runs:
        for metric in coarse.get(run.id, ()):
            run.figures.pop(metric, None)
    for id_, metrics in coarse.items():
        names = ", ".join(metric.name for metric in metrics)
        rows.skip(f"{id_}: too coarse in whole milliseconds (less than 50 ms): {names}")
    runs.join(rows)


def _read_autocannon_result(run: LoadRun, result: Node) -> None:
    requests = result["requests"]["total"].number
    errors = result["errors"].number  # without any answer; timeouts are among them
    if not requests > 0:
        raise no_answer(run.place, errors)
    run.figures[THROUGHPUT] = result["requests"]["average"].number
    run.errors = errors + result["non2xx"].number
    run.requests = requests + errors
    if mismatches := result.get("mismatches"):  # with --expectBody, a body that is another one
        run.errors += mismatches.number
    for key, metric in _LATENCIES.items():
        run.figures[metric] = result["latency"][key].number * _MS


_COLUMNS = (
    *("Type", "Name", "Request Count", "Failure Count", "Average Response Time"),
    *("Average Content Size", "Requests/s"),
)
_CSV = b"Type,Name,Request Count,"


def _is_locust(source: ForeignFile) -> bool:
    return source.head.startswith(_CSV) or begins(b"[", b'"num_none_requests"')(source)


@reads("locust", "locust --headless --json > FILE", _is_locust, has_samples=False)
def locust(source: ForeignFile, rows: ReadRows) -> None:
    """locust: the file `PREFIX_stats.csv` of `--csv PREFIX`, or what `--json` prints; in ms.

    The time of a benchmark is the mean: locust rounds the median and the percentiles to two digits.
    Several CSV files one after the other are several launches.
    """
    runs = LoadRuns()
    try:
        (_read_locust_table if source.head.startswith(b"Type,") else _read_locust_json)(
            source, runs
        )
    except csv.Error as error:
        raise RowError(f"is not CSV: {error}") from None
    runs.join(rows)


def _read_locust_table(source: ForeignFile, runs: LoadRuns) -> None:
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
        with runs.run(f"{type_} {name}".strip(), place) as run:
            run.requests, run.errors, mean_ms, size, per_s = (
                number_in(text, place) for text in texts
            )
            _finish_locust(run, mean_ms, size, per_s)


def _read_locust_json(source: ForeignFile, runs: LoadRuns) -> None:
    rows = list(read_json(source).each())
    # As locust does: the rate of each request is over the time of all of them.
    start_s = min((row["start_time"].number for row in rows), default=0)
    ends = [row.get("last_request_timestamp") for row in rows]
    duration_s = max((end.number if end else 0 for end in ends), default=0) - start_s
    for row in rows:
        with runs.run(f"{row['method'].text} {row['name'].text}".strip(), row.place) as run:
            run.requests = row["num_requests"].number
            timed = run.requests - row["num_none_requests"].number
            mean_ms = row["total_response_time"].number / timed if timed > 0 else 0
            run.errors = row["num_failures"].number
            per_s = run.requests / duration_s if duration_s > 0 else 0
            _finish_locust(run, mean_ms, row["total_content_length"].number, per_s)


def _finish_locust(run: LoadRun, mean_ms: float, size: float, per_s: float) -> None:
    if not run.requests > 0:
        raise no_answer(run.place)
    # locust counts a refused connection as a failed request with a time.
    if run.errors is not None and run.errors >= run.requests and size == 0:
        why = f"all {run.errors:.0f} requests failed, and no answer has content"
        raise RowError(f"{run.place}: {why}: {NO_ANSWER}, or only with empty answers")
    if mean_ms != 0:  # locust shows 0 if a request has no time
        run.figures[MEAN_TIME] = mean_ms * _MS
    if per_s != 0:
        run.figures[THROUGHPUT] = per_s


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


def _is_wrk(source: ForeignFile) -> bool:
    head = source.head
    if head.startswith(b"{"):
        return b'"rps"' in head[:1000] and b'_us"' in head[:1000]
    return (_WRK_START.encode() in head and b"Thread Stats" in head) or head.startswith(_REFUSED)


@reads("wrk", "wrk --latency URL > FILE", _is_wrk, has_samples=False, launches=APPEND)
def wrk(source: ForeignFile, rows: ReadRows) -> None:
    """What wrk and wrk2 print, best with `--latency`, or JSON that a script of theirs writes.

    The time of a benchmark is the mean. Several outputs one after the other are several launches.

    There is no JSON of wrk itself: a script writes it in its function `done`. It is read if its
    keys are `rps` (requests in a second), `mean_us` and `p99_us` (any percentile; microseconds),
    `requests` and `errors` (counts), and `url` or another name for the benchmark. All of them are
    optional.
    """
    if source.head.startswith(b"{"):
        _read_wrk_json(source, rows)
        return
    if source.head.startswith(_REFUSED):
        said = shown(source.head.decode(errors="replace").strip())
        raise RowError(f"{NO_ANSWER}: {said}")
    outputs: list[tuple[str, str, list[tuple[str, str]]]] = []
    for place, line in read_lines(source):
        if "Running " in line and _WRK_START in line:
            outputs.append((line.partition(_WRK_START)[2].strip(), place, []))
        elif outputs:
            outputs[-1][-1].append((place, line))
    if not outputs:
        raise RowError("has no line such as 'Running 10s test @ URL'")
    runs = LoadRuns()
    for url, place, lines in outputs:
        with runs.run(url, place) as run:
            run.requests, run.errors = -1, 0
            counts: dict[str, float] = defaultdict(float)
            for at, line in lines:
                _read_wrk_line(run, counts, line, at)
            _finish_wrk(run, counts)
    runs.join(rows)


def _read_wrk_line(run: LoadRun, counts: dict[str, float], line: str, place: str) -> None:
    """Read a line, before which may be what another program printed."""
    if (found := _LATENCY.search(line)) and MEAN_TIME not in run.figures:
        run.figures[MEAN_TIME] = _seconds(found[1], place)
    elif found := _PERCENTILE.search(line):
        metric = percentile(f"{number_in(found[1], place):g}")
        # wrk2 may print a second distribution, without its correction.
        run.figures.setdefault(metric, _seconds(found[2], place))
        counts["percentiles"] += 1
    elif _DISTRIBUTION in line:
        counts["distributions"] += 1
    elif found := _REQUESTS.search(line):
        if run.requests >= 0:
            why = "a second run has no line such as 'Running 10s test @ URL'"
            raise RowError(f"{place}: {why}: {shown(line.strip())}")
        run.requests = number_in(found[1], place)
    elif found := _SOCKET_ERRORS.search(line):
        *unanswered, late = map(float, found.groups())
        counts["unanswered"] = sum(unanswered)
        run.errors = (run.errors or 0) + sum(unanswered) + late
    elif found := _STATUS_ERRORS.search(line):
        run.errors = (run.errors or 0) + number_in(found[1], place)
    elif found := _RATE.search(line):
        run.figures[THROUGHPUT] = number_in(found[1], place)
    elif any(sign in line for sign in _RESULTS):
        raise RowError(unread(place, line))


def _finish_wrk(run: LoadRun, counts: dict[str, float]) -> None:
    there = {
        "Requests/sec:": THROUGHPUT in run.figures,
        "Latency": MEAN_TIME in run.figures,
        "N requests in N s": run.requests >= 0,
        "N% N ms": counts["percentiles"] >= counts["distributions"] * _LEAST_PERCENTILES,
    }
    for line in (line for line, is_there in there.items() if not is_there):
        raise RowError(f"{run.place}: the output is cut off: there is no line {line!r}")
    if not run.requests > 0:
        raise no_answer(run.place, run.errors or 0)
    run.requests += counts["unanswered"]


def _seconds(text: str, place: str) -> float:
    number = text.rstrip("".join(_UNITS_S))
    scale = _UNITS_S.get(text[len(number) :])
    if scale is None:
        raise RowError(f"{place}: {shown(text)} is not a time such as 1.25ms")
    return number_in(number, place) * scale


def _read_wrk_json(source: ForeignFile, rows: ReadRows) -> None:
    keys = dict(read_json(source).items())
    name = keys.pop("url", None) or keys.pop("name", None)
    run = LoadRun(rows.tool, source.name)
    if rate := keys.pop("rps", None):
        run.figures[THROUGHPUT] = rate.number
    for key in [key for key in keys if key.endswith("_us")]:
        stem = key.removesuffix("_us")
        if stem == "mean":
            run.figures[MEAN_TIME] = keys.pop(key).number * 1e-6
        elif stem.startswith("p") and stem[1:].replace(".", "", 1).isdecimal():
            run.figures[percentile(stem[1:])] = keys.pop(key).number * 1e-6
    if not run.figures:
        raise RowError("there is neither 'rps' nor a time such as 'mean_us' or 'p99_us'")
    requests, errors = keys.pop("requests", None), keys.pop("errors", None)
    rows.skip(*(f"{key}: the key is unknown" for key in keys))
    if name:
        run.id = name.text
    if requests and not requests.number > 0:
        run.error = str(no_answer(requests.place))
    elif requests and errors:
        run.errors, run.requests = errors.number, requests.number
    elif errors:
        rows.skip("errors: the file does not say of how many requests")
    LoadRuns([run]).join(rows)
