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
from .functions import Benchmark, code_of, is_async
from .opened import OpenBenchmark, set_heap_aside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Measure = Callable[[OpenBenchmark], None]
    from collections.abc import Iterable, Sequence

    from .observed import AllocationWatch
    from .opened import Clock
    from .server import Server
    from .workloads import Describer


class BenchmarkFixture:
    """Hands a callable over to benchgate, and returns what it returns.

    Args:
        measure: lets benchgate measure a benchmark until it closes it.
        item: the test.
    """

    def __init__(self, measure: Measure, item: Any, options: dict[str, Any]) -> None:
        self._measure = measure
        callspec = getattr(item, "callspec", None)
        self.name = item.name
        self.fullname = item.nodeid
        self.group = options.get("group")
        self.options = options
        self.param = callspec.id if callspec else None
        self.params = dict(callspec.params) if callspec else None
        self.extra_info: dict[str, Any] = {}
        # A test may look at its own times only if they are taken here.
        self.enabled = False
        self.disabled = True
        self.stats = None

    def __call__(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Measure calls of a function with these arguments."""
        call = partial(function, *args, **kwargs)
        self._measure(opened_for(call))
        return call()

    def pedantic(  # noqa: PLR0917 - as pytest-benchmark defines it
        self,
        target: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        setup: Callable[[], Any] | None = None,
        teardown: Callable[..., Any] | None = None,
        rounds: int = 1,
        warmup_rounds: int = 0,
        iterations: int = 1,
    ) -> Any:
        """Measure a function with a set-up before each sample; benchgate decides how many."""
        require_sync(target)
        if setup and iterations != 1:
            raise ValueError("Can't use more than 1 `iterations` with a `setup` function.")
        opened = PedanticBenchmark(
            target,
            tuple(args),
            kwargs or {},
            setup=setup,
            teardown=teardown,
            iterations=iterations,
        )
        self._measure(opened)
        return opened.call_once()

    def weave(self, target: Any, **kwargs: Any) -> None:
        raise Fault("benchgate cannot measure `benchmark.weave`: call `benchmark(function)`")

    patch = weave


class PedanticBenchmark(OpenBenchmark):
    """Calls `setup` before each sample, and `teardown` after it; neither is timed.

    Args:
        setup: may return the arguments of the function, as a tuple and a dictionary.
        iterations: calls in a sample.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        setup: Callable[[], Any] | None,
        teardown: Callable[..., Any] | None,
        iterations: int,
    ) -> None:
        super().__init__(Benchmark("", "", self.call_once))
        self.function = function
        self.given = args, kwargs
        self.before_each = setup
        self.after_each = teardown
        self.number = iterations

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        made = self.before_each() if self.before_each else None
        return made or self.given

    def call_once(self) -> Any:
        """Call the function as a sample does, and return its result."""
        args, kwargs = self.arguments()
        try:
            return self.function(*args, **kwargs)
        finally:
            if self.after_each:
                self.after_each(*args, **kwargs)

    def sample(self, loops: int, wall: Clock, cpu: Clock) -> tuple[int, int]:
        """Set up, time the calls, and tear down."""
        args, kwargs = self.arguments()
        call = partial(self.function, *args, **kwargs)
        spent = self.time_calls(call, loops, wall, cpu)
        if self.after_each:
            self.after_each(*args, **kwargs)
        return spent

    def _trace(self, watch: AllocationWatch | None = None) -> tuple[int, int]:
        """Trace a call, but neither set-up nor teardown."""
        args, kwargs = self.arguments()
        self.call = partial(self.function, *args, **kwargs)
        try:
            return super()._trace(watch)
        finally:
            if self.after_each:
                self.after_each(*args, **kwargs)


def opened_for(call: Callable[[], Any]) -> OpenBenchmark:
    require_sync(call)
    return OpenBenchmark(Benchmark("", "", call))


def require_sync(function: Callable[..., Any]) -> None:
    if is_async(function):
        raise Fault(
            "the function that it measures is async, so a call only makes a coroutine: measure a "
            "function that runs it, such as `lambda: asyncio.run(f())`"
        )


FIXTURE = "benchmark"
OF_CODSPEED = "codspeed_benchmark"
CALLED_BY_NAME = ("pytest_", "pytestmark", "setup_", "teardown_", "setUpModule", "tearDownModule")


