"""Runs a file of `bench_*` functions."""

from __future__ import annotations

from .failures import Fault, load
from .functions import FLAGS, HOOKS, find_benchmarks
from .opened import OpenBenchmark, OpenEach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .functions import Benchmark
    from .server import Server


class PythonHost:
    """Imports the file, and opens the functions that benchgate asks for."""

    def __init__(self, server: Server, request: dict[str, Any]) -> None:
        self.server = server
        self.request = request

    def run(self) -> None:
        """See `server.Host`."""
        server = self.server
        describer = server.describer(self.request) if server.describer else None
        module = load(self.request, server.loaded_by_python)
        benchmarks, faults = find_benchmarks(module, describer.check if describer else None)
        described = describer.describe(benchmarks.values()) if describer else []
        server.hello(described, faults)
        server.serve_each(lambda id_: opened(benchmarks.get(id_)))


def opened(benchmark: Benchmark | None) -> OpenBenchmark:
    if benchmark is None:
        raise Fault(
            "its file does not define it on every import: define the same functions each time"
        )
    each = (name for name in (*HOOKS, *FLAGS) if name.endswith("_each"))
    has_each = any(getattr(benchmark.function, name, None) for name in each)
    return OpenEach(benchmark) if has_each else OpenBenchmark(benchmark)
