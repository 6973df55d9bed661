from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from benchgate.model.history import History, HistoryRun, Moved, Shift, Trend, TrendPoint
from benchgate.model.run import Better
from benchgate.report.history import render_history, view_history

RUNS = tuple(
    HistoryRun(
        id=f"r{index}",
        sha=f"{index:07x}{'0' * 33}",
        ref="main",
        subject=f"Change {index}",
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
        "2 benchmarks: 1 got slower at its last change",
        "20 runs, 2026-05-01 to 2026-05-20",
        "note: a note",
        "",
        "AMD EPYC 7763, 4 cores, Debian 12 (20 runs)",
    ]
    assert lines[6].split() == [
        *("▁▁▁▁▁▁██████████", "1.250", "ms", "0.8", "%", "slower", "+25.0", "%"),
        *("0000007..0000008", "2026-05-09,", "11", "runs", "ago", "parse/large[n=1000]"),
    ]
    assert lines[-1] == "not shown: 1 tail that did not change (-v shows it)"


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_it_fits_any_terminal_and_loses_nothing(width: int) -> None:
    text = Text.from_ansi(printed(width=width)).plain
    assert max(cell_len(line) for line in text.splitlines()) <= width
    for told in ("parse/large[n=1000]", "+25.0 %", "0000007..0000008", "11 runs ago"):
        assert told in text
    assert "2026-05-09" in text


@pytest.mark.parametrize(
    ("unit", "better", "worse", "word"),
    [
        ("s", Better.LOWER, True, "slower"),
        ("s", Better.LOWER, False, "faster"),
        ("1/s", Better.HIGHER, True, "slower"),
        ("B", Better.LOWER, True, "worse"),
        ("B", Better.HIGHER, False, "better"),
    ],
)
def test_a_word_says_what_a_change_means(
    unit: str, better: Better, *, worse: bool, word: str
) -> None:
    shift = replace(SHIFT, worse=worse)
    trend = replace(SLOWER, unit=unit, better=better, shifts=(shift,))
    text = printed(replace(HISTORY, trends=(trend,)))
    assert f"1 benchmark: 1 got {word} at its last change" in text
    assert f"  {word} +25.0 %  " in text


def test_the_summary_says_slower_only_if_all_changes_are_about_speed() -> None:
    memory = replace(
        SLOWER, benchmark="a", metric="peak_rss", unit="B", shifts=(replace(SHIFT, worse=False),)
    )
    text = printed(replace(HISTORY, trends=(SLOWER, memory)))
    assert text.startswith("2 benchmarks: 1 got worse and 1 got better at their last change\n")


MOVED = replace(STEADY, benchmark="new", moved=Moved(runs=4, ratio=0.52, worse=False))
SHORT = replace(STEADY, benchmark="short", points=STEADY.points[:6], too_short=True)


def test_what_cannot_be_told_is_not_called_unchanged() -> None:
    text = printed(replace(HISTORY, trends=(MOVED, SHORT, STEADY)))
    first, *_ = text.splitlines()
    assert first == (
        "3 benchmarks: the newest runs of 1 moved, not confirmed; too few runs to tell of 1"
    )
    assert "the newest 4 runs moved by -48.0 %, not confirmed" in text
    assert "too few runs to tell" in text.split("AMD", 1)[1]
    assert printed(replace(HISTORY, trends=(SHORT,))).startswith(
        "1 benchmark: too few runs to tell\n"
    )
    assert printed(replace(HISTORY, trends=(STEADY,))).startswith("1 benchmark: none has changed\n")


def test_a_benchmark_counts_once() -> None:
    slower_tail = replace(SLOWER, statistic="p95")
    text = printed(replace(HISTORY, trends=(SLOWER, slower_tail, MOVED, STEADY)))
    assert text.startswith(
        "3 benchmarks: 1 got slower at its last change; the newest runs of 1 moved, not confirmed\n"
    )


def test_verbose_tells_everything_of_each_change() -> None:
    text = printed(verbose=True)
    assert (
        "slower +25.0 % at 0000007..0000008 (2026-05-09), 11 runs ago, 1.000 ms to 1.250 ms: "
        "\"Change 8\"; there also changed python: '3.12' and '3.13'"
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
    runs = tuple(replace(one, subject=evil, machine=evil, sha=evil) for one in RUNS)
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
    ended = replace(stopped, ended=True)
    assert "text/slug" not in printed(replace(HISTORY, trends=(SLOWER, ended)))


def test_many_trends_that_did_not_change_are_counted_on_a_terminal() -> None:
    many = tuple(replace(STEADY, benchmark=f"b{index}") for index in range(30))
    history = replace(HISTORY, trends=(SLOWER, *many))
    text = printed(history, width=100)
    assert "not shown: 30 trends that did not change (-v shows them)" in text
    assert "b7" in printed(history)
