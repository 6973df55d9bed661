"""Samples that took several operations each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.formats.parsed import RowError, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray

_MOST_LOOPS = 2.0**53


def means(
    totals: Sequence[float], loops: Sequence[float], scale: float, place: str
) -> tuple[FloatArray, int]:
    """The means per operation of samples that took several operations, and their usual number.

    Args:
        totals: of each sample.
        loops: operations of each sample.
        scale: the unit of the totals, in base units.

    Raises:
        RowError: the lists differ in length, or hold something else than numbers.
    """
    if len(totals) != len(loops):
        raise RowError(f"{place}: has {len(totals)} values but {len(loops)} numbers of iterations")
    with np.errstate(all="ignore"):  # what is impossible fails as a sample
        found: FloatArray = numbers(totals, place) * scale / numbers(loops, place)
    return found, usual_loops(loops)


def usual_loops(loops: Sequence[float]) -> int:
    """The number of operations in a sample, if it differs between samples: the median.

    Args:
        loops: of each sample; what no number of operations can be counts as one.
    """
    possible = sorted(each for each in loops if 1 <= each < _MOST_LOOPS)
    middle = len(possible) // 2
    return int((possible[middle] + possible[~middle]) / 2) if possible else 1
