"""[[waive]]: what it may say, and which warnings it is worth."""

from __future__ import annotations

from datetime import date

import pytest

from benchgate.config import Waive, loads
from benchgate.errors import ConfigError

WAIVE = """
[[waive]]
benchmark = "db/insert*"
metric = "time"
ceiling = "20%"
until = 2026-12-31
reason = "every row has a checksum"
"""


def test_a_waiver_with_everything() -> None:
    (waiver,) = loads(WAIVE, "benchgate.toml").waivers
    assert waiver == Waive.model_construct(
        benchmark="db/insert*",
        metric="time",
        ceiling=0.2,
        until=date(2026, 12, 31),
        reason="every row has a checksum",
    )


@pytest.mark.parametrize(
    ("written", "instead", "message"),
    [
        ("until = 2026-12-31", "", ":2: waive[0]: `until` is missing"),
        ("until = 2026-12-31", 'until = "2026-12-31"', "must be a date without quotes"),
        ("until = 2026-12-31", "until = 2026-12-31T10:00:00Z", "or a time of day: write 2026-12"),
        ("until = 2026-12-31", "until = 2026", ":6: waive[0].until = 2026: must be a date"),
        ('reason = "every row has a checksum"', "", "waive[0]: `reason` is missing"),
        ('"every row has a checksum"', '" "', ':7: waive[0].reason = " ": must not be empty'),
        ('"every row has a checksum"', f'"{"x" * 501}"', "must not be longer than 500"),
        ('ceiling = "20%"', "", "waive[0]: `ceiling` is missing"),
        ('"20%"', '"0%"', ':5: waive[0].ceiling = "0%": must be more than 0%'),
        ('"20%"', "20", "a percentage is text"),
        ('benchmark = "db/insert*"', "", "waive[0]: `benchmark` is missing"),
        ("[[waive]]", "[waive]", ":2: waive: must be written [[waive]]"),
        ("metric", "metrics", "waive[0].metrics: unknown key; did you mean 'metric'?"),
    ],
)
def test_what_is_wrong_with_a_waiver(written: str, instead: str, message: str) -> None:
    assert written in WAIVE
    with pytest.raises(ConfigError) as caught:
        loads(WAIVE.replace(written, instead), "benchgate.toml")
    assert message in caught.value.message
    assert caught.value.hint


REMOVED = """
[[waive]]
benchmark = "db/vacuum"
outcome = "missing"
until = 2026-12-31
reason = "the database does it"
"""


def test_a_removal_that_is_waived() -> None:
    config = loads(REMOVED, "benchgate.toml")
    (waiver,) = config.waivers
    assert (waiver.outcome, waiver.ceiling) == ("missing", None)
    assert waiver.granted == "missing until 2026-12-31"
    # Once it is merged there is nothing that it could match, and nothing to repair.
    assert config.unmatched(["other"]) == ()
    assert config.expired(date(2027, 6, 1)) == ()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('ceiling = "20%"', "waive[0].ceiling: contradicts `outcome = "),
        ('metric = "time"', 'waive[0].metric = "time": contradicts `outcome = '),
    ],
)
@pytest.mark.parametrize("outcome", ["missing", "incomparable"])
def test_what_is_not_compared_has_neither_a_ceiling_nor_a_metric(
    more: str, message: str, outcome: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        loads(REMOVED.replace("missing", outcome) + more, "benchgate.toml")
    assert f'{message}"{outcome}"`' in caught.value.message


def test_other_outcomes_cannot_be_waived() -> None:
    with pytest.raises(ConfigError) as caught:
        loads(REMOVED.replace("missing", "failed"), "benchgate.toml")
    assert 'waive[0].outcome = "failed"' in caught.value.message


def test_other_work_is_waived_of_a_benchmark_that_exists() -> None:
    config = loads(REMOVED.replace("missing", "incomparable"), "benchgate.toml")
    assert config.unmatched(["db/vacuum"]) == ()
    assert len(config.unmatched(["other"])) == 1
    assert config.expired(date(2027, 6, 1)) == ()


@pytest.mark.parametrize(
    ("day", "expired"),
    [(date(2026, 12, 30), False), (date(2026, 12, 31), False), (date(2027, 1, 1), True)],
)
def test_it_holds_until_the_end_of_its_day(day: date, *, expired: bool) -> None:
    warning = (
        'benchgate.toml:2: waive[0]: the waiver of "db/insert*" expired on 2026-12-31: '
        "delete it, or repair the benchmark"
    )
    assert loads(WAIVE, "benchgate.toml").expired(day) == ((warning,) if expired else ())


def test_one_that_concerns_nobody_is_worth_a_warning() -> None:
    config = loads(WAIVE, "benchgate.toml")
    assert config.unmatched(["db/insert[rows=10]", "x"]) == ()
    (warning,) = config.unmatched(["db/select"])
    assert warning == (
        'benchgate.toml:3: waive[0].benchmark = "db/insert*": matches no benchmark'
        "; did you mean 'db/select'?"
    )
