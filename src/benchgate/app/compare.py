"""`benchgate compare`: decide between stored results, without measuring anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.app.judging import judge_run, judge_stored, make_verdict, with_comparisons
from benchgate.baselines.stored import Earlier
from benchgate.files import read_result

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchgate.config import Config
    from benchgate.model.verdict import Verdict


def compare(paths: Sequence[Path], config: Config, *, detail: bool = False) -> Verdict:
    """Decide between the heads of result files, or between the two arms of one.

    Args:
        paths: earlier results in any order, and the head as the last; or, alone, a result of
            `benchgate check`, whose verdict is made anew.
        detail: put every other estimate and test beside each row.

    Raises:
        UsageError: a file cannot be read, or one alone holds one arm only.
        FormatError: a file is no result, or damaged.
    """
    *earlier, last = paths
    if earlier:
        results = [Earlier(str(path), read_result(path)) for path in earlier]
        judged = judge_stored(results, read_result(last), config)
    else:
        judged = judge_run(read_result(last), config)
    if detail:
        judged = with_comparisons(judged, config)
    return make_verdict(judged, config)
