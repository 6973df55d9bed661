from __future__ import annotations

import io
import re
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import pytest
from rich.console import Console
from tests.report.conftest import SAMPLES, golden, inconclusive, printed_verdict

from benchgate.model.result import SkippedResult
from benchgate.report.terminal import render_verdict
from benchgate.report.view import view_verdict

if TYPE_CHECKING:
    from benchgate.model.verdict import Verdict

STATES = (
    "pass",
    "same-code",
    "all-same-code",
    "fail",
    "several",
    "failed",
    "inconclusive",
    "missing-and-new",
    "edited",
    "base-failed",
    "incomparable",
    "nothing",
    "undecided",
    "limits",
    "interrupted",
    "waived",
    "loosened",
    "hostile",
    "detailed",
    "many",
)
COLOUR = re.compile(r"\x1b\[[0-9;]*(?:3[0-7]|4[0-7]|9[0-7])m")


def piped(verdict: Verdict, *, verbose: bool = False) -> str:
    return render_verdict(view_verdict(verdict), Console(file=io.StringIO()), verbose=verbose)


def on_terminal(verdict: Verdict, width: int, *, verbose: bool = False) -> str:
    console = Console(
        file=io.StringIO(), width=width, height=1000, force_terminal=True, color_system="standard"
    )
    return render_verdict(view_verdict(verdict), console, verbose=verbose)


def bare(text: str) -> str:
    """Without colours, and without the spaces that fill a terminal's line."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return "\n".join(line.rstrip() for line in plain.splitlines()) + "\n"


@pytest.mark.parametrize("state", STATES)
def test_every_state_looks_as_it_did_in_a_pipe(state: str) -> None:
    golden(f"{state}.txt", piped(SAMPLES[state]))


# Which columns there is room for, two of them show at every width; the others, how text is broken.
@pytest.mark.parametrize(
    ("state", "width"),
    [
        *product(("fail", "detailed"), (60, 80, 120, 200)),
        *product(("pass", "several", "failed", "inconclusive", "first-run"), (60, 120)),
        *product(("interrupted", "loosened", "edited"), (60, 120)),
        ("same-code", 60),
    ],
)
def test_states_look_as_they_did_on_a_terminal(state: str, width: int) -> None:
    render = partial(printed_verdict, view_verdict(SAMPLES[state]))
    text = render(width)

    golden(f"{state}-{width}.txt", text)
    assert render(width, "ascii").isascii()


@pytest.mark.parametrize("width", [None, 60, 80, 120, 200])
def test_verbose_looks_as_it_did(width: int | None) -> None:
    render = partial(printed_verdict, view_verdict(SAMPLES["fail"]), verbose=True)
    text = render(width)

    golden("-".join(filter(None, ("fail-verbose", str(width or "")))) + ".txt", text)
    assert render(width, "ascii").isascii()


@pytest.mark.parametrize("state", STATES)
def test_a_pipe_gets_no_escapes(state: str) -> None:
    assert "\x1b" not in piped(SAMPLES[state])


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("state", STATES)
def test_a_terminal_is_never_overrun(state: str, width: int) -> None:
    assert max(map(len, bare(on_terminal(SAMPLES[state], width)).splitlines())) <= width


def test_a_terminal_gets_colour_and_a_pipe_none() -> None:
    assert COLOUR.search(on_terminal(SAMPLES["fail"], 100))
    assert not COLOUR.search(piped(SAMPLES["fail"]))


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    text = on_terminal(SAMPLES["fail"], 100)

    assert not COLOUR.search(text)
    assert "slower" in text


def test_every_name_of_a_large_suite_can_be_found_in_a_pipe() -> None:
    text = piped(SAMPLES["many"])

    for row in SAMPLES["many"].rows:
        assert len([line for line in text.splitlines() if row.benchmark in line]) >= 1
    assert len(text.splitlines()) < 510


def test_a_large_suite_is_a_number_on_a_terminal() -> None:
    text = bare(on_terminal(SAMPLES["many"], 80))

    assert "not shown: 497 unchanged within 2 % (-v shows them)" in text
    assert "slow/bench_2" in text
    assert len(text.splitlines()) < 20
    assert "group3/" in bare(on_terminal(SAMPLES["many"], 80, verbose=True))


def test_the_end_of_a_failure_is_below_the_table() -> None:
    text = piped(SAMPLES["failed"])

    assert "db/insert (benchmarks/bench_db.py:10) crashed:\n    ValueError" in text
    assert text.index("sha256") < text.index("benchmarks/bench_db.py")


@pytest.mark.parametrize(("height", "times"), [(15, 2), (60, 1)])
def test_a_verdict_longer_than_the_screen_is_repeated_at_its_end(height: int, times: int) -> None:
    console = Console(file=io.StringIO(), width=100, height=height, force_terminal=True)
    text = bare(render_verdict(view_verdict(SAMPLES["fail"]), console))

    assert text.count("Slower: parse/large +15 %") == times
    assert text.rstrip().endswith("Slower: parse/large +15 %") is (times == 2)
    assert piped(SAMPLES["many"]).count("Slower: ") == 1


def test_what_nobody_has_to_act_on_is_a_number_on_a_terminal_unless_there_is_room() -> None:
    few = SAMPLES["fail"]
    assert "template/loop" in bare(on_terminal(few, 100))
    many = replace(few, rows=(*few.rows, *(inconclusive(f"group/{n}") for n in range(12))))
    text = bare(on_terminal(many, 100))

    assert "not shown: 13 inconclusive (-v shows them)" in text
    assert "template/loop" not in text
    assert "template/loop" in bare(on_terminal(many, 100, verbose=True))


def test_what_was_skipped_is_a_number_unless_it_is_asked_for() -> None:
    skipped = tuple(
        SkippedResult(f"main/{i}.json", "it was \x1b[31minterrupted") for i in range(30)
    )
    verdict = replace(SAMPLES["pass"], skipped=skipped)
    assert "30 stored results left out" in piped(verdict)
    assert "main/7.json" not in piped(verdict)
    assert "    main/7.json: it was interrupted\n" in piped(verdict, verbose=True)


@pytest.mark.parametrize(("encoding", "course"), [("utf-8", "▁▁▁ ▁█"), ("ascii", "___ _#")])
def test_earlier_runs_have_a_column(encoding: str, course: str) -> None:
    fail = SAMPLES["fail"]
    rows = tuple(
        replace(row, recent=(row.base,) * 3) if row.base and row.outcome == "regressed" else row
        for row in fail.rows
    )
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    text = render_verdict(view_verdict(replace(fail, rows=rows)), Console(file=stream))
    first = next(line for line in text.splitlines() if course in line)
    assert "parse/large" in first


def test_what_was_not_measured_is_listed_only_if_asked_for() -> None:
    for shown in (piped(SAMPLES["same-code"]), on_terminal(SAMPLES["same-code"], 120)):
        assert "5 of 7 benchmarks run no code that changed, and were not measured.\n" in shown
        assert "sqlite/insert" not in shown
    asked = piped(SAMPLES["same-code"], verbose=True)
    assert re.search(r"same code .* sqlite/insert\n", asked)
