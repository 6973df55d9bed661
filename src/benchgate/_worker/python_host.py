"""Runs a file of `bench_*` functions."""

from __future__ import annotations

from .failures import Fault, failure, load
from .functions import FLAGS, HOOKS, find_benchmarks
from .opened import OpenBenchmark, OpenEach, reset_peak_rss

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
        message = server.next()
        while message is not None:
            try:
                is_over = not self.measure(benchmarks.get(message["id"]))
            except BaseException as error:  # noqa: BLE001 - SystemExit of the user's code too
                server.reply(failure(error))
                is_over = False
            message = None if is_over else server.next()

    def measure(self, benchmark: Benchmark | None) -> bool:
        """Open a benchmark and let it be measured; return False if benchgate closed its side."""
        rss_is_own = reset_peak_rss()
        if benchmark is None:
            raise Fault(
                "its file does not define it on every import: define the same functions each time"
            )
        function = benchmark.function
        each = (name for name in (*HOOKS, *FLAGS) if name.endswith("_each"))
        has_each = any(getattr(function, name, None) for name in each)
        opened = OpenEach(benchmark) if has_each else OpenBenchmark(benchmark)
        if self.server.measure(opened, rss_is_own=rss_is_own):
            self.server.close(opened)
            return True
        opened.close()
        return False
