"""How a key of the configuration is declared, and which of two values of it is laxer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import Field

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic.fields import FieldInfo

    from benchgate.tables.fields import Table


class Side(StrEnum):
    """The commit whose configuration judges."""

    BASE = "base"
    EACH = "each"
    HEAD = "head"


Laxer: TypeAlias = "Callable[[Any, Any, str], bool]"
"""Tells whether the second of two tables is laxer than the first in the named field."""


@dataclass(frozen=True)
class _Says:
    what: Any


def key(says: Laxer | Side, default: Any, description: str, **rest: Any) -> Any:  # noqa: ANN401 - as its field
    """Declare a key.

    Args:
        says: when a change of it loosens the gate; for a table, whose decides.
        default: as people write it, or what makes it; `...` if the key is required.
        rest: as for pydantic's Field.
    """
    if callable(default):
        rest["default_factory"] = default
    else:
        rest |= {"default": default, "validate_default": isinstance(default, str)}
    info: FieldInfo = Field(description=description, **rest)
    info.metadata.append(_Says(says))
    return info


def said_of(info: FieldInfo) -> Any:  # noqa: ANN401 - a direction, or a side
    """What the declaration of a key says beside its type, default and description.

    Raises:
        StopIteration: it was not declared with `key`.
    """
    return next(one.what for one in info.metadata if isinstance(one, _Says))


def neutral(before: Table, after: Table, name: str) -> bool:  # noqa: ARG001 - as all directions
    """Neither of two values is laxer."""
    return False


def elsewhere(before: Table, after: Table, name: str) -> bool:  # noqa: ARG001 - as all directions
    """`loosening` compares it together with other keys."""
    return False


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


def named(before: Table, after: Table, name: str) -> bool:
    """There is a value, and it differs."""
    return other(before, after, name) and getattr(after, name) is not None


def classical(before: Table, after: Table, name: str) -> bool:
    return other(before, after, name) and getattr(after, name) == "classical"


def stored(before: Table, after: Table, name: str) -> bool:
    """Stored results alone are weaker evidence than a base measured together with the head."""
    measured = {"auto", "git"}
    return getattr(before, name) in measured and getattr(after, name) not in measured


def shorter(before: Any, after: Any, _: str) -> bool:  # noqa: ANN401 - both are [measure]
    return bool(after.limit_s < before.limit_s)


def fewer_rounds(before: Any, after: Any, _: str) -> bool:  # noqa: ANN401 - both are [measure]
    most = math.inf if before.until_decided else before.rounds or before.max_rounds
    return bool(after.rounds is not None and after.rounds < most)


def counts_less(before: Table, after: Table, name: str) -> bool:
    """Fewer machines count anything."""
    order = ("none", "perf", "auto", "valgrind")
    return order.index(getattr(after, name)) < order.index(getattr(before, name))
