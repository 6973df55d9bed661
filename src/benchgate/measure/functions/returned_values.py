"""The metric of a benchmark that returns a number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from benchgate.model.metrics import PEAK_RSS, Better, Kind, Metric

if TYPE_CHECKING:
    from collections.abc import (
        Mapping,
    )


_VALUE: Final = "value"
_SIZES: Final[Mapping[str, Metric]] = {
    PEAK_RSS.name: PEAK_RSS,
    "memory": Metric("memory", "B", kind=Kind.EXACT),
}
_UNITS: Final[Mapping[str, str]] = {"seconds": "s", "second": "s", "sec": "s", "bytes": "B"}
_RATE: Final = re.compile(r"(/s(ec(ond)?)?|per second|\bops)$", re.IGNORECASE)


def metric_of(measures: str, unit: str) -> Metric | None:
    """The metric of a benchmark that returns a number; None if it is timed.

    Less is better, as under asv, unless the unit is that of a rate.

    Args:
        measures: what it is measured by: "time", "value", or the name of a size.
        unit: as the benchmark names it; it only counts if the benchmark chooses it.
    """
    if measures != _VALUE:
        return _SIZES.get(measures)
    better = Better.HIGHER if _RATE.search(unit.strip()) else Better.LOWER
    return Metric(_VALUE, _UNITS.get(unit, unit), better, Kind.EXACT)
