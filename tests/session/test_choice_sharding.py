from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.config import loads
from benchgate.errors import UsageError
from benchgate.gate.suite import about_shard, share_of
from benchgate.measure.arm import ArmName
from benchgate.model.environment import Environment
from benchgate.model.result import MAX_SHARDS, Result, Shard, ids_of
from benchgate.model.run import CANARY_ID, BenchmarkResult, Run, Source, Tier
from benchgate.session.choice import Choice, deal, keep_share, parse_shard
from benchgate.session.one_tree import RunRequest, run

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from tests.world import World

    from benchgate.session.session import Session

names = st.lists(st.text(max_size=8), max_size=40)
shard_counts = st.integers(1, 12)


@pytest.mark.parametrize(
    ("text", "shard"),
    [
        ("1/1", Shard(1, 1)),
        ("2/8", Shard(2, 8)),
        ("08/8", Shard(8, 8)),
        (f"{MAX_SHARDS}/{MAX_SHARDS}", Shard(MAX_SHARDS, MAX_SHARDS)),
    ],
)
def test_what_people_write(text: str, shard: Shard) -> None:
    assert parse_shard(text) == shard


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3/2", "--shard 3/2: there is no such shard"),
        ("0/4", "--shard 0/4: there is no such shard"),
        ("0/0", "--shard 0/0: there is no such shard"),
        ("1/1001", "--shard 1/1001: there is no such shard"),
        ("x", "--shard 'x' is not a shard"),
        ("", "--shard '' is not a shard"),
        ("2", "--shard '2' is not a shard"),
        ("-1/4", "--shard '-1/4' is not a shard"),
        ("1/4\n", "--shard '1/4\\n' is not a shard"),
        ("1 / 4", "--shard '1 / 4' is not a shard"),
        ("१/४", "--shard '१/४' is not a shard"),
        ("1/1234567890", "--shard '1/1234567890' is not a shard"),
    ],
)
def test_what_is_no_shard(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_shard(text)
    assert caught.value.message == message
    assert (
        "Write it as I/N, such as 2/8: each of N jobs has its own I, from 1 to N"
        in caught.value.hint
    )


class TestDealing:
    @given(names, shard_counts)
    def test_every_name_goes_to_one_shard(self, ids: list[str], count: int) -> None:
        dealt = deal(ids, count)
        assert dealt.keys() == set(ids)
        assert set(dealt.values()) <= set(range(1, count + 1))

    @given(names, shard_counts, st.randoms(use_true_random=False))
    def test_neither_order_nor_repetition_matters(
        self, ids: list[str], count: int, random: Random
    ) -> None:
        again = [*ids, *ids]
        random.shuffle(again)
        assert deal(again, count) == deal(ids, count)

    @given(names, shard_counts)
    def test_no_shard_has_two_more_than_another(self, ids: list[str], count: int) -> None:
        sizes = Counter(deal(ids, count).values())
        held = [sizes[number] for number in range(1, count + 1)]
        assert max(held) - min(held) <= 1

    @given(names, shard_counts)
    def test_neighbours_are_spread(self, ids: list[str], count: int) -> None:
        dealt = list(deal(sorted(set(ids)), count).items())
        numbers = [number for _, number in sorted(dealt)]
        for start in range(0, len(numbers), count):
            block = numbers[start : start + count]
            assert sorted(block) == list(range(1, len(block) + 1))

    @pytest.mark.parametrize(("sizes", "count"), [(2, 2), (4, 2), (4, 4), (8, 4), (8, 8)])
    def test_sizes_do_not_fall_in_step_with_shards(self, sizes: int, count: int) -> None:
        ids = [f"group{i:02}/work[n={n}]" for i in range(48) for n in range(sizes)]
        dealt = deal(ids, count)
        for n in range(sizes):
            of_size = Counter(dealt[id_] for id_ in ids if id_.endswith(f"[n={n}]"))
            assert max(of_size.values()) <= 48 * 2 / 3
            assert len(of_size) == count

    def test_every_machine_draws_the_same(self) -> None:
        dealt = deal([f"group/b{i}" for i in range(10)] + ["caf\udce9"], 4)
        assert "".join(str(number) for _, number in sorted(dealt.items())) == "34122431231"


def shares(session: Session, count: int) -> list[tuple[str, ...]]:
    """What each of so many shards measures of one session."""
    before, found = session.hidden, []
    for number in range(1, count + 1):
        session.hidden = before
        keep_share(Shard(number, count), session, {"old": "new"})
        found.append(session.ids)
    return found


class TestKeeping:
    def test_the_shards_have_all_benchmarks_of_both_arms(self, world: World) -> None:
        fakes = {f"b{i}": world.fake() for i in range(5)}
        one_sided = {"added": world.fake(base_s=None), "removed": world.fake(head_s=None)}
        session, _ = world.open(fakes | one_sided)
        found = shares(session, 3)
        assert sorted(id_ for ids in found for id_ in ids) == sorted(fakes | one_sided)
        assert sorted(map(len, found)) == [2, 2, 3]

    def test_what_was_renamed_stays_together(self, world: World) -> None:
        fakes = {f"b{i}": world.fake() for i in range(7)}
        renamed = {"new": world.fake(base_s=None), "old": world.fake(head_s=None)}
        session, _ = world.open(fakes | renamed)
        for count in range(2, 8):
            assert all(("old" in ids) == ("new" in ids) for ids in shares(session, count))

    def test_what_was_not_asked_for_is_not_dealt(self, world: World) -> None:
        session, _ = world.open({name: world.fake() for name in ("a/x", "a/y", "b/z")})
        session.leave_out(["b/z"])
        keep_share(Shard(1, 2), session, {})
        assert session.shard is not None
        assert session.shard.dealt == ("a/x", "a/y")
        assert [len(results) for results in session.results().values()] == [1, 1]

    def test_a_shard_may_be_left_without(self, world: World) -> None:
        session, _ = world.open({"a": world.fake()})
        keep_share(Shard(2, 2), session, {})
        assert session.ids == ()
        assert session.shard == Shard(2, 2, ("a",))

    def test_a_file_that_cannot_be_read_fails_in_one_shard(
        self, world: World, tmp_path: Path
    ) -> None:
        folder = tmp_path / "benchmarks"
        folder.mkdir()
        (folder / "bench_good.py").write_text("def bench_it():\n    pass\n")
        (folder / "bench_broken.py").write_text("1 / 0\n")
        effects = replace(world.effects, cwd=tmp_path, environ={})
        config = loads(
            '[measure]\nrounds = 1\ncanary = false\n[[benchmark]]\npython = "benchmarks"\n', "x"
        )
        results = [
            run(RunRequest(Choice(shard=Shard(number, 2))), config, None, effects)
            for number in (1, 2)
        ]
        measured = [ids_of(result) for result in results]
        assert sorted(measured) == [["broken"], ["good/it"]]
        assert [result.shard for result in results] == [
            Shard(number, 2, ("good/it", "broken")) for number in (1, 2)
        ]


def run_of(*ids: str) -> Run:
    benchmarks = tuple(BenchmarkResult(id_, "w", Tier.LOCKSTEP) for id_ in ids)
    return Run(Source(), "2026-01-01T00:00:00Z", Environment(), benchmarks)


def test_a_stored_base_is_held_against_the_share_alone() -> None:
    base = run_of("own", "others", "before", "removed")
    shard = Shard(1, 2, ("own", "others", "now"))
    kept = share_of(base, Result(run_of("own"), shard=shard), {"before": "now"})
    assert [b.id for b in kept.benchmarks] == ["own", "removed"]
    assert share_of(base, Result(run_of("own")), {}) is base


@pytest.mark.parametrize(
    ("shard", "said"),
    [
        (None, ()),
        (Shard(1, 1, ("a", "b")), ()),
        (
            Shard(2, 3, ("a", "b", "c")),
            ("shard 2 of 3: 2 of 3 benchmarks; `benchgate merge` joins the results of all shards",),
        ),
    ],
)
def test_a_part_says_that_it_is_one(shard: Shard | None, said: tuple[str, ...]) -> None:
    assert about_shard(Result(run_of("a", CANARY_ID), run_of("b"), shard=shard)) == said


def test_arms_are_looked_at_together_whichever_comes_first(world: World) -> None:
    fakes = {"b": world.fake(head_s=None), "a": world.fake(), "c": world.fake(base_s=None)}
    found = []
    for arms in ((ArmName.BASE, ArmName.HEAD), (ArmName.HEAD, ArmName.BASE)):
        session, _ = world.open(fakes, arms)
        keep_share(Shard(1, 2), session, {})
        assert session.shard is not None
        found.append((session.ids, session.shard.dealt))
    assert found[0] == found[1]
    assert found[0][1] == ("a", "c", "b")
