"""Which benchmarks share a pair of processes, and in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import (
        Sequence,
    )


T = TypeVar("T")


def divide(items: Sequence[T], costs: Sequence[float], share: float) -> list[list[T]]:
    """Cut a sequence into parts of about the same cost, of which the last may be smaller.

    Args:
        costs: of each item, in any unit.
        share: what a part should cost; one item may cost more.
    """
    parts: list[list[T]] = []
    cost = 0.0
    for item, of_item in zip(items, costs, strict=True):
        if not parts or cost + of_item / 2 > share:
            parts.append([])
            cost = 0.0
        parts[-1].append(item)
        cost += of_item
    return parts


def together(names: Sequence[str]) -> list[tuple[int, ...]]:
    """Rank names so that tests of one file, and of one class in it, follow each other.

    They may share fixtures, which pytest then sets up once. Everything else keeps its order.

    Args:
        names: such as `tests/test_x.py::TestY::test_z[1]`, or `parse[n=1]`.
    """
    first: dict[tuple[str, ...], int] = {}
    ranks = []
    for index, name in enumerate(names):
        *owners, _ = name.partition("[")[0].split("::")
        above = (tuple(owners[: depth + 1]) for depth in range(len(owners)))
        ranks.append(tuple(first.setdefault(each, index) for each in above))
    return ranks