def is_benchmark(item: Any, *, marks_are_options: bool) -> bool:
    """Tell whether a test is one: it has the fixture, or is marked to be measured as a whole."""
    names = getattr(item, "fixturenames", None)
    if names is None or not hasattr(item, "originalname"):  # a doctest, for example
        return False
    marks = (OF_CODSPEED,) if marks_are_options else (OF_CODSPEED, FIXTURE)
    return FIXTURE in names or any(item.get_closest_marker(each) for each in marks)


def options_of(item: Any) -> dict[str, Any]:
    """Return what its mark says, such as its group."""
    marker = item.get_closest_marker(FIXTURE)
    return dict(marker.kwargs) if marker else {}


def describe(
    items: Sequence[Any],
    files: Iterable[str],
    describer: type[Describer],
    request: dict[str, Any],
) -> list[dict[str, Any]]:
    """Describe the tests file by file, as the files' texts show them.

    Args:
        files: of all tests, also of those that are no benchmarks, as pytest names them.
    """
    by_file: dict[str, list[Any]] = {}
    for each in items:
        by_file.setdefault(file_of(each), []).append(each)
    root = root_of(items[0]) if items else ""
    others = {*by_file, *(os.path.realpath(os.path.join(root, each)) for each in files)}
    found: dict[str, dict[str, Any]] = {}
    for file, tests in by_file.items():
        benchmarks = [benchmark_of(each, file) for each in tests]
        names = {each.name for each in benchmarks}.union(*map(classes_of, tests))
        also = {path for each in tests for path in files_of(each, file)} - {file}
        one = describer(
            {**request, "file": file},
            names=names,
            settings=("params",),
            others=others - {file},
            also=also,
        )
        found.update((each["id"], each) for each in one.describe(benchmarks))
    return [found[each.nodeid] for each in items]


def file_of(item: Any) -> str:
    return os.path.realpath(str(item.path if hasattr(item, "path") else item.fspath))


def benchmark_of(item: Any, file: str) -> Benchmark:
    """Return a test as a benchmark: its id is pytest's, its name that in the text of its file."""
    function = item.originalname or item.name
    callspec = getattr(item, "callspec", None)
    uses = {name for name in vars(item.module) if name.startswith(CALLED_BY_NAME)}
    uses.update(name for place, name in fixtures_of(item) if place == file)
    definer = definer_of(item.cls, function)
    return Benchmark(
        item.nodeid,
        f"{definer.__qualname__}.{function}" if definer else function,
        item.obj,
        kwargs=dict(callspec.params) if callspec else {},
        labels={"id": callspec.id} if callspec else {},
        uses=uses | classes_of(item),
    )


def root_of(item: Any) -> str:
    """Return the folder that pytest's ids start from."""
    return os.path.realpath(str(item.config.rootpath))


def files_of(item: Any, file: str) -> Iterable[str]:
    """Return each conftest that concerns the file of a test, and the project's own fixtures."""
    for plugin in item.config.pluginmanager.get_plugins():
        path = os.path.realpath(getattr(plugin, "__file__", None) or "")
        inside = file.startswith(os.path.join(os.path.dirname(path), ""))
        if os.path.basename(path) == "conftest.py" and inside:
            yield path
    own = os.path.join(root_of(item), "")
    yield from (place for place, _ in fixtures_of(item) if place.startswith(own))


def classes_of(item: Any) -> set[str]:
    """Return the names that a file has for the class of a test, and the one that defines it."""
    found = (item.cls, definer_of(item.cls, item.originalname or item.name))
    return {each.__qualname__.partition(".")[0] for each in found if each}


def definer_of(test_class: Any, function: str) -> Any:
    """Return the class that defines a test of a class, which may be a base of it."""
    above = test_class.__mro__ if test_class else ()
    return next((each for each in above if function in vars(each)), test_class)


def fixtures_of(item: Any) -> Iterable[tuple[str, str]]:
    """Return the files and names of the functions behind its fixtures."""
    for definitions in item._fixtureinfo.name2fixturedefs.values():  # noqa: SLF001 - no other way
        for each in definitions:
            code = code_of(getattr(each.func, "__wrapped__", each.func))
            if code:
                yield os.path.realpath(code.co_filename), code.co_name


OF_THE_CACHE = (
    ("--lf", "--last-failed"),
    ("--ff", "--failed-first"),
    ("--nf", "--new-first"),
    ("--sw", "--stepwise"),
    ("--sw-skip", "--stepwise-skip"),
    ("--cache-clear",),
)


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
    """Collects the tests of a suite, and runs the one that benchgate asks for."""

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
