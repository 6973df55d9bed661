from __future__ import annotations

import io
import re
import threading

import pytest
from rich.cells import cell_len
from rich.console import Console

from benchgate.report.progress import (
    LiveProgress,
    PlainProgress,
    Progress,
    create_progress,
)


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


class Stream(io.StringIO):
    """Counts what is written to it."""

    writes = 0

    def write(self, text: str) -> int:
        self.writes += 1
        return super().write(text)


def two_rounds(progress: Progress, clock: Clock) -> None:
    progress.building("base")
    progress.found(2, "5 rounds of everything; the budget is 20 s")
    for index in range(2):
        progress.round_started(index, "screen", 2, 8.0 - 4 * index, rounds=5)
        for name in ("json/dumps", "sort\x1b[2J"):
            progress.measuring(name)
            clock.now_s += 2.0
            progress.measured(name)
        progress.round_ended(index, {"unchanged": index, "open": 2 - index, "suspected": 0})
    progress.message("db/insert failed:\n gone")
    progress.close()
    progress.close()


@pytest.mark.parametrize("plain", [True, False])
def test_a_command_in_a_hint_is_never_broken(*, plain: bool) -> None:
    stream = Stream()
    console = Console(file=stream, width=40, force_terminal=True, no_color=True)
    progress = create_progress(console, plain=plain, clock=Clock())
    step = "2 more rounds: benchgate check --until-decided --filter 'parse/large[n=1000]'"
    progress.hint(step)
    progress.close()
    assert f"hint: {step}\n" in stream.getvalue()
    assert progress.told == [f"hint: {step}"]


def test_a_pipe_gets_one_line_per_round() -> None:
    stream, clock = Stream(), Clock()
    progress = create_progress(Console(file=stream), clock=clock)

    two_rounds(progress, clock)

    assert isinstance(progress, PlainProgress)
    assert stream.getvalue().splitlines() == [
        "building the base",
        "found 2 benchmarks: 5 rounds of everything; the budget is 20 s",
        (
            "round 1 of about 5 (screen): measuring json/dumps, 1 of 2; "
            "0.0 s elapsed, about 8.0 s left"
        ),
        "round 1 of about 5 (screen): 2 benchmarks; 2 open; 4.0 s elapsed, about 4.0 s left",
        "round 2 of about 5 (screen): 2 benchmarks; 1 unchanged, 1 open; 8.0 s elapsed",
        "db/insert failed: gone",
    ]


def test_a_log_of_a_slow_round_is_never_silent_for_long() -> None:
    stream, clock = Stream(), Clock()
    progress = create_progress(Console(file=stream, width=200), clock=clock)

    progress.round_started(0, "screen", 4, None, rounds=10)
    for name in "abcd":
        progress.measuring(name)
        clock.now_s += 40.0 if name in "ab" else 1.0
        progress.measured(name)
    progress.round_ended(0, {}, 738.0)

    assert stream.getvalue().splitlines() == [
        "round 1 of about 10 (screen): measuring a, 1 of 4; 0.0 s elapsed",
        "round 1 of about 10 (screen): measuring b, 2 of 4; 40 s elapsed",
        "round 1 of about 10 (screen): measuring c, 3 of 4; 1 min 20 s elapsed",
        "round 1 of about 10 (screen): 4 benchmarks; 1 min 22 s elapsed, about 12 min 18 s left",
    ]


def test_a_terminal_names_the_benchmark_that_is_being_measured() -> None:
    stream, clock = Stream(), Clock()
    progress = create_progress(Console(file=stream, force_terminal=True, width=80), clock=clock)

    progress.preparing("preparing the base 1234567 (merge base with main)")
    assert "preparing the base 1234567" in stream.getvalue()
    progress.round_started(0, "screen", 2, None)
    clock.now_s += 1.0
    progress.measuring("slow/a")
    assert "slow/a" in stream.getvalue()
    progress.close()


