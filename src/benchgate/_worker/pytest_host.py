"""Runs a suite of pytest, and stops each test where its benchmark begins.

The user's own pytest collects the tests and runs their fixtures. In the place of the `benchmark`
fixture, a test gets one that hands the callable over to benchgate. It is sampled there, like any
other benchmark. Then the test goes on to its end, so its assertions hold.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from linecache import getline

from .failures import LINE_LIMIT, TRACE_LIMIT, Fault, Skipped, failure, prepare
from .process_state import set_heap_aside
from .pytest_fixture import BenchmarkFixture, opened_for
from .pytest_items import FIXTURE, OF_THE_CACHE, describe, is_benchmark, options_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .opened import OpenBenchmark

    Measure = Callable[[OpenBenchmark], None]
    from collections.abc import Iterable

    from .server import Server


def plugin_for(host: Any, pytest: Any) -> object:
    """Return the hooks that a suite needs.

    Args:
        host: a `PytestHost`.
        pytest: the user's module.
    """

    class Fixtures:
        @pytest.fixture  # type: ignore[untyped-decorator]
        def benchmark(self, request: Any) -> BenchmarkFixture:
            found: BenchmarkFixture = host.fixture(request.node)
            return found

    class Plugin:
        def pytest_addoption(self, parser: Any) -> None:
            # The plugin of these options is left out, and the project's settings may have them.
            for names in OF_THE_CACHE:
                parser.addoption(*names, action="store_true", dest="benchgate_ignores")

        @pytest.hookimpl(hookwrapper=True)  # type: ignore[untyped-decorator]
        def pytest_load_initial_conftests(self, early_config: Any) -> Any:
            host.set_options(early_config.known_args_namespace)  # pytest-cov starts here
            yield

        @pytest.hookimpl(hookwrapper=True)  # type: ignore[untyped-decorator]
        def pytest_cmdline_main(self, config: Any) -> Any:
            host.set_options(config.option)  # before any other plugin looks at them
            config.addinivalue_line("markers", f"{FIXTURE}: the test is measured as a whole")
            yield

        @pytest.hookimpl(trylast=True)  # type: ignore[untyped-decorator]
        def pytest_sessionstart(self, session: Any) -> None:
            plugins = session.config.pluginmanager
            host.replace_plugins(plugins)
            # Of fixtures with the same name, the last one is used.
            plugins.register(Fixtures(), "benchgate-fixture")

        def pytest_collectreport(self, report: Any) -> None:
            host.note(report)

        @pytest.hookimpl(tryfirst=True)  # type: ignore[untyped-decorator]
        def pytest_runtestloop(self, session: Any) -> bool:
            host.serve(session.items)
            return True

        @pytest.hookimpl(tryfirst=True)  # type: ignore[untyped-decorator]
        def pytest_pyfunc_call(self, pyfuncitem: Any) -> bool | None:
            found: bool | None = host.call_test(pyfuncitem)
            return found

    return Plugin()


ALWAYS = ("-q", "-p", "no:cacheprovider", "--assert=plain", "--continue-on-collection-errors")
OLDEST_PYTEST = 7
# Plugins that measure.
REPLACED = ("benchmark", "codspeed")
# Options of plugins that would run tests elsewhere, trace them, repeat them or leave them out.
NEUTRAL = {
    "benchmark_only": False,
    "benchmark_skip": False,
    "benchmark_disable": False,
    "codspeed": False,
    "cov_source": [],
    "dist": "no",
    "maxfail": 0,
    "no_cov": True,
    "numprocesses": None,
    "tx": [],
}


class PytestHost:
    """Collects the tests of a suite, and runs the one that benchgate asks for.

    Attributes:
        ENDS_SLOWLY: whether its end takes long, and runs nothing that a benchmark needs.
    """

    ENDS_SLOWLY = True

    def __init__(self, server: Server, request: dict[str, Any]) -> None:
        self.server = server
        self.request = request
        self.items: dict[str, Any] = {}
        self.faults: dict[str, str] = {}
        self.files: list[str] = []
        self.last = ""
        self.measured: OpenBenchmark | None = None
        # For pytest-benchmark, a mark of a test without the fixture only holds options.
        self.marks_are_options = False
        self.has_served = False
        self.is_over = False  # benchgate has closed its side

    def run(self) -> None:
        """See `server.Host`."""
        prepare(self.request, self.server.loaded_by_python, ())
        try:
            import pytest  # noqa: PLC0415 - the user's
        except ImportError:
            raise Fault(
                f"pytest is not installed for {sys.executable}: let [build] install what the "
                "tests need"
            ) from None
        if int(pytest.__version__.partition(".")[0]) < OLDEST_PYTEST:
            raise Fault(
                f"{sys.executable} has pytest {pytest.__version__}: benchgate needs "
                f"{OLDEST_PYTEST} or newer"
            )
        where = os.path.relpath(self.request["file"])
        arguments = [*ALWAYS, *self.request["arguments"], where]
        code = pytest.main(arguments, plugins=[plugin_for(self, pytest)])
        if not self.is_over:
            what = "ended" if self.has_served else "collected no tests: it ended"
            raise Fault(f"pytest {what} with exit code {int(code)}; its output says why")

    @staticmethod
    def set_options(options: Any) -> None:
        """Undo options that would run the tests in another way."""
        for name, value in NEUTRAL.items():
            if hasattr(options, name):
                setattr(options, name, value)

    def replace_plugins(self, plugins: Any) -> None:
        """Leave the hooks of other plugins that measure out: they look for their own results."""
        has = plugins.hasplugin
        self.marks_are_options = has("benchmark") and not has("codspeed")
        for name in filter(has, REPLACED):
            plugins.unregister(name=name)

    def note(self, report: Any) -> None:
        """Note a file that is collected, or cannot be."""
        if report.nodeid.endswith(".py"):
            self.files.append(report.nodeid)
        if report.failed:
            described = fault_of(report)
            self.faults[report.nodeid] = f"{described['error']}\n{described['trace']}".strip()

    def serve(self, items: Iterable[Any]) -> None:
        """Say which benchmarks were found, and run those that benchgate asks for."""
        self.has_served = True
        server = self.server
        self.items = {each.nodeid: each for each in items if self.is_benchmark(each)}
        if server.describer:
            found = list(self.items.values())
            server.hello(describe(found, self.files, server.describer, self.request), self.faults)
        else:
            server.hello([], self.faults)
        set_heap_aside()
        id_ = server.next()
        while id_ is not None:
            try:
                self.run_test(self.items.get(id_))
            except BaseException as error:  # noqa: BLE001 - of plugins
                server.opened = None
                server.reply(failure(error))
            id_ = None if self.is_over else server.next()
        self.is_over = True

    def is_benchmark(self, item: Any) -> bool:
        return is_benchmark(item, marks_are_options=self.marks_are_options)

    def run_test(self, item: Any) -> None:
        """Run one test; benchgate is answered from inside of it, and at its end."""
        from _pytest.runner import runtestprotocol  # noqa: PLC0415 - the user's

        if item is None:
            raise Fault("pytest does not collect it each time: let it find the same tests")
        self.measured = None
        try:
            # As pytest does it for its next test: what this one needs stays.
            item.session._setupstate.teardown_exact(item)  # noqa: SLF001 - no public way
        except BaseException as error:
            raise Fault(
                f"what {self.last} and earlier tests have set up cannot be torn down: "
                f"{type(error).__name__}: {error}"
            ) from error
        self.last = item.nodeid
        self.server.forget_peak()
        # What a class, a module or the session has set up stays for its next test.
        reports = runtestprotocol(item, log=False, nextitem=item.parent)
        if not self.is_over:
            self.answer([each for each in reports if not each.passed])

    def answer(self, wrong: list[Any]) -> None:
        """Tell benchgate how a test ended, as far as it does not know it."""
        if wrong and all(hasattr(each, "wasxfail") for each in wrong):
            wrong = []
            if self.measured is None:
                raise Skipped("it is expected to fail")
        if wrong:
            self.server.opened = None
            self.server.reply(fault_of(wrong[0]))
        elif self.measured is None:
            raise Fault("the test does not call its `benchmark` fixture")
        else:
            self.server.close(self.measured)

    def call_test(self, item: Any) -> bool | None:
        """Measure a test as a whole, if it is marked and has no fixture."""
        if FIXTURE in item.fixturenames:
            return None
        names = item._fixtureinfo.argnames  # noqa: SLF001 - as pytest itself calls the test
        self.measure(opened_for(partial(item.obj, **{name: item.funcargs[name] for name in names})))
        return True

    def fixture(self, item: Any) -> BenchmarkFixture:
        """Return what a test gets as `benchmark`."""
        return BenchmarkFixture(self.measure, item, options_of(item))

    def measure(self, opened: OpenBenchmark) -> None:
        """Let benchgate measure a benchmark, until it closes it."""
        if self.measured is not None:
            raise Fault("the test uses its `benchmark` fixture twice: only one call is measured")
        self.measured = opened
        try:
            self.is_over = not self.server.measure(opened)
        finally:
            opened.restore_gc()


def fault_of(report: Any) -> dict[str, Any]:
    """Describe a failed report: its last line, which has the exception, and all of it."""
    if report.skipped and isinstance(report.longrepr, tuple):
        return failure(Skipped(str(report.longrepr[-1]).replace("Skipped: ", "", 1)))
    text = report.longreprtext
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = (crash.message if crash else text).strip().splitlines() or ["the test failed"]
    line = lines[0]
    if line == "AssertionError" and crash:
        line = f"{line}: {getline(crash.path, crash.lineno).strip()}"
    return {"error": line[:LINE_LIMIT], "trace": text[-TRACE_LIMIT:]}
