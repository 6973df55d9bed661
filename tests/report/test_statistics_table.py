from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from tests.report.conftest import golden, printed

from benchgate.model.environment import Environment
from benchgate.model.run import Source
from benchgate.model.statistics import Failure, ResultStatistics, RunStatistics, SeriesStatistics
from benchgate.report.statistics_table import render_result

RUN = RunStatistics(
    arm="head",
    source=Source(sha="e4f5a6b7c8d9", dirty=True),
    started="2026-11-21T07:29:04Z",
    complete=False,
    environment=Environment(cpu_model="AMD EPYC 7763", cpu_count=4, os="Debian GNU/Linux 12"),
    series=(
        SeriesStatistics("json/dumps", "time", "s", 12, 45, 16, 1.21e-5, 1.23e-5, 1.4e-5, 0.021),
        SeriesStatistics("json/dumps", "peak_rss", "B", 12, 1, 1, 5e7, 5e7, None, 0.004),
        SeriesStatistics(
            "cli/start[\x1b[2J]",
            "time",
            "s",
            1,
            6,
            1,
            0.03,
            0.031,
            None,
            None,
            display_unit="ms",
            notes=("not pinned",),
        ),
    ),
    failures=(Failure("db/insert", "ValueError: gone\n  at \x1b[31mx\x1b[0m"),),
)
RESULT = ResultStatistics(runs=(RUN,), duration_s=42.0, warnings=("the machine was busy",))


@pytest.mark.parametrize("width", [None, 60, 80, 120, 200])
def test_a_result_looks_as_it_did(width: int | None) -> None:
    text = printed(partial(render_result, RESULT), width)

    assert max(map(len, text.splitlines())) <= (width or 200)
    assert "\x1b" not in text
    golden(f"result-{width or 'pipe'}.txt", text)


@pytest.mark.parametrize("width", [None, 100])
def test_a_long_note_of_several_rows_is_said_once(width: int | None) -> None:
    long = "the time of " + "many calls " * 20 + "end"
    rows = [replace(one, notes=(long, *one.notes)) for one in RUN.series]
    run = replace(RUN, series=(*rows, replace(RUN.series[0], notes=("alone " * 20,))))
    text = printed(partial(render_result, replace(RESULT, runs=(run, run))), width)
    said = " ".join(text.split())
    assert said.count(long) == 1
    assert f"[1] {2 * len(rows)} rows: {long}" in said
    assert text.count("[1]") == 2 * len(rows) + 1
    assert "not pinned" in text
    alone = replace(RUN, series=(replace(RUN.series[0], notes=(long,)),))
    assert "[1]" not in printed(partial(render_result, replace(RESULT, runs=(alone,))), width)


def test_higher_tails_have_columns_where_there_are_samples_enough() -> None:
    few, many = RUN.series[0], replace(RUN.series[0], p99=1.55e-5, p999=1.9e-5)
    text = [
        printed(partial(render_result, replace(RESULT, runs=(replace(RUN, series=(one,)),))), None)
        for one in (few, many)
    ]

    assert "p99" not in text[0]
    assert all(word in text[1] for word in ("p99 ", "p99.9", "15.50 µs", "19.00 µs"))


def test_what_was_not_measured_is_counted() -> None:
    run = replace(RUN, same_code=("a", "b"))
    text = printed(partial(render_result, replace(RESULT, runs=(run,))), None)
    assert "\n2 of 5 benchmarks run no code that changed, and were not measured.\n" in text
    nothing = replace(run, series=(), failures=())
    text = printed(partial(render_result, replace(RESULT, runs=(nothing,))), None)
    assert "2 of 2 benchmarks" in text
    assert text.endswith("\nmeasured in 42 s.\n")
