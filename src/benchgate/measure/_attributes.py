"""The attributes that a benchmark function may have, and likely corrections of wrong ones.

Read by the worker, in the user's interpreter: standard library only, CPython >= 3.8.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

KNOWN = ("params", "setup", "teardown", "number", "unit", "parallel", "data")
# Similar enough: `set_up` and `setup`, or `param` and `params`. Decorators set attributes, too.
NEAR = 0.8

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
    **dict.fromkeys(("group", "tags", "env", "isolate", "allow_foreign"), IN_ENTRY),
    "timeout": "`timeout` in [[benchmark]] or in [measure] sets it",
}


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
            return hook
    import difflib  # noqa: PLC0415 - seldom needed

    return next(iter(difflib.get_close_matches(word, KNOWN, 1, NEAR)), "")
