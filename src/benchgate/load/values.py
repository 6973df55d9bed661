"""Values of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Value: TypeAlias = str | int | float | bool | None
Parameters: TypeAlias = Mapping[str, Value]
"""The values of one operation, by the name of the parameter."""
