from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from tests.report.conftest import golden, printed, unchanged, verdict

from benchgate.model.policy import Outcome
from benchgate.model.row import Row
from benchgate.model.self_check_findings import (
    SelfCheck,
    Sensitivity,
    SteadierMetric,
    Tail,
)
from benchgate.model.verdict import Decision
from benchgate.report.self_check import headline, render_self_check

TAIL = Tail("", 1.058, "p95", 45, 40, 3.4e-4, 12)
QUIET = Sensitivity(
    benchmark="text/slugify",
    metric="time",
    pair_spread=0.0064,
    launch_spread=0.0274,
    detectable=1.0091,
    margin=0.02,
    rounds=7,
    limit=30,
    least_margin=0.004,
    tail=TAIL,
)
NOISY = replace(
    QUIET,
    benchmark="cli/log",
    pair_spread=0.0802,
    launch_spread=0.121,
    detectable=1.119,
    margin=0.05,
    rounds=44,
    least_margin=0.062,
    tail=Tail("tail not tested: needs 40 samples per launch", None, "p95", 6, 40, 0.03, 1),
    is_command=True,
)
CPU = SteadierMetric("cpu_time", 0.008, 8, 0.4)
WAITING = replace(
    QUIET,
    benchmark="db/fetch[rows=100]",
    pair_spread=0.31,
    detectable=None,
    rounds=None,
    least_margin=0.29,
    steadier=CPU,
)
CHECK = SelfCheck(
    verdict=verdict(Decision.PASS, unchanged("text/slugify"), rounds=30, duration_s=21.0),
    rows=(WAITING, NOISY, QUIET),
    launch_time_s=0.015,
    executions=6,
    alpha=0.01,
    samples=45,
    stretch=4,
    stolen=0.0,
)
ALARM = replace(
    CHECK,
    verdict=verdict(
        Decision.FAIL,
        replace(unchanged("text/slugify"), outcome=Outcome.REGRESSED),
        Row("db/fetch", Outcome.FAILED, error="ValueError: gone\n  at \x1b[31mx"),
        warnings=("the budget of 10 min ended with 1 benchmark open: cli/log",),
    ),
    stolen=0.04,
)

SEES = "This machine can see a change of 0.91 % or more"


@pytest.mark.parametrize("width", [None, 60, 80, 120, 200])
def test_it_looks_as_it_did(width: int | None) -> None:
    text = printed(partial(render_self_check, CHECK), width)
    assert max(map(len, text.splitlines())) <= (width or 400)
    assert text.isascii()
    golden(f"self-check-{width or 'pipe'}.txt", text)


def test_a_false_alarm_and_a_failure() -> None:
    text = printed(partial(render_self_check, ALARM), 80)
    assert "\x1b" not in text
    golden("self-check-alarm-80.txt", text)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ((QUIET,), f"{SEES} in the benchmark."),
        (
            (QUIET, replace(QUIET, benchmark="b", detectable=1.021)),
            "This machine can see a change of 2.1 % or more in all 2 benchmarks.",
        ),
        (
            (NOISY, QUIET),
            f"{SEES} in 1 of 2 benchmarks; cli/log is too noisy for the margin.",
        ),
        (
            (*(replace(NOISY, benchmark=name) for name in "abcde"), QUIET),
            f"{SEES} in 1 of 6 benchmarks; a, b, c and 2 more are too noisy for the margin.",
        ),
        (
            # Too noisy in one metric is too noisy.
            (replace(NOISY, benchmark=QUIET.benchmark, metric="peak_rss"), QUIET),
            "This machine is too noisy for the margins of the benchmark.",
        ),
        ((NOISY, WAITING), "This machine is too noisy for the margins of all 2 benchmarks."),
        (
            (replace(QUIET, detectable=None),),
            "This machine can see only very large changes in the benchmark.",
        ),
        ((), "Nothing can be said about this machine: no benchmark was measured often enough."),
    ],
)
def test_the_first_sentence(rows: tuple[Sensitivity, ...], sentence: str) -> None:
    assert headline(replace(CHECK, rows=rows)) == sentence


def test_nothing_measured_is_one_sentence() -> None:
    nothing = replace(CHECK, rows=())
    text = printed(partial(render_self_check, nothing), 80)
    assert text.splitlines() == [
        "Nothing can be said about this machine: no benchmark was measured often enough."
    ]


def test_names_from_outside_are_harmless() -> None:
    row = replace(NOISY, benchmark="\x1b[2Jx\ny", unpinned="\x1b[31mred\nline")
    text = printed(partial(render_self_check, replace(CHECK, rows=(row,))), None)
    assert "\x1b" not in text
    assert not any(line == "y" for line in text.splitlines())


def test_a_tail_that_cannot_be_settled_says_what_would_help() -> None:
    tail = replace(TAIL, settles=True, rounds=44, least_margin=0.062)
    hopeless = replace(TAIL, settles=True)
    easy = replace(TAIL, settles=True, rounds=9, least_margin=0.03)

    def text(*tails: Tail) -> str:
        rows = tuple(replace(QUIET, benchmark=f"b{i}", tail=one) for i, one in enumerate(tails))
        return printed(partial(render_self_check, replace(CHECK, rows=rows)), None)

    note = "its tail is too noisy to settle: that needs about 44 rounds, and a check has 30"
    assert note in text(tail)
    assert "b0: to settle the tail, raise tail_margin to 8 %, or leave p95 out" in text(tail, easy)
    assert "b0 and b1: to settle the tail, leave p95 out of `settle`" in text(tail, hopeless)
    assert "more than 1000 rounds" in text(hopeless)
    assert "settle" not in text(replace(tail, settles=False), easy)
