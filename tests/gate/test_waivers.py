from __future__ import annotations

import math
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.config import loads, policy_from
from benchgate.gate.conclusion import VerdictTerms, conclude
from benchgate.gate.waivers import apply_waivers
from benchgate.model.metrics import Better
from benchgate.model.policy import Outcome, Waiver
from benchgate.model.row import Classical, ConfirmationCost, Row
from benchgate.model.verdict import Decision

DAY = date(2026, 6, 30)


def waive(
    benchmark: str = "*", ceiling: str = "10%", until: str = "2026-06-30", metric: str = ""
) -> str:
    only = f'metric = "{metric}"\n' if metric else ""
    return (
        f'[[waive]]\nbenchmark = "{benchmark}"\n{only}ceiling = "{ceiling}"\nuntil = {until}\n'
        f'reason = "{ceiling}"\n'
    )


def slower(ratio: float | None = 1.05, **more: Any) -> Row:  # noqa: ANN401 - any field of a row
    about: dict[str, Any] = {"metric": "time", "statistic": "p25", "ratio": ratio} | more
    return Row("db/insert", about.pop("outcome", Outcome.REGRESSED), **about)


def judged(row: Row, toml: str) -> Row:
    (found,) = apply_waivers([row], loads(toml, "benchgate.toml"), DAY)
    return found


@pytest.mark.parametrize(
    ("toml", "outcome"),
    [
        (waive(), Outcome.WAIVED),
        (waive("db/*"), Outcome.WAIVED),
        (waive("db"), Outcome.REGRESSED),
        (waive(metric="t*"), Outcome.WAIVED),
        (waive(metric="cpu_time"), Outcome.REGRESSED),
        (waive(until="2026-06-30"), Outcome.WAIVED),
        (waive(until="2026-06-29"), Outcome.REGRESSED),
        (waive(ceiling="5%"), Outcome.WAIVED),
        (waive(ceiling="4.9%"), Outcome.REGRESSED),
        ("", Outcome.REGRESSED),
    ],
)
def test_a_regression_is_waived_where_everything_fits(toml: str, outcome: Outcome) -> None:
    assert judged(slower(), toml).outcome is outcome


@pytest.mark.parametrize("percent", range(1, 41))
def test_the_ceiling_itself_is_within(percent: int) -> None:
    whole = slower((100 + percent) / 100)
    assert judged(whole, waive(ceiling=f"{percent}%")).outcome is Outcome.WAIVED


@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        # The estimate counts, not the interval.
        (slower(1.09, interval=(1.02, 1.18)), Outcome.WAIVED),
        (slower(1.11, interval=(1.02, 1.18)), Outcome.REGRESSED),
        # Where more is better, as the margin: base / head.
        (slower(0.92, better=Better.HIGHER), Outcome.WAIVED),
        (slower(0.9, better=Better.HIGHER), Outcome.REGRESSED),
        (slower(0.0, better=Better.HIGHER), Outcome.REGRESSED),
        # Of nothing there is no percentage.
        (slower(None, base=0.0, head=7.0), Outcome.REGRESSED),
        (slower(math.inf), Outcome.REGRESSED),
        # Counts, and what only stored results show.
        (slower(1.1, metric="alloc_peak", statistic="exact", test="exact"), Outcome.WAIVED),
        (slower(advisory=True), Outcome.WAIVED),
        # The textbook rule decides by another ratio.
        (
            slower(1.05, test="classical", classical=Classical(0.01, 1.3, "slower")),
            Outcome.REGRESSED,
        ),
        (slower(1.3, test="classical", classical=Classical(0.01, 1.05, "slower")), Outcome.WAIVED),
    ],
)
def test_what_is_held_against_the_ceiling(row: Row, outcome: Outcome) -> None:
    assert judged(row, waive()).outcome is outcome


@pytest.mark.parametrize("outcome", sorted(set(Outcome) - {Outcome.REGRESSED}))
def test_nothing_but_a_regression_is_waived(outcome: Outcome) -> None:
    row = slower(outcome=outcome)
    assert judged(row, waive()) == row


