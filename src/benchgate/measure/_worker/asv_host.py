"""Runs a suite of asv (airspeed velocity): a package whose functions and methods are benchmarks.

It needs neither asv nor asv_runner. Each benchmark runs as asv runs it: in a temporary folder, with
a fresh instance of its class, and with a copy of what its `setup_cache` has returned. Only the
module of a benchmark that is measured is imported.
"""

from __future__ import annotations

import os
import sys

from .asv_benchmark import AsvBenchmark, Prepared
from .asv_cache import Caches, Place, read
from .asv_items import describe
from .asv_opened import OpenTime, OpenTimeraw, OpenValue
from .asv_suite import Suite
from .failures import failure
from .loading import prepare
from .process_state import reset_peak_rss, surroundings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .asv_opened import OpenAsvBenchmark
    from .server import Server

# From this version on, asv_runner runs the setups before each call.
SETUP_BEFORE_CALLS = (0, 3)
RUNNER = "asv_runner-"


class Host:
    """Finds the benchmarks, and opens those that benchgate asks for."""

    def __init__(self, server: Server, request: dict[str, Any]) -> None:
        self.server = server
        self.request = request
        self.caches = Caches()

    def run(self) -> None:
        """See `server.Host`."""
        server, request = self.server, self.request
        prepare({**request, "helpers": request["file"]}, server.loaded_by_python, ())
        suite = Suite(request["file"])
        self.before_each_call = is_before_each_call(request["arguments"])
        if server.describer:
            server.hello(
                *describe(suite, server.describer, request, before_each_call=self.before_each_call)
            )
        else:
            server.hello([], {})
        message = server.next()
        while message is not None:
            try:
                is_over = not self.measure(suite, message["id"])
            except BaseException as error:  # noqa: BLE001 - SystemExit of the user's code too
                server.opened = None
                server.reply(failure(error))
                is_over = False
            message = None if is_over else server.next()

    def measure(self, suite: Suite, id_: str) -> bool:
        """Open a benchmark and let it be measured; return False if benchgate closed its side."""
        # Its memory counts from before the import: the process is its own, as under asv.
        rss_is_own = reset_peak_rss()
        candidate = suite.find(id_.partition("(")[0])
        if candidate.kind != "peakmemory":
            rss_is_own = reset_peak_rss()
        # An import may change the surroundings; it does so once.
        self.server.clean = surroundings()
        benchmark = AsvBenchmark(candidate)
        values = benchmark.values_for(id_)
        folder = self.caches.folder_for(benchmark)
        opened = self.opened(Prepared(benchmark, values, read(folder)), Place(folder))
        if self.server.measure(opened, rss_is_own=rss_is_own):
            self.server.close(opened)
            return True
        opened.close()
        return False

    def opened(self, prepared: Prepared, place: Place) -> OpenAsvBenchmark:
        kind = prepared.benchmark.candidate.kind
        if kind == "time":
            return OpenTime(prepared, place, before_each_call=self.before_each_call)
        return OpenTimeraw(prepared, place) if kind == "timeraw" else OpenValue(prepared, place)


def is_before_each_call(arguments: list[str]) -> bool:
    """Tell whether setups run before each call; otherwise they run before each sample.

    Args:
        arguments: "call" or "sample" if the configuration says it; else the installed asv_runner
            decides. Suites that were written before it had a choice expect the samples.
    """
    if arguments:
        return arguments == ["call"]
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.startswith(RUNNER) and name.endswith(".dist-info"):
                version = name[len(RUNNER) :].split(".")[:2]
                return tuple(int(each) for each in version if each.isdigit()) >= SETUP_BEFORE_CALLS
    return False
