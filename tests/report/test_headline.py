from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchgate.model.policy import Outcome
from benchgate.model.run import Better, Source
from benchgate.model.verdict import ConfirmationCost, Decision, GateSettings, Reason, Row, Verdict
from benchgate.report.headline import heading, headline

if TYPE_CHECKING:
    from collections.abc import Mapping

SAME = Row("same", Outcome.UNCHANGED, "time", "p25", "s", ratio=1.0, margin=0.02)
OTHER = replace(SAME, benchmark="other", margin=0.05)
SLOW = replace(
    SAME, benchmark="slow", outcome=Outcome.REGRESSED, ratio=1.146, interval=(1.121, 1.17)
)
FAST = replace(SAME, benchmark="fast", outcome=Outcome.IMPROVED, ratio=0.8, interval=(0.75, 0.85))
OPEN = replace(SAME, benchmark="open", outcome=Outcome.INCONCLUSIVE)
TAIL = replace(SAME, statistic="p95", outcome=Outcome.NOT_SETTLED)
UNTESTED_LIMIT = replace(
    SAME,
    outcome=Outcome.NOT_TESTED,
    test="limit",
    notes=("the limit is at most 1 MB", "it has another unit than time: s"),
)
OPEN_TAIL = replace(TAIL, outcome=Outcome.INCONCLUSIVE)
GONE = Row("gone", Outcome.MISSING)
BROKEN = Row("broken", Outcome.FAILED, error="boom")
STRANGE = Row("strange", Outcome.INCOMPARABLE)
NEW = Row("new", Outcome.NEW)
FEW = Row("few", Outcome.NOT_TESTED)
WAIVED = replace(SLOW, benchmark="known", outcome=Outcome.WAIVED)


def of(
    decision: Decision,
    *rows: Row,
    fail_on: tuple[str, ...] = ("regressed", "failed"),
    reason: Reason | None = None,
    complete: bool = True,
) -> str:
    settings = GateSettings(fail_on=fail_on, min_compared=3)
    exit_code = 4 if reason is Reason.DISTURBED else 0
    plain = Verdict(decision, exit_code, "", Source(), Source(), settings, rows)
    return headline(replace(plain, reason=reason, complete=complete))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((SAME,), "pass: nothing got slower: 1 benchmark unchanged within 2 %"),
        ((SAME, OTHER), "pass: nothing got slower: 2 benchmarks unchanged within 2 to 5 %"),
        (
            (SAME, FAST, NEW),
            (
                "pass: nothing got slower: 1 benchmark unchanged within 2 %, "
                "1 faster (fast by 20.0 %), 1 new"
            ),
        ),
        (
            (SAME, FAST, replace(FAST, benchmark="faster", ratio=0.5)),
            (
                "pass: nothing got slower: 1 benchmark unchanged within 2 %, "
                "2 faster (most of all faster by 50.0 %)"
            ),
        ),
        (
            (SAME, OPEN, FEW),
            (
                "pass: nothing was found to be slower: 1 benchmark unchanged within 2 %, "
                "1 inconclusive, 1 not tested"
            ),
        ),
        (
            (SAME, TAIL),
            ("pass: nothing got slower: 1 benchmark unchanged within 2 %"),
        ),
        (
            (SAME, GONE),
            (
                "pass: nothing was found to be slower: 1 benchmark unchanged within 2 %; "
                "1 of 2 benchmarks is missing from the head: gone"
            ),
        ),
        (
            (SAME, WAIVED),
            (
                "pass: 1 of 2 benchmarks is slower and waived: known by 14.6 % (12.1 to 17.0 %); "
                "1 benchmark unchanged within 2 %"
            ),
        ),
        (
            (replace(SAME, metric="peak_rss", unit="B"),),
            "pass: nothing got worse: 1 benchmark unchanged within 2 %",
        ),
    ],
)
def test_a_pass_claims_no_more_than_was_seen(rows: tuple[Row, ...], expected: str) -> None:
    assert of(Decision.PASS, *rows) == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            (SAME, SLOW),
            "fail: 1 of 2 benchmarks is slower: slow by 14.6 % (12.1 to 17.0 %)",
        ),
        (
            (SLOW, replace(SLOW, benchmark="slower", ratio=2.0, interval=None)),
            "fail: 2 of 2 benchmarks are slower, most of all slower by 100.0 %",
        ),
        (
            (SLOW, replace(SLOW, statistic="p95", ratio=3.0)),
            "fail: 1 of 1 benchmark is slower: slow by 14.6 % (12.1 to 17.0 %)",
        ),
        (
            (SAME, replace(SLOW, benchmark="same", statistic="p95")),
            "fail: 1 of 1 benchmark is slower: same (tail) by 14.6 % (12.1 to 17.0 %)",
        ),
        (
            (replace(SLOW, metric="peak_rss", unit="B"),),
            ("fail: 1 of 1 benchmark is worse: slow (peak_rss) by 14.6 % (12.1 to 17.0 %)"),
        ),
        (
            (Row("n", Outcome.REGRESSED, "allocations", "exact", base=0.0, head=7.0),),
            "fail: 1 of 1 benchmark is worse: n (allocations) from 0 to 7",
        ),
        (
            (SLOW, BROKEN, GONE),
            (
                "fail: 1 of 3 benchmarks is slower: slow by 14.6 % (12.1 to 17.0 %); "
                "1 of 3 benchmarks failed to run: broken"
            ),
        ),
    ],
)
def test_a_failure_names_what_is_to_blame(rows: tuple[Row, ...], expected: str) -> None:
    assert of(Decision.FAIL, *rows) == expected


