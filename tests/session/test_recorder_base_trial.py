from __future__ import annotations

import pytest

from benchgate.measure.arm import ArmName
from benchgate.measure.contract.found import Definition, Discovery, DiscoveryFailure
from benchgate.measure.contract.observation import Observation
from benchgate.model.run import BenchmarkResult, Tier
from benchgate.session.recorder import SAME_CODE, BaseTrial, Recorder

BASE, HEAD = ArmName.BASE, ArmName.HEAD


@pytest.mark.parametrize(
    ("tried", "arm", "expected"),
    [
        (BaseTrial(), BASE, BASE),
        (BaseTrial({"old": "boom"}), BASE, BASE),
        (BaseTrial({}), BASE, HEAD),
        # The base knows what the head renamed by its old id.
        (BaseTrial({"new": "boom"}), BASE, HEAD),
        (BaseTrial({}), HEAD, HEAD),
        (BaseTrial({}, untried=frozenset({"old"})), BASE, BASE),
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
    recorder = Recorder([BASE, HEAD], BaseTrial({"io": "boom"}))
    recorder.define(Discovery({}, (unread, known)))
    failed = {arm: [one.id for one in recorder.failures(arm)] for arm in (BASE, HEAD)}
    assert failed == {HEAD: ["db"], BASE: ["io"]}


def added(trial: BaseTrial, *observations: Observation) -> dict[ArmName, BenchmarkResult]:
    """What the arms say about a benchmark that both of them have."""
    recorder = Recorder([BASE, HEAD], trial)
    found = {arm: (Definition("b", "", Tier.LOCKSTEP),) for arm in (BASE, HEAD)}
    recorder.define(Discovery(found, ()))
    for one in observations:
        recorder.add(one, 0)
    return {arm: recorder.results(arm)[0] for arm in (BASE, HEAD)}


def test_what_failed_before_the_head_ran_fails_on_both_sides_whichever_is_run_first() -> None:
    found = added(BaseTrial({"b": "old"}), Observation(HEAD, "b", 0, error="new"))
    assert {arm: one.error for arm, one in found.items()} == {BASE: "old", HEAD: "new"}
    found = added(BaseTrial({}), Observation(HEAD, "b", 0, error="new"))
    assert {arm: one.error for arm, one in found.items()} == {BASE: None, HEAD: "new"}


def test_a_failure_of_the_same_code_is_of_both_sides() -> None:
    found = added(SAME_CODE, Observation(HEAD, "b", 0, error="new"))
    assert {(one.error, one.of_all) for one in found.values()} == {("new", True)}
