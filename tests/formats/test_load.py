"""What the tools that put load on a server cannot tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.formats.test_conformance import described

from benchgate.errors import FormatError
from benchgate.formats import find_format
from benchgate.formats.contents import ForeignFile
from benchgate.formats.http_load import ab, autocannon, locust, wrk
from benchgate.formats.k6 import k6
from benchgate.formats.pgbench import pgbench
from benchgate.gate.evidence import series_of
from benchgate.model.metrics import ERROR_RATIO, Kind

if TYPE_CHECKING:
    from benchgate.formats.rows import ForeignFormat

SAMPLES = Path(__file__).parent / "samples"


def sample(path: str) -> bytes:
    return (SAMPLES / path).read_bytes()


@pytest.mark.parametrize(
    ("path", "crossed"),
    [
        # In this file, `true` means that the threshold was crossed.
        ("k6/summary-export.json", {"http_req_duration": "rate<0.01"}),
        ("k6/handle-summary.json", {"http_req_duration{name:E}": "p(95)<0.001"}),
    ],
)
def test_a_crossed_threshold_of_k6_is_a_note(path: str, crossed: dict[str, str]) -> None:
    rows = k6.parse(ForeignFile(path, sample(path))).benchmarks
    assert {row.id: row.notes for row in rows if row.notes} == {
        id_: (f"k6: the threshold {text!r} was crossed",) for id_, text in crossed.items()
    }


def test_points_of_k6_that_end_in_the_middle_of_a_line_are_an_error() -> None:
    source = ForeignFile("points.ndjson", sample("k6/points.ndjson")[:-20])
    with pytest.raises(FormatError, match=r"points.ndjson: line \d+: is not JSON"):
        k6.parse(source)


def test_runs_one_after_the_other_are_launches_that_can_be_tested() -> None:
    table = sample("locust/stats.csv")
    row = locust.parse(ForeignFile("both.csv", table + table)).benchmarks[0]
    assert [len(series.launches) for series in row.series] == [2, 2, 2]
    assert {series.metric.kind for series in row.series} == {Kind.SUMMARY, Kind.EXACT}


def test_a_benchmark_fails_if_one_of_its_runs_did() -> None:
    whole = sample("wrk/two.txt")
    cut = whole[: whole.rindex(b"Requests/sec")]
    (row,) = wrk.parse(ForeignFile("two.txt", cut)).benchmarks
    assert row.error == "line 14: the output is cut off: there is no line 'Requests/sec:'"


@pytest.mark.parametrize(
    ("known", "path", "sign", "error"),
    [
        (wrk, "wrk/latency.txt", b"Running", "line 24: a second run has no line such as"),
        (ab, "ab/out.txt", b"This is ApacheBench", "line 59: a second run has no line"),
    ],
)
def test_a_run_without_its_first_line_is_no_part_of_the_one_before(
    known: ForeignFormat, path: str, sign: bytes, error: str
) -> None:
    data = sample(path)
    (row,) = known.parse(ForeignFile("x.txt", data + data.replace(sign, b"log"))).benchmarks
    assert row.error is not None
    assert row.error.startswith(error)


def test_pgbench_prints_milliseconds() -> None:
    data = sample("pgbench/run.txt").replace(b"average = 0.460 ms", b"average = 0.460 s")
    (row,) = pgbench.parse(ForeignFile("x.txt", data)).benchmarks
    assert row.error == "line 5: latency average: '0.460 s' is not a time such as 1.5 ms"


def test_a_body_that_autocannon_did_not_expect_is_an_error() -> None:
    data = sample("autocannon/out.json").replace(b'"mismatches":0', b'"mismatches":82763')
    (row,) = autocannon.parse(ForeignFile("x.json", data)).benchmarks
    assert [s.launches[0].samples[0] for s in row.series if s.metric == ERROR_RATIO] == [1]


def test_times_of_k6_that_only_new_connections_have_are_not_read() -> None:
    reading = k6.parse(ForeignFile("k6.json", sample("k6/summary-export.json")))
    zeros = [row.id for row in reading.benchmarks if not row.series[0].launches[0].samples.all()]
    assert zeros == []
    assert reading.skipped[-1].startswith("these times are 0 if a connection is open already")


def test_noise_between_the_lines_of_wrk_does_not_matter() -> None:
    noisy = sample("wrk/latency.txt").replace(b"\n", b"\n50% done\n\x1b[1mLatency is good\x1b[0m\n")
    (row,) = wrk.parse(ForeignFile("noisy.txt", noisy)).benchmarks
    (plain,) = wrk.parse(ForeignFile("plain.txt", sample("wrk/latency.txt"))).benchmarks
    assert [s.launches[0].samples[0] for s in row.series] == [
        s.launches[0].samples[0] for s in plain.series
    ]


def test_a_percentile_of_autocannon_is_read_from_all_runs_or_none() -> None:
    (row,) = autocannon.parse(ForeignFile("two.json", sample("autocannon/two.json"))).benchmarks
    assert all(len(series.launches) == 2 for series in row.series)


def test_times_of_ab_in_whole_milliseconds_are_refused() -> None:
    source = ForeignFile("times.tsv", sample("../refused/ab-gnuplot.tsv"))
    assert ab.sniff(source)
    with pytest.raises(FormatError) as caught:
        ab.parse(source)
    assert caught.value.message.startswith("times.tsv: has times in whole milliseconds")
    assert "ab -e FILE" in caught.value.hint


def test_pgbench_prints_the_decimal_point_of_the_locale() -> None:
    data = sample("pgbench/run.txt")
    text = data.replace(b"0.460 ms", b"0,460 ms").replace(b"4341.729303", b"4341,729303")
    (row,) = pgbench.parse(ForeignFile("run.txt", text)).benchmarks
    assert [series.launches[0].samples[0] for series in row.series] == [0.00046, 4341.729303, 0]


def test_a_transaction_of_pgbench_that_failed_has_no_time() -> None:
    log = b"0 1 200 0 1795357192 1\n0 2 failed 0 1795357192 2\n0 3 skipped 0 1795357192 3\n"
    reading = pgbench.parse(ForeignFile("log", log))
    (row,) = reading.benchmarks
    assert row.series[0].launches[0].samples.tolist() == pytest.approx([0.0002])
    assert reading.skipped == (
        "1 transaction without a time: failed",
        "1 transaction without a time: skipped",
    )


@pytest.mark.parametrize(
    ("known", "text"),
    [
        (wrk, '{"rps": 0, "mean_us": 0, "url": "u"}'),
        (wrk, '{"rps": 5, "mean_us": 7, "requests": 0, "errors": 5, "url": "u"}'),
        (ab, "This is ApacheBench\nBenchmarking u (be patient)...apr_socket_recv: refused (111)\n"),
        (
            pgbench,
            "transaction type: u\nnumber of transactions actually processed: 0/20\ntps = 0.0\n",
        ),
        (pgbench, "0 1 failed 0 1795357192 1\n0 2 failed 0 1795357192 2\n"),
    ],
)
def test_a_server_that_answers_nothing_fails_the_row(known: ForeignFormat, text: str) -> None:
    (row,) = known.parse(ForeignFile("it", text.encode())).benchmarks
    assert "the server answered no request" in (row.error or "")


def test_ab_that_stopped_halfway_is_told_apart_from_no_answer() -> None:
    text = (
        "This is ApacheBench\nBenchmarking u (be patient)...apr_poll: timed out (70007)\nTotal of"
    )
    (row,) = ab.parse(ForeignFile("it", f"{text} 9 requests completed\n".encode())).benchmarks
    assert row.error == "line 1: ab stopped: timed out (70007)"


def test_a_run_of_pgbench_with_fewer_transactions_than_planned_was_aborted() -> None:
    text = (
        "transaction type: u\nnumber of transactions actually processed: 15/20\n"
        "number of failed transactions: {} (0%)\nlatency average = 1.000 ms\ntps = 9.0\n"
    )
    aborted, whole = (
        pgbench.parse(ForeignFile("it", text.format(failures).encode())).benchmarks[0]
        for failures in (1, 5)
    )
    assert aborted.error == "line 1: the run was aborted: only 15/20 transactions"
    assert {series.metric.name: series.loops for series in whole.series}["error_ratio"] == 20


def test_failed_transactions_in_the_logs_of_pgbench_are_errors() -> None:
    each = b"0 1 200 0 1795357192 1\n0 2 deadlock 0 1795357192 2\n0 3 skipped 0 1795357192 3\n"
    spans = b"1795357192 3 600 9 1 9 0 0 0 0 0 0 0 1 0\n"
    for log, ratio in ((each, 0.5), (spans, 0.25)):
        (row,) = pgbench.parse(ForeignFile("log", log)).benchmarks
        assert row.series[1].metric == ERROR_RATIO
        assert row.series[1].launches[0].samples.tolist() == [ratio]


def test_k6_that_received_nothing_has_no_times() -> None:
    summary = sample("k6/summary-export.json")
    count = json.loads(summary)["metrics"]["data_received"]["count"]
    lost = summary.replace(f'"count": {count}'.encode(), b'"count": 0')
    points = sample("k6/points.ndjson").replace(b'"status":"200"', b'"status":"0"')
    for text, ids in ((lost, "http_req_duration"), (points, "http_req_duration{scenario:warm")):
        rows = k6.parse(ForeignFile("it", text)).benchmarks
        errors = [row.error for row in rows if row.id.startswith(ids)]
        assert errors
        assert set(errors) == {"the server answered no request"}


def points(*counted: tuple[str, str, float]) -> bytes:
    """Points of k6: each has a metric, a time and a value."""
    metrics = dict.fromkeys(metric for metric, _, _ in counted)
    lines: list[object] = [
        {"type": "Metric", "data": {"name": metric, "contains": "default"}, "metric": metric}
        for metric in metrics
    ]
    for metric, time, value in counted:
        data = {"time": time, "value": value, "tags": {"scenario": "open"}}
        lines.append({"metric": metric, "type": "Point", "data": data})
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines).encode()


SECONDS = [f"2026-05-01T10:00:0{second}.123456789+02:00" for second in range(5)]


@pytest.mark.parametrize(
    ("counted", "series"),
    [
        ([("iterations", at, 1.0) for at in SECONDS], {"throughput": 1.25, "error_ratio": 0.0}),
        (
            [("iterations", SECONDS[0], 1.0), ("dropped_iterations", SECONDS[4], 3.0)],
            {"throughput": 0.25, "error_ratio": 0.75},
        ),
        (
            [("dropped_iterations", at, 1.0) for at in SECONDS],
            {"throughput": 0.0, "error_ratio": 1.0},
        ),
        ([("iterations", SECONDS[0], 1.0)], {"error_ratio": 0.0}),
        ([("iterations", "yesterday", 1.0)], {"error_ratio": 0.0}),
    ],
)
def test_points_of_k6_tell_the_throughput_and_what_was_dropped(
    counted: list[tuple[str, str, float]], series: dict[str, float]
) -> None:
    reading = k6.parse(ForeignFile("it", points(*counted)))
    (row,) = reading.benchmarks
    assert row.id == "iterations{scenario:open}"
    assert {s.metric.name: s.launches[0].samples[0] for s in row.series} == series
    assert reading.skipped == (
        ()
        if "throughput" in series
        else ("the throughput: the points do not say how long it took",)
    )


@pytest.mark.parametrize(
    ("metrics", "ratios"),
    [
        ({"iterations": 30, "dropped_iterations": 10}, {"iterations": 0.25}),
        ({"dropped_iterations": 10}, {"iterations": 1.0}),
        ({"iterations": 30, "iterations{scenario:a}": 30}, {"iterations": 0.0}),
        (
            {"iterations{scenario:a}": 30, "dropped_iterations{scenario:a}": 90},
            {"iterations{scenario:a}": 0.75},
        ),
    ],
)
@pytest.mark.parametrize("is_inner", [False, True])
def test_a_summary_of_k6_tells_what_was_dropped(
    metrics: dict[str, int], ratios: dict[str, float], *, is_inner: bool
) -> None:
    values = {name: {"count": count, "rate": count / 10} for name, count in metrics.items()}
    listed = {name: {"values": each} if is_inner else each for name, each in values.items()}
    document = {"root_group": {}, "metrics": listed}
    reading = k6.parse(ForeignFile("it", json.dumps(document).encode()))
    found = {row.id: series_of(row, ERROR_RATIO.name) for row in reading.benchmarks}
    known = {id_: series.launches[0].samples[0] for id_, series in found.items() if series}
    assert (known, reading.skipped) == (ratios, ())


def test_requests_that_count_as_several_errors_are_no_more_than_all_of_them() -> None:
    text = sample("ab/out.txt").replace(b"Failed requests:        0", b"Failed requests: 99999")
    (row,) = ab.parse(ForeignFile("it", text)).benchmarks
    assert [s.launches[0].samples[0] for s in row.series if s.metric == ERROR_RATIO] == [1.0]


def described_rows(known: ForeignFormat, text: bytes) -> list[object]:
    return [(row.id, described(row)) for row in known.parse(ForeignFile("it", text)).benchmarks]


@pytest.mark.parametrize(
    ("known", "path"),
    [
        (wrk, "wrk/latency.txt"),
        (wrk, "wrk/socket-errors.txt"),
        (wrk, "wrk/errors.txt"),
        (ab, "ab/out.txt"),
        (ab, "ab/two-errors.txt"),
        (pgbench, "pgbench/run.txt"),
        (pgbench, "pgbench/multi.txt"),
    ],
)
def test_a_log_line_without_an_end_hides_no_result(known: ForeignFormat, path: str) -> None:
    lines = sample(path).split(b"\n")
    plain = described_rows(known, b"\n".join(lines))
    for index, line in enumerate(lines):
        if line.strip():
            glued = [*lines[:index], b"log: closed " + line, *lines[index + 1 :]]
            assert described_rows(known, b"\n".join(glued)) == plain, line


@pytest.mark.parametrize(
    "line",
    [
        b"  Socket errors: connect 0, read 6\n",
        b"  Socket errors: connect 0, read 1,234, write 0, timeout 6\n",
        b"  Non-2xx or 3xx responses: 1,234\n",
        b"  Non-2xx or 3xx responses:\n",
        b"     90%   1.2 parsecs\n     99%   1.2x\n",
    ],
)
def test_a_line_of_wrk_that_cannot_be_read_fails_its_row(line: bytes) -> None:
    text = sample("wrk/latency.txt").replace(b"Requests/sec:", line + b"Requests/sec:")
    (row,) = wrk.parse(ForeignFile("it", text)).benchmarks
    assert (row.error or "").startswith("line ")


@pytest.mark.parametrize("part", [b"Latency ", b"90%", b"requests in", b"Requests/sec"])
def test_a_line_of_wrk_that_is_missing_fails_its_row(part: bytes) -> None:
    lines = sample("wrk/latency.txt").split(b"\n")
    left = [line for line in lines if part not in line or b"Distribution" in line]
    assert len(left) == len(lines) - 1
    (row,) = wrk.parse(ForeignFile("it", b"\n".join(left))).benchmarks
    assert "there is no line" in (row.error or "")


def test_a_line_in_the_log_of_pgbench_that_cannot_be_read_is_an_error() -> None:
    for broken in (b"0 1 x 0 1795357192 1\n", b"0 1 1,2 0 1795357192 1\n", b"0 1 200 0 1795\n"):
        source = ForeignFile("log", b"0 1 200 0 1795357192 1\n" + broken)
        with pytest.raises(FormatError, match="line 2"):
            pgbench.parse(source)


@pytest.mark.parametrize(
    ("known", "text"),
    [
        (wrk, b"unable to connect to 127.0.0.1:9 Connection refused\n"),
        (pgbench, b'pgbench: error: connection to server at "127.0.0.1", port 9 failed: refused\n'),
    ],
)
def test_a_refused_connection_is_recognized_as_no_answer(known: ForeignFormat, text: bytes) -> None:
    source = ForeignFile("it", text)
    assert find_format(source) is known
    with pytest.raises(FormatError, match=r"^it: the server answered no request: "):
        known.parse(source)
