"""Sharding: several machines each measure a part of the benchmarks, on both arms."""

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
    """Parse what people write: "2/8" is the second of eight.

    Raises:
        UsageError: it has another form, or there is no such shard.
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
    """Assign each name to a shard; the assignment is the same on every machine.

    Take the names in alphabetical order, in groups as large as the number of shards: each name of a
    group goes to another shard. So shards differ by at most one name, and similar benchmarks are
    spread. Which name of a group goes where is random: with a fixed order, if a benchmark has
    four sizes, every fourth shard would get all of the largest.
    """
    in_order = sorted(set(names))
    dealt: dict[str, int] = {}
    for start in range(0, len(in_order), count):
        neighbors = sorted(in_order[start : start + count], key=_lot)
        dealt |= {name: number for number, name in enumerate(neighbors, start=1)}
    return dealt


def _lot(name: str) -> bytes:
    """A random draw that is the same on every machine and in every version of Python."""
    return hashlib.sha256(name.encode("utf-8", "backslashreplace")).digest()


def keep_share(shard: Shard, session: Session, aliases: Mapping[str, str]) -> None:
    """Exclude the benchmarks that belong to other shards.

    All shards of a suite find the same benchmarks, because they look at the same two commits, so a
    benchmark that is new in the head does not move others between them. `benchgate merge` checks
    that all shards found the same.

    Args:
        aliases: old id to new id; both ids go to the same shard.
    """
    found = tuple(dict.fromkeys((*session.ids, *(failure.id for failure in session.unread))))
    numbers = deal((aliases.get(id_, id_) for id_ in found), shard.count)
    session.leave_out(id_ for id_ in found if numbers[aliases.get(id_, id_)] != shard.number)
    session.shard = replace(shard, dealt=found)
