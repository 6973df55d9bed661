"""Whether everything that was computed is a finite number."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass


def all_finite(found: object) -> bool:
    """Whether every number in nested dataclasses and tuples is finite."""
    if is_dataclass(found):
        return all(all_finite(getattr(found, field.name)) for field in fields(found))
    if isinstance(found, tuple):
        return all(map(all_finite, found))
    return not isinstance(found, (int, float)) or math.isfinite(found)
