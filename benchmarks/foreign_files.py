"""How long it takes to read a large file of another tool, and how much memory that needs.

It writes files of 20 MB in a temporary folder and reads each in a fresh process, best of five.
Goals for the file of pytest-benchmark: <= 1.5 x `json.loads` of it + 0.2 s, <= 4 x its size.

    python benchmarks/foreign_files.py
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.baselines.any_file import read_any

if TYPE_CHECKING:
    from collections.abc import Callable

FILE_BYTES = 20_000_000
TIMES = 5
SAMPLES = 400


def main() -> None:
    """Generates, reads and prints; or, given a file, reads that one and prints."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, help="read this file, nothing else")
    arguments = parser.parse_args()
    if arguments.file:
        read(arguments.file)
        return
    with tempfile.TemporaryDirectory() as folder:
        for make in (pytest_benchmark, go, k6):
            path = Path(folder, make.__name__)
            path.write_text(make())
            subprocess.run([sys.executable, __file__, path], check=True)


def read(path: Path) -> None:
    """Reads a file as `import` does; compares with `json.loads` if it is one document."""
    size = path.stat().st_size
    read_any([small(path)])
    before = peak()
    read_s = best(lambda: read_any([path]), 1)
    grown = peak() - before
    read_s = min(read_s, best(lambda: read_any([path]), TIMES - 1))
    line = f"{path.name:17} {size / 1e6:5.1f} MB  {read_s:5.2f} s  {grown / size:4.1f} x memory"
    if path.name == "pytest_benchmark":
        loads_s = best(lambda: json.loads(path.read_text()), TIMES)
        line += f"  json.loads {loads_s:.2f} s, goal {1.5 * loads_s + 0.2:.2f} s"
    print(line)


def small(path: Path) -> Path:
    """A file of the same tool, read first so that all modules are imported."""
    made = {"pytest_benchmark": pytest_benchmark, "go": go, "k6": k6}[path.name](2000)
    other = path.with_suffix(".small")
    other.write_text(made)
    return other


def best(call: Callable[[], object], times: int) -> float:
    """The least wall time of some calls."""
    found = []
    for _ in range(times):
        started = time.perf_counter()
        call()
        found.append(time.perf_counter() - started)
    return min(found)


def peak() -> int:
    """The most memory that this process has needed so far, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # a process that Linux starts inherits the `ru_maxrss` of the other one
        found = re.search(r"VmHWM:\s*(\d+) kB", status.read_text())
        return int(found[1]) * 1024 if found else 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def pytest_benchmark(least_bytes: int = FILE_BYTES) -> str:
    """What `pytest --benchmark-json` writes, with every sample."""
    rng = random.Random(1)  # noqa: S311 - the same file every time
    rows: list[object] = []
    size = 0
    while size < least_bytes:
        data = [rng.uniform(1e-6, 2e-6) for _ in range(SAMPLES)]
        name = f"tests/test_{len(rows)}.py::test_it"
        row = {"fullname": name, "name": "test_it", "stats": {"data": data, "iterations": 10}}
        rows.append(row)
        size += len(json.dumps(row, indent=4))
    return json.dumps({"machine_info": {}, "version": "5.3.1", "benchmarks": rows}, indent=4)


def go(least_bytes: int = FILE_BYTES) -> str:
    """What `go test -bench -benchmem -count=10` prints."""
    lines = ["goos: linux", "goarch: amd64", "pkg: example.com/x"]
    size, index = 0, 0
    while size < least_bytes:
        result = f"BenchmarkIt/case={index // 10}-8  \t 1000\t {1000 + index % 7}.5 ns/op"
        lines.append(f"{result}\t     64 B/op\t       2 allocs/op")
        size += len(lines[-1])
        index += 1
    return "\n".join([*lines, "PASS", "ok  \texample.com/x\t1.2s", ""])


def k6(least_bytes: int = FILE_BYTES) -> str:
    """What `k6 run --out json=FILE` writes."""
    data = {"name": "http_req_duration", "type": "trend", "contains": "time"}
    first = {"type": "Metric", "data": data, "metric": "http_req_duration"}
    lines = [json.dumps(first, separators=(",", ":"))]
    size, index = 0, 0
    while size < least_bytes:
        tags = {"method": "GET", "name": f"/{index % 50}", "scenario": "default", "status": "200"}
        value = {"time": "2026-01-01T00:00:00Z", "value": 40 + index % 13, "tags": tags}
        point = {"metric": "http_req_duration", "type": "Point", "data": value}
        lines.append(json.dumps(point, separators=(",", ":")))
        size += len(lines[-1])
        index += 1
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