def test_a_failure_by_policy_names_the_missing_ones() -> None:
    rows = [replace(GONE, benchmark=f"gone{i}") for i in range(5)]

    assert of(Decision.FAIL, *rows, SAME, fail_on=("regressed", "missing")) == (
        "fail: 5 of 6 benchmarks are missing from the head: gone0, gone1, gone2 and 2 more"
    )


@pytest.mark.parametrize(
    ("reason", "rows", "expected"),
    [
        (Reason.NOTHING_COMPARED, (), "there was nothing to compare"),
        (Reason.NOTHING_COMPARED, (NEW,), "nothing could be compared; 1 benchmark new"),
        (
            Reason.NOTHING_COMPARED,
            (STRANGE, FEW),
            (
                "nothing could be compared; "
                "1 of 2 benchmarks cannot be compared: strange; "
                "1 of 2 benchmarks is not tested: few"
            ),
        ),
        (
            Reason.LEFT_OPEN,
            (OPEN, SAME),
            "1 of 2 benchmarks is inconclusive: open; 1 benchmark unchanged within 2 %",
        ),
        (
            Reason.LEFT_OPEN,
            (OTHER, SAME, OPEN_TAIL),
            "1 of 2 benchmarks is inconclusive: same (tail); 1 benchmark unchanged within 5 %",
        ),
        (
            Reason.LEFT_OPEN,
            (WAIVED, replace(OPEN, benchmark="known"), SAME),
            (
                "a benchmark that must be decided is still open; 1 of 2 benchmarks is slower and "
                "waived: known by 14.6 % (12.1 to 17.0 %); 1 benchmark unchanged within 2 %"
            ),
        ),
        (
            Reason.LIMIT_UNTESTED,
            (SAME, UNTESTED_LIMIT),
            (
                "1 limit could not be tested: same (time), it has another unit than time: s; "
                "1 benchmark unchanged within 2 %"
            ),
        ),
        (
            Reason.ADVISORY,
            (replace(SLOW, advisory=True), SAME),
            (
                "1 of 2 benchmarks looks slower: slow by 14.6 % (12.1 to 17.0 %); "
                "1 benchmark unchanged within 2 %"
            ),
        ),
        (
            Reason.UNDECIDED,
            (OPEN, replace(TAIL, benchmark="open"), replace(OPEN, benchmark="too"), FEW, NEW),
            (
                "no benchmark could be decided; 2 of 4 benchmarks are inconclusive: open, too; "
                "1 of 4 benchmarks is not tested: few; 1 benchmark new"
            ),
        ),
        (
            Reason.INTERRUPTED,
            (OPEN, SAME),
            (
                "the measurement was interrupted; "
                "1 of 2 benchmarks is inconclusive: open; 1 benchmark unchanged within 2 %"
            ),
        ),
        (
            Reason.INTERRUPTED,
            (SAME,),
            ("the measurement was interrupted; 1 benchmark unchanged within 2 %"),
        ),
        (
            Reason.DISTURBED,
            (OPEN, SAME),
            (
                "a regression was measured, but the canary was disturbed too; "
                "1 of 2 benchmarks is inconclusive: open; 1 benchmark unchanged within 2 %"
            ),
        ),
        (
            Reason.TOO_FEW_COMPARED,
            (SAME, FEW),
            (
                "only 1 of 2 benchmarks could be compared, but 3 must be, and the base has only 2: "
                "lower `min_compared`; "
                "1 of 2 benchmarks is not tested: few; 1 benchmark unchanged within 2 %"
            ),
        ),
        (
            Reason.FIRST_RUN,
            (NEW,),
            "this is the first run, so there is nothing to compare with yet; 1 benchmark new",
        ),
    ],
)
def test_no_verdict_says_why(reason: Reason, rows: tuple[Row, ...], expected: str) -> None:
    assert of(Decision.NO_VERDICT, *rows, reason=reason) == f"no verdict: {expected}"


