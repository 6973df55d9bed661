"""What happens to a job that has no baseline although `required` demands one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.errors import BaselineError
from benchgate.model.skipped import by_reason
from benchgate.units import counted

if TYPE_CHECKING:
    from benchgate.app.judging import Judged
    from benchgate.config import Config
    from benchgate.model.result import Result


def require_baseline(judged: Judged, result: Result, config: Config, why: str) -> None:
    """Refuse to go on if a baseline is required, and no benchmark of one is known.

    Args:
        why: there is no commit to measure, if that is so.
    """
    if judged.judgement.base_benchmarks or not config.baseline.required:
        return
    reasons = [why] if why else []
    if screening := result.screening:
        reasons += screening.warnings
        if screening.skipped:
            reasons.append(f"{counted(len(screening.skipped), 'stored result')} cannot be used")
    raise BaselineError(
        f"there is nothing to compare with, but {config.where('baseline.required')} requires it: "
        f"{'; '.join(reasons) or 'the base has no benchmarks'}",
        hint="Run the workflow on the default branch: its result becomes a baseline.",
        details="\n".join(f"{one.what}: {one.reason}" for one in by_reason(judged.skipped)),
    )
