"""The hooks of pytest, with which the worker takes part in a run of the user's tests."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .pytest_fixture import BenchmarkFixture


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
        @pytest.hookimpl(hookwrapper=True)  # type: ignore[untyped-decorator]
        def pytest_cmdline_main(self, config: Any) -> Any:
            host.set_options(config)  # before any other plugin looks at them
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
