from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text
from tests.histories import history_of, trend_of

from benchgate.model.history_document import History, HistoryRun, Moved, Shift, Trend, TrendPoint
from benchgate.model.metrics import Better
from benchgate.report.history_table import render_history, view_history

RUNS = tuple(
    HistoryRun(
        id=f"r{index}",
        sha=f"{index:07x}{'0' * 33}",
        ref="main",
        subject=f"Change {index}",
        author="Ann",
        started=f"2026-05-{index + 1:02}T00:00:00Z",
        machine="AMD EPYC 7763, 4 cores, Debian 12",
    )
    for index in range(20)
)
SHIFT = Shift(
    point=8,
    p=0.005,
    before=1e-3,
    after=1.25e-3,
    ratio=1.25,
    worse=True,
    last_before=RUNS[7].sha,
    first_after=RUNS[8].sha,
    also=("python: '3.12' and '3.13'",),
)
SLOWER = Trend(
    benchmark="parse/large[n=1000]",
    metric="time",
    statistic="p25",
    unit="s",
    better=Better.LOWER,
    display_unit="",
    machine=RUNS[0].machine,
    points=tuple(
        TrendPoint(index, value, value, value)
        for index, value in enumerate([1e-3] * 8 + [1.25e-3] * 12)
    ),
    shifts=(SHIFT,),
    noise_ratio=0.008,
)
STEADY = replace(
    SLOWER,
    benchmark="text/slug",
    points=tuple(replace(one, value=2e-6) for one in SLOWER.points),
    shifts=(),
    noise_ratio=None,
)
TAIL = replace(STEADY, statistic="p95")
HISTORY = History(suite="default", runs=RUNS, trends=(SLOWER, STEADY, TAIL), notes=("a note",))


def printed(history: History = HISTORY, *, width: int | None = None, verbose: bool = False) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream, width=width, force_terminal=width is not None, no_color=True, highlight=False
    )
    render_history(view_history(history), console, verbose=verbose)
    return stream.getvalue()


def test_a_pipe_gets_whole_lines() -> None:
    lines = printed().splitlines()
    assert lines[:5] == [
        "2 benchmarks: 1 got slower, 1 unchanged",
        "20 runs, 2026-05-01 to 2026-05-20",
        "note: a note",
        "",
        "AMD EPYC 7763, 4 cores, Debian 12 (20 runs)",
    ]
    assert " ".join(lines[6].split()) == (
        "slower ▁▁▁▁▁▁██████████ 1.250 ms 0.8 % parse/large[n=1000] # got slower at "
        "0000007..0000008 by 25.0 %, and stayed (2026-05-09, 11 runs ago); first run after it: "
        "0000008 Change 8 (Ann)"
    )
    assert lines[-4:] == [
        "not shown: 1 other trend of these benchmarks, such as tails (-v shows it)",
        "",
        "to see the commits: git log 0000007..0000008",
        "to find the one: benchgate bisect 'parse/large[n=1000]' --good 0000007 --bad 0000008",
    ]


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_it_fits_any_terminal_and_loses_nothing(width: int) -> None:
    text = Text.from_ansi(printed(width=width)).plain
    lines = [line for line in text.splitlines() if not line.startswith("to find")]  # to be copied
    assert max(map(cell_len, lines)) <= width
    said = " ".join(text.split())
    for told in ("parse/large[n=1000]", "25.0 %", "0000007..0000008", "2026-05-09, 11 runs ago"):
        assert told in said


@pytest.mark.parametrize(
    ("unit", "better", "rises", "word"),
    [
        ("s", Better.LOWER, True, "slower"),
        ("s", Better.LOWER, False, "faster"),
        ("1/s", Better.HIGHER, False, "slower"),
        ("B", Better.LOWER, True, "larger"),
        ("B", Better.HIGHER, False, "smaller"),
    ],
)
def test_a_word_says_what_a_change_means(
    unit: str, better: Better, *, rises: bool, word: str
) -> None:
    after = 2.0 if rises else 0.5
    worse = rises is (better is Better.LOWER)
    shift = replace(SHIFT, before=1.0, after=after, ratio=after, worse=worse)
    trend = replace(SLOWER, unit=unit, better=better, shifts=(shift,))
    text = printed(replace(HISTORY, trends=(trend,)))
    assert f"1 benchmark: 1 got {word}\n" in text
    by = "100.0 %" if rises else "50.0 %"
    assert f"got {word} at 0000007..0000008 by {by}, and stayed" in text


@pytest.mark.parametrize(
    ("levels", "first", "outcome"),
    [
        ((10, 12), "by 20.0 %, and stayed", "slower"),
        ((10, 12, 15), "by 20.0 %, and stayed", "slower"),
        ((10, 12, 10.15), "by 20.0 %, and went back at 3000cba..4000cba", "went back"),
        ((10, 12, 10.3), "by 20.0 %, and partly went back at 3000cba..4000cba", "faster"),
        ((10, 12, 6), "by 20.0 %, and went back at 3000cba..4000cba", "faster"),
        ((10, 12, 11), "by 20.0 %, and partly went back at 3000cba..4000cba", "faster"),
        ((10, 12, 10, 13), "by 20.0 %, and went back at 3000cba..4000cba", "slower"),
        ((10, 8, 10), "by 20.0 %, and went back at 3000cba..4000cba", "slower"),
    ],
)
def test_it_says_whether_a_change_still_holds(
    levels: tuple[float, ...], first: str, outcome: str
) -> None:
    history = history_of(trend_of([(2, level * 1e-3) for level in levels]))
    view = view_history(history).machines[0].benchmarks[0].first
    assert view.shifts[-1].sentence.endswith(f" at 1000cba..2000cba {first}")
    assert view.outcome == outcome
    assert view.told
    is_told_first = outcome == "went back"
    assert view.told is view.shifts[-1 if is_told_first else 0]


