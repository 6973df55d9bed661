from __future__ import annotations

import pytest

from benchgate.model.verdict import Outcome, Row
from benchgate.report.notes import note


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            Row("a", Outcome.INCONCLUSIVE, detectable=1.038, rounds_needed=18),
            (
                "the smallest change that could have been seen is 3.8 %; "
                "about 18 more rounds would settle it"
            ),
        ),
        (Row("a", Outcome.INCONCLUSIVE, rounds_needed=1), "about 1 more round would settle it"),
        (Row("a", Outcome.INCONCLUSIVE), "too noisy to tell"),
        (Row("a", Outcome.NOT_TESTED, notes=("tail: 40 needed",)), "tail: 40 needed"),
        (Row("a", Outcome.NOT_TESTED), "too little was measured to test it"),
        (Row("a", Outcome.FAILED, error="boom\n  at x\n"), "boom"),
        (Row("a", Outcome.FAILED), "it did not run"),
        (Row("a", Outcome.MISSING), "the base has it, the head does not"),
        (Row("a", Outcome.NEW), "the base does not have it: nothing to compare with"),
        (Row("a", Outcome.INCOMPARABLE), "the two sides measured different work"),
        (Row("a", Outcome.INCOMPARABLE, notes=("other CPU",)), "other CPU"),
        (Row("a", Outcome.REGRESSED, notes=("12 of 12",)), "12 of 12"),
        (Row("a", Outcome.REGRESSED, advisory=True), "seen against stored launches only"),
        (Row("a", Outcome.UNCHANGED, notes=("\x1b[1mnot pinned\x1b[0m", "")), "not pinned"),
    ],
)
def test_a_row_explains_itself(row: Row, expected: str) -> None:
    assert note(row) == expected
