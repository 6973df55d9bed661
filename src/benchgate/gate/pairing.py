"""Pairs the benchmarks of the base with those of the head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.model.renames import renamed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.model.run import BenchmarkResult


@dataclass(frozen=True, slots=True)
class Pair:
    """The base's and the head's results of one benchmark; one of them may be absent.

    Attributes:
        id: the head's id, or the base's if the head has no such benchmark.
        renamed_from: the base's id, if an alias joined them.
    """

    id: str
    base: BenchmarkResult | None
    head: BenchmarkResult | None
    renamed_from: str | None = None


def pair(
    base: Iterable[BenchmarkResult],
    head: Iterable[BenchmarkResult],
    aliases: Mapping[str, str],
) -> tuple[Pair, ...]:
    """Join the benchmarks of two runs by id: in the head's order, then those only in the base.

    Args:
        aliases: old id to new id; see `renamed`.
    """
    in_base = {b.id: b for b in base}
    in_head = {b.id: b for b in head}
    old_ids = renamed(in_base, in_head, aliases)
    pairs, used = [], set()
    for id_, result in in_head.items():
        old = id_ if id_ in in_base else old_ids.get(id_)
        partner = in_base[old] if old is not None else None
        used.add(old)
        pairs.append(Pair(id_, partner, result, old if old != id_ else None))
    pairs += [Pair(id_, result, None) for id_, result in in_base.items() if id_ not in used]
    return tuple(pairs)
