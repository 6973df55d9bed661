from __future__ import annotations

import pytest
from tests.gate.arms import bench, heads, judged

from benchgate.gate.disturbance import disturbance, is_canary
from benchgate.model.metrics import Metric
from benchgate.model.policy import Outcome
from benchgate.model.run import CANARY_ID, FILES_CANARY_ID
from benchgate.model.verdict import GateSettings
from benchgate.report.row_notes import notes_of


@pytest.mark.parametrize(
    ("rounds", "change", "disturbed"),
    [
        (12, 0.0, False),
        (12, 0.008, False),  # within half the margin of 2 %
        (12, 0.03, True),
        (12, -0.03, True),
        (8, 0.03, True),
        (7, 0.03, False),  # 2 * 2 ** -7 > 0.01
        (0, 0.03, False),
        (1200, 0.03, True),  # more than the exact test takes
    ],
)
def test_the_same_work_must_take_the_same_time(
    rounds: int,
    change: float,
    disturbed: bool,  # noqa: FBT001 - a column of the table
) -> None:
    base, head = bench(CANARY_ID, [1] * rounds), bench(CANARY_ID, heads(rounds, change).tolist())
    ratio = disturbance(base, head, margin=0.02, alpha=0.01)
    assert ratio == (pytest.approx(1 + change, abs=1e-3) if disturbed else None)


def test_a_canary_without_times_says_nothing() -> None:
    other = bench(CANARY_ID, [1] * 12, metric=Metric("rss", "B"))
    assert disturbance(other, other, margin=0.02, alpha=0.01) is None
    assert is_canary(other)
    assert not is_canary(bench("b", [1]))


@pytest.mark.parametrize("change", [0.1, -0.1])
def test_a_disturbance_takes_the_belief_from_changes(change: float) -> None:
    base = [bench(CANARY_ID, [1] * 17), bench("changed", [1] * 17), bench("same", [1] * 17)]
    head = [
        bench(CANARY_ID, heads(17, 0.05).tolist()),
        bench("changed", heads(17, change).tolist()),
        bench("same", heads(17).tolist()),
    ]
    found = judged(base, head, '[gate]\nstatistics = ["p25"]')
    assert [(row.benchmark, row.outcome) for row in found.rows] == [
        ("changed", Outcome.INCONCLUSIVE),
        ("same", Outcome.UNCHANGED),
    ]
    assert "canary" in found.rows[0].notes[0]
    assert "+5.0 %" in found.warnings[0]
    assert found.base_benchmarks == 2
    assert found.doubted == (change > 0)
    assert found.disturbed


@pytest.mark.parametrize(("on_base", "on_head"), [(False, False), (True, False), (False, True)])
def test_a_disturbed_disk_takes_it_only_from_what_uses_files(
    on_base: bool,  # noqa: FBT001 - a column of the table
    on_head: bool,  # noqa: FBT001 - a column of the table
) -> None:
    is_doubted = on_base or on_head
    base = [
        bench(FILES_CANARY_ID, [1] * 17),
        bench("files", [1] * 17, uses_files=on_base),
        bench("pure", [1] * 17, uses_files=False),
    ]
    head = [
        bench(FILES_CANARY_ID, heads(17, 0.05).tolist()),
        bench("files", heads(17, 0.1).tolist(), uses_files=on_head),
        bench("pure", heads(17, 0.1).tolist(), uses_files=False),
    ]
    found = judged(base, head, '[gate]\nstatistics = ["p25"]')
    files, pure = found.rows
    assert pure.outcome is Outcome.REGRESSED
    assert any(note.startswith("confirmed in ") for note in pure.notes)
    assert found.disturbed == found.doubted == is_doubted
    assert files.outcome is (Outcome.INCONCLUSIVE if is_doubted else Outcome.REGRESSED)
    if is_doubted:
        (warning,) = found.warnings
        assert "so no change of benchmarks that use files is reported" in warning
        assert not any(note.startswith("confirmed in ") for note in files.notes)
        said = notes_of(files, GateSettings())
        assert "too noisy to tell" not in said
        assert said[0].startswith("was regressed, but the canary, writing and reading a file")
    else:
        assert found.warnings == ()


def test_a_quiet_canary_is_not_mentioned() -> None:
    base = [bench(CANARY_ID, [1] * 17), bench("b", [1] * 17)]
    head = [bench(CANARY_ID, heads(17).tolist()), bench("b", heads(17, 0.1).tolist())]
    found = judged(base, head, '[gate]\nstatistics = ["p25"]')
    assert [row.outcome for row in found.rows] == [Outcome.REGRESSED]
    assert found.warnings == ()
    assert not found.doubted
    assert not found.disturbed
