"""Reads parameters of steps: literals, and the generators of values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from benchgate.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable


INT64: Final = range(-(2**63), 2**63)
"""The whole numbers that databases know."""

_CALL = re.compile(r"\s*([A-Za-z_]\w*)(\s*)\((.*)\)\s*", re.DOTALL)
_ARGUMENT = re.compile(
    r"""\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s,"'][^,]*))\s*(?:,|\Z)""", re.DOTALL
)
_WHOLE = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
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
    """Find out what a parameter stands for.

    Raises:
        ValueError: it looks like a generator, but is none, or has wrong arguments.
    """
    if not isinstance(written, str):
        if isinstance(written, int) and written not in INT64:
            raise ValueError("has more than 64 bits")
        return Literal(written)
    name = written.strip()
    if name == "sequence":
        return NumberSequence()
    if name in GENERATORS:
        raise ValueError(f"{name} needs arguments: {_FORMS[name]}")
    call = _CALL.fullmatch(written)
    if call is not None:
        return _called(written, call[1], call[3], is_spaced=bool(call[2]))
    begin = re.match(r"\s*([A-Za-z_]\w*)\s*\(", written)
    if begin is not None and begin[1] in GENERATORS:
        raise ValueError(f"has no ) at its end: write {_FORMS[begin[1]]}")
    return Literal(written)


def check(written: object) -> object:
    """Check what may be a parameter, and return it unchanged.

    Raises:
        ValueError: as in `parsed`, and if it is neither text nor a number nor true or false.
    """
    if not isinstance(written, str | int | float):
        raise ValueError("must be text, a number, true or false")  # noqa: TRY004 - for pydantic
    parsed(written)
    return written


def _called(written: str, name: str, inner: str, *, is_spaced: bool) -> Generator:
    make = GENERATORS.get(name)
    if make is not None:
        return make(inner)
    if is_spaced:
        return Literal(written)
    meant = did_you_mean(name, GENERATORS) or f"; there are {', '.join(GENERATORS)}."
    raise ValueError(
        f"there is no generator {name!r}{meant} If you mean the text itself, write"
        f" {_as_literal(written.strip())}"
    )


def _as_literal(text: str) -> str:
    quote = "'" if '"' in text else '"'
    escaped = re.sub(rf"([\\{quote}])", r"\\\1", text)
    return f"literal({quote}{escaped}{quote})"


def _arguments(text: str) -> tuple[Value, ...]:
    """Split and read arguments: numbers, true, false, null, words, and texts in quotes."""
    values: list[Value] = []
    position = 0
    while text[position:].strip() or (position and text[position - 1] == ","):
        match = _ARGUMENT.match(text, position)
        if match is None:
            rest = text[position:].strip()
            raise ValueError(
                "has an empty value: write '' for an empty text"
                if rest[:1] in {"", ","}
                else f"cannot be read from {rest!r} on: separate values by commas, and close quotes"
            )
        values.append(_value(match))
        position = match.end()
    return tuple(values)


def _value(match: re.Match[str]) -> Value:
    for quoted in (match[1], match[2]):
        if quoted is not None:
            return re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)
    word = match[3].strip()
    if word in _WORDS:
        return _WORDS[word]
    if _WHOLE.fullmatch(word):
        if len(word) > 20 or int(word) not in INT64:
            raise ValueError(f"{word[:30]} has more than 64 bits")
        return int(word)
    return float(word) if _NUMBER.fullmatch(word) else word


def _random_int(inner: str) -> RandomInt:
    low, high = _whole(inner, "random_int", 2, 2)
    if low > high:
        raise ValueError(f"is an empty range: {low} is more than {high}")
    return RandomInt(low, high)


def _random_choice(inner: str) -> RandomChoice:
    values = _arguments(inner)
    if not values:
        raise ValueError(f"random_choice has nothing to choose from: {_FORMS['random_choice']}")
    return RandomChoice(values)


def _sequence(inner: str) -> NumberSequence:
    sequence = NumberSequence(*_whole(inner, "sequence", 0, 2))
    if sequence.step == 0:
        raise ValueError("a sequence with step 0 repeats one number: write the number")
    return sequence


def _literal(inner: str) -> Literal:
    text = inner.strip()
    if not text:
        raise ValueError(f"literal needs a text: {_FORMS['literal']}")
    quoted = _ARGUMENT.fullmatch(text)
    return Literal(text if quoted is None or quoted[3] is not None else _value(quoted))


def _whole(inner: str, name: str, least: int, most: int) -> tuple[int, ...]:
    values = _arguments(inner)
    whole = tuple(one for one in values if type(one) is int)
    if len(whole) != len(values) or not least <= len(whole) <= most:
        raise ValueError(f"{name} takes whole numbers: {_FORMS[name]}")
    return whole


GENERATORS: Final[Mapping[str, Callable[[str], Generator]]] = {
    "random_int": _random_int,
    "random_choice": _random_choice,
    "sequence": _sequence,
    "literal": _literal,
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
