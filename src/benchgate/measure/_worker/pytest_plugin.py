"""The hooks of pytest, with which the worker takes part in a run of the user's tests."""

from __future__ import annotations

from .pytest_items import FIXTURE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .pytest_fixture import BenchmarkFixture

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
        host: a `pytest_host.Host`.
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
