"""What the tools that put load on a server cannot tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchgate.errors import FormatError
from benchgate.formats import ab, autocannon, k6, locust, pgbench, wrk
from benchgate.formats.parsed import Source
from benchgate.model.run import Kind

SAMPLES = Path(__file__).parent / "samples"


def sample(path: str) -> bytes:
    return (SAMPLES / path).read_bytes()


@pytest.mark.parametrize(
    ("path", "crossed"),
    [
        # In this file, `true` means that the threshold was crossed.
        ("k6/summary-export.json", {"http_req_failed": "rate<0.01"}),
        ("k6/handle-summary.json", {"http_req_duration{name:E}": "p(95)<0.001"}),
    ],
)
def test_a_crossed_threshold_of_k6_is_a_note(path: str, crossed: dict[str, str]) -> None:
    rows = k6.parse(Source(path, sample(path))).benchmarks
    assert {row.id: row.notes for row in rows if row.notes} == {
        id_: (f"k6: the threshold {text!r} was crossed",) for id_, text in crossed.items()
    }


def test_points_of_k6_that_end_in_the_middle_of_a_line_are_an_error() -> None:
    source = Source("points.ndjson", sample("k6/points.ndjson")[:-20])
    with pytest.raises(FormatError, match=r"points.ndjson: line \d+: is not JSON"):
        k6.parse(source)


def test_runs_one_after_the_other_are_launches_that_can_be_tested() -> None:
    table = sample("locust/stats.csv")
    row = locust.parse(Source("both.csv", table + table)).benchmarks[0]
    assert [len(series.launches) for series in row.series] == [2, 2, 2]
    assert {series.metric.kind for series in row.series} == {Kind.SUMMARY}


def test_a_benchmark_fails_if_one_of_its_runs_did() -> None:
    whole = sample("wrk/two.txt")
    cut = whole[: whole.rindex(b"Requests/sec")]
    (row,) = wrk.parse(Source("two.txt", cut)).benchmarks
    assert row.error == "line 14: the output is cut off: there is no line 'Requests/sec:'"


def test_noise_between_the_lines_of_wrk_does_not_matter() -> None:
    noisy = sample("wrk/latency.txt").replace(b"\n", b"\n50% done\n\x1b[1mLatency is good\x1b[0m\n")
    (row,) = wrk.parse(Source("noisy.txt", noisy)).benchmarks
    (plain,) = wrk.parse(Source("plain.txt", sample("wrk/latency.txt"))).benchmarks
    assert [s.launches[0].samples[0] for s in row.series] == [
        s.launches[0].samples[0] for s in plain.series
    ]


def test_a_percentile_of_autocannon_is_read_from_all_runs_or_none() -> None:
    (row,) = autocannon.parse(Source("two.json", sample("autocannon/two.json"))).benchmarks
    assert all(len(series.launches) == 2 for series in row.series)


def test_times_of_ab_in_whole_milliseconds_are_refused() -> None:
    source = Source("times.tsv", sample("ab/gnuplot.tsv"))
    assert ab.sniff(source)
    with pytest.raises(FormatError) as caught:
        ab.parse(source)
    assert caught.value.message.startswith("times.tsv: has times in whole milliseconds")
    assert "ab -e FILE" in caught.value.hint


def test_pgbench_prints_the_decimal_point_of_the_locale() -> None:
    data = sample("pgbench/run.txt")
    text = data.replace(b"0.460 ms", b"0,460 ms").replace(b"4341.729303", b"4341,729303")
    (row,) = pgbench.parse(Source("run.txt", text)).benchmarks
    assert [series.launches[0].samples[0] for series in row.series] == [0.00046, 4341.729303, 0]


def test_a_transaction_of_pgbench_that_failed_has_no_time() -> None:
    log = b"0 1 200 0 1795357192 1\n0 2 failed 0 1795357192 2\n0 3 skipped 0 1795357192 3\n"
    reading = pgbench.parse(Source("log", log))
    (row,) = reading.benchmarks
    assert row.series[0].launches[0].samples.tolist() == pytest.approx([0.0002])
    assert reading.skipped == (
        "1 transaction without a time: failed",
        "1 transaction without a time: skipped",
    )