def test_an_improvement_that_fails_is_to_blame() -> None:
    both_ways = ("regressed", "improved")
    faster = "1 of 2 benchmarks is faster: fast by 20.0 % (15.0 to 25.0 %)"
    assert of(Decision.FAIL, SAME, FAST, fail_on=both_ways) == f"fail: {faster}"
    stored = replace(FAST, advisory=True)
    said = of(Decision.NO_VERDICT, stored, fail_on=both_ways, reason=Reason.ADVISORY)
    looks = "1 of 1 benchmark looks faster: fast by 20.0 % (15.0 to 25.0 %)"
    assert said == f"no verdict: {looks}"


def test_what_is_over_its_limit_is_named_with_its_value() -> None:
    over = replace(SLOW, benchmark="api", outcome=Outcome.OVER_LIMIT, statistic="median limit")
    over = replace(over, base=0.02, head=0.023, test="limit")
    said = of(Decision.FAIL, SAME, over)
    assert said == "fail: 1 of 2 benchmarks is over its limit: api at 23.00 ms (limit 20.00 ms)"


def test_exact_metrics_that_got_worse_are_in_the_first_line_although_they_do_not_decide() -> None:
    more = replace(SAME, metric="allocs/op", unit="", decides=False, test="exact", interval=None)
    more = replace(more, outcome=Outcome.NOT_TESTED, base=2.0, head=100.0, ratio=50.0)
    unchanged = "pass: nothing got slower: 1 benchmark unchanged within 2 %"
    said = "worse, but not in `metrics`: same (allocs/op) by a factor of 50.00"
    assert of(Decision.PASS, SAME, more) == f"{unchanged}; {said}"
    from_zero = replace(more, base=0.0, head=3.0, ratio=None)
    of_zero = of(Decision.PASS, SAME, from_zero)
    assert of_zero == f"{unchanged}; worse, but not in `metrics`: same (allocs/op) from 0 to 3"
    for quiet in (
        replace(more, ratio=0.5, head=1.0),
        replace(more, ratio=1.01, head=2.02),
        replace(more, test=None),
        replace(more, better=Better.HIGHER),
    ):
        assert of(Decision.PASS, SAME, quiet) == unchanged
    both = of(Decision.PASS, SAME, more, replace(more, metric="B/op", ratio=8.0))
    assert both == f"{unchanged}; {said}, and 1 more"


def test_few_rounds_are_why_nothing_could_be_compared() -> None:
    few = replace(FEW, notes=("too few rounds to decide: 8 rounds, and a test needs 9",))
    said = of(Decision.NO_VERDICT, few, reason=Reason.NOTHING_COMPARED)
    assert said == "no verdict: too few rounds to decide; 1 of 1 benchmark is not tested: few"


