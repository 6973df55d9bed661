from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.errors import UsageError
from benchgate.model.environment import Environment, in_common
from benchgate.model.launch_table import Launch
from benchgate.model.metrics import Metric
from benchgate.model.result import Result, Shard, ids_of, join
from benchgate.model.run import (
    CANARY_ID,
    CHANGED_FILES_ID,
    NEW_VERSION,
    BenchmarkFiles,
    BenchmarkResult,
    Run,
    Series,
    Source,
    Status,
    Tier,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

SUITE = ("a", "b", "c", "d", "e")
MANY = "2, 3, 4, 5, 6, 7, 8, 9, 10, 11"
HERE = Environment(
    os="Debian", cpu_model="A", cpu_count=2, load_average=0.5, toolchains={"x": "1", "y": "2"}
)


def benchmark(id_: str) -> BenchmarkResult:
    launch = Launch(0, 0, np.array([1.0]), np.empty(0))
    return BenchmarkResult(id_, "w", Tier.LOCKSTEP, (Series(Metric("time", "s"), 1, (launch,)),))


def arm(ids: Sequence[str], **more: Any) -> Run:  # noqa: ANN401 - any field of a run
    made = Run(
        source=Source("a" * 40, ref="main"),
        started="2026-01-01T00:00:00Z",
        environment=HERE,
        benchmarks=tuple(map(benchmark, (*ids, CANARY_ID))),
        seed=7,
        screen_rounds=5,
    )
    return replace(made, **more)


def shard(number: int, count: int = 2, suite: tuple[str, ...] = SUITE, **more: Any) -> Result:  # noqa: ANN401
    """One of the shards of a suite, dealt in order; `more` are fields of its runs."""
    own = suite[number - 1 :: count]
    if "suite_name" in more:
        more["suite"] = more.pop("suite_name")
    base = arm(own, **{"source": Source("b" * 40, why="merge base")} | more.pop("base", {}))
    return Result(
        arm(own, **more), base, duration_s=number, tool="x 1", shard=Shard(number, count, suite)
    )


def joined(*parts: Result) -> Result:
    return join((f"{chr(ord('p') + index)}.json", part) for index, part in enumerate(parts))


def test_the_suite_is_whole_again() -> None:
    parts = [shard(1), shard(2)]
    for order in (parts, parts[::-1]):
        whole = joined(*order)
        assert whole.base is not None
        for run in (whole.head, whole.base):
            assert tuple(b.id for b in run.benchmarks) == SUITE  # each shard had a canary
        assert whole.shards == tuple(parts)
        assert whole.shard is None
        assert (whole.duration_s, whole.tool, whole.warnings) == (3, "x 1", ())
        assert whole.head.source == parts[0].head.source
        assert whole.base.source.why == "merge base"
        assert (whole.head.screen_rounds, whole.head.complete) == (5, True)
        assert whole.head.environment == HERE


def test_files_may_have_been_changed_in_several_shards() -> None:
    parts = [shard(1), shard(2)]
    for part in parts:
        own = part.head.benchmarks
        changed = replace(part.head, benchmarks=(*own, benchmark(CHANGED_FILES_ID)))
        parts[parts.index(part)] = replace(part, head=changed)
    assert [b.id for b in joined(*parts).head.benchmarks] == [*SUITE, CHANGED_FILES_ID]


def test_new_versions_stay_but_are_no_benchmarks_of_the_suite() -> None:
    first, second = shard(1), shard(2)
    version = replace(benchmark(f"a{NEW_VERSION}"), new_version_of="a")
    first = replace(first, head=replace(first.head, benchmarks=(*first.head.benchmarks, version)))
    whole = joined(first, second)
    assert ids_of(whole) == list(SUITE)
    assert whole.head.benchmarks[-1] == version


def test_one_arm_alone_is_joined_too() -> None:
    whole = joined(*(replace(shard(number), base=None) for number in (1, 2)))
    assert whole.base is None
    assert ids_of(whole) == list(SUITE)


def test_the_only_shard_of_one_is_the_suite() -> None:
    only = shard(1, 1)
    assert joined(only) is only


@given(st.integers(1, 9), st.randoms(use_true_random=False))
def test_any_number_of_shards_in_any_order(count: int, random: Random) -> None:
    """More shards than benchmarks leave some without; these are joined like others."""
    parts = [shard(number, count) for number in range(1, count + 1)]
    random.shuffle(parts)
    assert ids_of(joined(*parts)) == list(SUITE)


def test_benchmarks_of_the_base_alone_are_counted() -> None:
    first, second = shard(1), shard(2)
    assert first.base is not None
    gone = replace(first, head=arm(("a", "c")), base=arm(("a", "c", "e"), source=Source("b" * 40)))
    whole = joined(gone, second)
    assert [b.id for b in whole.head.benchmarks] == ["a", "b", "c", "d"]
    assert sorted(ids_of(whole)) == list(SUITE)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            [shard(1), replace(shard(2), shard=None)],
            "q.json is not the result of a shard: it holds a whole suite",
        ),
        ([shard(1), joined(shard(1), shard(2))], "q.json was joined from 2 shards already"),
        ([shard(1), shard(3, 3)], "p.json is one of 2 shards, and q.json one of 3"),
        ([shard(2), shard(1), shard(2)], "p.json and r.json are both shard 2 of 2"),
        ([shard(1)], "p.json is one of 2 shards, and there is no result of shard 2"),
        (
            [shard(2, 6), shard(5, 6)],
            "p.json is one of 6 shards, and there is no result of shards 1, 3, 4 and 6",
        ),
        (
            [shard(1, 13)],
            f"p.json is one of 13 shards, and there is no result of shards {MANY} and 2 more",
        ),
        (
            [shard(1), shard(2, suite=("new", *SUITE[1:]))],
            "p.json and q.json are not shards of the same suite: only p.json has 'a'",
        ),
        (
            [shard(1), shard(2, suite=(*SUITE, "\x1b[31mf"))],
            "p.json and q.json are not shards of the same suite: only q.json has '\\x1b[31mf'",
        ),
        (
            [shard(1), replace(shard(2), head=arm(("a", "b", "d")))],
            "p.json and q.json both measured 'a'",
        ),
        (
            [shard(1), replace(shard(2), head=arm(("b",)), base=arm((), source=Source("b" * 40)))],
            "no shard measured 'd'",
        ),
        (
            [shard(1), shard(2, source=Source("f" * 40))],
            f"p.json and q.json differ in the commit: '{'a' * 40}' and '{'f' * 40}'",
        ),
        (
            [shard(1), shard(2, base={"source": Source("f" * 40)})],
            f"p.json and q.json differ in the base: '{'b' * 40}' and '{'f' * 40}'",
        ),
        (
            [shard(1), replace(shard(2), base=None)],
            f"p.json and q.json differ in the base: '{'b' * 40}' and none",
        ),
        (
            [shard(1), shard(2, suite_name="slow")],
            "p.json and q.json differ in the suite: 'default' and 'slow'",
        ),
        (
            [shard(1), shard(2, screen_rounds=0)],
            "p.json and q.json differ in the rounds of the screen: 5 and 0",
        ),
        (
            [shard(1), shard(2, files=BenchmarkFiles.BASE)],
            "p.json and q.json differ in the benchmark files that decide: own and base",
        ),
        (
            [shard(1), shard(2, until_decided=True)],
            "p.json and q.json differ in until_decided: false and true",
        ),
    ],
)
def test_what_is_not_one_suite_is_refused(parts: list[Result], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        joined(*parts)
    assert caught.value.message == message
    assert caught.value.hint


def test_nothing_of_the_environment_is_claimed_that_holds_for_some_only() -> None:
    other = replace(HERE, cpu_model="B", load_average=0.7, toolchains={"x": "1", "y": "3"})
    whole = joined(shard(1), shard(2, environment=other, base={"environment": other}))
    assert whole.head.environment == replace(
        HERE, cpu_model="", load_average=None, toolchains={"x": "1"}
    )
    assert whole.warnings == (
        "the shards were measured on machines that differ: CPU: 'A' and 'B'; y: '2' and '3'",
    )


def test_results_of_several_machines_are_comparable_with_none() -> None:
    mixed = joined(shard(1), shard(2, environment=replace(HERE, cpu_model="B"))).head
    same = joined(shard(1), shard(2, environment=replace(HERE, load_average=3.0))).head
    assert mixed.is_mixed
    for one, other in ((mixed, mixed), (mixed, same), (same, mixed)):
        assert one.differences(other) == ("the parts of one of them ran on machines that differ",)
    assert not same.is_mixed
    assert same.differences(same) == same.differences(arm(())) == ()


def test_one_environment_alone_is_what_it_has_in_common() -> None:
    assert in_common([HERE]) == HERE


def test_what_was_said_of_a_shard_names_it_and_of_all_of_them_is_said_once() -> None:
    parts = [
        replace(shard(number, 3), warnings=("of all", f"of {number % 2}"), duration_s=1.5)
        for number in (1, 2, 3)
    ]
    whole = joined(*parts)
    assert whole.warnings == ("of all", "shards 1 and 3: of 1", "shard 2: of 0")
    assert whole.duration_s == 4.5


def test_an_interrupted_shard_leaves_the_suite_incomplete() -> None:
    whole = joined(shard(1, 3), shard(2, 3, complete=False), shard(3, 3, complete=False))
    assert not whole.head.complete
    assert whole.warnings == ("shards 2 and 3: interrupted before the last round",)


@pytest.mark.parametrize(
    "sources",
    [
        [Source("a" * 40, dirty=True)] * 2,
        [Source("a" * 40), Source("a" * 40, dirty=True)],
        [Source(), Source()],
    ],
)
def test_code_that_is_in_no_commit_is_doubted(sources: list[Source]) -> None:
    whole = joined(*(shard(number, source=one) for number, one in enumerate(sources, start=1)))
    assert whole.head.source.dirty == any(source.dirty for source in sources)
    (warning,) = whole.warnings
    assert warning.startswith("some measured files are not committed")


def test_the_suite_began_with_its_first_shard() -> None:
    late, early = "2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00Z"
    assert joined(shard(1, started=late), shard(2, started=early)).head.started == early


def test_what_a_shard_did_not_measure_is_in_the_suite_once() -> None:
    def unmeasured(run: Run) -> Run:
        first, *others = run.benchmarks
        same = replace(first, series=(), status=Status.SAME_CODE)
        return replace(run, benchmarks=(same, *others))

    first, second = shard(1), shard(2)
    assert first.base
    first = replace(first, head=unmeasured(first.head), base=unmeasured(first.base))
    whole = joined(first, second)
    assert ids_of(whole) == list(SUITE)
    assert [one.status for one in whole.head.benchmarks].count(Status.SAME_CODE) == 1
