"""`benchgate show`: the statistics of a stored result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.app.choice import nothing_chosen
from benchgate.describe.result import describe
from benchgate.files import read_result
from benchgate.model.result import CANARY_ID

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.app.choice import Choice
    from benchgate.describe.detail import DetailSettings
    from benchgate.model.statistics import ResultStatistics


def show(path: Path, choice: Choice, detail: DetailSettings | None) -> ResultStatistics:
    """Describe what was chosen of a result file.

    Args:
        detail: None for a line per series only.

    Raises:
        UsageError: the file cannot be read, or nothing in it is chosen.
        FormatError: the file is no result, or damaged.
    """
    result = read_result(path)
    runs = [result.head] if result.base is None else [result.head, result.base]
    ids = {b.id for run in runs for b in run.benchmarks} - {CANARY_ID}
    if ids and not any(choice.wants(id_, ()) for id_ in ids):
        raise nothing_chosen(choice, dict.fromkeys(ids, ()))
    return describe(result, lambda id_: choice.wants(id_, ()), detail)
