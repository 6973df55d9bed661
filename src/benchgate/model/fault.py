"""Describes what is wrong with a JSON document, and where, for a person who looks into it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

_SHOWN_CHARACTERS: Final = 40
_OF_A_KEY = {"missing", "extra_forbidden", "unexpected_keyword_argument"}


def first_fault(error: ValidationError) -> str:
    """The place and kind of the first fault, in one line."""
    fault = error.errors(include_url=False, include_input=False)[0]
    if fault["type"] not in _OF_A_KEY:  # of these, the input is the whole object, however large
        fault = error.errors(include_url=False)[0]
    return ": ".join(filter(None, (_place(fault), _fault(fault))))


def shown(value: object) -> str:
    """A value as JSON, on one line, shortened to fit into a message."""
    if isinstance(value, list | dict):
        return "an array" if isinstance(value, list) else "an object"
    text = json.dumps(value, default=repr)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


def _place(fault: ErrorDetails) -> str:
    """The path to a fault: `head.benchmarks[3].series[0].launches[7].samples[12]`."""
    steps = (*fault["loc"], *fault.get("ctx", {}).get("place", ()))
    if fault["type"] in _OF_A_KEY:
        steps = steps[:-1]
    return "".join(_step(step) for step in steps).removeprefix(".")


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    is_plain = step.isidentifier() and len(step) <= _SHOWN_CHARACTERS
    return f".{step}" if is_plain else f".{shown(step)}"


def _fault(fault: ErrorDetails) -> str:
    """The kind of a fault, in words for a person who looks into the file."""
    kind, message = fault["type"], fault["msg"]
    if kind == "misplaced":
        return message
    if kind in _MESSAGES:
        key = fault["loc"][-1] if fault["loc"] else ""
        limits = fault.get("ctx", {})
        given = shown(fault.get("input"))
        return _MESSAGES[kind].format(given=given, key=shown(key), **limits)
    return f"{shown(fault['input'])}: must be {message.removeprefix('Input should be ')}"


_MESSAGES = {
    "missing": "{key} is missing",
    "extra_forbidden": "unknown key {key}",
    "unexpected_keyword_argument": "unknown key {key}",
    "finite_number": "{given} is not a finite number",
    "float_type": "{given} is not a number",
    "int_type": "{given} is not a whole number",
    "int_from_float": "{given} is not a whole number",
    "string_type": "{given} is not a text",
    "bool_type": "{given} is not true or false",
    "list_type": "{given} is not an array",
    "tuple_type": "{given} is not an array",
    "dict_type": "{given} is not an object",
    "model_type": "{given} is not an object",
    "dataclass_type": "{given} is not an object",
    "too_short": "is empty",
    "string_too_short": "is empty",
    "too_long": "holds more than {max_length} of them, which is the limit",
    "string_too_long": "{given}: is longer than {max_length} characters",
    "less_than_equal": "{given}: must be at most {le:g}",
    "greater_than_equal": "{given}: must be at least {ge:g}",
    "string_pattern_mismatch": "{given} is not a UTC time such as 2025-01-31T09:30:00Z",
}
