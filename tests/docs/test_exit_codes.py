"""docs/exit-codes.md against the codes that the program can end with."""

from __future__ import annotations

import re
from pathlib import Path

from benchgate import errors
from benchgate.cli.boundary import BROKEN_PIPE_EXIT_CODE, BUG_EXIT_CODE
from benchgate.gate import conclusion

PAGE = Path(__file__).parents[2] / "docs" / "exit-codes.md"


def test_every_exit_code_has_a_row() -> None:
    raised = {
        error.exit_code
        for error in vars(errors).values()
        if isinstance(error, type) and issubclass(error, errors.BenchgateError)
    }
    concluded = {conclusion.PASS, conclusion.REGRESSION, conclusion.NO_VERDICT, conclusion.BROKEN}
    documented = re.findall(r"^\| (\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [int(code) for code in documented] == sorted(
        {BUG_EXIT_CODE, BROKEN_PIPE_EXIT_CODE, *raised, *concluded}
    )
