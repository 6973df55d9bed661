from __future__ import annotations

from dataclasses import replace

from benchgate.measure.processes.execution import Execution, measured_in, notes_on
from benchgate.model.metrics import INSTRUCTIONS

COUNTED = Execution(
    wall_ns=3,
    user_ns=2,
    system_ns=1,
    peak_rss_bytes=4096,
    peak_rss_floor_bytes=1024,
    returncode=0,
    timed_out="",
    output_tail="",
    count=7,
)


def test_instructions_are_known_only_if_every_execution_was_counted() -> None:
    uncounted = replace(COUNTED, count=None, uncounted="in use")
    for samples, is_known in (([COUNTED] * 2, True), ([COUNTED, uncounted], False)):
        metrics = [found.metric for found in measured_in(samples, [COUNTED])]
        assert (INSTRUCTIONS in metrics) is is_known
        assert notes_on(samples) == (() if is_known else ("instructions: in use",))
