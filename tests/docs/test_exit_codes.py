"""The pages about exit codes and about no verdict, against what the program can end with."""

from __future__ import annotations

import re
from pathlib import Path

from benchgate import errors
from benchgate.cli.boundary import BROKEN_PIPE_EXIT_CODE, BUG_EXIT_CODE
from benchgate.gate import conclusion

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "exit-codes.md"


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


def test_the_reasons_of_no_verdict_stand_in_the_order_in_which_the_first_is_named() -> None:
    page = (DOCS / "reading-a-verdict.md").read_text(encoding="utf-8")
    documented = re.findall(r"^- `([a-z ]+)` \([045]", page, re.MULTILINE)
    in_order = [str(one.reason.value) for one in conclusion._AGAINST_A_PASS]  # noqa: SLF001 - the order
    assert documented == list(dict.fromkeys(in_order))
