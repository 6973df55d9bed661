"""Validates the replies of a worker.

A worker's process also runs the user's code, which can find the key if it searches for it. So a
reply in a wrong format counts as a failure of the benchmark.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchgate.measure.measured_by import MEASURES
from benchgate.model.run import LARGEST
from benchgate.units import TIME_UNITS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Check = Callable[[object], bool]

_LARGEST = 2**63
_MOST_DIGITS = 19  # of a number below that


def read_reply(step: str, line: bytes) -> dict[str, Any] | None:
    """Read the reply to a step; None if its format is wrong.

    Args:
        step: the step that was requested; "sample" for a line that is not two numbers.
    """
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(reply, dict):
        return None
    fields = _ERROR if "error" in reply else _FIELDS.get(step)
    return reply if fields is not None and _has_fields(fields)(reply) else None


def read_pid(line: bytes) -> int | None:
    """Read the process id of a worker; None if the format is wrong."""
    if not line.isdigit() or len(line) > _MOST_DIGITS:
        return None
    pid = int(line)
    return pid if 0 < pid < _LARGEST else None


def read_sample(line: bytes) -> tuple[int, int] | None:
    """Read the wall and CPU time of a sample, in nanoseconds; None if the format is wrong."""
    try:
        wall_ns, cpu_ns = map(int, line.split())
    except ValueError:
        return None
    return (wall_ns, cpu_ns) if _is_whole(wall_ns) and _is_whole(cpu_ns) else None


def _is(*kinds: type) -> Check:
    return lambda value: isinstance(value, kinds)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST


def _is_number(value: object) -> bool:
    return isinstance(value, float) and abs(value) <= LARGEST  # False for NaN


def _at_least(least: int) -> Check:
    return lambda value: isinstance(value, int) and _is_whole(value) and value >= least


def _if_any(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _table_of(check: Check) -> Check:
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def _has_fields(fields: Mapping[str, Check]) -> Check:
    def check(value: object) -> bool:
        return isinstance(value, dict) and all(
            name in value and is_right(value[name]) for name, is_right in fields.items()
        )

    return check


def _is_pair(value: object) -> bool:
    return _list_of(_is(str))(value) and isinstance(value, list) and len(value) == 2


def _is_companion(value: object) -> bool:
    return value in {"threads", "processes"} if isinstance(value, str) else False


_ERROR: Mapping[str, Check] = {"error": _is(str), "trace": _is(str)}
_ORIGINS: Mapping[str, Check] = {
    "foreign": _list_of(_is_pair),
    "elsewhere": _list_of(_is_pair),
    "packages": _list_of(_is_pair),
    "shared": _list_of(_is(str)),
    "has_own": _is(bool),
    "own": _list_of(_is_pair),
}
_BENCHMARK: Mapping[str, Check] = {
    "id": _is(str),
    "file": _is(str),
    "parts": _table_of(_is(str)),
    "location": _is(str, type(None)),
    "parallel": _is(bool),
    "unit": lambda value: value is None or value in TIME_UNITS,
    "data": _list_of(_is(str)),
    "measures": lambda value: value in MEASURES if isinstance(value, str) else False,
    "of_unit": _is(str),
    "timeout_s": lambda value: value is None or _is_number(value),
    "notes": _list_of(_is(str)),
}
_FIELDS: Mapping[str, Mapping[str, Check]] = {
    "file": {
        "benchmarks": _list_of(_has_fields(_BENCHMARK)),
        "faults": _table_of(_is(str)),
        "executable": _is(str, type(None)),
        "python": _is(str),
        "clock_steps_ns": _list_of(_is_whole),
        "folders": _list_of(_is(str)),
        **_ORIGINS,
    },
    "open": {
        "rss_is_own": _is(bool),
        "is_inside": _is(bool),
        "times_each": _is(bool),
        "number": _at_least(1),
    },
    "calibrate": {
        "loops": _at_least(1),
        "sample_ns": _at_least(1),
        "first_ns": _is_whole,
        "beside_ns": _at_least(0),
        "waiting_ratio": _is_number,
        "is_several": _is(bool),
        "has_number": _is(bool),
    },
    "time": {"sample_ns": _at_least(1)},
    "loops": {},
    "begin": {},
    "count": {},
    "peak": {"peak_rss": _at_least(0)},
    "end": {},
    "value": {"value": _is_number},
    "allocations": {"alloc_peak": _if_any(_at_least(0)), "alloc_blocks": _if_any(_at_least(0))},
    "close": {"changed": _list_of(_is(str)), "beside": _list_of(_is_companion), **_ORIGINS},
}
