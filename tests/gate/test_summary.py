from __future__ import annotations

import re

from benchmarks.gate.page import DOCS
from benchmarks.gate.summary import summary


def test_the_page_begins_with_what_the_recordings_say() -> None:
    text = summary()
    assert text in (DOCS / "believability.md").read_text(encoding="utf-8")
    assert 3 <= text.count("\n- ") + 1 <= 5


def test_the_summary_counts_all_clean_builds_that_were_run() -> None:
    (alarms, builds) = re.findall(r"^- (\d+) of ([\d,]+) builds", summary())[0]
    assert int(alarms) < int(builds.replace(",", ""))
