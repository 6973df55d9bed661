"""The samples of a launch, and all launches of a series as a table of a document."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

import numpy as np
from pydantic import FailFast, Field

from benchgate.json_object import (
    MOST_COUNTED,
    Count,
    JsonObject,
    misplaced,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray


LARGEST = 1e150
"""A larger sample is damage: its square, or the sum of many, would overflow."""

MOST_VALUES: Final = 10_000_000
"""Most values of a series."""

_FLOAT_BYTES: Final = 8
_NS: Final = 1e9


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """The samples of one fresh process: the unit of independence.

    Attributes:
        round: the pass in which it was measured, from 0; launches of both arms with the
            same round were measured in turn.
        order: this arm's position in the round; 0 for the arm that was started first.
        samples: shape (n,), n >= 1, in the metric's unit, per operation.
        warmup: shape (k,), the samples that were taken before and discarded.
        lane: number of the lane in which it was measured while others were measured in other
            lanes, from 0; None if nothing else was measured at the same time.
    """

    round: int
    order: int
    samples: FloatArray
    warmup: FloatArray
    lane: int | None = None


@dataclass(frozen=True, slots=True)
class LaunchTable(JsonObject):
    """The launches of a series in a file: columns with one entry for each launch.

    Attributes:
        round, order, lane: see `Launch`.
        warmup, samples: how many values the launch has of each.
        per_unit: `values` are whole numbers, and each of them divided by this is in the metric's
            unit; None if they are float64 in the metric's unit.
        values: of each launch in turn its warm-up and then its samples, as the base64 of bytes:
            first the lowest byte of every value, then the next higher byte of every value, and so
            on. A whole number has one to eight of them.
    """

    round: Annotated[tuple[Count, ...], FailFast()]
    order: Annotated[tuple[Count, ...], FailFast()]
    lane: Annotated[tuple[Count | None, ...], FailFast()]
    warmup: Annotated[tuple[Count, ...], FailFast()]
    samples: Annotated[tuple[Annotated[int, Field(ge=1)], ...], FailFast()]
    per_unit: Annotated[float, Field(ge=1e-9, le=LARGEST)] | None
    values: Annotated[str, Field(max_length=_FLOAT_BYTES * MOST_VALUES * 4 // 3 + 4)]

    @classmethod
    def of(cls, launches: Sequence[Launch], per_unit: float) -> Self:
        """Make the table of launches.

        Args:
            per_unit: the values are stored as whole numbers if they are multiples of its inverse.
        """
        per_unit_used, values = _packed(all_values(launches), per_unit)
        return cls(
            round=tuple([launch.round for launch in launches]),
            order=tuple([launch.order for launch in launches]),
            lane=tuple([launch.lane for launch in launches]),
            warmup=tuple([launch.warmup.size for launch in launches]),
            samples=tuple([launch.samples.size for launch in launches]),
            per_unit=per_unit_used,
            values=values,
        )

    def launches(self) -> tuple[Launch, ...]:
        """The launches."""
        for name in ("order", "lane", "warmup", "samples"):
            if len(getattr(self, name)) != len(self.round):
                raise misplaced("must have as many entries as `round`", name)
        count = sum(self.warmup) + sum(self.samples)
        if count > MOST_VALUES:
            raise misplaced(f"more than {MOST_VALUES} values are the limit of a series", "samples")
        values = self._unpacked(count)
        counts = chain.from_iterable(zip(self.warmup, self.samples, strict=True))
        bounds = list(accumulate(counts, initial=0))
        columns = zip(
            *(self.round, self.order, self.lane),
            *(bounds[:-1:2], bounds[1::2], bounds[2::2]),
            strict=True,
        )
        return tuple(
            [
                Launch(round_, order, values[middle:end], values[begin:middle], lane)
                for round_, order, lane, begin, middle, end in columns
            ]
        )

    def _unpacked(self, count: int) -> FloatArray:
        """The values, read-only.

        Args:
            count: how many there must be.
        """
        try:
            data = base64.b64decode(self.values, validate=True)
        except (binascii.Error, ValueError):
            raise misplaced("is not base64", "values") from None
        width = len(data) // count if count else 0
        widths = range(_FLOAT_BYTES if self.per_unit is None else 1, _FLOAT_BYTES + 1)
        if len(data) != width * count or (count and width not in widths):
            message = f"holds {len(data)} bytes, which are not those of {count} values"
            raise misplaced(message, "values")
        bytes_ = np.zeros((count, _FLOAT_BYTES), dtype=np.uint8)
        bytes_[:, :width] = np.frombuffer(data, dtype=np.uint8).reshape(width, count).T
        if self.per_unit is None:
            values = bytes_.view("<f8").reshape(count).astype(np.float64)
        else:
            values = bytes_.view("<u8").reshape(count) / self.per_unit
        values.setflags(write=False)
        return values


def all_values(launches: Sequence[Launch]) -> FloatArray:
    """The values of launches, shape (n,): of each in turn its warm-up and then its samples."""
    if not launches:
        return np.empty(0)
    return np.concatenate([part for one in launches for part in (one.warmup, one.samples)])


def per_unit_of(unit: str, loops: int) -> float:
    """How many of the smallest steps that are measured are one unit: a clock counts ns.

    Args:
        loops: operations that one step is the sum of.
    """
    return _NS * loops if unit == "s" else 1.0


def _packed(values: FloatArray, per_unit: float) -> tuple[float | None, str]:
    with np.errstate(over="ignore", invalid="ignore"):
        counts = np.rint(values * per_unit)
        are_whole = bool(
            np.all((counts >= 0) & (counts < MOST_COUNTED) & (counts / per_unit == values))
        )
    if not are_whole:
        return None, _in_planes(values.astype("<f8"), _FLOAT_BYTES)
    width = (int(counts.max(initial=1)).bit_length() + 7) // 8
    return per_unit, _in_planes(counts.astype("<u8"), width)


def _in_planes(values: np.ndarray[Any, Any], width: int) -> str:
    bytes_ = values.view(np.uint8).reshape(-1, _FLOAT_BYTES)
    return base64.b64encode(bytes_.T[:width].tobytes()).decode("ascii")
