from __future__ import annotations

import io
import re
import unicodedata
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console
from tests.report.conftest import golden, printed
from tests.report.described import (
    EXACT,
    MEMORY,
    ONE_LAUNCH,
    RESULT,
    RUN,
    STRANGE,
    TIME,
    TIME_DETAIL,
    mean,
)

from benchgate.interval import Interval
from benchgate.model.statistics import Mean, Quantile, WithinLaunch, WithoutOutliers
from benchgate.report.statistics_detail import print_detail
from benchgate.report.statistics_table import render_result

if TYPE_CHECKING:
    from benchgate.model.statistics import SeriesStatistics

MONSTER = "x" * 5000
WARMUP, REACH = TIME_DETAIL.warmup, TIME_DETAIL.reach


def shown(series: SeriesStatistics = TIME, **changes: Any) -> str:  # noqa: ANN401 - any field
    """The block of a series with other details, in a pipe."""
    assert series.detail is not None
    detail = replace(series.detail, **changes)
    return printed(lambda console: print_detail(console, series, detail), None)


def fact(text: str, label: str) -> str:
    """The sentence beside a label."""
    (found,) = re.findall(rf"^{label}  +(.*)$", text, re.MULTILINE)
    return str(found)


@pytest.mark.parametrize("width", [None, 60, 80, 120, 200])
def test_the_details_look_as_they_did(width: int | None) -> None:
    text = printed(partial(render_result, RESULT), width)

    golden(f"result-detail-{width or 'pipe'}.txt", text)


@pytest.mark.parametrize("width", [40, 50, 60, 72, 80, 100, 200])
def test_a_terminal_is_never_overrun(width: int) -> None:
    monster = replace(STRANGE, benchmark=MONSTER, metric=MONSTER, unit=MONSTER, notes=(MONSTER,))
    short = replace(monster, detail=None)
    result = replace(RESULT, runs=(RUN, replace(RUN, series=(monster, short))))

    text = printed(partial(render_result, result), width)

    assert max(map(len, text.splitlines())) <= width


def test_nothing_of_a_name_moves_the_cursor() -> None:
    text = printed(partial(render_result, RESULT), 80)

    assert all(c == "\n" or unicodedata.category(c)[0] != "C" for c in text)
    assert "group/red line <U+202E>gnp.exe, red line <U+202E>gnp.exe" in text


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437"])
@pytest.mark.parametrize("terminal", [True, False])
def test_a_stream_that_knows_no_blocks_gets_plain_levels(encoding: str, *, terminal: bool) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    console = Console(file=stream, width=80, force_terminal=terminal, color_system=None)

    render_result(RESULT, console)
    stream.flush()

    text = raw.getvalue().decode("ascii")
    assert "1.170 us" in text
    assert "warm-up    #~-.________" in text
    assert "\\u" not in text


def test_a_pipe_gets_every_fact_in_a_line() -> None:
    text = shown()

    labels = ["outliers", "spread", "variation", "order", "within", "could see", "warm-up", "timer"]
    lines = text.splitlines()[-len(labels) :]
    assert [line.split("  ")[0] for line in lines] == labels
    assert len({len(line) - len(line.split("  ", 1)[1].lstrip()) for line in lines}) == 1


def test_a_long_curve_is_cut() -> None:
    assert WARMUP is not None
    curve = (2e-6, *[1e-6] * 5000)

    text = fact(shown(warmup=replace(WARMUP, curve=curve)), "warm-up")

    assert text.startswith("█" + "▁" * 39 + ".. 11 of 12 launches settle")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "11 of 12 launches settle, mostly at sample 6 after 3 discarded ones"),
        ({"discarded": 1}, "11 of 12 launches settle, mostly at sample 8 after 1 discarded one"),
        ({"discarded": 0}, "11 of 12 launches settle, mostly at sample 9"),
        ({"discarded": 8}, "11 of 12 launches settle, mostly with the first sample after 8"),
        ({"settled": 0, "settled_at": None}, "none of 12 launches settles"),
        ({"launches": 1, "settled": 1}, "it settles at sample 6 after 3 discarded ones"),
        ({"launches": 1, "settled": 0, "settled_at": None}, "it does not settle"),
    ],
)
def test_when_it_settles(changes: dict[str, Any], expected: str) -> None:
    assert WARMUP is not None
    text = fact(shown(warmup=replace(WARMUP, curve=(1.0, 1.0), **changes)), "warm-up")

    assert text.startswith(f"▅▅ {expected}")


def test_the_use_of_the_cpu() -> None:
    text = shown(replace(TIME, cpu_ratio=0.331))
    assert fact(text, "CPU") == "CPU time is 33.1 % of the wall-clock time"


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        (0.2, "reading the clock takes 20 % of a sample: raise `number`"),
        (0.01, "reading the clock takes 1 % of a sample"),
        (0.00012, "reading the clock takes 0.012 % of a sample"),
        (1e-9, "reading the clock takes less than 0.01 % of a sample"),
    ],
)
def test_the_clock(ratio: float, expected: str) -> None:
    assert fact(shown(timer_ratio=ratio), "timer") == expected


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        (
            1.0074,
            "usually a change of 0.74 % from one such run to another, at alpha 1 %",
        ),
        (30.0, "usually a factor of 30.00 from one such run"),
        (1.0, "usually any change from one such run"),
        (None, "nothing: 12 against 12 launches are too few for alpha 1 %"),
    ],
)
def test_what_could_be_seen(ratio: float | None, expected: str) -> None:
    assert REACH is not None
    text = fact(shown(reach=replace(REACH, detectable_ratio=ratio)), "could see")

    assert text.startswith(expected)
    assert text.endswith("launches needed in each: 22 for 1 %, 9 for 2 %, 5 for 5 %, 5 for 10 %")


