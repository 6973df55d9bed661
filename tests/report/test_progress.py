from __future__ import annotations

import io
import re
import threading
from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console
from tests.report.conftest import changed

from benchgate.model.policy import Outcome
from benchgate.model.row import Row
from benchgate.report.progress import (
    MEASURE,
    LiveProgress,
    PlainProgress,
    Progress,
    RoundState,
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


def look(
    progress: Progress,
    clock: Clock,
    left_s: float | None,
    **changes: Any,  # noqa: ANN401 - fields of a state
) -> None:
    """Start a round."""
    state = RoundState(0, "screen", 2, chosen=2)
    ends_s = None if left_s is None else clock() + left_s
    progress.round_started(replace(state, ends_s=ends_s, **changes))


def two_rounds(progress: Progress, clock: Clock) -> None:
    progress.building("base")
    progress.found(2, "5 rounds each; at most 20 s")
    for index in range(2):
        look(progress, clock, 26.0 - 12 * index if index else None, decided=index)
        for name in ("json/dumps", "sort\x1b[2J"):
            progress.measuring(name)
            clock.now_s += 6.0
            progress.measured(name)
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
    assert f"hint: {step}" in drawn_lines(stream)
    assert progress.told == [f"hint: {step}"]


def test_a_pipe_gets_a_line_after_ten_silent_seconds() -> None:
    stream, clock = Stream(), Clock()
    progress = create_progress(Console(file=stream), clock=clock)

    two_rounds(progress, clock)

    assert isinstance(progress, PlainProgress)
    assert stream.getvalue().splitlines() == [
        "building the base",
        "2 benchmarks: 5 rounds each; at most 20 s",
        "looking at all 2; 1 of 2 decided; 12 s, about 14 s left",
        "db/insert failed: gone",
    ]


def test_a_limit_is_told_if_nobody_can_know_the_time_left() -> None:
    stream, clock = Stream(), Clock()
    progress = create_progress(Console(file=stream), clock=clock)

    look(progress, clock, 40.0, phase="settle", benchmarks=1, may_end_sooner=True)
    clock.now_s += 11.0
    progress.measuring("sort")

    assert stream.getvalue() == "narrowing down 1; 11 s, at most 30 s left\n"


def test_a_log_of_a_slow_round_is_never_silent_for_long() -> None:
    stream, clock = Stream(), Clock()
    progress = create_progress(Console(file=stream, width=200), clock=clock)

    look(progress, clock, None, benchmarks=4, chosen=4)
    for name in "abcd":
        progress.measuring(name)
        clock.now_s += 40.0 if name in "ab" else 1.0
        progress.measured(name)

    assert stream.getvalue().splitlines() == [
        "looking at all 4; 1 of 4 measured; 40 s",
        "looking at all 4; 2 of 4 measured; 1 min 20 s",
    ]


def test_a_terminal_names_the_benchmark_that_is_being_measured() -> None:
    stream, clock = Stream(), Clock()
    progress = create_progress(Console(file=stream, force_terminal=True, width=80), clock=clock)

    progress.preparing("building base 1234567 and head (working tree)")
    assert "building base 1234567" in stream.getvalue()
    look(progress, clock, None)
    progress.measuring("slow/a")
    assert "slow/a" in stream.getvalue()
    progress.close()


@pytest.mark.parametrize(
    ("state", "what"),
    [
        (RoundState(0, "screen", 60, chosen=60), "looking at all 60"),
        (RoundState(1, "screen", 58, chosen=60), "looking at 58"),
        (RoundState(1, "screen", 1, chosen=1), "looking at 1"),
        (RoundState(6, "confirm", 8, suspected=3), "making sure of 3, narrowing down 5"),
        (RoundState(6, "settle", 5), "narrowing down 5"),
        (RoundState(6, "confirm", 1, changed=1), "looking closer at 1"),
        (RoundState(2, MEASURE, 5, rounds=10), "measuring 5, round 3 of 10"),
    ],
)
def test_what_a_round_is_for(state: RoundState, what: str) -> None:
    assert state.what() == what


def decided(*rows: Row, encoding: str = "utf-8") -> list[str]:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    progress = create_progress(Console(file=stream, width=80), clock=Clock())
    progress.decided(rows)
    progress.close()
    stream.flush()
    return raw.getvalue().decode(encoding).splitlines()


def slower(name: str, ratio: float = 1.32) -> Row:
    return changed(name, Outcome.REGRESSED, ratio)


def test_a_decided_benchmark_gets_a_line() -> None:
    faster = changed("db/insert", Outcome.IMPROVED, 0.88)
    crashed = Row("db/select", Outcome.FAILED, error="boom")
    assert decided(slower("parse"), faster, crashed) == [
        "\N{UP-POINTING RED TRIANGLE} slower   +32.0 %  parse",
        "\N{ROCKET} faster   -12.0 %  db/insert",
        "\N{COLLISION SYMBOL} crashed           db/select",
    ]
    assert decided(slower("parse"), encoding="ascii") == ["slower   +32.0 %  parse"]


def test_results_are_set_off_from_the_verdict_on_a_terminal() -> None:
    stream = Stream()
    console = Console(file=stream, force_terminal=True, width=80, color_system=None)
    progress = create_progress(console, clock=Clock())
    progress.decided([slower("parse")])
    progress.close()
    progress.close()
    assert stream.getvalue().endswith("parse\n\n")


def test_many_that_are_decided_alike_get_one_line() -> None:
    rows = [slower(f"parser/{i}", 1.13 + i / 1000) for i in range(10)]
    (line,) = decided(*rows)
    assert line.endswith(" slower  +13.0 to +13.9 %  10 of parser/*")
    (line,) = decided(slower("sort"), *rows)
    assert line.endswith(" slower  +13 to +32 %  sort, parser/0, parser/1 and 8 more")


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
    assert "looking at all 2" in text
    assert "1 of 2 decided" in text
    assert "about 14 s left" in text
    assert "db/insert failed: gone" in text
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1, "the cursor is back"
    drawn = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
    assert max(len(line) for line in re.split(r"[\r\n]", drawn)) <= width


def test_no_thread_draws_while_samples_are_taken() -> None:
    stream, clock = Stream(), Clock()
    console = Console(file=stream, force_terminal=True, width=80)
    before = threading.active_count()
    progress = create_progress(console, clock=clock)

    look(progress, clock, 60.0)
    assert threading.active_count() == before
    progress.close()


def test_many_quick_benchmarks_are_drawn_ten_times_a_second_at_most() -> None:
    stream, clock = Stream(), Clock()
    progress = create_progress(Console(file=stream, force_terminal=True, width=80), clock=clock)
    look(progress, clock, None, benchmarks=1000)

    for _ in range(1000):
        clock.now_s += 0.001
        progress.measuring("quick")
        progress.measured("quick")

    assert 10 <= stream.getvalue().count("quick") <= 11
    progress.close()


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
    raw, clock = io.BytesIO(), Clock()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    console = Console(file=stream, force_terminal=True, width=width, color_system=None)
    progress = create_progress(console, clock=clock)

    progress.preparing("preparing base 1234567 (the merge base with the branch \u6f22\u5b57)")
    look(progress, clock, 60.0, phase="confirm", benchmarks=8, suspected=3, decided=52, chosen=60)
    progress.measuring("text/\u6f22\u5b57" * 20)
    progress.close()
    stream.flush()

    drawn = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", raw.getvalue().decode(encoding))
    lines = re.split(r"[\r\n]", drawn)
    assert max(map(cell_len, lines)) <= width
    assert any(line.endswith(("…", "~")) for line in lines), "what is cut is marked"


def drawn_lines(stream: Stream) -> list[str]:
    """What was drawn, one after the other."""
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stream.getvalue())
    return re.split(r"[\r\n]+", text)


def test_a_narrow_terminal_loses_the_bar_and_not_the_numbers() -> None:
    stream, clock = Stream(), Clock()
    console = Console(file=stream, force_terminal=True, width=45, color_system=None)
    progress = create_progress(console, clock=clock)

    look(progress, clock, 60.0)
    progress.measuring("a")
    progress.close()

    assert "looking at all 2  ────  0 s, about 1 min left" in drawn_lines(stream)


def test_the_bar_never_runs_backwards() -> None:
    stream, clock = Stream(), Clock()
    console = Console(file=stream, force_terminal=True, width=80, color_system=None)
    progress = create_progress(console, clock=clock)
    bars: list[int] = []
    for phase, left_s in (
        *(("screen", None), ("screen", 30.0), ("screen", 22.0), ("confirm", 60.0)),
        *(("settle", 20.0), ("confirm", 900.0), ("confirm", 0.0)),
    ):
        look(progress, clock, left_s, phase=phase)
        clock.now_s += 10.0
        progress.measuring("a")
        bars.append(drawn_lines(stream)[-2].count("━"))
    progress.close()

    assert bars == sorted(bars)
    assert bars[1] == round(20 * 20 / 40), "20 of 40 s"
    assert bars[-1] < 20, "the end is only shown by the end"
