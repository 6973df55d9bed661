"""Verdicts that people meet, made up, for pictures of what they read."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from tests.histories import history_of, trend_of
from tests.loads import measured_step
from tests.results import arm

from benchgate.config import loads
from benchgate.gate.verdict import judge
from benchgate.model.calls import Edit
from benchgate.model.environment import Environment
from benchgate.model.launch_table import Launch
from benchgate.model.metrics import Metric
from benchgate.model.policy import Outcome, PolicyChange
from benchgate.model.result import Result
from benchgate.model.row import CalledFunction, Cause, Classical, ConfirmationCost, Explanation, Row
from benchgate.model.row_order import worst_first
from benchgate.model.run import NEW_VERSION, BenchmarkResult, Run, Series, Source, Tier
from benchgate.model.verdict import NO_BASELINE, Decision, GateSettings, Reason, Verdict
from benchgate.report.headline import headline

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.model.history_document import History

BASE = Source("6cf4bb7d0b1c4f6a9c3f4a2b1d0e9f8a7b6c5d4e", why="the target branch main")
HEAD = Source(
    "e4f5a6b7c8d90112233445566778899aabbccdde",
    changed_files=("src/textkit/orders.py", "src/textkit/invoices.py"),
)
MACHINE = Environment(os="Ubuntu 24.04.3 LTS", cpu_model="AMD EPYC 7763 64-Core", cpu_count=4)
FILE_NOTE = (
    "on import, its file runs other code in the head than in the base (lines 3, 9); move it into "
    "the benchmarks"
)
UNVERIFIED = (
    "the pull request's own code ran in this measurement and could change its numbers: review it "
    "before you rely on them"
)
_OUTCOMES = {
    Outcome.REGRESSED: ("confirmed in 15 of 15 rounds",),
    Outcome.IMPROVED: ("confirmed in 15 of 15 rounds",),
}


def row(
    benchmark: str,
    outcome: Outcome,
    change: float,
    half: float,
    base_s: float,
    *notes: str,
    tail: bool = False,
) -> Row:
    """Make a row as the gate makes it.

    Args:
        change: such as 0.1 for 10 % slower.
        half: half of the width of its interval.
        base_s: the time of the base, in seconds.
    """
    decided = outcome in _OUTCOMES
    rounds = 15 if decided else 23
    return Row(
        benchmark,
        outcome,
        metric="time",
        statistic="p95" if tail else "p25",
        unit="s",
        base=base_s,
        head=base_s * (1 + change),
        base_median=base_s,
        head_median=base_s * (1 + change * 0.98),
        ratio=1 + change,
        interval=(1 + change - half, 1 + change + half),
        margin=0.05 if tail else 0.02,
        p=0.5**15 if decided else None,
        p_adjusted=0.0011 if decided else None,
        launches=(rounds, rounds),
        tier=Tier.LOCKSTEP,
        test="wilcoxon",
        detectable=1 + 1.3 * half,
        rounds_needed=math.ceil(40 * half / 0.02) if outcome is Outcome.INCONCLUSIVE else None,
        classical=Classical(0.004, 1 + change, "slower" if change > 0 else "same"),
        notes=(*_OUTCOMES.get(outcome, ()), *notes),
        location=f"benchmarks/bench_{benchmark.split('/', maxsplit=1)[0]}.py:{9 + len(benchmark)}",
    )


def _pair(
    benchmark: str, outcome: Outcome, change: float, half: float, base_s: float, *notes: str
) -> tuple[Row, Row]:
    """Make the rows of the typical value and of the tail, which is noisier."""
    is_open = outcome in {Outcome.INCONCLUSIVE, Outcome.UNCHANGED} and half > 0.008
    tail = Outcome.NOT_SETTLED if is_open else outcome
    return (
        row(benchmark, outcome, change, half, base_s, *notes),
        row(benchmark, tail, change * 1.1, half * 2.5, base_s * 1.3, *notes, tail=True),
    )


def _verdict(decision: Decision, *rows: Row, **more: object) -> Verdict:
    made = Verdict(
        decision,
        3 if decision is Decision.FAIL else 0,
        summary="",
        base=BASE,
        head=HEAD,
        settings=GateSettings(),
        rows=tuple(worst_first(rows)),
        environment=MACHINE,
        duration_s=74.0,
        rounds=23,
    )
    made = replace(made, **more)  # type: ignore[arg-type]
    return replace(made, summary=headline(made))


def _clean(number: int, *, noted: int = 0) -> list[Row]:
    """Make benchmarks of unchanged code, with the long ids of a real suite."""
    draw = random.Random(7)  # noqa: S311 - nothing secret
    groups = (
        "asv/specifiers/TimeSpecifiers.time_contains",
        "asv/version/TimeVersion.time_parse",
        "asv/requirements/TimeRequirements.time_evaluate_markers",
        "tags/compatible_tags",
    )
    kinds = ("simple_cold", "simple_warm", "complex_cold", "complex_warm", "worst[n=100000]")
    rows: list[Row] = []
    for index in range(number):
        group = groups[index // len(kinds) % len(groups)]
        part = index // (len(kinds) * len(groups))
        name = f"{group}_{kinds[index % len(kinds)]}" + (f"_{part + 1}" if part else "")
        half = draw.uniform(0.003, 0.014)
        change = draw.gauss(0, 0.003)
        is_open = index % 4 == 3
        rows += _pair(
            name,
            Outcome.INCONCLUSIVE if is_open else Outcome.UNCHANGED,
            0.012 if is_open else change,
            0.021 if is_open else half,
            10 ** draw.uniform(-6, -2),
            *((FILE_NOTE,) if index < noted else ()),
        )
    return rows


def _with_earlier(*rows: Row) -> tuple[Row, ...]:
    """Add nine earlier runs of the machine, which differ a little."""
    draw = random.Random(9)  # noqa: S311 - nothing secret
    return tuple(
        replace(one, recent=tuple(one.base * draw.gauss(1, 0.004) for _ in range(9)))
        for one in rows
        if one.base
    )


def _explained(*rows: Row) -> tuple[Row, ...]:
    """Say which function the typical times changed by."""
    name, place = "_refuse_control_characters", "src/textkit/logs.py:32"

    def explanation(row: Row) -> Explanation:
        more = 0.97 * ((row.head or 0) - (row.base or 0))
        about = name, place, True, Edit.NEW
        called = CalledFunction(*about, calls=(0.0, 1.0), amounts=(0.0, more))
        cause = Cause(*about, callee="", calls=(0.0, 1.0), amount=more)
        return Explanation((cause,), (called,))

    return tuple(row if row.is_tail else replace(row, explanation=explanation(row)) for row in rows)


def fail() -> Verdict:
    """Two benchmarks are slower, two are faster, one was removed: the demo and a bit more."""
    return _verdict(
        Decision.FAIL,
        *_with_earlier(
            *_explained(
                *_pair("logs/parse_log[lines=10]", Outcome.REGRESSED, 0.232, 0.0125, 31.88e-6),
                *_pair("logs/parse_log[lines=100]", Outcome.REGRESSED, 0.0472, 0.008, 323.2e-6),
            ),
            *_pair("text/word_counts[lines=50]", Outcome.IMPROVED, -0.586, 0.0165, 435.8e-6),
            *_pair("text/word_counts[lines=5]", Outcome.IMPROVED, -0.475, 0.015, 46.01e-6),
        ),
        Row("text/from_csv", Outcome.MISSING),
        *_pair("text/slugify", Outcome.UNCHANGED, -0.0024, 0.0095, 4.31e-6),
        *_pair("text/csv_to_json[rows=100]", Outcome.UNCHANGED, -0.0039, 0.012, 88.1e-6),
        *_pair("text/closest", Outcome.INCONCLUSIVE, 0.011, 0.024, 1.204e-3),
        *_pair("cli/log", Outcome.UNCHANGED, 0.0011, 0.006, 41.2e-3),
    )


def passed() -> Verdict:
    """Eight benchmarks: one is faster, nothing is slower."""
    return _verdict(
        Decision.PASS,
        *_pair("text/word_counts[lines=5]", Outcome.IMPROVED, -0.475, 0.015, 46.01e-6),
        *(one for one in fail().rows if one.outcome is Outcome.UNCHANGED),
        *_pair("text/closest", Outcome.INCONCLUSIVE, 0.011, 0.024, 1.204e-3),
    )


def no_verdict() -> Verdict:
    """One looks slower, and the budget ended before this was confirmed."""
    suspect = row("db/insert_many[rows=10000]", Outcome.INCONCLUSIVE, 0.15, 0.09, 0.812)
    open_, tail = _pair("db/query_by_name", Outcome.INCONCLUSIVE, 0.011, 0.024, 0.0412)
    return _verdict(
        Decision.NO_VERDICT,
        replace(suspect, unconfirmed=ConfirmationCost(14, 560.0), launches=(5, 5)),
        open_,
        tail,
        *_pair("db/connect", Outcome.UNCHANGED, 0.001, 0.006, 0.0031),
        reason=Reason.UNCONFIRMED,
        rounds=5,
        duration_s=221.0,
        warnings=("the budget of 3 min 40 s ended before 1 benchmark could be decided",),
    )


def first_run() -> Verdict:
    """The pull request adds benchgate."""
    names = ("logs/parse_log[lines=10]", "logs/parse_log[lines=100]", "text/slugify", "cli/start")
    return _verdict(
        Decision.NO_VERDICT,
        *(
            Row(
                name,
                Outcome.NEW,
                metric="time",
                statistic="median",
                unit="s",
                head=(index + 1) * 17.3e-6,
                location=f"benchmarks/bench_{name.split('/', maxsplit=1)[0]}.py:{7 + index}",
            )
            for index, name in enumerate(names)
        ),
        base=Source("6cf4bb7d0b1c4f6a9c3f4a2b1d0e9f8a7b6c5d4e", why="the target branch main"),
        base_source=NO_BASELINE,
        reason=Reason.FIRST_RUN,
    )


def sixty() -> Verdict:
    """Ten benchmarks of a parser are slower, ten of a cache are faster; forty are unchanged."""
    draw = random.Random(11)  # noqa: S311 - nothing secret
    texts = ("empty", "short", "long", "nested", "escaped", "unicode", "comment", "table", "list")
    parser = (f"parser/{name}" for name in (*texts, "date"))
    sizes = ("hit", "miss", "get", "set", "update", "evict", "expire", "resize", "clear", "many")
    slower = (
        _pair(name, Outcome.REGRESSED, 0.13 + 0.02 * place / 9, 0.006, 10 ** draw.uniform(-6, -4))
        for place, name in enumerate(parser)
    )
    faster = (
        _pair(name, Outcome.IMPROVED, -0.115 + 0.014 * place / 9, 0.006, 10 ** draw.uniform(-7, -5))
        for place, name in enumerate(f"cache/{size}" for size in sizes)
    )
    return _verdict(Decision.FAIL, *chain(*slower, *faster), *_clean(40), duration_s=207.0)


def clean() -> Verdict:
    """Sixty benchmarks, and nothing changed."""
    return _verdict(Decision.PASS, *_clean(60, noted=10))


def fork() -> Verdict:
    """A fork's pull request is slower, and loosens its own gate."""
    return _verdict(
        Decision.FAIL,
        *_pair("asv/version/TimeVersion.time_parse", Outcome.REGRESSED, 0.0472, 0.009, 8.31e-6),
        *_clean(12),
        warnings=(UNVERIFIED,),
        policy_changes=(PolicyChange("gate.margin", "", "2 %", "20 %", "benchgate.toml:3"),),
    )


