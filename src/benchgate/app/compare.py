"""`benchgate compare`: decide between stored results, without measuring anything."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.app.judging import judge_result, judge_stored, make_verdict
from benchgate.baselines.stored import Earlier, Found, newest_first
from benchgate.files import read_result
from benchgate.gate.comparison import CompareSettings, with_details

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchgate.app.judging import Judged
    from benchgate.config import Config
    from benchgate.model.verdict import Verdict


def compare(paths: Sequence[Path], config: Config, *, detail: bool = False) -> Verdict:
    """Decide between the heads of result files, or between the two arms of one.

    Args:
        paths: earlier results in any order, and the head as the last; or, alone, a result of
            `benchgate check`, whose verdict is recomputed.
        detail: put every other estimate and test beside each row.

    Raises:
        UsageError: a file cannot be read, or one alone holds one arm only.
        FormatError: a file is no result, or damaged.
    """
    *earlier, last = paths
    if earlier:
        results = newest_first(Earlier(str(path), read_result(path)) for path in earlier)
        judged = judge_stored(Found("file", results), read_result(last), config)
    else:
        judged = judge_result(read_result(last), config)
    if detail:
        judged = _with_comparisons(judged, config)
    return make_verdict(judged, config)


def _with_comparisons(judged: Judged, config: Config) -> Judged:
    """Put every other estimate and test beside each row; it takes a moment for each."""
    gate = config.gate
    settings = CompareSettings(gate.confidence, gate.alpha, seed=judged.head.seed)
    return replace(judged, judgement=with_details(judged.judgement, settings))
