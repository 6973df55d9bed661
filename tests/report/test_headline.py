from __future__ import annotations

from dataclasses import replace

import pytest
from tests.report.conftest import SAMPLES
from tests.results import verdict_of

from benchgate.model.metrics import Better
from benchgate.model.policy import Outcome
from benchgate.model.row import ConfirmationCost, Row
from benchgate.model.verdict import Decision, GateSettings, Reason
from benchgate.report.headline import heading, headline, not_measured

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
    notes=("the limit is at most 1 MB", "time has another unit: s"),
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
    return headline(
        verdict_of(
            *rows,
            decision=decision,
            exit_code=exit_code,
            settings=settings,
            reason=reason,
            complete=complete,
        )
    )


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((SAME,), "Nothing got slower: 1 benchmark, within 2 %"),
        ((SAME, OTHER), "Nothing got slower: 2 benchmarks, within 2 to 5 %"),
        (
            (SAME, FAST, NEW),
            ("Nothing got slower; faster: fast -20 %"),
        ),
        (
            (SAME, FAST, replace(FAST, benchmark="faster", ratio=0.5)),
            ("Nothing got slower; faster: faster -50 %, fast -20 %"),
        ),
        (
            (SAME, OPEN, FEW),
            (
                "Nothing was found to be slower: 1 unchanged within 2 %, 1 "
                "inconclusive, 1 not tested"
            ),
        ),
        (
            (SAME, TAIL),
            ("Nothing got slower: 1 benchmark, within 2 %"),
        ),
        (
            (SAME, GONE),
            ("Nothing was found to be slower; gone was removed"),
        ),
        (
            (SAME, WAIVED),
            ("Slower, but waived: known +15 %"),
        ),
        (
            (replace(SAME, metric="peak_rss", unit="B"),),
            "Nothing got worse: 1 benchmark, within 2 %",
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
            "Slower: slow +15 %",
        ),
        (
            (SLOW, replace(SLOW, benchmark="slower", ratio=2.0, interval=None)),
            "Slower: slower +100 %, slow +15 %",
        ),
        (
            (SLOW, replace(SLOW, statistic="p95", ratio=3.0)),
            "Slower: slow +15 %",
        ),
        (
            (SAME, replace(SLOW, benchmark="same", statistic="p95")),
            "Slower: same tail +15 %",
        ),
        (
            (replace(SLOW, metric="peak_rss", unit="B"),),
            ("Larger: slow peak_rss +15 %"),
        ),
        (
            (Row("n", Outcome.REGRESSED, "allocations", "exact", base=0.0, head=7.0),),
            "Larger: n allocations from 0 to 7",
        ),
        (
            (SLOW, BROKEN, GONE),
            ("broken crashes; slower: slow +15 %"),
        ),
    ],
)
def test_a_failure_names_what_is_to_blame(rows: tuple[Row, ...], expected: str) -> None:
    assert of(Decision.FAIL, *rows) == expected


def test_a_failure_by_policy_names_the_missing_ones() -> None:
    rows = [replace(GONE, benchmark=f"gone{i}") for i in range(5)]

    assert of(Decision.FAIL, *rows, SAME, fail_on=("regressed", "missing")) == (
        "gone0, gone1, gone2 and 2 more were removed"
    )


@pytest.mark.parametrize(
    ("reason", "rows", "expected"),
    [
        (Reason.NOTHING_COMPARED, (), "No verdict: nothing to compare"),
        (Reason.NOTHING_COMPARED, (NEW,), "No verdict: nothing could be compared"),
        (
            Reason.NOTHING_COMPARED,
            (STRANGE, FEW),
            ("No verdict: nothing could be compared; strange cannot be compared"),
        ),
        (
            Reason.LEFT_OPEN,
            (OPEN, SAME),
            "No verdict: open is inconclusive",
        ),
        (
            Reason.LEFT_OPEN,
            (OTHER, SAME, OPEN_TAIL),
            "No verdict: same tail is inconclusive",
        ),
        (
            Reason.LEFT_OPEN,
            (WAIVED, replace(OPEN, benchmark="known"), SAME),
            (
                "No verdict: a benchmark that must be decided is still open; "
                "slower, but waived: known +15 %"
            ),
        ),
        (
            Reason.LIMIT_UNTESTED,
            (SAME, UNTESTED_LIMIT),
            ("No verdict: 1 limit could not be tested (same time: time has another unit: s)"),
        ),
        (
            Reason.ADVISORY,
            (replace(SLOW, advisory=True), SAME),
            ("No verdict: slow (+15 %) looks slower"),
        ),
        (
            Reason.UNDECIDED,
            (OPEN, replace(TAIL, benchmark="open"), replace(OPEN, benchmark="too"), FEW, NEW),
            ("No verdict: no benchmark could be decided"),
        ),
        (
            Reason.INTERRUPTED,
            (OPEN, SAME),
            ("No verdict: measuring was interrupted"),
        ),
        (
            Reason.INTERRUPTED,
            (SAME,),
            ("No verdict: measuring was interrupted"),
        ),
        (
            Reason.DISTURBED,
            (OPEN, SAME),
            ("No verdict: something looks worse, but the canary was disturbed"),
        ),
        (
            Reason.TOO_FEW_COMPARED,
            (SAME, FEW),
            (
                "No verdict: only 1 of 2 benchmarks could be compared, but 3 must "
                "be, and the base has only 2: lower min_compared"
            ),
        ),
        (
            Reason.FIRST_RUN,
            (NEW,),
            "First run of 1 benchmark: there is nothing to compare with yet",
        ),
    ],
)
def test_no_verdict_says_why(reason: Reason, rows: tuple[Row, ...], expected: str) -> None:
    assert of(Decision.NO_VERDICT, *rows, reason=reason) == expected


