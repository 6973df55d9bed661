from __future__ import annotations

import itertools
import os
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchgate.config import loads
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.processes.guardian import Guardian
from benchgate.measure.trees.checkouts import two_arms
from benchgate.session import opening
from benchgate.session.building import Builder
from benchgate.session.choice import Choice
from benchgate.session.engines import EngineMaker
from benchgate.session.opening import note_uncounted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.world import World

    from benchgate.config import Config
    from benchgate.git.repository import Git
    from benchgate.session.recorder import BaseTrial

GATED = """
[[rule]]
benchmark = "counted*"
metrics = ["time", "instructions"]
"""


def test_benchmarks_that_are_judged_by_instructions_learn_why_they_cannot_be(world: World) -> None:
    session, _ = world.open(
        {"counted": world.fake(), "counted/new": world.fake(base_s=None), "timed": world.fake()}
    )
    note_uncounted(session, loads(GATED, "benchgate.toml"), "this machine shows none")
    for arm, results in session.results().items():
        notes = {result.id: result.notes for result in results}
        why = ("instructions: this machine shows none",)
        assert notes["counted"] == why
        assert notes["timed"] == ()
        assert notes.get("counted/new") == (why if arm is ArmName.HEAD else None)


def test_nobody_is_told_who_did_not_ask(world: World) -> None:
    session, _ = world.open({"a": world.fake()})
    note_uncounted(session, loads("", "benchgate.toml"), "this machine shows none")
    assert all(result.notes == () for results in session.results().values() for result in results)


def test_who_is_built_and_started_first_is_drawn(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = []

    def make(_: object, __: Config, arms: Sequence[Arm], ___: object) -> list[object]:
        if len(arms) == 1:  # the base is tried before the head is built
            return []
        orders.append(tuple(arm.name for arm in arms))
        return [world.open({"a": world.fake()})[1]]

    monkeypatch.setattr(EngineMaker, "make", make)
    arms = [Arm(name, tmp_path, tmp_path / "env") for name in ArmName]
    seeds = iter(range(100))
    effects = replace(world.effects, draw_seed=lambda: next(seeds))
    for _ in range(6):
        with ExitStack() as stack:
            session = opening.open_session(
                stack, opening.Opening(arms, loads("", "a.toml"), effects, Choice(), checkout=None)
            )
            assert session.arms == tuple(ArmName)
    assert set(orders) == {tuple(ArmName), tuple(ArmName)[::-1]}


def test_each_side_asks_its_own_tools_after_its_build(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(_: object, __: Config, arms: Sequence[Arm], ___: object) -> list[object]:
        return [world.open({"a": world.fake()})[1]] if len(arms) > 1 else []

    monkeypatch.setattr(EngineMaker, "make", make)
    arms = []
    for name in ArmName:
        (tmp_path / name).mkdir()
        (tmp_path / name / "release").write_text(name)
        arms.append(Arm(name, tmp_path / name, tmp_path / f"{name}-env"))
    text = '[build]\ncommand = "cp release tool"\ntoolchains = { cc = "cat tool" }\n'
    with ExitStack() as stack:
        session = opening.open_session(
            stack,
            opening.Opening(arms, loads(text, "a.toml"), world.effects, Choice(), checkout=None),
        )
        found = {arm: versions["cc"] for arm, versions in session.toolchains.items()}
    assert found == {ArmName.BASE: "base", ArmName.HEAD: "head"}


FILES = {
    "benchmarks/bench_it.py": """
from pathlib import Path

def bench_good(): sum(range(100))

def bench_writing(): Path("a.db").write_bytes(b"x")

def bench_bad(): raise ValueError("bad")

def bench_other(): sum(range(100))
"""
}


@pytest.fixture
def tried(
    world: World, repo: Git, commit: Callable[[Git, Mapping[str, str]], str]
) -> Callable[..., BaseTrial]:
    """Build both arms of a commit of FILES, and try its base."""

    def build(text: str, choice: Choice, clock: Callable[[], float] = world.clock) -> BaseTrial:
        base = commit(repo, FILES)
        effects = replace(world.effects, environ={"PATH": os.environ["PATH"]}, clock=clock)
        with two_arms(repo, base) as trees, Guardian.start() as guardian:
            arms = [replace(one, variables=guardian.variables) for one in trees.arms.values()]
            builder = Builder(loads(text, "a.toml"), choice, effects, guardian, repo.root)
            return builder.build(arms, trees.ground, None).tried

    return build


def test_trying_the_base_teaches_what_may_be_measured_side_by_side(
    tried: Callable[..., BaseTrial],
) -> None:
    found = tried("", Choice(globs=("*good", "*writing", "*bad")))
    assert found.lesson is not None
    assert found.lesson.ran == {"it/good", "it/writing"}
    assert set(found.failed or ()) == {"it/bad"}
    assert found.lesson.written == ("a.db",)
    assert found.lesson.pair_bytes > 2 * 2**20 or not Path("/proc/self/status").exists()


def test_what_there_was_no_time_to_try_is_not_known(tried: Callable[..., BaseTrial]) -> None:
    ticks_s = itertools.count()
    found = tried('[measure]\nbudget = "1s"', Choice(), lambda: float(next(ticks_s)))
    assert found.lesson is not None
    assert found.lesson.ran == set()
    assert len(found.untried) == 4
