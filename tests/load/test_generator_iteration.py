from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.load.launches import Script, fake_launch, order_in

from benchgate.load import generator
from benchgate.load.drivers.driver import TargetError
from benchgate.load.generator import run_launch
from benchgate.load.launch import INTERRUPTED
from benchgate.stats.histogram import decode, unpack

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.load.launch import LoadReply

SCRIPTS = {"setup": {"queries": ["setup"]}, "teardown": {"queries": ["teardown"]}}
# A test that cannot stop it must not hang.
LONGEST_S = 60


@pytest.fixture
def run(tmp_path: Path) -> Any:  # noqa: ANN401 - a function
    def run_it(
        script: Script,
        stop: threading.Event | None = None,
        tables: dict[str, Any] | None = None,
        **fields: Any,  # noqa: ANN401 - fields of an order
    ) -> LoadReply:
        order = order_in(tmp_path, SCRIPTS | (tables or {}), **fields)
        return run_launch(fake_launch(order, script), stop or threading.Event())

    return run_it


def slowly(_: object) -> None:
    time.sleep(0.001)


def failing_in(name: str, error: Exception) -> Any:  # noqa: ANN401 - a function
    def run(script: Any) -> None:  # noqa: ANN401 - a table
        if script.queries[0] == name:
            raise error

    return run


def test_a_launch_says_what_each_step_did(run: Any) -> None:  # noqa: ANN401
    steps = [{"name": name, "query": "SELECT 1"} for name in ("one", "two")]
    script = Script(operate=slowly, introspect=lambda: {"version": "7"})
    reply = run(script, tables={"step": steps}, introspect=True, round=3)
    assert (reply.error, reply.server) == (None, {"version": "7"})
    assert list(reply.steps) == ["one", "two"]
    for launch in reply.steps.values():
        assert (launch.round, launch.duration_s) == (3, 0.3)
        assert launch.ops > 0
        assert decode(launch.histogram).count == len(unpack(launch.sample)) == launch.ops
        assert launch.windows.ops == (launch.ops,)
        (group,) = launch.generator.groups
        assert (group.place, group.workers, group.lost) == ("here", 3, None)
        assert launch.generator.late_p99_s is None
    assert [call for call in script.calls if "connection" not in call] == [
        "run setup",
        "run teardown",
        "close driver",
    ]


def test_a_target_is_not_asked_for_its_settings_unless_it_is_wanted(run: Any) -> None:  # noqa: ANN401
    assert run(Script(operate=slowly, introspect=lambda: {"version": "7"})).server == {}


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (TargetError("syntax error"), "syntax error"),
        (RuntimeError("a mistake"), "the setup failed: RuntimeError: a mistake"),
    ],
)
def test_a_setup_that_fails_ends_it_at_once_and_the_teardown_runs(
    run: Any,  # noqa: ANN401
    error: Exception,
    message: str,
) -> None:
    script = Script(run=failing_in("setup", error))
    reply = run(script)
    assert (reply.error, reply.steps) == (message, {})
    assert script.calls == ["run setup", "run teardown", "close driver"]


@pytest.mark.parametrize("error", [TargetError("it is gone"), RuntimeError("it is gone")])
def test_a_teardown_that_fails_is_a_note(run: Any, error: Exception) -> None:  # noqa: ANN401
    reply = run(Script(operate=slowly, run=failing_in("teardown", error)))
    assert reply.error is None
    assert reply.steps["lookup"].ops > 0
    (note,) = reply.notes
    assert note.startswith("the teardown failed: ")
    assert note.endswith("it is gone")


