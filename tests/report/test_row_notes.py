from __future__ import annotations

from dataclasses import replace

import pytest

from benchgate.model.policy import Outcome, Waiver
from benchgate.model.row import Calibration, ConfirmationCost, Row
from benchgate.model.verdict import GateSettings
from benchgate.report.row_notes import notes_of

WAIVER = Waiver(Outcome.REGRESSED, 0.125, "2026-12-31", "checksum\nadded")


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            Row("a", Outcome.INCONCLUSIVE, detectable=1.038, rounds_needed=18),
            ("the smallest detectable change is 3.8 %; about 18 more rounds would settle it"),
        ),
        (Row("a", Outcome.INCONCLUSIVE, rounds_needed=1), "about 1 more round would settle it"),
        (
            Row("a", Outcome.INCONCLUSIVE, rounds_needed=9, unconfirmed=ConfirmationCost(8, 80.0)),
            "confirming it or ruling it out takes 8 more rounds, about 1 min 20 s",
        ),
        (Row("a", Outcome.INCONCLUSIVE), "too noisy to tell"),
        (Row("a", Outcome.NOT_TESTED, notes=("tail: 40 needed",)), "tail: 40 needed"),
        (Row("a", Outcome.NOT_TESTED), "too little was measured to test it"),
        (Row("a", Outcome.FAILED, error="boom\n  at x\n"), "boom"),
        (Row("a", Outcome.FAILED), "it did not run"),
        (Row("a", Outcome.MISSING), "the head does not have it"),
        (Row("a", Outcome.NEW), ""),
        (
            Row("a", Outcome.NEW, base=1.0, head=2.0, ratio=2.0),
            "only the head has this benchmark; it ran on both sides, and its change fails no build",
        ),
        (Row("a", Outcome.INCOMPARABLE), "base and head did different work"),
        (Row("a", Outcome.INCOMPARABLE, notes=("other CPU",)), "other CPU"),
        (Row("a", Outcome.REGRESSED, notes=("12 of 12",)), "12 of 12"),
        (
            Row("a", Outcome.WAIVED, waiver=WAIVER, notes=("12 of 12",)),
            "waived up to 12.5 % until 2026-12-31: checksum added; 12 of 12",
        ),
        (
            Row("a", Outcome.REGRESSED, waiver=WAIVER),
            "beyond the waiver of 12.5 % until 2026-12-31 (checksum added)",
        ),
        (Row("a", Outcome.UNCHANGED, renamed_from="old\x1b[1m"), "renamed from old"),
        (Row("a", Outcome.REGRESSED, advisory=True), "compared with stored launches only"),
        (
            Row("a", Outcome.REGRESSED, advisory=True, calibration=Calibration(1, None, None)),
            "compared with stored launches only",
        ),
        (
            Row("a", Outcome.IMPROVED, advisory=True, calibration=Calibration(3, 0.1, None)),
            "compared with stored launches only; advisory: 3 of the 10 earlier runs needed",
        ),
        (
            Row("a", Outcome.REGRESSED, margin=0.02, calibration=Calibration(12, 0.021, 0.0942)),
            ("calibrated on 12 runs: run-to-run spread 2.1 %, smallest change that counts 9.42 %"),
        ),
        (
            Row(
                "a",
                Outcome.INCONCLUSIVE,
                margin=0.02,
                detectable=1.03,
                calibration=Calibration(30, 0.002, 0.007),
            ),
            (
                "the smallest detectable change is 3.0 %; calibrated on 30 runs: "
                "run-to-run spread 0.2 %, smallest change that counts 2 %"
            ),
        ),
        (Row("a", Outcome.UNCHANGED, calibration=Calibration(12, 0.001, 0.004)), ""),
        (Row("a", Outcome.UNCHANGED, notes=("\x1b[1mnot pinned\x1b[0m", "")), "not pinned"),
    ],
)
def test_a_row_explains_itself(row: Row, expected: str) -> None:
    assert "; ".join(notes_of(row, GateSettings())) == expected


NOISY = Row("a", Outcome.INCONCLUSIVE, rounds_needed=768, launches=(23, 23), ratio=1.75)


@pytest.mark.parametrize(
    ("row", "max_rounds", "expected"),
    [
        (NOISY, 30, "settling it takes more than the limit of 30 rounds"),
        # It looked changed, so it got twice as many.
        (
            replace(NOISY, launches=(60, 60)),
            30,
            "settling it takes more than the limit of 60 rounds",
        ),
        (NOISY, None, "about 768 more rounds would settle it"),
        (NOISY, 791, "about 768 more rounds would settle it"),
    ],
)
def test_nobody_is_told_to_measure_more_rounds_than_there_may_be(
    row: Row, max_rounds: int | None, expected: str
) -> None:
    assert notes_of(row, GateSettings(max_rounds=max_rounds)) == (expected,)


@pytest.mark.parametrize("ratio", [1.75, 0.5])
def test_what_could_be_seen_is_not_said_beside_a_larger_change(ratio: float) -> None:
    row = Row("a", Outcome.INCONCLUSIVE, ratio=ratio, detectable=1.034)
    assert notes_of(row, GateSettings()) == ("too noisy to tell",)
