"""Finds the benchmarks of a module: functions whose names begin with `bench_`."""

from __future__ import annotations

from functools import partial
from itertools import product

from .failures import Fault, failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType, ModuleType
    from typing import Any

PREFIX = "bench_"
# Attributes of a benchmark function that are functions, too.
HOOKS = ("setup", "teardown", "setup_each", "teardown_each")
LABEL_LIMIT = 60
CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR = 0x20, 0x80, 0x200


class Benchmark:
    """One function with one set of parameters.

    Args:
        name: what its file calls it.
        kwargs: the values of its parameters.
        labels: their names in the id.
        uses: names of its file that it uses although its text does not show it.
    """

    def __init__(
        self,
        id_: str,
        name: str,
        function: Callable[..., Any],
        *,
        kwargs: dict[str, Any] | None = None,
        labels: dict[str, str] | None = None,
        uses: Iterable[str] = (),
    ) -> None:
        self.id = id_
        self.name = name
        self.function = function
        self.kwargs = kwargs or {}
        self.labels = labels or {}
        self.uses = frozenset(uses)


def find_benchmarks(
    module: ModuleType, check: Callable[[str, Any], None] | None
) -> tuple[dict[str, Benchmark], dict[str, str]]:
    """Return the benchmarks of a module by id, in the order of the file.

    Args:
        check: raises Fault for a function that cannot be measured; None to skip it silently.

    Returns:
        The benchmarks, and by name what is wrong with functions that cannot be one.
    """
    found = {}
    faults = {}
    for name, function in list(vars(module).items()):
        if not name.startswith(PREFIX) or not callable(function) or isinstance(function, type):
            continue
        try:
            if check:
                check(name, function)
            for kwargs, labels in grid_of(name, function):
                id_ = id_of(name, labels)
                found[id_] = Benchmark(id_, name, function, kwargs=kwargs, labels=labels)
        except Exception as error:  # noqa: BLE001 - of the user's code: one function's alone
            faults[name[len(PREFIX) :] or name] = failure(error)["error"]
    return found, faults


def id_of(name: str, labels: dict[str, str]) -> str:
    short = name[len(PREFIX) :]
    suffix = ",".join(f"{key}={label}" for key, label in labels.items())
    return f"{short}[{suffix}]" if suffix else short


def label_of(value: object, index: int) -> str:
    """Name a parameter's value in a benchmark id."""
    if value is None or isinstance(value, (bool, int, float, str)):
        text = str(value)
    else:
        text = getattr(value, "__name__", None) or str(index)
    text = "".join(c if c.isprintable() and c not in ",[]=" else "_" for c in text)
    return text if len(text) <= LABEL_LIMIT else f"{text[:LABEL_LIMIT]}~{index}"


def grid_of(
    where: str, function: Callable[..., Any]
) -> list[tuple[dict[str, Any], dict[str, str]]]:
    """Expand `params` to (kwargs, labels) for each point of the grid."""
    params = getattr(function, "params", None)
    if params is None:
        return [({}, {})]
    if not isinstance(params, dict) or not params:
        raise Fault(
            f"{where}.params is {params!r}: it must be a table of lists, "
            "such as {'n': [10, 1000]}"
        )
    axes = []
    for name, given in params.items():
        is_list = hasattr(given, "__iter__") and not isinstance(given, str)
        values = list(given) if is_list else []
        if not values:
            raise Fault(f"{where}.params[{name!r}] must be a list with at least one value")
        labels = [label_of(value, index) for index, value in enumerate(values)]
        if len(set(labels)) < len(labels):
            labels = [f"{label}~{index}" for index, label in enumerate(labels)]
        axes.append([(name, value, label) for value, label in zip(values, labels)])
    return [
        (
            {name: value for name, value, _ in point},
            {name: label for name, _, label in point},
        )
        for point in product(*axes)
    ]


def code_of(function: Any) -> CodeType | None:
    """Return the code that a call runs first: a partial's function, or an object's `__call__`."""
    while isinstance(function, partial):
        function = function.func
    code = getattr(function, "__code__", None)
    return code or getattr(getattr(function, "__call__", None), "__code__", None)  # noqa: B004 - its code is wanted


def is_async(function: Any) -> bool:
    """Tell whether a call returns a coroutine, whatever a decorator wraps."""
    code = code_of(function)
    return code is not None and bool(code.co_flags & CO_COROUTINE)


def is_generator(function: Any) -> bool:
    code = code_of(function)
    return code is not None and bool(code.co_flags & (CO_GENERATOR | CO_ASYNC_GENERATOR))
