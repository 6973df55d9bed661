"""Which benchmarks are observed after a check, and for how long."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import pytest

from benchgate.model.policy import Outcome
from benchgate.model.row import Row
from benchgate.session.measuring import observe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.world import World

    from benchgate.session.session import Session


@dataclass
class Observes:
    """Stands for a session: each observation takes so many seconds."""

    world: World
    ids: tuple[str, ...]
    cost_s: float = 1.0
    observed: list[str] = field(default_factory=list)
    limits_s: list[float] = field(default_factory=list)
    metrics: dict[str, set[str]] = field(default_factory=dict)

    def observes(self, id_: str) -> bool:
        return not id_.startswith("command")

    def observe(self, id_: str, limit_s: float, metrics: set[str]) -> None:
        self.observed.append(id_)
        self.metrics[id_] = metrics
        self.limits_s.append(limit_s)
        self.world.clock.now_s += self.cost_s


def row(id_: str, outcome: Outcome, ratio: float, statistic: str = "p25") -> Row:
    return Row(id_, outcome, "time", statistic, "s", base=1.0, head=ratio, ratio=ratio)


ROWS = [
    row("same", Outcome.UNCHANGED, 1.0),
    row("faster", Outcome.IMPROVED, 0.5),
    row("slower", Outcome.REGRESSED, 1.1),
    row("tail", Outcome.REGRESSED, 3.0, "p95"),
    row("worst", Outcome.REGRESSED, 2.0),
    row("worst", Outcome.REGRESSED, 2.5, "p95"),
    row("command", Outcome.REGRESSED, 4.0),
    row("failed", Outcome.FAILED, 1.0),
]
EVERY = tuple(dict.fromkeys(one.benchmark for one in ROWS))


def observed(
    world: World,
    *,
    rows: Sequence[Row] = ROWS,
    ids: tuple[str, ...] = EVERY,
    spent_s: float = 1000.0,
    every: bool = False,
) -> Observes:
    session = Observes(world, ids)
    observe(cast("Session", session), rows, world.effects, spent_s=spent_s, every=every)
    return session


def test_the_worst_is_first_and_what_did_not_change_is_left_out(world: World) -> None:
    assert observed(world).observed == ["worst", "slower", "faster"]


def test_it_takes_a_tenth_of_the_time(world: World) -> None:
    assert observed(world, spent_s=15.0).observed == ["worst", "slower"]


def test_one_is_observed_however_short_the_check_was(world: World) -> None:
    assert observed(world, spent_s=0.1).observed == ["worst"]


def test_what_is_asked_for_is_observed_whether_it_changed_or_not(world: World) -> None:
    found = observed(world, spent_s=0.1, every=True).observed
    assert set(found) == {"worst", "slower", "same", "faster", "failed"}


def test_allocations_are_observed_if_they_changed(world: World) -> None:
    rows = [
        Row(id_, outcome, metric, "", unit, base=1.0, head=2.0, ratio=2.0)
        for id_, outcome, metric, unit in (
            ("both", Outcome.REGRESSED, "time", "s"),
            ("both", Outcome.IMPROVED, "alloc_peak", "B"),
            ("memory", Outcome.REGRESSED, "alloc_blocks", ""),
            ("memory", Outcome.UNCHANGED, "time", "s"),
            ("size", Outcome.REGRESSED, "peak_rss", "B"),
        )
    ]
    found = observed(world, rows=rows, ids=("both", "memory", "size"))
    assert found.metrics == {"both": {"time", "alloc_peak"}, "memory": {"alloc_blocks"}}


def test_what_is_no_longer_measured_is_not_observed(world: World) -> None:
    assert observed(world, ids=("faster",)).observed == ["faster"]


@pytest.mark.parametrize(("spent_s", "limit_s"), [(1.0, 1.0), (200.0, 5.0), (4000.0, 10.0)])
def test_each_has_a_limit(world: World, spent_s: float, limit_s: float) -> None:
    assert observed(world, spent_s=spent_s).limits_s[0] == pytest.approx(limit_s)
