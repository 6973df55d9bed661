from __future__ import annotations

from functools import partial

import pytest
from tests.report.conftest import golden, printed

from benchgate.model.result import Phase, PhaseTime
from benchgate.report.terminal import render_timing

PHASES = (
    PhaseTime(Phase.START, 1, 0.7),
    PhaseTime(Phase.FIRST_ROUND, 1, 1.3),
    PhaseTime(Phase.LATER_ROUNDS, 12, 6.0),
    PhaseTime(Phase.START_WORKERS, 40, 3.1),
)


@pytest.mark.parametrize("width", [None, 60])
def test_phases_look_as_they_did(width: int | None) -> None:
    text = printed(partial(render_timing, PHASES), width)
    golden(f"timing-{width or 'pipe'}.txt", text)


def test_an_instant_has_no_shares() -> None:
    text = printed(partial(render_timing, (PhaseTime(Phase.START, 1, 0.0),)), None)
    assert "%" not in text


def test_without_phases_there_is_nothing_to_print() -> None:
    assert not printed(partial(render_timing, ()), None).strip()
