"""Reads what a worker says, and checks that it is in the protocol's format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from benchgate.json_object import MAX_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


PROTOCOL: Final = 1

_LARGEST = 2**63
_ORIGINS = ("foreign", "elsewhere", "packages", "shared", "has_own", "own")
# What a reply says at least, by step.
KEYS_OF_ANY: Final[Mapping[str, Sequence[str]]] = {
    "greeting": ("protocol", "pid"),
    "hello": ("language", "versions", "clock", "clock_steps_ns"),
    "list": ("benchmarks", "faults"),
    "open": (),
    "loops": (),
    "begin": (),
    "count": (),
    "peak": ("peak_rss",),
    "end": (),
    "value": ("value",),
    "allocations": ("alloc_peak", "alloc_blocks"),
    "observe": ("functions", "nodes"),
    "observe_allocations": ("alloc_peak", "alloc_blocks"),
    "profile": ("operations", "pprof"),
    "profile_allocations": ("operations", "before", "pprof"),
    "close": (),
}
# What a worker of Python says, too.
KEYS_OF_PYTHON: Final[Mapping[str, Sequence[str]]] = {
    "hello": (*KEYS_OF_ANY["hello"], "executable", "folders", *_ORIGINS),
    "reach": ("touched", "ran", "mentioned", "generated", "unknown", "failed"),
    "open": ("rss_is_own", "is_inside", "times_each", "number", "inner_loops"),
    "close": ("changed", "beside", *_ORIGINS),
}


def read_reply(
    step: str, line: bytes, known: Mapping[str, Sequence[str]] = KEYS_OF_ANY
) -> dict[str, Any] | None:
    """Read the reply to a step; None if its format is wrong.

    Args:
        step: the step that was requested; "sample" for a line that is not two numbers.
        known: what a reply says at least, by step.
    """
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(reply, dict) or not isinstance(reply.get("error", ""), str):
        return None
    keys = ("error",) if "error" in reply else known.get(step)
    return reply if keys is not None and reply.keys() >= set(keys) else None


def read_pid(line: bytes) -> int | None:
    """Read the process id of a worker from its greeting; None if the format is wrong."""
    greeting = read_reply("greeting", line)
    pid = greeting.get("pid") if greeting else None
    return pid if isinstance(pid, int) and 0 < pid < _LARGEST else None


def read_sample(line: bytes) -> tuple[int, int, int] | None:
    """Read a sample, in nanoseconds; None if the format is wrong.

    Returns:
        The wall time, the CPU time, and what the sample took beside them, as far as known.
    """
    try:
        wall_ns, cpu_ns, *beside = map(int, line.split())
        (beside_ns,) = beside or (0,)
    except ValueError:
        return None
    is_right = max(abs(wall_ns), abs(cpu_ns), abs(beside_ns)) < _LARGEST
    return (wall_ns, cpu_ns, beside_ns) if is_right else None


def fault_of(listed: Mapping[str, Any]) -> str:
    """What is wrong with the reply to `list`; "" for nothing."""
    benchmarks, faults = listed["benchmarks"], listed["faults"]
    if not isinstance(benchmarks, list) or not isinstance(faults, dict):
        return "has no list of benchmarks and no object of faults"
    if max(len(benchmarks), len(faults)) > MOST_LISTED:
        return TOO_MANY_LISTED
    ids = [one.get("id") if isinstance(one, dict) else None for one in benchmarks]
    if not all(isinstance(text, str) for text in (*ids, *faults.values())):
        return "has a benchmark whose id is no text, or a fault that is none"
    if any(len(id_) > MAX_NAME for id_ in (*ids, *faults)):
        return f"has an id with more than {MAX_NAME:,} characters"
    return ""


def shown(line: bytes | bytearray) -> str:
    """The beginning of what a worker said, for a message."""
    text = line[:_SHOWN_BYTES].decode("utf-8", "backslashreplace")
    return json.dumps(text, ensure_ascii=False)


MOST_LISTED: Final = 10_000
TOO_MANY_LISTED = f"has more than {MOST_LISTED:,} benchmarks"
_SHOWN_BYTES = 80
