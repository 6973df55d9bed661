"""The `benchmark` fixture of a test, which hands the callable over to benchgate."""

from __future__ import annotations

from functools import partial

from .failures import Fault
from .functions import Benchmark, is_async
from .opened import OpenBenchmark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Measure = Callable[[OpenBenchmark], None]

    from .observed import AllocationWatch
    from .opened import Clock


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
