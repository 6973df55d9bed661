from __future__ import annotations

import pytest

from benchgate.measure.arm import ArmName
from benchgate.measure.observing.count_ledger import CountLedger, folder_for_counts
from benchgate.model.metrics import INSTRUCTIONS, VALGRIND

BASE, HEAD = ArmName.BASE, ArmName.HEAD


def test_only_what_is_wanted_is_counted() -> None:
    ledger = CountLedger(lambda id_: id_ != "unwanted")
    assert ledger.due(["a", "unwanted"]) == ["a"]


def test_a_count_is_of_its_arm_and_says_who_counted() -> None:
    head, base = CountLedger(lambda _: True).counted("a", {HEAD: 5.0, BASE: 4.0}, loops=3)
    assert [(one.arm, one.order) for one in (head, base)] == [(HEAD, 0), (BASE, 1)]
    (measured,) = head.metrics
    assert (measured.metric, measured.loops, measured.counter) == (INSTRUCTIONS, 3, VALGRIND)
    assert measured.launches[0].samples.tolist() == [5.0]


@pytest.mark.parametrize(
    ("why", "note"),
    [
        ("it raised ValueError\nTraceback", "it raised ValueError"),
        (
            "timed out: it took 30 s; `timeout` of [[benchmark]] sets the limit",
            "timed out: it took 30 s",
        ),
        (
            "its process was killed by SIGILL\nIllegal instruction",
            (
                "its process was killed by SIGILL: valgrind does not know all instructions of "
                "this processor, such as AVX-512"
            ),
        ),
    ],
)
def test_what_fails_once_gets_a_note_and_is_not_tried_again(why: str, note: str) -> None:
    ledger = CountLedger(lambda _: True)
    observations = ledger.given_up("a", (BASE, HEAD), why)
    assert [(one.arm, one.error, one.metrics) for one in observations] == [
        (BASE, None, ()),
        (HEAD, None, ()),
    ]
    assert {one.notes for one in observations} == {(f"instructions: valgrind: {note}",)}
    assert ledger.due(["a"]) == []


def test_the_folder_is_empty_and_does_not_stay() -> None:
    with folder_for_counts() as folder:
        assert list(folder.iterdir()) == []
        (folder / "1").touch()
    assert not folder.exists()
