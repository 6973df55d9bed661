from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.app.opening import note_uncounted
from benchgate.config import loads
from benchgate.measure.engine import ArmName

if TYPE_CHECKING:
    from tests.app.conftest import World

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
