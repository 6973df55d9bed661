"""The attributes that a benchmark function may have, and likely corrections of wrong ones."""

from __future__ import annotations

from .failures import Fault
from .functions import HOOKS, PREFIX, grid_of, is_generator
from .standard import STANDARD_LIBRARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

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
