"""Tells for every key of the configuration which of two values makes the gate laxer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.config.fields import Table

Place: TypeAlias = tuple[str, ...]
Laxer: TypeAlias = "Callable[[Any, Any, str], bool]"
"""Tells whether the second of two tables is laxer than the first in the named field."""


def _less(before: Table, after: Table, name: str) -> bool:
    was, now = getattr(before, name), getattr(after, name)
    return now is not None and (was is None or now < was)


def _off(before: Table, after: Table, name: str) -> bool:
    return bool(getattr(before, name)) and not getattr(after, name)


def _on(before: Table, after: Table, name: str) -> bool:
    return _off(after, before, name)


def _dropped(before: Table, after: Table, name: str) -> bool:
    return not set(getattr(before, name)) <= set(getattr(after, name))


def _added(before: Table, after: Table, name: str) -> bool:
    return _dropped(after, before, name)


def _other(before: Table, after: Table, name: str) -> bool:
    return bool(getattr(before, name) != getattr(after, name))


def _classical(before: Table, after: Table, name: str) -> bool:
    return _other(before, after, name) and getattr(after, name) == "classical"


def _stored(before: Table, after: Table, name: str) -> bool:
    """Stored results alone are weaker evidence than a base measured together with the head."""
    measured = {"auto", "git"}
    return getattr(before, name) in measured and getattr(after, name) not in measured


def _shorter(before: Any, after: Any, _: str) -> bool:  # noqa: ANN401 - both are [measure]
    return bool(after.limit_s < before.limit_s)


def _fewer_rounds(before: Any, after: Any, _: str) -> bool:  # noqa: ANN401 - both are [measure]
    most = math.inf if before.until_decided else before.rounds or before.max_rounds
    return bool(after.rounds is not None and after.rounds < most)


def _named(before: Table, after: Table, name: str) -> bool:
    return _other(before, after, name) and getattr(after, name) is not None


LAXER: Mapping[Place, Mapping[str, Laxer]] = {
    ("gate",): {
        "rule": _classical,
        # The lower the false-alarm rate, the more evidence it takes to call a change one.
        "alpha": _less,
        "confidence": _less,
        "fail_on": _dropped,
        "min_compared": _less,
    },
    ("baseline",): {
        "source": _stored,
        "against": _other,
        "path": _other,
        "required": _off,
        "advisory_fails": _off,
    },
    ("measure",): {
        "budget": _shorter,
        "screen_rounds": _less,
        "confirm_rounds": _less,
        "max_rounds": _less,
        "rounds": _fewer_rounds,
        "until_decided": _off,
        "samples": _less,
        "launch_time": _less,
        "pin": _off,
        "canary": _off,
        "executions": _less,
    },
    ("accept",): {"review": _on, "label": _named, "forks": _on},
    ("benchmark", "command"): {
        "ok_exit_codes": _added,
        "executions": _less,
        "tags": _dropped,
        "data": _dropped,
        "pin": _off,
        "allow_foreign": _on,
    },
    ("benchmark", "python"): {
        "tags": _dropped,
        "data": _dropped,
        "parallel": _on,
        "allow_foreign": _on,
    },
}
"""The tables that are compared key by key."""

BY_ROW = frozenset({"margin", "tail_margin", "tolerance", "statistics", "metrics"})
"""Keys of [gate] and [[rule]] whose effect is compared on each benchmark."""

NEUTRAL: Mapping[Place, frozenset[str]] = {
    # The classical rule compares these: neither of them always finds less.
    ("gate",): frozenset({"unit"}),
    # Benchmarks that too few runs cannot decide are measured.
    ("baseline",): frozenset({"runs"}),
    # Discarded samples, failed launches, and the random choices that a seed repeats.
    ("measure",): frozenset({"seed", "warmup", "command_warmup", "timeout"}),
    ("accept",): frozenset(),
    # Each side is built by its own settings, and the verdict says where they differ.
    ("build",): frozenset({"shell", "command", "timeout", "env"}),
    # Other work cannot be compared with the base's, and under another name a benchmark is missing.
    ("benchmark", "command"): frozenset(
        {"name", "shell", "command", "prepare", "cleanup", "cwd", "timeout", "env", "pythonpath"}
    ),
    ("benchmark", "python"): frozenset(
        {"python", "interpreter", "pythonpath", "isolate", "timeout", "env", "group"}
    ),
}
"""Keys that make a gate neither laxer nor stricter."""
