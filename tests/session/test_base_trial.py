from __future__ import annotations

import pytest

from benchgate.measure.engine import ArmName, Discovery, DiscoveryFailure, Observation
from benchgate.session.recorder import BaseTrial, Recorder

BASE, HEAD = ArmName.BASE, ArmName.HEAD


@pytest.mark.parametrize(
    ("tried", "arm", "expected"),
    [
        (BaseTrial(), BASE, BASE),
        (BaseTrial(frozenset({"old"})), BASE, BASE),
        (BaseTrial(frozenset()), BASE, HEAD),
        # The base knows what the head renamed by its old id.
        (BaseTrial(frozenset({"new"})), BASE, HEAD),
        (BaseTrial(frozenset()), HEAD, HEAD),
    ],
)
def test_a_base_that_ran_before_the_head_fails_for_the_heads_sake(
    tried: BaseTrial, arm: ArmName, expected: ArmName
) -> None:
    seen = tried.blame(Observation(arm, "new", 0, error="boom"), "old")
    assert (seen.arm, seen.benchmark) == (expected, "new")
    assert (seen.error or "").endswith("boom")
    assert (seen.error == "boom") is (arm is expected)


def test_a_file_that_could_be_read_before_the_head_was_built_is_the_heads_failure() -> None:
    unread, known = DiscoveryFailure(BASE, "db", "boom"), DiscoveryFailure(BASE, "io", "boom")
    recorder = Recorder([BASE, HEAD], BaseTrial(frozenset({"io"})))
    recorder.define(Discovery({}, (unread, known)))
    failed = {arm: [one.id for one in recorder.failures(arm)] for arm in (BASE, HEAD)}
    assert failed == {HEAD: ["db"], BASE: ["io"]}
