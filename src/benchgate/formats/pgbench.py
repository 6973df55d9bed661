"""pgbench: what it prints, or a file of `--log`, with or without `--aggregate-interval`.

The time of a benchmark is the mean. Several outputs one after the other are several launches. With
several scripts, there is a benchmark for all of them and one for each. The latencies of single
statements and the progress are not read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.formats.best_input import Advice
from benchgate.formats.lines import number_in, read_lines
from benchgate.formats.load_metrics import (
    NO_ANSWER,
    THROUGHPUT,
    TIME,
    LoadRun,
    benchmarks,
    no_answer,
)
from benchgate.formats.parsed import Reading, RowError, shown
from benchgate.formats.pgbench_log import is_log, read_log

if TYPE_CHECKING:
    from benchgate.formats.parsed import Source
    from benchgate.model.run import Metric

NAME = "pgbench"
ADVICE = Advice("pgbench --log, which writes pgbench_log.PID")

_TYPE = "transaction type"
_SETTINGS = (("clients", "number of clients"), ("mode", "query mode"), ("scale", "scaling factor"))
_REFUSED = "pgbench: error: connection to server"
_ABORTED = "Run was aborted"
_PROCESSED = "number of transactions actually processed"
_FAILED = "number of failed transactions"
_TPS = "tps"
_LATENCY = "latency average"
_SKIPPED = "number of transactions skipped"
# Before each of these may be what another program printed.
_SCRIPT = re.compile(rf"(?:{_TYPE}|(SQL script \d+)): (.*)")
_SHARE = re.compile(r"(?<!\S)(\S+) transactions \(.* tps = (.*)\)")
_VALUE = re.compile(
    rf"({_PROCESSED}|{_FAILED}|{_SKIPPED}|{_LATENCY}|{_TPS}|{'|'.join(k for _, k in _SETTINGS)})"
    r"(?:: | = )(.*)"
)


def sniff(source: Source) -> bool:
    """Whether the content is that of pgbench."""
    head = source.head
    is_output = f"{_TYPE}: ".encode() in head and b"query mode: " in head
    return is_output or _REFUSED.encode() in head or is_log(head)


def parse(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it has no output of pgbench, or a line of a log is broken.
    """
    if is_log(source.head):
        return read_log(NAME, source)
    outputs: list[_Output] = []
    for place, line in read_lines(source):
        if f"{_TYPE}: " in line:
            outputs.append(_Output(place))
        if outputs:
            outputs[-1].read(line, place)
    if not outputs and _REFUSED in source.text("replace"):
        raise source.error("", f"{NO_ANSWER}: {_REFUSED}")
    if not outputs:
        raise source.error("", f"has no line {_TYPE!r}")
    return Reading(NAME, benchmarks(NAME, (run for each in outputs for run in each.runs())))


@dataclass(slots=True)
class _Part:
    """What was printed about all scripts, or about one of them."""

    name: str
    place: str
    values: dict[str, str] = field(default_factory=dict)
    error: str | None = None


@dataclass(slots=True)
class _Output:
    """What one run printed."""

    place: str
    is_aborted: bool = False
    parts: list[_Part] = field(default_factory=list)

    def read(self, line: str, place: str) -> None:
        self.is_aborted |= _ABORTED in line
        if found := _SCRIPT.search(line):
            name = found[2].strip()
            self.parts.append(_Part(f"{found[1]}: {name}" if found[1] else name, place))
        elif found := _SHARE.search(line):
            self.parts[-1].values |= {"processed": found[1], "tps": found[2]}
        elif found := _VALUE.search(line):
            # Old versions have two lines "tps"; the second one is without the connecting.
            if found[1] in self.parts[-1].values and found[1] != _TPS:
                self.parts[-1].error = f"{place}: {found[1]} is there twice"
            self.parts[-1].values[found[1]] = found[2].strip()

    def runs(self) -> list[LoadRun]:
        settings = self.parts[0].values
        named = ",".join(f"{key}={settings[k]}" for key, k in _SETTINGS if k in settings)
        suffix = f"[{named}]" if named else ""
        return [self._run(part, f"{part.name}{suffix}") for part in self.parts]

    def _run(self, part: _Part, id_: str) -> LoadRun:
        values, place = part.values, part.place
        if self.is_aborted:
            why = "the run was aborted, so its results are incomplete"
            return LoadRun(id_, place, {}, f"{place}: {why}")
        if part.error:
            return LoadRun(id_, place, {}, part.error)
        try:
            return _read(values, id_, place)
        except RowError as error:
            return LoadRun(id_, place, {}, str(error))


def _read(values: dict[str, str], id_: str, place: str) -> LoadRun:
    processed = _number(values, _PROCESSED if _PROCESSED in values else "processed", place)
    errors = None
    if _FAILED in values:  # since version 15
        errors = _number(values, _FAILED, place)
    skipped = _number(values, _SKIPPED, place) if _SKIPPED in values else 0
    planned = values.get(_PROCESSED, "").partition("/")[2]
    if not processed > 0:
        raise no_answer(place, errors or 0)
    if planned and processed + (errors or 0) + skipped < number_in(planned, place):
        raise RowError(f"{place}: the run was aborted: only {values[_PROCESSED]} transactions")
    if values.get(_LATENCY, "ms").split()[-1:] != ["ms"]:
        raise RowError(
            f"{place}: {_LATENCY}: {shown(values[_LATENCY])} is not a time such as 1.5 ms"
        )
    figures: dict[Metric, float] = {
        TIME: _number(values, _LATENCY, place) * 1e-3,
        THROUGHPUT: _number(values, "tps", place),
    }
    return LoadRun(id_, place, figures, errors=errors, requests=processed + (errors or 0))


def _number(values: dict[str, str], key: str, place: str) -> float:
    """The number at the start of a value; its decimal point depends on the locale."""
    found = values.get(key, "").split()
    if not found:
        raise RowError(f"{place}: the run failed, or the output is cut off: there is no {key!r}")
    return number_in(found[0].partition("/")[0].replace(",", "."), f"{place}: {key}")
