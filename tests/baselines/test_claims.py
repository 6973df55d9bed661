from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from benchgate.baselines.unverified import (
    CLOCKS_DIFFER,
    RunPeriod,
    lie_about_base,
    lie_about_named_base,
    lie_about_time,
)
from benchgate.model.result import Result
from benchgate.model.run import Environment, Run, Source

BEGAN = datetime(2026, 1, 1, 12, tzinfo=UTC)
TOOK = RunPeriod(BEGAN, BEGAN + timedelta(minutes=20))
OLD, START, TIP, HEAD = ("a" * 40, "b" * 40, "c" * 40, "d" * 40)
LINE = (OLD, START, TIP)
"""Of the branch; the head was begun from START."""


def run(at: datetime) -> Run:
    return Run(Source(), f"{at:%Y-%m-%dT%H:%M:%SZ}", Environment(), ())


def merge_base(one: str, other: str) -> str | None:
    """As git knows it of this little history."""
    place = {"main": TIP, HEAD: START}
    if {one, other} - {*LINE, "main", HEAD}:
        return None
    return min((place.get(name, name) for name in (one, other)), key=LINE.index)


@pytest.mark.parametrize(
    ("after", "is_lie"),
    [
        (timedelta(0), False),
        (timedelta(minutes=20), False),
        (-CLOCKS_DIFFER, False),
        (timedelta(minutes=20) + CLOCKS_DIFFER, False),
        (-CLOCKS_DIFFER - timedelta(seconds=1), True),
        (timedelta(minutes=20, seconds=1) + CLOCKS_DIFFER, True),
    ],
)
def test_measuring_takes_place_in_the_run(after: timedelta, *, is_lie: bool) -> None:
    at, fine = run(BEGAN + after), run(BEGAN)
    for result in (Result(at, fine), Result(fine, at), Result(fine, shards=(Result(at),))):
        assert (lie_about_time(result, TOOK) is not None) is is_lie


def test_measuring_takes_no_longer_than_the_run() -> None:
    longest_s = (timedelta(minutes=20) + 2 * CLOCKS_DIFFER).total_seconds()
    assert lie_about_time(Result(run(BEGAN), duration_s=longest_s), TOOK) is None
    assert lie_about_time(Result(run(BEGAN), duration_s=longest_s + 1), TOOK) is not None
    parts = (Result(run(BEGAN), duration_s=longest_s),) * 2
    assert lie_about_time(Result(run(BEGAN), duration_s=2e9, shards=parts), TOOK) is None


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ({"sha": START}, ""),
        ({"sha": TIP}, ""),
        ({"sha": OLD}, "is older than the commit that this pull request starts from, bbbbbbb"),
        (
            {"sha": HEAD},
            "ddddddd is the base, but that is not a commit of the pull request's ",
        ),
        (
            {"sha": "e" * 40},
            "eeeeeee is the base, but that is not a commit of the pull request's ",
        ),
        ({"sha": "main"}, "does not say which base commit was measured"),
        ({"sha": START, "dirty": True}, "does not say which base commit was measured"),
        ({}, "does not say which base commit was measured"),
    ],
)
def test_the_base_is_of_the_branch_and_not_from_before(source: dict[str, Any], words: str) -> None:
    lie = lie_about_base(Source(**source), branch="main", head=HEAD, merge_base=merge_base)
    assert (lie is None) is (words == "")
    assert words in (lie.what if lie else "")


def test_a_base_that_is_named_is_that_one() -> None:
    assert lie_about_named_base(Source(OLD), "v1.2", OLD) is None
    for source, commit in ((Source(OLD), TIP), (Source(OLD), None), (Source("v1.2"), OLD)):
        assert lie_about_named_base(source, "v1.2", commit) is not None
