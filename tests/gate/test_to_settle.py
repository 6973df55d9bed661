from __future__ import annotations

import pytest

from benchgate.gate.pair_rows import settles_metric

STEP = ("throughput", "time_p50", "time_p95", "error_ratio")
TYPICAL = {"throughput", "time_p50"}


@pytest.mark.parametrize(
    ("names", "settle", "expected"),
    [
        (STEP, None, TYPICAL),
        (STEP, ("p25",), TYPICAL),
        (STEP, ("p25", "p95"), {*TYPICAL, "time_p95"}),
        (STEP, ("p95",), {"time_p95"}),
        (("time_p95", "time_p99"), None, {"time_p95", "time_p99"}),
        (("throughput", "error_ratio"), ("p95",), {"throughput"}),
        (("time_p99", "error_ratio"), None, {"time_p99"}),
        (("error_ratio",), None, {"error_ratio"}),
    ],
)
def test_metrics_under_load(
    names: tuple[str, ...], settle: tuple[str, ...] | None, expected: set[str]
) -> None:
    assert {name for name in names if settles_metric(name, names, settle)} == expected
