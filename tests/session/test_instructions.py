"""Which counter a session chooses; the machine is a fake."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.config import loads
from benchgate.errors import UsageError
from benchgate.measure.machine.perf import USER_INSTRUCTIONS, CounterError
from benchgate.session.instructions import Counting, about_cost, choose_counting, wants

if TYPE_CHECKING:
    from collections.abc import Mapping

NO_PERF = "this machine shows no counters"
NO_VALGRIND = "valgrind is not installed: install it"
RULE = '[[rule]]\nbenchmark = "cli/*"\nmetrics = ["time", "instructions"]\n'


def choose(toml: str, *, perf: bool = False, valgrind: bool = True) -> Counting:
    def find(environ: Mapping[str, str]) -> str:
        if not valgrind:
            raise CounterError(NO_VALGRIND)
        return f"{environ['PATH']}/valgrind"

    config = loads(toml, "benchgate.toml")
    return choose_counting(config, {"PATH": "/bin"}, lambda: None if perf else NO_PERF, find)


def test_the_processor_counts_if_it_can() -> None:
    assert choose(RULE, perf=True) == Counting(event=USER_INSTRUCTIONS)


@pytest.mark.parametrize("counter", ["auto", "perf"])
def test_what_nobody_judges_is_not_counted_slowly(counter: str) -> None:
    assert choose(f'[measure]\ncounter = "{counter}"\n') == Counting(obstacle=NO_PERF)


def test_valgrind_counts_what_is_judged_by_instructions() -> None:
    counting = choose(RULE)
    assert (counting.event, counting.obstacle) == (None, "")
    assert counting.valgrind is not None
    assert counting.valgrind.program == "/bin/valgrind"
    assert [counting.valgrind.wants(id_) for id_ in ("cli/start", "sort")] == [True, False]


@pytest.mark.parametrize(
    ("toml", "wanted"),
    [
        ("", []),
        ('gate.metrics = ["time", "alloc_peak"]', ["cli/start", "sort"]),
        ('[[rule]]\nbenchmark = "cli/*"\nmetrics = ["alloc_blocks"]', ["cli/start"]),
        ('[[limit]]\nbenchmark = "sort"\nmetric = "alloc_peak"\nmax = "1MiB"', ["sort"]),
    ],
)
def test_a_metric_is_wanted_where_it_decides_or_has_a_limit(toml: str, wanted: list[str]) -> None:
    config = loads(toml, "benchgate.toml")
    metrics = ("alloc_peak", "alloc_blocks")
    assert [id_ for id_ in ("cli/start", "sort") if wants(config, id_, metrics)] == wanted


def test_valgrind_counts_what_has_a_limit_of_instructions() -> None:
    counting = choose('[[limit]]\nbenchmark = "sort"\nmetric = "instructions"\nmax = 1000')
    assert counting.valgrind is not None
    assert [counting.valgrind.wants(id_) for id_ in ("cli/start", "sort")] == [False, True]


def test_perf_alone_is_perf_alone() -> None:
    assert choose(f'[measure]\ncounter = "perf"\n{RULE}') == Counting(obstacle=NO_PERF)


def test_without_any_counter_the_note_names_both() -> None:
    reason = f"{NO_PERF}. Valgrind needs no counters, but {NO_VALGRIND}"
    assert choose(RULE, valgrind=False) == Counting(obstacle=reason)


def test_valgrind_counts_everything_if_it_is_asked_to_even_beside_the_processor() -> None:
    counting = choose('[measure]\ncounter = "valgrind"\n', perf=True)
    assert counting.event is None
    assert counting.valgrind is not None
    assert counting.valgrind.wants("anything")


def test_valgrind_that_is_missing_is_an_error_if_it_is_asked_for() -> None:
    with pytest.raises(UsageError, match="valgrind is not installed") as raised:
        choose('\n[measure]\ncounter = "valgrind"\n', perf=True, valgrind=False)
    assert "measure.counter" in str(raised.value)
    assert 'counter = "auto"' in str(raised.value.hint)


def test_nothing_is_counted_if_nothing_is_to_be() -> None:
    counting = choose(f'[measure]\ncounter = "none"\n{RULE}', perf=True)
    assert (counting.event, counting.valgrind) == (None, None)
    assert "measure.counter" in counting.obstacle


def test_the_user_is_told_what_counting_costs() -> None:
    counting = choose(RULE)
    said = about_cost(counting, ("cli/start", "cli/stop", "sort"))
    assert said.startswith("valgrind counts the instructions of 2 of 3 benchmarks")
    assert about_cost(counting, ("sort",)) == ""
    assert about_cost(Counting(obstacle=NO_PERF), ("cli/start",)) == ""
