from __future__ import annotations

import gc
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.load.launches import Script, fake_launch, order_in

from benchgate.load import group
from benchgate.load.drivers.driver import OperationError, TargetError
from benchgate.load.generator import LocalGate
from benchgate.load.group import GivenUpError, run_workers

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.load.group import GroupRecord


def run(
    folder: Path,
    script: Script,
    stop: threading.Event | None = None,
    **load: Any,  # noqa: ANN401
) -> GroupRecord:
    load = {"duration": "300ms", "warmup": "50ms", "concurrency": 3} | load
    launch = fake_launch(order_in(folder, {"load": load}), script)
    workers = launch.scenario.most_workers
    return run_workers(launch, range(workers), LocalGate(stop or threading.Event(), workers))


def test_nobody_begins_before_all_connections_are_open(tmp_path: Path) -> None:
    opened: list[int] = []
    early: list[int] = []

    def connect(worker: int) -> None:
        time.sleep(0.05 * worker)
        opened.append(worker)

    def operate(_: object) -> None:
        time.sleep(0.001)
        if len(opened) < 5:
            early.append(len(opened))

    script = Script(operate=operate, connect=connect)
    record = run(tmp_path, script, concurrency=5)
    assert sorted(opened) == list(range(5))
    assert early == []
    assert record.steps["lookup"].ops > 0
    assert 0 <= record.first_start_ns <= record.last_start_ns
    assert script.calls == ["close connection"] * 5


def test_many_connections_are_not_opened_all_at_once(tmp_path: Path) -> None:
    lock, now, most = threading.Lock(), [0], [0]

    def connect(_: int) -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.005)
        with lock:
            now[0] -= 1

    run(tmp_path, Script(connect=connect, operate=lambda _: time.sleep(0.01)), concurrency=100)
    assert 1 < most[0] <= 32


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (TargetError("nobody listens"), "nobody listens"),
        (ValueError("a mistake"), "cannot connect: ValueError: a mistake"),
    ],
)
def test_a_connection_that_cannot_be_opened_ends_the_launch(
    tmp_path: Path, error: Exception, message: str
) -> None:
    operated: list[object] = []

    def connect(worker: int) -> None:
        if worker == 2:
            raise error

    script = Script(connect=connect, operate=operated.append)
    with pytest.raises(TargetError, match=message):
        run(tmp_path, script)
    assert operated == []
    assert script.calls.count("close connection") == 2


def test_no_garbage_is_collected_while_it_measures(tmp_path: Path) -> None:
    seen: set[bool] = set()
    run(tmp_path, Script(operate=lambda _: seen.add(gc.isenabled())))
    assert seen == {False}
    assert gc.isenabled()


def test_it_stays_off_for_those_who_had_it_off(tmp_path: Path) -> None:
    gc.disable()
    try:
        run(tmp_path, Script(operate=lambda _: time.sleep(0.001)))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_an_open_loop_begins_what_is_due(tmp_path: Path) -> None:
    script = Script(operate=lambda _: time.sleep(0.0001))
    record = run(tmp_path, script, rate=100.0, duration="500ms")
    step = record.steps["lookup"]
    assert step.ops + step.unfinished == 50
    assert record.late.count <= 50


def test_it_ends_when_it_is_stopped_and_closes_everything(tmp_path: Path) -> None:
    stop = threading.Event()
    script = Script(operate=lambda _: stop.set())
    began_s = time.monotonic()
    with pytest.raises(GivenUpError):
        run(tmp_path, script, stop, duration="60s")
    assert time.monotonic() - began_s < 30
    assert script.calls.count("close connection") == 3
    assert gc.isenabled()


def test_it_can_be_stopped_while_it_connects(tmp_path: Path) -> None:
    stop, released = threading.Event(), threading.Event()

    def connect(_: int) -> None:
        stop.set()
        released.wait(60)

    script = Script(connect=connect, interrupt=released.set)
    threading.Timer(0.5, released.set).start()
    with pytest.raises(GivenUpError):
        run(tmp_path, script, stop)


def test_an_operation_that_hangs_counts_as_an_error_and_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group, "GRACE_S", 0.2)
    released, numbers = threading.Event(), iter(range(10**9))

    def operate(_: object) -> None:
        if next(numbers) > 2:
            released.wait(60)
            raise OperationError("interrupted")
        time.sleep(0.001)

    script = Script(operate=operate, interrupt=released.set)
    record = run(tmp_path, script, warmup="0s", duration="1s", rate=100.0)
    step = record.steps["lookup"]
    assert (step.ops, step.errors) == (3, 3)
    assert [error.text for error in step.kept_errors] == (
        ["the operation had not ended 0.2 s after the measured time"] * 3
    )
    # What was due and waited for the three workers is not lost.
    assert step.ops + step.errors + step.unfinished == 100
    assert record.notes == (
        "3 operations had not ended 0.2 s after the measured time, and count as errors",
    )
    assert script.calls.count("close connection") == 3


def test_one_that_cannot_be_interrupted_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group, "GRACE_S", 0.1)
    monkeypatch.setattr(group, "CLOSE_S", 0.1)
    released = threading.Event()

    def operate(_: object) -> None:
        released.wait(60)

    try:
        record = run(tmp_path, Script(operate=operate), warmup="0s", concurrency=1)
        assert record.steps["lookup"].errors == 1
        assert "1 of them could not be interrupted" in record.notes[0]
    finally:
        released.set()


def test_connections_that_hang_when_they_are_closed_do_not_keep_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group, "CLOSE_S", 0.1)
    released = threading.Event()
    try:
        script = Script(close_connection=lambda: bool(released.wait(60)))  # type: ignore[arg-type]
        assert run(tmp_path, script).steps["lookup"].ops > 0
    finally:
        released.set()


def test_a_worker_that_ends_early_is_not_lost_silently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group, "choices", lambda *_, **__: iter([0] * 5))
    with pytest.raises(TargetError, match="worker 0 ended early: StopIteration"):
        run(tmp_path, Script(operate=lambda _: time.sleep(0.001)), concurrency=1)