def test_an_improvement_that_fails_is_to_blame() -> None:
    both_ways = ("regressed", "improved")
    assert of(Decision.FAIL, SAME, FAST, fail_on=both_ways) == "Faster: fast -20 %"
    stored = replace(FAST, advisory=True)
    said = of(Decision.NO_VERDICT, stored, fail_on=both_ways, reason=Reason.ADVISORY)
    assert said == "No verdict: fast (-20 %) looks faster"


def test_what_is_over_its_limit_is_named_with_its_value() -> None:
    over = replace(SLOW, benchmark="api", outcome=Outcome.OVER_LIMIT, statistic="median limit")
    over = replace(over, base=0.02, head=0.023, test="limit")
    said = of(Decision.FAIL, SAME, over)
    assert said == "Over its limit: api at 23.00 ms (limit 20.00 ms)"


def test_exact_metrics_that_got_worse_are_in_the_first_line_although_they_do_not_decide() -> None:
    more = replace(SAME, metric="allocs/op", unit="", decides=False, test="exact", interval=None)
    more = replace(more, outcome=Outcome.NOT_TESTED, base=2.0, head=100.0, ratio=50.0)
    unchanged = "Nothing got slower: 1 benchmark, within 2 %"
    said = "larger, but not in metrics: same allocs/op x 50.00"
    assert of(Decision.PASS, SAME, more) == f"{unchanged}; {said}"
    from_zero = replace(more, base=0.0, head=3.0, ratio=None)
    of_zero = of(Decision.PASS, SAME, from_zero)
    assert of_zero == f"{unchanged}; larger, but not in metrics: same allocs/op from 0 to 3"
    for quiet in (
        replace(more, ratio=0.5, head=1.0),
        replace(more, ratio=1.01, head=2.02),
        replace(more, test=None),
        replace(more, better=Better.HIGHER),
    ):
        assert of(Decision.PASS, SAME, quiet) == unchanged
    both = of(Decision.PASS, SAME, more, replace(more, metric="B/op", ratio=8.0))
    assert both == f"{unchanged}; {said} and 1 more"


def test_few_rounds_are_why_nothing_could_be_compared() -> None:
    few = replace(FEW, notes=("too few rounds to decide: 8 rounds, and a test needs 9",))
    said = of(Decision.NO_VERDICT, few, reason=Reason.NOTHING_COMPARED)
    assert said == "No verdict: too few rounds to decide"


def test_a_disturbed_run_without_a_regression_claims_nothing() -> None:
    doubted = verdict_of(SAME, decision=Decision.NO_VERDICT, exit_code=4)
    disturbed = replace(doubted, exit_code=0, reason=Reason.DISTURBED)

    assert headline(disturbed) == (
        "No verdict: the canary was disturbed, so benchgate trusts no change"
    )


def test_a_heading_ends_before_it_is_too_long() -> None:
    names = [replace(BROKEN, benchmark=f"group/{'x' * 40}/{i}") for i in range(3)]
    plain = verdict_of(SLOW, *names)

    first, more = heading(plain)

    assert first == (
        "`group/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx/0`, "
        "`group/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx/1`, "
        "`group/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx/2` crash"
    )
    assert more == "slower: `slow` +15 %"
    assert f"{first}; {more}".replace("`", "") == headline(plain)


def test_a_failure_says_that_the_rest_was_not_seen() -> None:
    assert of(Decision.FAIL, SLOW, FEW, complete=False) == (
        "Slower: slow +15 %; measuring was interrupted"
    )


def test_what_is_known_of_a_benchmark_is_not_called_open() -> None:
    memory = replace(OPEN, benchmark="same", metric="peak_rss", unit="B")
    counted = replace(FEW, benchmark="other", metric="instructions")
    assert of(Decision.PASS, SAME, memory, OTHER, counted, OPEN) == (
        "Nothing was found to be worse: 1 inconclusive, 1 partly inconclusive, 1 partly not tested"
    )


