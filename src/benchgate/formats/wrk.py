"""wrk and wrk2: what they print, best with `--latency`, or JSON that a script of theirs writes.

The time of a benchmark is the mean. Several outputs one after the other are several launches.

There is no JSON of wrk itself: a script writes it in its function `done`. It is read if its keys
are `rps` (requests in a second), `mean_us` and `p99_us` (any percentile; microseconds), `requests`
and `errors` (counts), and `url` or another name for the benchmark. All of them are optional.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
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
from benchgate.formats.nodes import read_json
from benchgate.formats.parsed import Reading, RowError, shown

if TYPE_CHECKING:
    from benchgate.formats.parsed import Source
    from benchgate.model.run import Metric

NAME = "wrk"
ADVICE = Advice("wrk --latency URL > FILE", has_samples=False, launches=APPEND)

_UNITS_S = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_START = " test @ "
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


def sniff(source: Source) -> bool:
    """Whether the content is that of wrk."""
    head = source.head
    if head.startswith(b"{"):
        return b'"rps"' in head[:1000] and b'_us"' in head[:1000]
    return (_START.encode() in head and b"Thread Stats" in head) or head.startswith(_REFUSED)


def parse(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it has no output of wrk, or is JSON with none of its keys.
    """
    if source.head.startswith(b"{"):
        try:
            return _document(source)
        except RowError as error:
            raise source.error("", str(error)) from None
    if source.head.startswith(_REFUSED):
        raise source.error(
            "", f"{NO_ANSWER}: {shown(source.head.decode(errors='replace').strip())}"
        )
    runs: list[_Output] = []
    for place, line in read_lines(source):
        if "Running " in line and _START in line:
            runs.append(_Output(line.partition(_START)[2].strip(), place))
        elif runs and not runs[-1].error:
            try:
                runs[-1].read(line, place)
            except RowError as error:
                runs[-1].error = str(error)
    if not runs:
        raise source.error("", "has no line such as 'Running 10s test @ URL'")
    return Reading(NAME, benchmarks(NAME, (run.result() for run in runs)))


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


def _document(source: Source) -> Reading:
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
    run = LoadRun(name.text if name else NAME, source.name, figures)
    if requests and not requests.number > 0:
        run = replace(run, error=str(no_answer(requests.place)))
    elif requests and errors:
        run = replace(run, errors=errors.number, requests=requests.number)
    elif errors:
        skipped.append("errors: the file does not say of how many requests")
    return Reading(NAME, benchmarks(NAME, [run]), tuple(skipped))
