"""Sharding: each of several machines measures a part of the benchmarks, on both arms."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.errors import UsageError
from benchgate.model.result import MAX_SHARDS, Shard

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.session.session import Session

_WRITTEN = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


def parse_shard(text: str) -> Shard:
    """Read what people write: "2/8" is the second of eight.

    Raises:
        UsageError: it is written otherwise, or there is no such shard.
    """
    hint = (
        "Write it as I/N, such as 2/8: each of N jobs has its own I, from 1 to N. N is at "
        f"most {MAX_SHARDS}."
    )
    match = _WRITTEN.fullmatch(text)
    if match is None:
        raise UsageError(f"--shard {text!r} is not a shard", hint=hint)
    number, count = int(match[1]), int(match[2])
    if not 1 <= number <= count <= MAX_SHARDS:
        raise UsageError(f"--shard {text}: there is no such shard", hint=hint)
    return Shard(number, count)


def deal(names: Iterable[str], count: int) -> dict[str, int]:
    """Give each name the number of its shard, in the same way wherever that is done.

    Of so many neighbors in alphabetical order each goes to another shard, so that no shard has
    more than one above another, and what is alike is spread. Which of the neighbors goes where is
    drawn by lot: with a fixed order every fourth shard would get the largest of all sizes if a
    benchmark has four.
    """
    in_order = sorted(set(names))
    dealt: dict[str, int] = {}
    for start in range(0, len(in_order), count):
        neighbors = sorted(in_order[start : start + count], key=_lot)
        dealt |= {name: number for number, name in enumerate(neighbors, start=1)}
    return dealt


def _lot(name: str) -> bytes:
    """Draw, but the same on every machine and in every version of Python."""
    return hashlib.sha256(name.encode("utf-8", "backslashreplace")).digest()


def keep_share(shard: Shard, session: Session, aliases: Mapping[str, str]) -> None:
    """Leave to the other shards what is theirs.

    All shards of a suite find the same benchmarks, because they look at the same two commits: one
    that is new in the head moves none from shard to shard between them. `benchgate merge` holds
    against each other what they found.

    Args:
        aliases: old id to new id; what was renamed stays together.
    """
    found = tuple(dict.fromkeys((*session.ids, *(failure.id for failure in session.unread))))
    numbers = deal((aliases.get(id_, id_) for id_ in found), shard.count)
    session.leave_out(id_ for id_ in found if numbers[aliases.get(id_, id_)] != shard.number)
    session.shard = replace(shard, dealt=found)
