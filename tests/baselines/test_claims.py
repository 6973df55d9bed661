from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from benchgate.baselines.claims import (
    CLOCKS_DIFFER,
    RunPeriod,
    require_base_of_branch,
    require_named_base,
    require_possible_times,
)
from benchgate.errors import UsageError
from benchgate.model.environment import Environment
from benchgate.model.result import Result
from benchgate.model.run import Run, Source

if TYPE_CHECKING:
    from collections.abc import Callable

BEGAN = datetime(2026, 1, 1, 12, tzinfo=UTC)
TOOK = RunPeriod(BEGAN, BEGAN + timedelta(minutes=20))
OLD, START, TIP, HEAD = ("a" * 40, "b" * 40, "c" * 40, "d" * 40)
LINE = (OLD, START, TIP)
"""Of the branch; the head was begun from START."""


def run(at: datetime) -> Run:
    return Run(Source(), f"{at:%Y-%m-%dT%H:%M:%SZ}", Environment(), ())


def lie(check: Callable[..., None], *claims: object, **known: object) -> str:
    """What is wrong with the claims; "" if they hold."""
    try:
        check(*claims, **known)
    except UsageError as error:
        return error.message
    return ""


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
        assert bool(lie(require_possible_times, result, TOOK)) is is_lie


def test_measuring_takes_no_longer_than_the_run() -> None:
    longest_s = (timedelta(minutes=20) + 2 * CLOCKS_DIFFER).total_seconds()
    assert not lie(require_possible_times, Result(run(BEGAN), duration_s=longest_s), TOOK)
    assert lie(require_possible_times, Result(run(BEGAN), duration_s=longest_s + 1), TOOK)
    parts = (Result(run(BEGAN), duration_s=longest_s),) * 2
    assert not lie(require_possible_times, Result(run(BEGAN), duration_s=2e9, shards=parts), TOOK)


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
    known: dict[str, Any] = {"branch": "main", "head": HEAD, "merge_base": merge_base}
    said = lie(require_base_of_branch, Source(**source), **known)
    assert bool(said) is bool(words)
    assert words in said


def test_a_base_that_is_named_is_that_one() -> None:
    assert not lie(require_named_base, Source(OLD), "v1.2", OLD)
    for source, commit in ((Source(OLD), TIP), (Source(OLD), None), (Source("v1.2"), OLD)):
        assert lie(require_named_base, source, "v1.2", commit)
