"""`benchgate compare`: decide between stored results, without measuring anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.app.judging import judge_run, judge_stored, make_verdict, with_comparisons
from benchgate.files import read_result

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.config import Config
    from benchgate.model.verdict import Verdict


def compare(base: Path, head: Path | None, config: Config, *, detail: bool = False) -> Verdict:
    """Decide between the heads of two result files, or between the two arms of one.

    Args:
        base: the older result; alone, a result of `benchgate check`, whose verdict is made anew.
        detail: put every other estimate and test beside each row.

    Raises:
        UsageError: a file cannot be read, or one alone holds one arm only.
        FormatError: a file is no result, or damaged.
    """
    first = read_result(base)
    if head is None:
        judged = judge_run(first, config)
    else:
        judged = judge_stored(first, read_result(head), config)
    if detail:
        judged = with_comparisons(judged, config)
    return make_verdict(judged, config)