_TRACEBACK = """KeyError: 'discount table is empty'
Traceback (most recent call last):
  File "benchmarks/bench_shop.py", line 31, in apply_discount
    shop.apply_discount(BASKET, TODAY)
  File "src/shop/__init__.py", line 38, in apply_discount
    return basket.total * RATES[day.month]
KeyError: 'discount table is empty'"""


def crash() -> Verdict:
    """A benchmark crashes on the head, two are slower, one is faster: one was removed."""
    return _verdict(
        Decision.FAIL,
        Row(
            "shop/apply_discount",
            Outcome.FAILED,
            error=_TRACEBACK,
            location="benchmarks/bench_shop.py:31",
        ),
        *_pair("shop/parse_order", Outcome.REGRESSED, 0.318, 0.01, 48.6e-6),
        *_pair("shop/render_invoice", Outcome.REGRESSED, 0.042, 0.0055, 93.2e-6),
        *_pair("shop/search_catalog", Outcome.IMPROVED, -0.497, 0.003, 192.9e-6),
        Row("shop/legacy_tax", Outcome.MISSING),
        *_pair("shop/total", Outcome.UNCHANGED, 0.001, 0.004, 1.2e-6),
        *_pair("shop/add_item", Outcome.UNCHANGED, -0.002, 0.006, 3.9e-6),
        *_pair("shop/print_label", Outcome.UNCHANGED, 0.0005, 0.005, 61e-6),
        duration_s=47.0,
        head=replace(HEAD, changed_files=("src/shop/__init__.py",)),
    )


