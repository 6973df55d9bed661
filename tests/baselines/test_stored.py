from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchgate.baselines.stored import Earlier, choose_stored
from benchgate.model.environment import Environment
from benchgate.model.result import Result, Run, Source

HERE = Environment(os="Debian", cpu_model="A", cpu_count=2)
HEAD = Run(Source("head"), "2026-02-01T00:00:00Z", HERE, ())


def run(day: int, **changes: Any) -> Run:  # noqa: ANN401 - fields of a run
    made = Run(Source(f"sha{day}"), f"2026-01-{day:02}T00:00:00Z", HERE, (), seed=day)
    return replace(made, **changes)


def named(*runs: Run) -> list[Earlier]:
    return [Earlier(f"{i}.json", Result(one)) for i, one in enumerate(runs)]


def days(runs: tuple[Run, ...]) -> list[int]:
    return [int(one.started[8:10]) for one in runs]


def test_the_newest_is_the_base_in_whichever_order_they_come() -> None:
    order = [3, 11, 1, 7, 2, 9, 5, 4, 8, 6, 10]
    found = choose_stored(named(*map(run, order)), HEAD)
    assert days(found.runs) == sorted(order, reverse=True)
    assert found.base.head.source == Source("sha11", why="the newest of 11 earlier runs")
    assert found.warnings == ()


def test_fractions_of_a_second_count_too() -> None:
    early = run(1, started="2026-01-01T00:00:00Z")
    late = run(2, started="2026-01-01T00:00:00.5Z")
    assert choose_stored(named(early, late), HEAD).runs == (late, early)


def test_too_few_are_said_to_advise_only() -> None:
    found = choose_stored(named(run(1), run(2), run(3)), HEAD)
    assert len(found.runs) == 3
    known = "advisory: 3 of the 10 earlier runs that tell how far runs differ"
    assert found.warnings == (f"{known}; slower times alone fail nothing",)


def test_what_does_not_count_is_named_with_its_reason() -> None:
    other = replace(HERE, cpu_model="B", cpu_count=4)
    given = named(
        run(1),
        run(2, environment=other),
        run(3, complete=False),
        run(4, suite="nightly"),
        run(1),
        HEAD,
    )
    found = choose_stored(given, HEAD)
    assert days(found.runs) == [1]
    assert found.warnings[:-1] == (
        "5.json is left out: it is the head's own run",
        "3.json is left out: it measured the suite 'nightly', and the head 'default'",
        "2.json is left out: it was interrupted",
        "1.json is left out: another machine: CPU: 'B' and 'A'; cores: '4' and '2'",
        "4.json is left out: it is the same run as 0.json",
    )


def test_where_none_counts_the_newest_is_compared_alone() -> None:
    other = replace(HERE, cpu_model="B")
    found = choose_stored(named(run(1, environment=other), run(2, environment=other)), HEAD)
    assert found.runs == ()
    assert found.base.head.source == Source("sha2")
    assert found.warnings[-1] == "no earlier run counts: compared with 1.json, the newest, alone"


def test_a_single_one_is_compared_whatever_it_is() -> None:
    for one in (run(1), run(1, complete=False), run(1, suite="nightly"), HEAD):
        found = choose_stored(named(one), HEAD)
        assert (found.base.head, found.runs, found.warnings) == (one, (one,), ())
    other = run(1, environment=replace(HERE, os="Alpine"))
    found = choose_stored(named(other), HEAD)
    assert (found.base.head, found.runs) == (other, ())
    assert found.warnings == ("measured on different machines: OS: 'Alpine' and 'Debian'",)