def test_stored_launches_show_less() -> None:
    assert of(Decision.PASS, replace(SAME, advisory=True)) == (
        "Nothing was found to be slower: 1 benchmark, within 2 %"
    )


def test_every_headline_is_short_and_names_the_icon_s_meaning() -> None:
    starts = {
        Decision.NO_VERDICT: ("No verdict", "First run"),
        Decision.PASS: ("Nothing", "Slower, but"),
    }
    for verdict in SAMPLES.values():
        said = headline(verdict)
        assert said.startswith(starts.get(verdict.decision, "")), said
        assert len(said) < 500
        assert "`" not in said


SUSPECT = replace(OPEN, benchmark="suspect", ratio=1.15, unconfirmed=ConfirmationCost(8, 310.0))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            (SAME, SUSPECT),
            (
                "No verdict yet: suspect (+15 %) looked slower at first; deciding it takes "
                "8 more rounds, about 5 min 10 s"
            ),
        ),
        (
            (SUSPECT, replace(SUSPECT, benchmark="other", ratio=1.2), OPEN),
            (
                "No verdict yet: other (+20 %), suspect (+15 %) looked slower at first; "
                "deciding them takes 8 more rounds, about 10 min 20 s"
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
                "No verdict yet: same tail (+15 %) looked slower at first; "
                "deciding it takes 1 more round"
            ),
        ),
    ],
)
def test_a_suspect_left_open_says_what_deciding_it_would_take(
    rows: tuple[Row, ...], expected: str
) -> None:
    assert of(Decision.NO_VERDICT, *rows, reason=Reason.UNCONFIRMED) == expected


@pytest.mark.parametrize("one", [True, False])
def test_times_come_before_counts_however_small_these_are(*, one: bool) -> None:
    slower = Row("a", Outcome.REGRESSED, "time", "p25", "s", ratio=1.665)
    other = "a" if one else "b"
    larger = Row(other, Outcome.REGRESSED, "alloc_blocks", "exact", ratio=1.67, test="exact")
    said = of(Decision.FAIL, larger, slower)
    assert said == ("Slower: a +66 %" if one else "Slower: a +66 %; larger: b alloc_blocks +67 %")


@pytest.mark.parametrize(
    ("same", "others", "first", "then"),
    [
        (1, (), "Nothing that the benchmark runs has changed", "So it was not measured."),
        (60, (), "Nothing that 60 benchmarks run has changed", "So they were not measured."),
        (
            1,
            (SAME,),
            "Nothing got slower: 1 benchmark, within 2 %",
            "1 of 2 benchmarks runs no code that changed, and was not measured.",
        ),
        (
            52,
            (SAME, OTHER, FAST),
            "Nothing got slower; faster: fast -20 %",
            "52 of 55 benchmarks run no code that changed, and were not measured.",
        ),
        (0, (SAME,), "Nothing got slower: 1 benchmark, within 2 %", ""),
    ],
)
def test_what_was_not_measured_is_counted_apart(
    same: int, others: tuple[Row, ...], first: str, then: str
) -> None:
    rows = [*others, *(Row(f"same{i}", Outcome.SAME_CODE) for i in range(same))]
    verdict = verdict_of(*rows, decision=Decision.PASS, exit_code=0)
    assert headline(verdict) == first
    assert not_measured(verdict) == then


def test_even_if_nothing_was_measured_the_reason_of_no_verdict_is_said() -> None:
    row = Row("a", Outcome.SAME_CODE)
    verdict = verdict_of(
        row, decision=Decision.NO_VERDICT, exit_code=4, reason=Reason.INTERRUPTED, complete=False
    )
    assert headline(verdict) == "No verdict: measuring was interrupted"
    assert not_measured(verdict).startswith("1 of 1 benchmark runs no code that changed")


@pytest.mark.parametrize(
    ("least", "said"),
    [
        (6, "only 1 of 2 affected benchmarks could be compared, but 2 must be; gone was removed"),
        (
            9,
            (
                "only 5 of 6 benchmarks could be compared, but 9 must be, and the base has only 6: "
                "lower min_compared; gone was removed"
            ),
        ),
    ],
)
def test_what_was_not_measured_is_not_called_compared(least: int, said: str) -> None:
    verdict = verdict_of(
        *(SAME, GONE),
        *(Row(f"same{i}", Outcome.SAME_CODE) for i in range(4)),
        decision=Decision.NO_VERDICT,
        exit_code=4,
        reason=Reason.TOO_FEW_COMPARED,
        settings=GateSettings(min_compared=least),
    )
    assert headline(verdict) == f"No verdict: {said}"
