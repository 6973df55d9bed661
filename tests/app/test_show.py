from __future__ import annotations

from pathlib import Path

import pytest

from benchgate.app.choice import Choice
from benchgate.app.show import show
from benchgate.errors import FormatError

VERSION_1 = Path(__file__).parents[1] / "model" / "version_1"


def test_an_old_verdict_is_said_to_be_no_result() -> None:
    with pytest.raises(FormatError, match="holds no `benchmarks`: it is no result file"):
        show(VERSION_1 / "verdict.json", Choice(), None)


def test_an_old_result_is_shown() -> None:
    found = show(VERSION_1 / "result.json", Choice(), None)

    assert [run.arm for run in found.runs] == ["head", "base"]
    assert all(run.environment.timer_cost_ns is None for run in found.runs)
