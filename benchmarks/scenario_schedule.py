"""Whether an open loop begins its operations when they are due, on one CPU.

Run it with `python benchmarks/scenario_schedule.py`. Operations that take half a millisecond of
waiting are due 5,000 times a second. The load generator says how late its free workers were. The
exit code is 1 if the 99th percentile is above the limit and the generator does not say that it
missed its schedule, or if operations are lost. Other programs on the machine make it later.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchgate.load.drivers.driver import Connection, Driver
from benchgate.load.generator import run_launch
from benchgate.load.launch import LoadOrder, open_launch
from benchgate.stats.histogram import decode
from benchgate.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.load.drivers.driver import Operation
    from benchgate.load.launch import LoadReply, ProcessLaunch
    from benchgate.load.parameters import Parameters

LIMIT_S = 0.001
RATES = (1000.0, 5000.0, 10_000.0)
WORKERS = 16
SERVICE_S = 0.0005
SECONDS = 5


def wait(_: Parameters) -> None:
    time.sleep(SERVICE_S)


class Waiting(Connection):
    def operations(self) -> Sequence[Operation]:
        return [wait]

    def close(self) -> None:
        pass


class WaitingDriver(Driver[Any, Any, Any]):
    NAME = "waiting"

    def connect(self, worker: int) -> Connection:  # noqa: ARG002 - all do the same
        return Waiting()

    def run(self, script: object) -> None:
        pass


def waiting_launch(order: LoadOrder) -> ProcessLaunch:
    launch = open_launch(order)
    launch.driver.close()
    real = launch.driver
    return replace(launch, driver=WaitingDriver(real.target, real.steps, real.place))


def reply_at(rate: float) -> LoadReply:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "waiting.json")
        load = {
            "duration": f"{SECONDS}s",
            "warmup": "500ms",
            "concurrency": WORKERS,
            "rate": rate,
        }
        steps = [{"name": "wait", "query": "SELECT 1"}]
        file.write_text(json.dumps({"name": "waiting", "load": load, "step": steps}))
        order = LoadOrder(str(file), "waiting.json", "sqlite", folder, folder, {}, 0)
        return run_launch(waiting_launch(order), threading.Event())


def held(rate: float) -> bool:
    """Load at a rate, and print how it went; whether it was on time, or said that it was not."""
    reply = reply_at(rate)
    launch = reply.steps["wait"]
    late_s = launch.generator.late_p99_s
    histogram = decode(launch.histogram)
    p50_ns, p99_ns = histogram.percentile(0.5), histogram.percentile(0.99)
    if late_s is None or p50_ns is None or p99_ns is None:
        return False
    cpu_ratio = sum(group.cpu_ratio for group in launch.generator.groups)
    print(
        f"{rate:,.0f} per second: {launch.ops:,} operations, {launch.unfinished:,} not begun;"
        f" late p99 {late_s * 1e3:.3f} ms; latency p50 {p50_ns / 1e6:.3f} ms, p99"
        f" {p99_ns / 1e6:.3f} ms; {format_percent(cpu_ratio)} of a CPU"
    )
    for sentence in launch.generator.limits:
        print(f"  {sentence}")
    is_told = any("schedule" in sentence for sentence in launch.generator.limits)
    is_complete = launch.ops + launch.unfinished == rate * SECONDS
    return is_complete and (late_s <= LIMIT_S or is_told)


def main() -> None:
    """Measure at each rate, and print; exit with 1 where it was late and did not say so."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(f"{WORKERS} workers on one CPU, operations of {SERVICE_S * 1e3:g} ms")
    results = [held(rate) for rate in RATES]
    print("PASS" if all(results) else "FAIL")
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