def test_a_slow_teardown_is_left_alone(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401
    monkeypatch.setattr(generator, "TEARDOWN_S", 0.1)
    released = threading.Event()

    def tear_down(script: Any) -> None:  # noqa: ANN401
        if script.queries[0] == "teardown":
            released.wait(LONGEST_S)

    try:
        reply = run(Script(operate=slowly, run=tear_down))
    finally:
        released.set()
    assert reply.error is None
    assert reply.notes == ("the teardown had not ended after 0.1 s",)


def test_a_driver_that_does_not_close_is_a_note(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401
    monkeypatch.setattr(generator, "CLOSE_S", 0.1)
    released = threading.Event()
    try:
        reply = run(Script(operate=slowly, close=lambda: released.wait(LONGEST_S)))  # type: ignore[arg-type]
    finally:
        released.set()
    assert reply.notes == ("closing the driver had not ended after 0.1 s",)


def test_a_target_that_does_not_answer_what_it_is_is_a_note(run: Any) -> None:  # noqa: ANN401
    def introspect() -> dict[str, str]:
        raise TargetError("not allowed")

    reply = run(Script(operate=slowly, introspect=introspect), introspect=True)
    assert (reply.error, reply.server) == (None, {})
    assert reply.notes == ("asking the target for its settings failed: not allowed",)


def test_a_target_that_cannot_be_reached_is_torn_down(run: Any) -> None:  # noqa: ANN401
    def connect(_: int) -> None:
        raise TargetError("nobody listens")

    script = Script(connect=connect)
    reply = run(script)
    assert (reply.error, reply.steps) == ("nobody listens", {})
    assert script.calls == ["run setup", "run teardown", "close driver"]


@pytest.mark.parametrize("where", ["setup", "connect", "operate", "teardown"])
def test_it_is_torn_down_wherever_it_is_stopped(run: Any, where: str) -> None:  # noqa: ANN401
    stop, released = threading.Event(), threading.Event()

    def halt(*_: object) -> None:
        stop.set()
        released.wait(0.3)

    def run_script(script: Any) -> None:  # noqa: ANN401
        if script.queries[0] == where:
            halt()

    script = Script(operate=slowly, run=run_script)
    if where == "connect":
        script.connect = halt
    elif where == "operate":
        script.operate = halt
    reply = run(script, stop, {"load": {"duration": "300ms" if where == "teardown" else "60s"}})
    released.set()
    assert script.calls[0] == "run setup"
    assert [call for call in script.calls if call != "interrupt"][-1] == "close driver"
    assert "run teardown" in script.calls
    assert (reply.error is None) == (where == "teardown")
    if where != "teardown":
        assert reply.error == INTERRUPTED


def test_operations_that_were_due_and_not_begun_are_counted(run: Any) -> None:  # noqa: ANN401
    load = {"duration": "300ms", "warmup": "0s", "rate": 1000.0}
    reply = run(Script(operate=lambda _: time.sleep(0.02)), tables={"load": load})
    launch = reply.steps["lookup"]
    assert launch.ops + launch.unfinished == 300
    assert launch.unfinished > 100
    assert reply.notes == ()  # each launch would say it with other figures
    assert launch.generator.late_p99_s is not None
    assert decode(launch.histogram).count == 300


def test_a_target_that_always_fails_is_all_errors(run: Any) -> None:  # noqa: ANN401
    def operate(_: object) -> None:
        raise ZeroDivisionError("division by zero")

    reply = run(Script(operate=operate))
    launch = reply.steps["lookup"]
    assert launch.ops == 0
    assert 3 <= launch.errors < 1000
    assert launch.kept_errors[0].text == "ZeroDivisionError: division by zero"
    assert reply.notes == ("workers paused, as each does after 3 errors in a row",)


def test_both_arms_draw_the_same(run: Any) -> None:  # noqa: ANN401
    steps = [{"name": "lookup", "query": "SELECT :id", "params": {"id": "random_int(1, 1000000)"}}]
    seen: list[list[object]] = []
    for round_ in (0, 0, 1):
        drawn: list[object] = []
        stop = threading.Event()

        def operate(
            parameters: Any,  # noqa: ANN401
            drawn: list[object] = drawn,
            stop: threading.Event = stop,
        ) -> None:
            drawn.append(parameters["id"])
            if len(drawn) >= 10:
                stop.set()
            time.sleep(0.001)

        load = {"duration": "120s", "warmup": "0s", "concurrency": 1}
        run(Script(operate=operate), stop, tables={"step": steps, "load": load}, round=round_)
        seen.append(drawn[:10])
    assert seen[0] == seen[1] != seen[2]
