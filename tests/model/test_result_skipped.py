from __future__ import annotations

from benchgate.model.result import MOST_REASONS, SkippedResult, by_reason


def test_many_of_one_reason_are_counted_with_three_examples() -> None:
    strange = [SkippedResult(f"artifact {n}", "it is of a fork") for n in range(297)]
    others = [SkippedResult("old", "it has expired"), SkippedResult("new", "it has expired")]
    shown = by_reason([others[0], *strange, others[1]])
    examples = "artifact 0, artifact 1, artifact 2"
    assert shown == (
        *others,
        SkippedResult("297 results", f"it is of a fork; for example {examples}"),
    )


def test_few_are_named() -> None:
    few = tuple(SkippedResult(f"artifact {n}", "it is of a fork") for n in range(3))
    assert by_reason(few) == few


def test_reasons_without_end_are_not_shown() -> None:
    shown = by_reason(SkippedResult(f"artifact {n}", f"reason {n}") for n in range(300))
    assert len(shown) == MOST_REASONS + 1
    assert shown[-1].what == f"{300 - MOST_REASONS} more"
