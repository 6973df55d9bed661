from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.conftest import unchanged
from tests.report.test_self_check_doctor import CHECK, CPU, NOISY, QUIET, TAIL, WAITING

from benchgate.escape import named
from benchgate.model.policy import Outcome
from benchgate.report.self_check import advise, false_alarms, next_round

if TYPE_CHECKING:
    from benchgate.model.self_check_findings import SelfCheck, Sensitivity

GOOD = replace(CHECK, rows=(QUIET,))
WIDE = replace(QUIET, benchmark="w", rounds=80, least_margin=0.031)
SHORT = replace(TAIL, obstacle="needs 40 samples", samples=5, loops=1)


def of(*rows: Sensitivity, **more: object) -> SelfCheck:
    return replace(GOOD, rows=rows, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (GOOD, []),
        (replace(GOOD, stolen=None), []),
        (replace(GOOD, stolen=0.009), []),
        (replace(GOOD, stolen=0.031), ["gave 3.1 % of the CPUs' time to other guests"]),
        (
            of(replace(QUIET, unpinned="pin = false in [measure]")),
            ["text/slugify: not pinned (pin = false in [measure])"],
        ),
        (of(replace(QUIET, unpinned="it is marked parallel")), []),
        (
            of(*(replace(QUIET, benchmark=n, unpinned=r) for n, r in ("ax", "by", "cx"))),
            ["a and c: not pinned (x)", "b: not pinned (y)"],
        ),
        (of(WIDE), ["w: raise the margin to 4 %, or max_rounds to 80"]),
        (of(replace(WIDE, rounds=None)), ["w: raise the margin to 4 %"]),
        (of(replace(WIDE, least_margin=None)), ["w: too noisy for any margin"]),
        (
            of(WIDE, replace(WIDE, benchmark="v", rounds=190), replace(WIDE, least_margin=0.2)),
            ["w and v: raise the margin to 4 %, or max_rounds to 200", "w: raise the margin to 20"],
        ),
        (of(replace(WIDE, counted=True)), ["w: count its instructions instead of timing it: met"]),
        (of(replace(QUIET, counted=True)), []),
        (of(WAITING), ["its CPU time is much steadier than its wall-clock time (it waits for 60"]),
        (of(replace(WAITING, rounds=7)), []),  # decidable as it is
        (
            of(replace(WAITING, least_margin=0.3, steadier=replace(CPU, rounds=31))),
            ["raise the margin to 30 %"],  # the other metric would not do either
        ),
        (
            of(replace(QUIET, tail=replace(SHORT, sample_s=3e-3))),
            ["launch_time to 30ms (now 15ms)"],
        ),
        (
            of(replace(QUIET, tail=replace(SHORT, needed_samples=200, sample_s=3e-4))),
            ["set samples = 200 (now 45)", "launch_time to 15ms"],
        ),
        (of(replace(QUIET, tail=replace(SHORT, sample_s=0.2))), ["too slow to test the tail"]),
        (of(replace(NOISY, rounds=9)), ["cli/log: to test the tail, set executions = 40 (now 6)"]),
        (of(replace(QUIET, tail=replace(TAIL, obstacle="unequal loops"))), []),
    ],
)
def test_advice(check: SelfCheck, words: list[str]) -> None:
    advice = advise(check)
    assert len(advice) == len(words), advice
    for sentence, word in zip(advice, words, strict=True):
        assert word in sentence


@pytest.mark.parametrize("outcome", [Outcome.REGRESSED, Outcome.IMPROVED])
def test_what_differs_from_itself_is_a_false_alarm(outcome: Outcome) -> None:
    rows = (replace(unchanged("a"), outcome=outcome), unchanged("b"))
    check = replace(GOOD, verdict=replace(GOOD.verdict, rows=rows))
    assert false_alarms(check) == ["a"]
    (advice,) = advise(check)
    assert advice.startswith("1 % of all checks have a false alarm by chance: run the self-check")


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["a"], "a"),
        (["a", "a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "c"], "a, b and c"),
        (["a", "b", "c", "d", "e"], "a, b, c and 2 more"),
    ],
)
def test_names(names: list[str], text: str) -> None:
    assert named(names) == text


@given(st.floats(1e-6, 1e9))
def test_a_round_number_is_not_far_above(value: float) -> None:
    found = next_round(value)
    assert value * (1 - 1e-8) <= found <= 1.51 * value


@pytest.mark.parametrize(
    ("value", "expected"), [(3.1, 4), (4, 4), (10, 10), (0.12, 0.15), (44, 50), (0.0099, 0.01)]
)
def test_round_numbers(value: float, expected: float) -> None:
    assert next_round(value) == pytest.approx(expected)