def test_a_change_between_two_runs_of_one_commit_names_it_once() -> None:
    shift = replace(SHIFT, last_before=SHIFT.first_after)
    text = printed(replace(HISTORY, trends=(replace(SLOWER, shifts=(shift,)),)))
    assert "got slower at 0000008 by 25.0 %" in text


def test_what_was_0_has_no_percentage() -> None:
    shift = replace(SHIFT, before=0.0, after=12.0, ratio=None)
    trend = replace(SLOWER, unit="", metric="allocations", shifts=(shift,))
    text = printed(replace(HISTORY, trends=(trend,)))
    assert "got larger at 0000007..0000008 from 0 to 12, and stayed" in text


def test_each_kind_of_change_has_its_word_in_the_summary() -> None:
    memory = replace(
        SLOWER, benchmark="a", metric="peak_rss", unit="B", shifts=(replace(SHIFT, worse=False),)
    )
    text = printed(replace(HISTORY, trends=(SLOWER, memory)))
    assert text.startswith("2 benchmarks: 1 got slower, 1 got larger\n")


MOVED = replace(STEADY, benchmark="new", moved=Moved(runs=4, ratio=0.52, worse=False))
SHORT = replace(STEADY, benchmark="short", points=STEADY.points[:6], too_short=True)


def test_what_cannot_be_told_is_not_called_unchanged() -> None:
    text = printed(replace(HISTORY, trends=(MOVED, SHORT, STEADY)))
    assert text.startswith("3 benchmarks: 2 inconclusive, 1 unchanged\n")
    moved = "the newest 4 runs, from 0000010 on, moved by -48.0 %: not confirmed yet"
    assert moved in text.splitlines()[6]
    assert "too few runs to tell" in text.split("AMD", 1)[1]


def test_a_benchmark_counts_once() -> None:
    slower_tail = replace(SLOWER, statistic="p95")
    text = printed(replace(HISTORY, trends=(SLOWER, slower_tail, MOVED, STEADY)))
    assert text.startswith("3 benchmarks: 1 got slower, 1 inconclusive, 1 unchanged\n")
    slower_tail = replace(TAIL, shifts=(SHIFT,))
    text = printed(replace(HISTORY, trends=(STEADY, slower_tail)))
    assert text.startswith("1 benchmark: 1 got slower\n")
    assert "text/slug (p95)" in text


def test_a_benchmark_on_two_machines_counts_once_by_the_worse() -> None:
    runs = (*RUNS, replace(RUNS[0], id="other", machine="another"))
    points = (TrendPoint(20, 1.0, 1.0, 1.0),)
    there = replace(STEADY, benchmark=SLOWER.benchmark, machine="another", points=points)
    text = printed(replace(HISTORY, runs=runs, trends=(there, SLOWER)))
    assert text.startswith("1 benchmark: 1 got slower\n")


def test_verbose_tells_everything_of_each_change() -> None:
    text = printed(verbose=True)
    assert (
        "got slower at 0000007..0000008 by 25.0 %, and stayed (2026-05-09, 11 runs ago); first run "
        "after it: 0000008 Change 8 (Ann); 1.000 ms to 1.250 ms; there also changed python: '3.12' "
        "and '3.13'"
    ) in text
    assert "text/slug (p95)" in text
    assert "not shown" not in text


def test_an_encoding_without_blocks_gets_ascii() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    render_history(view_history(HISTORY), Console(file=stream, highlight=False))
    stream.flush()
    text = stream.buffer.getvalue().decode("ascii")
    assert "_____" in text


def test_hostile_names_do_not_move_the_cursor() -> None:
    evil = "\x1b[2J\u202eevil\nnext"
    runs = tuple(replace(one, subject=evil, author=evil, machine=evil, sha=evil) for one in RUNS)
    shift = replace(SHIFT, last_before=evil, first_after=evil, also=(evil,))
    trend = replace(
        SLOWER,
        benchmark=evil,
        metric=evil,
        unit=evil,
        machine=evil,
        shifts=(shift,),
        display_unit="",
    )
    text = printed(History(suite=evil, runs=runs, trends=(trend,), notes=(evil,)), verbose=True)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "evil next" in text


def test_a_trend_that_stopped_says_so() -> None:
    stopped = replace(STEADY, points=STEADY.points[:5])
    text = printed(replace(HISTORY, trends=(SLOWER, stopped)))
    assert "# last measured 2026-05-05" in text
    ended = replace(STEADY, ended=True, shifts=(SHIFT,))
    history = replace(HISTORY, trends=(ended, SLOWER, replace(STEADY, workload="new")))
    assert "its work changed after this" not in printed(history)
    assert "its work changed after this" in printed(history, verbose=True)


def test_many_trends_that_did_not_change_are_counted_on_a_terminal() -> None:
    many = tuple(replace(STEADY, benchmark=f"b{index}") for index in range(30))
    history = replace(HISTORY, trends=(SLOWER, *many))
    text = printed(history, width=100)
    assert "not shown: 30 benchmarks unchanged (-v shows them)" in text
    assert "b7" in printed(history)