def edited() -> Verdict:
    """The pull request edits two benchmarks, and one of them is slower in its old version."""
    note = "the pull request edits this benchmark; its new version counts after the merge"
    new = (
        row(f"{name}{NEW_VERSION}", Outcome.NEW, change, 0.01, base_s)
        for name, change, base_s in (("shop/checkout", 0.21, 60e-6), ("shop/total", 0.0, 9e-6))
    )
    return _verdict(
        Decision.FAIL,
        *_pair("shop/checkout", Outcome.REGRESSED, 0.124, 0.007, 81.2e-6, note),
        *_pair("shop/total", Outcome.UNCHANGED, 0.001, 0.004, 1.2e-6, note),
        *new,
        *_pair("shop/add_item", Outcome.UNCHANGED, -0.002, 0.006, 3.9e-6),
    )


def scenario() -> Verdict:
    """Of two steps under load, one is slower."""
    return judged(results()["scenario"])


@cache
def results() -> Mapping[str, Result]:
    """What was measured for verdicts whose report has figures; their samples are drawn."""
    return {
        "fail": Result(head=_sampled("head"), base=_sampled("base")),
        "scenario": Result(head=_loaded(1.3, HEAD), base=_loaded(1.0, BASE)),
    }


def _sampled(side: str) -> Run:
    """A run of the benchmarks of `fail` that both sides have."""
    draw = np.random.default_rng(side == "head")

    def launch(round_: int, value_s: float) -> Launch:
        samples = value_s * draw.normal(1, 0.01) * draw.lognormal(0, 0.02, 40)
        return Launch(round_, 0, samples, np.empty(0))

    rows = [one for one in fail().rows if one.base and one.head and not one.is_tail]
    benchmarks = (
        BenchmarkResult(
            one.benchmark,
            "w",
            Tier.LOCKSTEP,
            (
                Series(
                    Metric("time", "s"),
                    1,
                    tuple(launch(round_, getattr(one, side)) for round_ in range(23)),
                ),
            ),
        )
        for one in rows
    )
    source = HEAD if side == "head" else BASE
    return arm({}, benchmarks=tuple(benchmarks), source=source, environment=MACHINE)


