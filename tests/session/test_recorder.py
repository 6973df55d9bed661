from __future__ import annotations

import numpy as np

from benchgate.measure.arm import ArmName
from benchgate.measure.contract.found import Definition, Discovery, DiscoveryFailure
from benchgate.measure.contract.observation import Observation
from benchgate.model.metrics import Kind, Metric
from benchgate.model.run import Series, Status, Tier
from benchgate.session.recorder import Recorder

BASE, HEAD = ArmName.BASE, ArmName.HEAD
TIME = Metric("time", "s")
BLOCKS = Metric("alloc_blocks", "", kind=Kind.EXACT)


def definition(id_: str, **fields: object) -> Definition:
    return Definition(id_, "hash", Tier.LOCKSTEP, **fields)  # type: ignore[arg-type]


def launched(
    arm: ArmName, id_: str, value: float, *, order: int = 0, notes: tuple[str, ...] = ()
) -> Observation:
    samples, warmup = np.array([value, value + 1]), np.array([9.0])
    return Observation(
        arm, id_, order, (Series.of_launch(TIME, samples, warmup, loops=7),), notes=notes
    )


def recorder(**found: list[Definition]) -> Recorder:
    recorder = Recorder(list(ArmName))
    recorder.define(Discovery({ArmName(arm): tuple(ds) for arm, ds in found.items()}))
    return recorder


def test_launches_become_series_by_round() -> None:
    about = definition("x", location="f.py:3", display_unit="us", notes=("not pinned",))
    record = recorder(base=[about], head=[about])
    record.add(launched(BASE, "x", 1.0), 0)
    record.add(launched(HEAD, "x", 5.0, order=1, notes=("slow",)), 0)
    record.add(launched(BASE, "x", 2.0, order=1, notes=("slow",)), 3)
    (base,) = record.results(BASE)
    assert (base.id, base.workload, base.tier) == ("x", "hash", Tier.LOCKSTEP)
    assert (base.location, base.display_unit) == ("f.py:3", "us")
    assert (base.status, base.error) == (Status.OK, None)
    assert base.notes == ("not pinned", "slow")
    (series,) = base.series
    assert (series.metric, series.loops) == (TIME, 7)
    assert [(launch.round, launch.order) for launch in series.launches] == [(0, 0), (3, 1)]
    assert [launch.samples.tolist() for launch in series.launches] == [[1.0, 2.0], [2.0, 3.0]]
    assert series.launches[0].warmup.tolist() == [9.0]


def test_a_metric_may_come_in_some_rounds_only() -> None:
    record = recorder(head=[definition("x")])
    once = Series.of_launch(BLOCKS, np.array([3.0]), np.empty(0))
    record.add(Observation(HEAD, "x", 0, (once,)), 0)
    record.add(launched(HEAD, "x", 1.0), 0)
    record.add(launched(HEAD, "x", 2.0), 1)
    (result,) = record.results(HEAD)
    assert {s.metric.name: len(s.launches) for s in result.series} == {
        "alloc_blocks": 1,
        "time": 2,
    }


def test_the_first_error_is_kept_with_what_was_measured_before() -> None:
    record = recorder(base=[definition("x"), definition("y")], head=[definition("x")])
    record.add(launched(HEAD, "x", 1.0), 0)
    record.add(Observation(HEAD, "x", 0, error="first\ntail"), 1)
    record.add(Observation(HEAD, "x", 0, error="second"), 2)
    (head,) = record.results(HEAD)
    assert (head.status, head.error) == (Status.FAILED, "first\ntail")
    assert len(head.series[0].launches) == 1
    assert record.results(BASE)[0].status is Status.OK
    assert record.has_failed("x")
    assert not record.has_failed("y")
    assert record.ids() == ("y",)


def test_ids_are_those_of_both_arms_the_heads_first() -> None:
    record = recorder(
        base=[definition("old"), definition("x")], head=[definition("x"), definition("new")]
    )
    assert record.ids() == ("x", "new", "old")
    assert [record.is_on_all_arms(id_) for id_ in ("x", "new", "old")] == [True, False, False]
    assert [d.id for d in record.definitions(BASE)] == ["old", "x"]


def test_the_base_keeps_its_own_id_of_what_the_head_renamed() -> None:
    record = recorder(base=[definition("new", renamed_from="old")], head=[definition("new")])
    record.add(launched(BASE, "new", 1.0), 0)
    assert (record.ids(), record.is_on_all_arms("new")) == (("new",), True)
    assert record.found() == ("new", "old")
    assert [(r.id, len(r.series)) for r in record.results(BASE)] == [("old", 1)]
    assert [r.id for r in record.results(HEAD)] == ["new"]
    assert record.results(BASE, {"new"}) == record.results(HEAD, {"new"}) == ()


def test_what_could_not_be_read_is_a_failed_result() -> None:
    record = recorder(head=[definition("x")])
    record.define(Discovery({}, (DiscoveryFailure(BASE, "bad", "SyntaxError\nline 3"),)))
    (failed,) = record.failures(BASE)
    assert (failed.id, failed.status, failed.error) == ("bad", Status.FAILED, "SyntaxError\nline 3")
    assert record.results(BASE) == (failed,)
    assert record.failures(HEAD) == ()
    assert record.ids() == ("x",)


def test_a_note_is_given_to_every_arm_that_has_the_benchmark() -> None:
    record = recorder(base=[definition("x")], head=[definition("x"), definition("y")])
    record.note("x", "mind this")
    record.note("x", "mind this")
    assert [r.notes for r in record.results(BASE)] == [("mind this",)]
    assert [r.notes for r in record.results(HEAD)] == [("mind this",), ()]


def test_code_that_is_not_an_arms_own_fails_on_both() -> None:
    record = Recorder(list(ArmName))
    both = (definition("a"), definition("b"))
    unread = DiscoveryFailure(BASE, "file", "foreign", of_all=True)
    record.define(Discovery({BASE: both, HEAD: both}, (unread,)))
    record.add(Observation(BASE, "a", 0, error="foreign", of_all=True), 0)
    record.add(Observation(BASE, "b", 0, error="broken"), 0)
    for arm, failed in ((BASE, {"a", "b", "file"}), (HEAD, {"a", "file"})):
        found = {one.id for one in record.results(arm) if one.status is Status.FAILED}
        assert found == failed
