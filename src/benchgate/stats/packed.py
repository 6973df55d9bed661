"""A sample of whole numbers as a short text: ascending, as differences."""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.checks import require_whole_numbers
from benchgate.stats.varints import MOST_BYTES, expanded, from_varints, to_varints

if TYPE_CHECKING:
    from benchgate.arrays import IntArray

MOST_VALUES = 10_000
"""Numbers in one text, at most."""

_LIMIT = 1 << (7 * MOST_BYTES)
_TOO_LARGE = "a number is 2**56 or more"


def pack(values: IntArray) -> str:
    """Write a sample: its ascending numbers as differences, LEB128, zlib, base64.

    Args:
        values: shape (n,), in any order, from 0 to 2**56 - 1; n may be 0, and is at most 10,000.

    Raises:
        ValueError: one is out of range, or there are too many.
    """
    require_whole_numbers("values", values)
    if len(values) > MOST_VALUES:
        raise ValueError(f"a sample has at most {MOST_VALUES} numbers, and this one {len(values)}")
    if values.size and int(values.max()) >= _LIMIT:
        raise ValueError(_TOO_LARGE)
    ascending = np.concatenate(([0], np.sort(values)))
    differences = ascending[1:] - ascending[:-1]
    return base64.b64encode(zlib.compress(to_varints(differences), 9)).decode("ascii")


def unpack(text: str) -> IntArray:
    """Read what `pack` wrote, which may come from anybody: ascending, shape (n,).

    Raises:
        ValueError: it is damaged, or has more than 10,000 numbers, or one of 2**56 or more.
    """
    data = expanded(base64.b64decode(text, validate=True), MOST_VALUES * MOST_BYTES)
    differences = from_varints(data)
    if len(differences) > MOST_VALUES:
        raise ValueError(f"has {len(differences)} numbers, which is more than {MOST_VALUES}")
    # A float does not overflow; the sum of integers is exact if it is far below 2**63.
    if differences.astype(np.float64).sum() >= 2 * _LIMIT:
        raise ValueError(_TOO_LARGE)
    values: IntArray = np.cumsum(differences)
    if len(values) and int(values[-1]) >= _LIMIT:
        raise ValueError(_TOO_LARGE)
    return values