def test_a_disturbed_run_without_a_regression_claims_nothing() -> None:
    doubted = Verdict(Decision.NO_VERDICT, 4, "", Source(), Source(), GateSettings(), (SAME,))
    disturbed = replace(doubted, exit_code=0, reason=Reason.DISTURBED)

    assert headline(disturbed) == (
        "no verdict: the canary was disturbed, so benchgate trusts no change; "
        "1 benchmark unchanged within 2 %"
    )


def test_a_heading_ends_before_it_is_too_long() -> None:
    names = [replace(BROKEN, benchmark=f"group/{'x' * 40}/{i}") for i in range(3)]
    plain = Verdict(Decision.FAIL, 3, "", Source(), Source(), GateSettings(), (SLOW, *names))

    first, more = heading(plain)

    assert first == "fail: 1 of 4 benchmarks is slower: slow by 14.6 % (12.1 to 17.0 %)"
    assert more.startswith("3 of 4 benchmarks failed to run: group/")
    assert f"{first}; {more}" == headline(plain)
    assert heading(replace(plain, summary="fail: in its own words")) == (
        "fail: in its own words",
        "",
    )


def test_a_failure_says_that_the_rest_was_not_seen() -> None:
    assert of(Decision.FAIL, SLOW, FEW, complete=False) == (
        "fail: 1 of 2 benchmarks is slower: slow by 14.6 % (12.1 to 17.0 %); "
        "the measurement was interrupted"
    )


def test_what_is_known_of_a_benchmark_is_not_called_open() -> None:
    memory = replace(OPEN, benchmark="same", metric="peak_rss", unit="B")
    counted = replace(FEW, benchmark="other", metric="instructions")
    assert of(Decision.PASS, SAME, memory, OTHER, counted, OPEN) == (
        "pass: nothing was found to be worse: 1 benchmark inconclusive, 1 partly inconclusive, "
        "1 partly not tested"
    )


def test_stored_launches_show_less() -> None:
    assert of(Decision.PASS, replace(SAME, advisory=True)) == (
        "pass: nothing was found to be slower: 1 benchmark unchanged within 2 %"
    )


def test_a_summary_of_its_own_is_kept_and_made_harmless() -> None:
    verdict = Verdict(
        Decision.PASS, 0, "pass:\x1b[2J all\nwell", Source(), Source(), GateSettings(), ()
    )

    assert headline(verdict) == "pass: all well"


def test_every_headline_begins_with_the_decision(samples: Mapping[str, Verdict]) -> None:
    for verdict in samples.values():
        assert headline(verdict).startswith(f"{verdict.decision.value}: ")
        assert len(headline(verdict)) < 700


SUSPECT = replace(OPEN, benchmark="suspect", ratio=1.15, unconfirmed=ConfirmationCost(8, 310.0))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            (SAME, SUSPECT),
            (
                "no verdict: 1 of 2 benchmarks looks slower, and measuring ended before this "
                "was confirmed or ruled out: suspect by 15.0 %; deciding it takes 8 more rounds, "
                "about 5 min 10 s; 1 benchmark unchanged within 2 %"
            ),
        ),
        (
            (SUSPECT, replace(SUSPECT, benchmark="other", ratio=1.2), OPEN),
            (
                "no verdict: 2 of 3 benchmarks look slower, and measuring ended before this "
                "was confirmed or ruled out: most of all other by 20.0 %; deciding it takes 8 more "
                "rounds, about 10 min 20 s; 1 of 3 benchmarks is inconclusive: open"
            ),
        ),
        (
            (
                replace(
                    SUSPECT, benchmark="same", statistic="p95", unconfirmed=ConfirmationCost(1)
                ),
                SAME,
            ),
            (
                "no verdict: 1 of 1 benchmark looks slower, and measuring ended before this "
                "was confirmed or ruled out: same (tail) by 15.0 %; deciding it takes 1 more round"
            ),
        ),
    ],
)
def test_a_suspect_left_open_says_what_deciding_it_would_take(
    rows: tuple[Row, ...], expected: str
) -> None:
    assert of(Decision.NO_VERDICT, *rows, reason=Reason.UNCONFIRMED) == expected
