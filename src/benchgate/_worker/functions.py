"""Finds and describes the benchmarks of a module: functions whose names begin with `bench_`."""

from __future__ import annotations

from functools import partial
from itertools import product

from .failures import Fault, failure
from .standard import STANDARD_LIBRARY

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


FLAGS = ("parallel", "collect_each")
KNOWN = ("params", *HOOKS, *FLAGS, "number", "unit", "data")
UNITS = ("ns", "us", "ms", "s")
# Similar enough: `set_up` and `setup`, or `param` and `params`. Decorators set attributes, too.
NEAR = 0.8
# In a name that begins with "setup", these mean that of each call.
OF_EACH = ("each", "every", "call", "iter")

IN_ENTRY = "it is a key of [[benchmark]] in benchgate.toml"
WARMUP = "benchgate warms up by itself; `warmup` in [measure] sets how many samples it discards"
ROUNDS = "benchgate chooses how many rounds it needs; `--rounds` sets a number"
SAMPLES = "`samples` in [measure] sets how many samples a launch takes"
NUMBER = "`number` sets how many calls a sample is the mean of"
PARAMS = "`params` is a table from the names of arguments to lists of values"
ELSEWHERE = {
    **dict.fromkeys(("warmup", "warmup_time", "warmup_rounds"), WARMUP),
    **dict.fromkeys(("rounds", "min_rounds", "max_rounds", "processes"), ROUNDS),
    **dict.fromkeys(("repeat", "repeats", "repetitions", "samples"), SAMPLES),
    **dict.fromkeys(("loops", "iterations", "calls", "inner_loops"), NUMBER),
    **dict.fromkeys(("param_names", "parameters", "parametrize", "args"), PARAMS),
    **dict.fromkeys(("group", "tags", "env", "isolate", "in_turn", "allow_foreign"), IN_ENTRY),
    "timeout": "`timeout` in [[benchmark]] or in [measure] sets it",
}


def check_function(name: str, function: Callable[..., Any]) -> None:
    """Say what is wrong with a benchmark function before it is measured."""
    if name == PREFIX:
        raise Fault(f"a function is named {PREFIX}: add a name after it")
    # A callable object has attributes of its own.
    attributes = vars(function) if isinstance(function, type(check_function)) else ()
    unknown = unknown_attribute(name, attributes)
    if unknown:
        raise Fault(unknown)
    refuse_wrong_attributes(name, function)


def refuse_wrong_attributes(name: str, function: Callable[..., Any]) -> None:
    if is_generator(function):
        raise Fault(f"{name} is a generator: calling it would not run its body")
    number = getattr(function, "number", 1)
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise Fault(f"{name}.number is {number!r}: it must be a whole number >= 1")
    unit = getattr(function, "unit", UNITS[0])
    if unit not in UNITS:
        raise Fault(f"{name}.unit is {unit!r}: it must be one of {', '.join(UNITS)}")
    for flag in FLAGS:
        value = getattr(function, flag, False)
        if not isinstance(value, bool):
            raise Fault(f"{name}.{flag} is {value!r}: it must be True or False")
    refuse_wrong_arguments(name, function)
    data = getattr(function, "data", None) or []
    if not isinstance(data, (list, tuple)) or not all(isinstance(each, str) for each in data):
        raise Fault(f"{name}.data is {data!r}: it must be a list of paths, such as ['words/*.txt']")
    for hook in HOOKS:
        found = getattr(function, hook, None)
        if found is not None and not callable(found):
            raise Fault(f"{name}.{hook} is a {type(found).__name__}: it must be a function")
        if found is not None and is_generator(found):
            raise Fault(f"{name}.{hook} is a generator: calling it would not run its body")


def refuse_wrong_arguments(name: str, function: Callable[..., Any]) -> None:
    """Require that `params` and the state of `setup` are what a function takes."""
    grid_of(name, function)  # refuses params of another form
    params = getattr(function, "params", None) or {}
    setup = getattr(function, "setup", None) or getattr(function, "setup_each", None)
    accepted, required = arguments_of(function)
    unset = [each for each in required if each not in params]
    if setup is not None:
        unset = unset[1:]  # what it returns
    if unset:
        table = ", ".join(f"{each!r}: [10, 1000]" for each in [*params, *unset])
        state = "" if setup or len(unset) > 1 else f", or return it from {name}.setup"
        raise Fault(
            f"{name} takes {' and '.join(unset)}, and nothing sets "
            f"{'it' if len(unset) == 1 else 'them'}: write {name}.params = {{{table}}}{state}"
        )
    hooks = {name: accepted}
    for hook in HOOKS:
        found = getattr(function, hook, None)
        if callable(found):
            hooks[f"{name}.{hook}"] = arguments_of(found)[0]
    for which, names in hooks.items():
        extra = [each for each in params if names is not None and each not in names]
        if extra:
            raise Fault(f"{name}.params sets {extra[0]}, but {which} takes no {extra[0]}")


def arguments_of(function: Callable[..., Any]) -> tuple[list[str] | None, list[str]]:
    """Return the arguments that can be given by name, None for any, and those without a default."""
    with STANDARD_LIBRARY:
        import inspect  # noqa: PLC0415 - takes long, and is needed once only

    try:
        # A decorator may set arguments of the function that it wraps.
        found = inspect.signature(function, follow_wrapped=False).parameters.values()
    except (TypeError, ValueError):
        return None, []
    single = [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    is_open = any(p.kind is p.VAR_KEYWORD for p in found)
    names = None if is_open else [p.name for p in single if p.kind is not p.POSITIONAL_ONLY]
    return names, [p.name for p in single if p.default is p.empty]


def unknown_attribute(name: str, attributes: Iterable[str]) -> str:
    """Say how to correct the first attribute that is meant for benchgate but is unknown to it.

    Only attributes that resemble a known one, or belong to another tool, are refused.

    Args:
        name: name of the function.
        attributes: the attributes that were set on it.

    Returns:
        A sentence, "" if nothing is wrong.
    """
    for attribute in attributes:
        if attribute in KNOWN or attribute.startswith("_"):
            continue
        if attribute in ELSEWHERE:
            return f"{name}.{attribute} has no effect: {ELSEWHERE[attribute]}"
        meant = resembled(attribute)
        if meant:
            return f"{name}.{attribute} has no effect; did you mean {meant!r}?"
    return ""


def resembled(attribute: str) -> str:
    """Return the known attribute that a word misspells; "" if there is none."""
    word = attribute.lower().replace("_", "")
    for hook in ("setup", "teardown"):
        if word.startswith(hook):
            return f"{hook}_each" if any(each in word for each in OF_EACH) else hook
    with STANDARD_LIBRARY:
        import difflib  # noqa: PLC0415 - seldom needed

    return next(iter(difflib.get_close_matches(word, KNOWN, 1, NEAR)), "")
