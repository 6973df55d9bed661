from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.baselines.stored_files import read_result
from benchgate.errors import Interrupted, UsageError
from benchgate.measure.arm import ArmName
from benchgate.model.result import Phase
from benchgate.model.run import Source, Status
from benchgate.session.result_file import ResultFile, working_tree_source
from benchgate.session.rounds import FixedRounds, RoundLoop
from benchgate.stats.timer import Timer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.world import World

    from benchgate.git.repository import Git
    from benchgate.session.session import Session


def begin(
    world: World, session: Session, output: Path | None, screen_rounds: int = 0
) -> ResultFile:
    return ResultFile(
        session=session,
        sources={ArmName.BASE: Source("b" * 40, why="merge base"), ArmName.HEAD: Source("a" * 40)},
        effects=world.effects,
        began_s=world.clock() - 3.0,
        started="2026-01-02T03:04:05Z",
        screen_rounds=screen_rounds,
        output=output,
        warnings=("careful",),
    )


def measure(world: World, session: Session, record: ResultFile, rounds: int) -> None:
    with record.kept_when_interrupted():
        RoundLoop(
            session,
            FixedRounds(session, rounds),
            budget_s=1000,
            clock=world.clock,
            phases=world.phases,
            progress=world.progress,
            save=record.save,
        ).measure()


def test_a_finished_record(world: World, tmp_path: Path) -> None:
    session, _ = world.open({"a": world.fake(1e-3, 2e-3), "bad": world.fake(fails_in=1)})
    output = tmp_path / "result.json.gz"
    record = begin(world, session, output, screen_rounds=5)
    measure(world, session, record, 3)
    record.finish()
    saved = read_result(output)
    assert [(one.phase, one.times) for one in saved.phases] == [
        (Phase.START, 1),
        (Phase.FIRST_ROUND, 1),
        (Phase.LATER_ROUNDS, 2),
        (Phase.DECIDE, 4),
        (Phase.SAVE, 3),
    ]
    assert saved.base is not None
    assert saved.head.complete
    assert saved.base.complete
    assert (saved.head.source.sha, saved.base.source.why) == ("a" * 40, "merge base")
    assert (saved.head.seed, saved.head.screen_rounds) == (7, 5)
    assert saved.duration_s == pytest.approx(3.0 + 3 + 2)  # before, and a second each
    assert saved.warnings == ("careful",)
    good, bad = saved.head.benchmarks
    assert [launch.round for launch in good.series[0].launches] == [0, 1, 2]
    assert (bad.status, bad.error) == (Status.FAILED, "boom")


def test_a_result_that_nobody_named_may_be_lost(world: World, tmp_path: Path) -> None:
    session, _ = world.open({"a": world.fake()})
    record = begin(world, session, tmp_path / "gone" / "result.json")
    with pytest.raises(UsageError, match="cannot write"):
        measure(world, session, record, 3)
    session, engine = world.open({"a": world.fake()})
    record = begin(world, session, tmp_path / "gone" / "result.json")
    record.must_save = False
    measure(world, session, record, 3)
    assert len(engine.rounds) == 3
    ((_, text),) = world.progress.messages
    assert text.startswith("warning: this result is not kept: cannot write ")


def test_the_clock_of_each_arm_is_recorded(world: World, tmp_path: Path) -> None:
    session, _ = world.open({"a": world.fake()})
    session.timers[ArmName.BASE] = Timer(cost_ns=45.5, resolution_ns=None, pairs=1000)
    output = tmp_path / "result.json"
    begin(world, session, output).finish()
    saved = read_result(output)
    assert saved.base is not None
    assert saved.base.environment.timer_cost_ns == 45.5
    assert saved.base.environment.timer_resolution_ns is None
    assert saved.head.environment.timer_cost_ns is None


def test_an_interrupted_record_keeps_what_was_measured(world: World, tmp_path: Path) -> None:
    session, _ = world.open({"a": world.fake(), "b": world.fake()}, interrupted_in=2)
    output = tmp_path / "result.json"
    record = begin(world, session, output)
    with pytest.raises(Interrupted) as caught:
        measure(world, session, record, 10)
    assert str(output) in caught.value.hint
    saved = read_result(output)
    assert not saved.head.complete
    assert [len(b.series[0].launches) for b in saved.head.benchmarks] == [2, 2]


def test_without_an_output_nothing_is_written(world: World, tmp_path: Path) -> None:
    session, _ = world.open({"a": world.fake()}, interrupted_in=0)
    with pytest.raises(Interrupted) as caught:
        measure(world, session, begin(world, session, None), 1)
    assert caught.value.hint == ""
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_incomplete_until_the_end(world: World, tmp_path: Path) -> None:
    session, _ = world.open({"a": world.fake()})
    output = tmp_path / "result.json"
    record = begin(world, session, output)
    measure(world, session, record, 1)
    assert not read_result(output).head.complete


def test_secrets_of_the_environment_are_not_written(world: World, tmp_path: Path) -> None:
    session, _ = world.open({"a": world.fake()})
    output = tmp_path / "result.json"
    record = begin(world, session, output)
    record.warnings += ("the command said hunter2-hunter2",)
    record.finish()
    assert "hunter2" not in output.read_text()


def test_the_working_tree_says_whether_it_is_dirty(
    repo: Git, commit: Callable[[Git, Mapping[str, str]], str]
) -> None:
    sha = commit(repo, {"a": "1"})
    assert working_tree_source(repo) == Source(sha, ref="main")
    (repo.root / "a").write_text("2")
    assert working_tree_source(repo) == Source(sha, ref="main", dirty=True)
    (repo.root / "b").write_text("2")
    assert working_tree_source(repo) == Source(sha, ref="main", dirty=True, untracked=1)
