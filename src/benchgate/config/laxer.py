"""Tells for every key of the configuration which of two values makes the gate laxer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.tables.fields import Table

Place: TypeAlias = tuple[str, ...]
Laxer: TypeAlias = "Callable[[Any, Any, str], bool]"
"""Tells whether the second of two tables is laxer than the first in the named field."""


def less(before: Table, after: Table, name: str) -> bool:
    """The number is smaller, or set for the first time."""
    was, now = getattr(before, name), getattr(after, name)
    return now is not None and (was is None or now < was)


def off(before: Table, after: Table, name: str) -> bool:
    """It was switched off."""
    return bool(getattr(before, name)) and not getattr(after, name)


def on(before: Table, after: Table, name: str) -> bool:
    """It was switched on."""
    return off(after, before, name)


def dropped(before: Table, after: Table, name: str) -> bool:
    """A value of several is gone."""
    return not set(getattr(before, name)) <= set(getattr(after, name))


def added(before: Table, after: Table, name: str) -> bool:
    """A value was added."""
    return dropped(after, before, name)


def other(before: Table, after: Table, name: str) -> bool:
    """The value differs."""
    return bool(getattr(before, name) != getattr(after, name))


def _classical(before: Table, after: Table, name: str) -> bool:
    return other(before, after, name) and getattr(after, name) == "classical"


def _stored(before: Table, after: Table, name: str) -> bool:
    """Stored results alone are weaker evidence than a base measured together with the head."""
    measured = {"auto", "git"}
    return getattr(before, name) in measured and getattr(after, name) not in measured


def _shorter(before: Any, after: Any, _: str) -> bool:  # noqa: ANN401 - both are [measure]
    return bool(after.limit_s < before.limit_s)


def _fewer_rounds(before: Any, after: Any, _: str) -> bool:  # noqa: ANN401 - both are [measure]
    most = math.inf if before.until_decided else before.rounds or before.max_rounds
    return bool(after.rounds is not None and after.rounds < most)


def _counts_less(before: Table, after: Table, name: str) -> bool:
    return _COUNTS[getattr(after, name)] < _COUNTS[getattr(before, name)]


def _named(before: Table, after: Table, name: str) -> bool:
    return other(before, after, name) and getattr(after, name) is not None


# The lower, the fewer machines count anything.
_COUNTS: Mapping[str, int] = {"none": 0, "perf": 1, "auto": 2, "valgrind": 3}

LAXER: Mapping[Place, Mapping[str, Laxer]] = {
    ("gate",): {
        "rule": _classical,
        # The lower the false-alarm rate, the more evidence it takes to call a change one.
        "alpha": less,
        "confidence": less,
        "fail_on": dropped,
        "min_compared": less,
    },
    ("baseline",): {
        "source": _stored,
        "against": other,
        "path": other,
        "required": off,
        "advisory_fails": off,
    },
    ("measure",): {
        "budget": _shorter,
        "screen_rounds": less,
        "confirm_rounds": less,
        "max_rounds": less,
        "rounds": _fewer_rounds,
        "until_decided": off,
        "samples": less,
        "launch_time": less,
        "pin": off,
        "canary": off,
        "counter": _counts_less,
        "executions": less,
    },
    ("accept",): {"review": on, "label": _named, "forks": on},
}
"""The tables that are compared key by key; those of [[benchmark]] say it themselves."""

BY_ROW = frozenset({"margin", "tail_margin", "tolerance", "statistics", "settle", "metrics"})
"""Keys of [gate] and [[rule]] whose effect is compared on each benchmark."""

NEUTRAL: Mapping[Place, frozenset[str]] = {
    # The classical rule compares these: neither of them always finds less.
    ("gate",): frozenset({"unit"}),
    # Benchmarks that too few runs cannot decide are measured.
    ("baseline",): frozenset({"runs"}),
    # Discarded samples, failed launches, the random choices that a seed repeats, and what is
    # measured at the same time.
    ("measure",): frozenset({"seed", "warmup", "command_warmup", "timeout", "lanes"}),
    ("accept",): frozenset(),
    # It judges nothing.
    ("history",): frozenset({"store"}),
    # Each side is built by its own settings, and the verdict says where they differ.
    ("build",): frozenset({"shell", "command", "timeout", "env", "cache", "toolchains"}),
}
"""Keys that make a gate neither laxer nor stricter."""