def test_a_round_without_an_estimate_claims_none() -> None:
    stream, clock = Stream(), Clock()
    progress = create_progress(Console(file=stream), clock=clock)

    progress.round_started(11, "settle", 1, None)
    progress.round_ended(11, {})

    assert stream.getvalue() == "round 12 (settle): 1 benchmark; 0.0 s elapsed\n"


def test_quiet_says_nothing() -> None:
    stream, clock = Stream(), Clock()

    two_rounds(create_progress(Console(file=stream, force_terminal=True), quiet=True), clock)

    assert stream.writes == 0


def test_a_terminal_that_is_a_log_gets_plain_lines() -> None:
    console = Console(file=Stream(), force_terminal=True)

    assert isinstance(create_progress(console, plain=True), PlainProgress)


@pytest.mark.parametrize("width", [60, 100])
def test_a_terminal_gets_two_lines_that_vanish(width: int) -> None:
    stream, clock = Stream(), Clock()
    console = Console(file=stream, force_terminal=True, width=width, color_system=None)
    progress = create_progress(console, clock=clock)

    two_rounds(progress, clock)

    assert isinstance(progress, LiveProgress)
    text = stream.getvalue()
    assert "round 2 of about 5 (screen)" in text
    assert "2 of 2" in text
    assert "1 unchanged" in text
    assert "db/insert failed: gone" in text
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1, "the cursor is back"
    drawn = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
    assert max(len(line) for line in re.split(r"[\r\n]", drawn)) <= width


def test_no_thread_draws_while_samples_are_taken() -> None:
    stream, clock = Stream(), Clock()
    console = Console(file=stream, force_terminal=True, width=80)
    before = threading.active_count()
    progress = create_progress(console, clock=clock)

    progress.round_started(0, "screen", 1000, 60.0)
    assert threading.active_count() == before
    progress.close()


def test_many_quick_benchmarks_are_drawn_ten_times_a_second_at_most() -> None:
    stream, clock = Stream(), Clock()
    progress = create_progress(Console(file=stream, force_terminal=True, width=80), clock=clock)
    progress.round_started(0, "screen", 1000, 60.0)
    drawn = stream.writes

    for _ in range(1000):
        clock.now_s += 0.001
        progress.measuring("quick")
        progress.measured("quick")

    assert stream.writes - drawn <= 10
    progress.round_ended(0, {"open": 1000})
    progress.close()
    assert "1000 of 1000" in stream.getvalue()


@pytest.mark.parametrize(("encoding", "mark"), [("utf-8", "━"), ("ascii", "#")])
def test_the_bar_is_drawn_in_what_the_terminal_can_say(encoding: str, mark: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    clock = Clock()
    progress = create_progress(Console(file=stream, force_terminal=True, width=80), clock=clock)

    two_rounds(progress, clock)
    stream.flush()

    assert mark in raw.getvalue().decode(encoding)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
@pytest.mark.parametrize("width", [24, 40, 60])
def test_a_narrow_terminal_of_any_encoding_is_never_overrun(encoding: str, width: int) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    console = Console(file=stream, force_terminal=True, width=width, color_system=None)
    progress = create_progress(console, clock=Clock())

    progress.preparing("preparing the base 1234567 (merge base with the branch of \u6f22\u5b57)")
    progress.round_started(0, "screen", 8, 60.0, rounds=10)
    progress.measuring("text/\u6f22\u5b57" * 20)
    progress.round_ended(0, {"unchanged": 8})
    progress.close()
    stream.flush()

    drawn = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", raw.getvalue().decode(encoding))
    lines = re.split(r"[\r\n]", drawn)
    assert max(map(cell_len, lines)) <= width
    assert any(line.endswith(("…", "~")) for line in lines), "what is cut is marked"


def test_a_narrow_terminal_loses_the_bar_and_not_the_numbers() -> None:
    stream = Stream()
    console = Console(file=stream, force_terminal=True, width=40, color_system=None)
    progress = create_progress(console, clock=Clock())

    progress.round_started(0, "screen", 8, 60.0, rounds=10)
    progress.close()

    assert "round 1 of about 10 (screen) ──── 0 of 8" in stream.getvalue()