@pytest.mark.parametrize(
    ("toml", "outcome", "ceiling"),
    [
        (waive(ceiling="20%") + waive(ceiling="30%"), Outcome.WAIVED, 0.2),
        (waive(ceiling="1%") + waive(ceiling="30%"), Outcome.WAIVED, 0.3),
        (waive(ceiling="3%") + waive(ceiling="4%") + waive(ceiling="2%"), Outcome.REGRESSED, 0.04),
        (waive(ceiling="30%", until="2026-01-01") + waive(ceiling="1%"), Outcome.REGRESSED, 0.01),
    ],
)
def test_of_several_the_first_that_is_high_enough_counts(
    toml: str, outcome: Outcome, ceiling: float
) -> None:
    row = judged(slower(), toml)
    assert row.outcome is outcome
    assert row.waiver == Waiver(Outcome.REGRESSED, ceiling, "2026-06-30", f"{ceiling:.0%}")


def test_the_base_waives_a_benchmark_by_its_old_name() -> None:
    base = loads(waive("db/insert"), "base")
    head = loads('[aliases]\n"db/insert" = "store/insert"\n' + waive("store/*"), "head")
    config = policy_from(base, head)
    renamed = Row("store/insert", Outcome.REGRESSED, ratio=1.05, renamed_from="db/insert")
    stranger = Row("store/insert", Outcome.REGRESSED, ratio=1.05)
    outcomes = [row.outcome for row in apply_waivers([renamed, stranger], config, DAY)]
    assert outcomes == [Outcome.WAIVED, Outcome.REGRESSED]


def allowing(outcome: str, benchmark: str = "*") -> str:
    return (
        f'[[waive]]\nbenchmark = "{benchmark}"\noutcome = "{outcome}"\nuntil = 2026-06-30\n'
        'reason = "why"\n'
    )


@pytest.mark.parametrize("waived", ["missing", "incomparable"])
@pytest.mark.parametrize("outcome", sorted(set(Outcome)))
def test_a_waiver_of_an_outcome_is_for_that_one_alone(outcome: Outcome, waived: str) -> None:
    row = slower(outcome=outcome)
    if outcome != waived:
        assert judged(row, allowing(waived)) == row
        return
    found = judged(row, allowing(waived))
    assert (found.outcome, found.excused) == (Outcome.WAIVED, outcome)
    assert judged(row, allowing(waived, "other")) == row


def test_a_waived_regression_was_compared() -> None:
    assert judged(slower(), waive()).excused is None


BADNESS = {(Decision.PASS, 0): 0, (Decision.NO_VERDICT, 0): 1, (Decision.NO_VERDICT, 4): 2}
ROWS = st.builds(
    Row,
    st.sampled_from(["a", "b", "c/d"]),
    st.sampled_from(Outcome),
    metric=st.sampled_from(["time", "peak_rss"]),
    ratio=st.none() | st.floats(0, 3),
    advisory=st.booleans(),
)
WAIVERS = st.lists(
    st.builds(
        waive,
        st.sampled_from(["*", "a", "c/*", "?"]),
        st.sampled_from(["1%", "50%", "300%"]),
        st.sampled_from(["2026-01-01", "2026-12-31"]),
        st.sampled_from(["", "time"]),
    ),
    max_size=3,
).map("".join)


@given(
    st.lists(ROWS, max_size=5),
    WAIVERS,
    st.sets(st.sampled_from(["regressed", "failed", "missing", "inconclusive"])),
    st.integers(0, 3),
    st.booleans(),
)
def test_a_waiver_never_makes_a_verdict_worse(
    rows: list[Row],
    toml: str,
    fail_on: set[str],
    min_compared: int,
    advisory_fails: bool,  # noqa: FBT001 - drawn by hypothesis
) -> None:
    def verdict_of(judged_rows: list[Row]) -> int:
        found = conclude(judged_rows, VerdictTerms(fail_on, min_compared, advisory_fails))
        return BADNESS.get((found.decision, found.exit_code), 3)

    after = list(apply_waivers(rows, loads(toml, "benchgate.toml"), DAY))
    assert verdict_of(after) <= verdict_of(rows)
    for row, was in zip(after, rows, strict=True):
        waived = row.outcome is Outcome.WAIVED and was.outcome is not Outcome.WAIVED
        assert was.outcome is Outcome.REGRESSED if waived else row.outcome is was.outcome


@pytest.mark.parametrize(("ceiling", "is_open"), [("80%", False), ("70%", True)])
def test_a_suspect_within_a_ceiling_needs_no_confirmation(ceiling: str, *, is_open: bool) -> None:
    suspect = slower(1.73, outcome=Outcome.INCONCLUSIVE, unconfirmed=ConfirmationCost(9))
    row = judged(suspect, waive(ceiling=ceiling))
    assert (row.outcome, row.waiver) == (Outcome.INCONCLUSIVE, None)
    assert bool(row.unconfirmed) is is_open
