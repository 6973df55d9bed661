"""`compare` on genuine files of other tools that once passed although something was wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Call

CASES = Path(__file__).with_name("cases")


@pytest.mark.parametrize(
    ("case", "code", "words"),
    [
        ("clock-steps", 4, ("not tested", "the clock shows steps of 14.3 % of the value")),
        ("zero-times", 4, ("not tested", "times are 0: the clock is too coarse, or nothing was")),
        ("all-requests-fail", 3, ("from 0 to 100 %", "no improvement: 0 % of the base's requests")),
    ],
)
def test_what_once_passed(
    call: Call, tmp_path: Path, case: str, code: int, words: tuple[str, ...]
) -> None:
    base, head = (sorted((CASES / case / side).iterdir()) for side in ("base", "head"))
    done = call(tmp_path, "compare", "--base", *base, "--head", *head)
    assert done.code == code, done.out
    for word in words:
        assert word in done.out
    assert "improved" not in done.out
    assert "unchanged" not in done.out