def _loaded(slower: float, source: Source) -> Run:
    """A run of a scenario."""
    draw = np.random.default_rng(7)
    steps = (
        measured_step(draw, slower, rounds=12, id_="orders/lookup"),
        measured_step(draw, rounds=12, id_="orders/insert"),
    )
    return arm({}, benchmarks=steps, source=source, environment=MACHINE)


def judged(result: Result) -> Verdict:
    """What the gate says of a result."""
    config = loads("", "benchgate.toml")
    return replace(judge(result, config), duration_s=74.0)


def history() -> History:
    """Thirty commits: a parser got slower for good, a renderer for a while."""
    return history_of(
        trend_of([(18, 31.88e-6), (12, 39.28e-6)], "logs/parse_log[lines=10]"),
        trend_of([(9, 93.2e-6), (8, 108e-6), (13, 93.3e-6)], "shop/render_invoice"),
        trend_of([(6, 192.9e-6), (24, 97e-6)], "shop/search_catalog"),
        trend_of([(30, 1.204e-3)], "text/closest"),
        trend_of([(30, 1.6e-3)], "text/closest", statistic="p95"),
    )


def verdicts() -> Mapping[str, Verdict]:
    """Make each verdict, by its name."""
    return {
        "fail": fail(),
        "pass": passed(),
        "clean": clean(),
        "no-verdict": no_verdict(),
        "first-run": first_run(),
        "sixty": sixty(),
        "fork": fork(),
        "crash": crash(),
        "edited": edited(),
        "scenario": scenario(),
    }
