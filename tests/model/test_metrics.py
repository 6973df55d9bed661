from __future__ import annotations

import pytest

from benchgate.model.metrics import notes_on

NOTES = ("not pinned: no CPU", "peak_rss: less than 9 MiB", "instructions: none here", "time flies")


@pytest.mark.parametrize(
    ("metric", "left"),
    [
        ("time", ("not pinned: no CPU", "time flies")),
        ("peak_rss", ("not pinned: no CPU", "peak_rss: less than 9 MiB", "time flies")),
        ("instructions", ("not pinned: no CPU", "instructions: none here", "time flies")),
        ("latency", ("not pinned: no CPU", "time flies")),
    ],
)
def test_notes_on_other_metrics_are_left_out(metric: str, left: tuple[str, ...]) -> None:
    assert notes_on(metric, NOTES) == left