@pytest.mark.parametrize(
    ("trimmed", "expected"),
    [
        (("mad", 0, 3), "3 above, by mad; only the mean without outliers excludes them"),
        (("both5", 2, 0), "2 below, by both5; only"),
        (("top5", 0, 0), "none, by top5"),
    ],
)
def test_outliers(trimmed: tuple[str, int, int], expected: str) -> None:
    text = shown(trimmed=WithoutOutliers(*trimmed, mean=TIME_DETAIL.full))

    assert fact(text, "outliers").startswith(expected)
    assert (f"without outliers ({trimmed[0]})" in text) is any(trimmed[1:])


def test_no_outliers_are_looked_for() -> None:
    text = shown(trimmed=WithoutOutliers("none", 0, 0, TIME_DETAIL.full))

    assert "outliers" not in text


def test_of_one_sample_each_the_launches_are_all_there_is() -> None:
    assert re.search("^all samples ", shown(), re.MULTILINE)
    assert re.search("^launches, geometric ", shown(), re.MULTILINE)

    text = shown(MEMORY)

    assert not re.search("^all samples ", text, re.MULTILINE)
    assert re.search("^launches, geometric ", text, re.MULTILINE)
    # One launch of one sample has nothing but that.
    one = replace(ONE_LAUNCH, samples=1)
    assert re.search("^all samples ", shown(one, samples=1, full=Mean(1, 0.03)), re.MULTILINE)


def test_the_spread_is_that_of_the_table() -> None:
    assert fact(shown(), "spread") == "1.1 % between launches (p25, robust)"
    assert not re.search("^spread ", shown(ONE_LAUNCH), re.MULTILINE)
    assert fact(shown(), "variation").startswith("0.53 % between launches; 6.42 % within a launch;")


@pytest.mark.parametrize(
    ("effective_n", "expected"),
    [
        (17.3, "correlate by 0.42, so 45 are worth at most 17 independent ones"),
        (44.4, "correlate by 0.42, so 45 are worth at most 44 independent ones"),
        (44.9, "correlate by 0.42"),
        (45.0, "correlate by 0.42"),
    ],
)
def test_samples_are_never_worth_more_than_they_are(effective_n: float, expected: str) -> None:
    within = WithinLaunch(lag_one=0.42, effective_n=effective_n, samples=45)

    text = fact(shown(within=within), "within")

    assert text == f"neighboring samples of a launch {expected}"


def test_a_trend_is_named_only_where_it_is_shown() -> None:
    assert fact(shown(), "order").startswith("no drift was found in the order")
    assert fact(shown(MEMORY), "order").startswith("the launches drift in the order")


def test_too_few_launches_to_show_a_trend_are_not_said_to_have_none() -> None:
    assert TIME_DETAIL.between is not None
    five, six = (replace(TIME_DETAIL.between, mean=Mean(n, 1.0), trend_p=0.5) for n in (5, 6))

    assert not re.search("^order ", shown(between=five), re.MULTILINE)
    assert fact(shown(between=six), "order").startswith("no drift was found")


@pytest.mark.parametrize(("times", "said"), [(0.9, False), (1.04, False), (1.06, True)])
def test_pooling_that_understates_nothing_is_not_mentioned(times: float, *, said: bool) -> None:
    assert TIME_DETAIL.between is not None
    between = replace(TIME_DETAIL.between, understatement=times)

    assert ("understates the error by a factor of 1.1" in shown(between=between)) is said


def test_the_ends_of_an_interval_share_a_unit_where_they_can() -> None:
    full = mean(540, 1.178e-6, 12e-9, "t")
    straddling = replace(full, interval=Interval(0.95e-6, 1.2e-6, 0.95, "t"))

    assert "  1.172 to 1.184 µs  t" in shown(full=full)
    assert "  950.0 ns to 1.200 µs  t" in shown(full=straddling)


def test_a_quantile_without_an_interval_says_why() -> None:
    values = (Quantile("p95", 0.95, 1.0, None, "equals the maximum"), Quantile("max", 1.0, 1.0))

    lines = shown(quantiles=values).splitlines()

    assert "p95             1.000 s  equals the maximum" in lines
    assert "max             1.000 s" in lines


def test_what_varies_not_is_a_line_of_the_table() -> None:
    result = replace(RESULT, runs=(replace(RUN, series=(EXACT, ONE_LAUNCH), grids=()),))

    text = printed(partial(render_result, result), None)

    assert "json/dumps, alloc_blocks" not in text
    assert re.search(r"^json/dumps +alloc_blocks +12 x 1 ", text, re.MULTILINE)


def test_the_legend_speaks_of_what_is_there() -> None:
    plain = replace(RESULT, runs=(replace(RUN, series=(replace(TIME, detail=None),), grids=()),))

    assert "SEM: standard error" in printed(partial(render_result, RESULT), None)
    assert "SEM" not in printed(partial(render_result, plain), None)
