"""Measured values: an array of numbers in JSON, a read-only float64 array in the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
from pydantic_core import CoreSchema, core_schema

from benchgate.arrays import FloatArray
from benchgate.json_object import misplaced

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler

LARGEST = 1e150
"""A larger sample is damage: its square, or the sum of many, would overflow."""


class _Numbers:
    """Finite numbers, in one dimension."""

    def __init__(self, *, min_length: int) -> None:
        self._min_length = min_length

    def __get_pydantic_core_schema__(
        self, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        numbers = core_schema.list_schema(
            core_schema.float_schema(strict=True, allow_inf_nan=False, ge=-LARGEST, le=LARGEST),
            strict=True,
            min_length=self._min_length,
            fail_fast=True,
        )
        return core_schema.json_or_python_schema(
            json_schema=core_schema.no_info_after_validator_function(_array, numbers),
            python_schema=core_schema.no_info_plain_validator_function(self._checked),
            serialization=core_schema.plain_serializer_function_ser_schema(
                np.ndarray.tolist, return_schema=numbers
            ),
        )

    def _checked(self, values: FloatArray) -> FloatArray:
        """An array that is about to be written."""
        if values.ndim != 1 or values.size < self._min_length:
            raise misplaced(f"an array of shape {values.shape} holds no samples")
        plausible = np.abs(values) <= LARGEST
        if not plausible.all():
            index = int(np.argmin(plausible))
            found = values[index]
            what = "beyond what can be measured" if np.isfinite(found) else "not a finite number"
            raise misplaced(f"{found} is {what}", index)
        return values


def _array(numbers: list[float]) -> FloatArray:
    array = np.array(numbers, dtype=np.float64)
    array.setflags(write=False)
    return array


Samples: TypeAlias = Annotated[FloatArray, _Numbers(min_length=1)]
Warmup: TypeAlias = Annotated[FloatArray, _Numbers(min_length=0)]
