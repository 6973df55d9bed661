"""Reads parameters of steps: literals, and the generators of values."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from benchgate.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable


INT64: Final = range(-(2**63), 2**63)
"""The whole numbers that databases know."""

_CALL = re.compile(r"([A-Za-z_]\w*)(\s*)\(")
_UNREADABLE = (SyntaxError, ValueError, TypeError, AttributeError, RecursionError, MemoryError)
_WORDS: Final[Mapping[str, Value]] = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Literal:
    """The same value each time."""

    value: Value


@dataclass(frozen=True, slots=True)
class RandomInt:
    """A whole number from `low` to `high`, each as likely as the others."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class RandomChoice:
    """One of the values, each as likely as the others."""

    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class NumberSequence:
    """The next number; no two workers of a launch get the same."""

    start: int = 1
    step: int = 1


Generator: TypeAlias = Literal | RandomInt | RandomChoice | NumberSequence


def parsed(written: str | int | float) -> Generator:  # noqa: PYI041 - whole numbers are checked
    """Find out what a parameter stands for."""
    if not isinstance(written, str):
        if isinstance(written, int) and written not in INT64:
            raise ValueError("has more than 64 bits")
        return Literal(written)
    text = written.strip()
    if text == "sequence":
        return NumberSequence()
    if text in _FORMS:
        raise ValueError(f"{text} needs arguments: {_FORMS[text]}")
    call = _CALL.match(text)
    if call is None:
        return Literal(written)
    name, is_whole = call[1], text.endswith(")")
    if name == "literal":
        return _literal(text[call.end() : -1].strip() if is_whole else "")
    if name in _GENERATORS:
        return _GENERATORS[name](_arguments(text, name))
    if call[2] or not is_whole:
        return Literal(written)
    meant = did_you_mean(name, _FORMS) or f"; there are {', '.join(_FORMS)}."
    raise ValueError(
        f"there is no generator {name!r}{meant} If you mean the text itself, write"
        f" literal({text!r})"
    )


def check(written: object) -> object:
    """Check what may be a parameter, and return it unchanged."""
    if not isinstance(written, str | int | float):
        raise ValueError("must be text, a number, true or false")  # noqa: TRY004 - for pydantic
    parsed(written)
    return written


@lru_cache  # all workers ask for the same, each in a thread
def _arguments(text: str, name: str) -> tuple[Value, ...]:
    """Read the arguments of a call: numbers, true, false, null, words, and texts in quotes."""
    try:
        call: Any = _expression(text)  # one that is no call has no arguments
        values = tuple(map(_value, (*call.args, *call.keywords)))
    except _UNREADABLE:
        raise ValueError(
            f"cannot be read: write it like {_FORMS[name]}, with quotes around all that is no"
            " number and no single word"
        ) from None
    if any(type(value) is int and value not in INT64 for value in values):
        raise ValueError("has a number of more than 64 bits")
    return values


def _expression(text: str) -> ast.expr:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a backslash that escapes nothing
        return ast.parse(text, mode="eval").body


def _value(node: ast.expr) -> Value:
    if isinstance(node, ast.Name):
        return _WORDS.get(node.id, node.id)
    value = ast.literal_eval(node)
    if not isinstance(value, str | int | float | None):
        raise TypeError
    return value


def _literal(text: str) -> Literal:
    if not text:
        raise ValueError(f"literal needs a text: {_FORMS['literal']}")
    try:
        value = ast.literal_eval(_expression(text))
    except _UNREADABLE:
        value = text
    return Literal(value if isinstance(value, str) else text)


def _random_int(values: tuple[Value, ...]) -> RandomInt:
    low, high = _whole(values, "random_int", 2, 2)
    if low > high:
        raise ValueError(f"is an empty range: {low} is more than {high}")
    return RandomInt(low, high)


def _random_choice(values: tuple[Value, ...]) -> RandomChoice:
    if not values:
        raise ValueError(f"random_choice has nothing to choose from: {_FORMS['random_choice']}")
    return RandomChoice(values)


def _sequence(values: tuple[Value, ...]) -> NumberSequence:
    sequence = NumberSequence(*_whole(values, "sequence", 0, 2))
    if sequence.step == 0:
        raise ValueError("a sequence with step 0 repeats one number: write the number")
    return sequence


def _whole(values: tuple[Value, ...], name: str, least: int, most: int) -> tuple[int, ...]:
    whole = tuple(one for one in values if type(one) is int)
    if len(whole) != len(values) or not least <= len(whole) <= most:
        raise ValueError(f"{name} takes whole numbers: {_FORMS[name]}")
    return whole


_GENERATORS: Final[Mapping[str, Callable[[tuple[Value, ...]], Generator]]] = {
    "random_int": _random_int,
    "random_choice": _random_choice,
    "sequence": _sequence,
}
_FORMS: Final = {
    "random_int": "random_int(1, 1000)",
    "random_choice": 'random_choice(new, "paid, sent", 3)',
    "sequence": "sequence, sequence(start) or sequence(start, step)",
    "literal": 'literal("text")',
}


Value: TypeAlias = str | int | float | bool | None
Parameters: TypeAlias = Mapping[str, Value]
"""The values of one operation, by the name of the parameter."""
