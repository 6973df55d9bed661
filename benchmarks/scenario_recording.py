"""What a worker costs beyond its driver for each operation, and how much memory it takes.

Run it with `python benchmarks/scenario_recording.py`. A driver that does nothing is loaded in a
closed loop, by the code that loads real ones. Beside it, in the same run, an empty loop calls the
same operation. The difference is what benchgate adds: drawing parameters, two readings of the
clock, the histogram, the sample and the time windows. The exit code is 1 if that is above the
limit, or if ten million operations take more memory than a few.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchgate.load.drivers.driver import Connection, Driver
from benchgate.load.generator import LocalGate
from benchgate.load.group import run_workers
from benchgate.load.launch import LoadOrder, make_launch
from benchgate.load.scenario_file import read_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.load.drivers.driver import Operation
    from benchgate.load.group import GroupRecord
    from benchgate.load.parameters import Parameters

LIMIT_NS = 1000.0
OPERATIONS = 10_000_000
CALLS = 1_000_000
# Other programs may slow it down meanwhile.
SPARE = 1.2
# An eighth of what their latencies alone would take.
MOST_GROWTH_BYTES = 10 * 2**20
REPEATS = 3
SECONDS = 2.0
PLAIN = [{"name": "one", "query": "SELECT 1"}]
WEIGHTED = [
    {
        "name": name,
        "query": "SELECT :id",
        "params": {"id": "random_int(1, 1000)"},
        "weight": weight,
    }
    for name, weight in (("often", 4), ("rarely", 1))
]


def nothing(_: Parameters) -> None:
    pass


class Idle(Connection):
    def __init__(self, steps: int) -> None:
        self._steps = steps

    def operations(self) -> Sequence[Operation]:
        return [nothing] * self._steps

    def close(self) -> None:
        pass


class IdleDriver(Driver[Any, Any, Any]):
    NAME = "idle"

    def connect(self, worker: int) -> Connection:  # noqa: ARG002 - all do the same
        return Idle(len(self.steps))

    def run(self, script: object) -> None:
        pass


def load(steps: Sequence[Mapping[str, object]], seconds: float) -> GroupRecord:
    """Let one worker work for so long."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "idle.json")
        tables = {"duration": f"{seconds}s", "warmup": "200ms", "concurrency": 1}
        file.write_text(json.dumps({"name": "idle", "load": tables, "step": steps}))
        order = LoadOrder(str(file), "idle.json", "sqlite", folder, folder, {}, 0)
        launch = make_launch(order, read_scenario(file, "idle.json"), os.environ)
        launch.driver.close()
        real = launch.driver
        idle = replace(launch, driver=IdleDriver(real.target, real.steps, real.place))
        return run_workers(idle, [0], LocalGate(threading.Event(), 1))


def operations_of(record: GroupRecord) -> int:
    return sum(step.ops for step in record.steps.values())


def cost_ns(steps: Sequence[Mapping[str, object]]) -> float:
    """CPU time of the whole process for each operation, in the fastest of a few executions."""
    records = [load(steps, SECONDS) for _ in range(REPEATS)]
    return min(record.cpu_s * 1e9 / operations_of(record) for record in records)


def empty_loop_ns() -> float:
    """The same for a loop that only calls the operation."""
    found = []
    for _ in range(REPEATS):
        parameters: Parameters = {}
        before_s = time.process_time()
        for _ in range(CALLS):
            nothing(parameters)
        found.append((time.process_time() - before_s) * 1e9 / CALLS)
    return min(found)


def peak_bytes() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def growth_bytes() -> int:
    """How much more memory this process takes for ten million operations than for fewer."""
    few = operations_of(load(PLAIN, SECONDS))
    before = peak_bytes()
    many = operations_of(load(PLAIN, SECONDS * OPERATIONS / few * SPARE))
    print(f"after {few:,} operations the process had taken {before / 2**20:.1f} MiB at the most")
    grown = peak_bytes() - before
    print(f"after {many:,} more, {(before + grown) / 2**20:.1f} MiB")
    return grown


def main() -> None:
    """Measure and print; exit with 1 where a limit is missed."""
    empty_ns, plain_ns, weighted_ns = empty_loop_ns(), cost_ns(PLAIN), cost_ns(WEIGHTED)
    added_ns = plain_ns - empty_ns
    print(f"an empty loop: {empty_ns:.0f} ns for each operation")
    print(f"one step: {plain_ns:.0f} ns, x {plain_ns / empty_ns:.1f}")
    print(f"two steps by weight, with a random parameter: {weighted_ns:.0f} ns")
    grown = growth_bytes()
    passed = added_ns <= LIMIT_NS and grown <= MOST_GROWTH_BYTES
    print(
        f"{'PASS' if passed else 'FAIL'}: recording adds {added_ns:.0f} ns (limit {LIMIT_NS:g} ns),"
        f" and memory grew by {grown / 2**20:.1f} MiB (limit {MOST_GROWTH_BYTES / 2**20:g} MiB)"
    )
    sys.exit(not passed)


if __name__ == "__main__":
    main()
