"""Units: parses what people write in a configuration, and formats numbers for people.

Stored values are always in base units: seconds ("s"), bytes ("B"), or a bare count ("").
What cannot be parsed raises a ValueError that names the text and shows the form.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_DURATION_S = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|m|h)")
_PERCENT = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*%")
# Durations are searched for a part at every character, so time grows with the square of the length.
_LONGEST = 100

_TIME_SCALE = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BYTE_SCALE = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))
_SPARE = 1.1
# How many times as large as the least of several values the others may be, to share its unit.
_MOST_APART = 1000
_COUNT_SCALE = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
RATE_UNIT = "1/s"
_DECIMAL_BYTES = {"kB": 1e3, "MB": 1e6, "GB": 1e9}
_QUANTITY = re.compile(r"(?P<number>[0-9]{1,15}(\.[0-9]{1,15})?)(?P<unit> *[A-Za-z/%]*)", re.ASCII)
TIME_UNITS = ("ns", "us", "ms", "s")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit as people write it.

    Attributes:
        value: in base units.
        unit: "s", "B" or "1/s"; "" for a plain number, which has the unit of what it is compared
            with.
        text: as it was written.
    """

    value: float
    unit: str
    text: str


def parse_quantity(written: float | str) -> Quantity:
    """Read 20, "20ms", "64 MiB", "1000/s" or "1 %"."""
    text = str(written).strip()
    found = _QUANTITY.fullmatch(text)
    unit = found["unit"].strip() if found else ""
    sizes = {**{name: size for size, name in _BYTE_SCALE}, **_DECIMAL_BYTES}
    if found and unit in {"", "/s", "%"}:
        scale = 0.01 if unit == "%" else 1.0
        return Quantity(float(found["number"]) * scale, RATE_UNIT if unit == "/s" else "", text)
    if found and unit in sizes:
        return Quantity(float(found["number"]) * sizes[unit], "B", text)
    try:
        return Quantity(parse_duration_s(text), "s", text)
    except ValueError:
        raise ValueError('write it as 20, "20ms", "64 MiB", "1000/s" or "1 %"') from None


def parse_duration_s(text: str) -> float:
    """Seconds from what people write: "50ms", "1.5s", "10m", "1h 30m"."""
    written = text[: _LONGEST + 1].replace("\N{GREEK SMALL LETTER MU}", "\N{MICRO SIGN}")
    parts = _DURATION_PART.findall(written)
    if len(text) > _LONGEST or not parts or _DURATION_PART.sub("", written).strip():
        raise ValueError(
            f"{_quoted(text)} is not a duration: write it as 50ms, 1.5s, 10m or 1h 30m"
        )
    return sum(float(number) * _DURATION_S[unit] for number, unit in parts)


def parse_ratio_change(text: str) -> float:
    """A fraction from a percentage as people write it: "2%" is 0.02."""
    match = _PERCENT.fullmatch(text.strip())
    if match is None or len(text) > _LONGEST:
        raise ValueError(f"{_quoted(text)} is not a percentage: write it as 2% or 0.5%")
    return float(match.group(1)) / 100


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}...")


def format_value(value: float, unit: str, display_unit: str | None = None) -> str:
    """A value in a base unit, scaled to four significant digits: 0.01234 s is "12.34 ms".

    Args:
        unit: "s", "B" or "1/s"; anything else is a count, and is shown after the number.
        display_unit: one of TIME_UNITS, to show a time in that unit whatever its size.
    """
    if unit == "s":
        if display_unit is not None:
            name = "µs" if display_unit == "us" else display_unit
            return f"{_digits(value / _DURATION_S[display_unit])} {name}"
        return _scaled(value, _TIME_SCALE)
    return _count(value, unit, whole=float(value).is_integer())


def format_values(
    values: Sequence[float], unit: str, display_unit: str | None = None
) -> tuple[str, ...]:
    """Format values that are read side by side, times in one unit: that of the least, if it suits.

    12344 and 12344.4 are both "12.34k": beside a count that is shown whole, a count rounded to four
    digits could look like the smaller one. Everything else is as in `format_value`.
    """
    if unit == "s":
        sizes = [abs(value) for value in values if value]
        if not display_unit and sizes and max(sizes) < _MOST_APART * min(sizes):
            display_unit = axis_scale(min(sizes), unit)[1].replace("µ", "u")
        return tuple(format_value(value, unit, display_unit) for value in values)
    whole = all(float(value).is_integer() for value in values)
    return tuple(_count(value, unit, whole=whole) for value in values)


def axis_scale(largest: float, unit: str, display_unit: str | None = None) -> tuple[float, str]:
    """The size of one step of an axis in base units, and its name: 0.0123 s gives (0.001, "ms").

    Args:
        largest: the greatest distance from 0 on the axis, in base units.
    """
    if unit == "s" and display_unit is not None:
        return _DURATION_S[display_unit], "µs" if display_unit == "us" else display_unit
    scales = {"s": _TIME_SCALE, "B": _BYTE_SCALE}
    if unit not in scales:
        return 1.0, unit
    scale = scales[unit]
    return next(((size, name) for size, name in scale if largest >= size), scale[-1])


def _count(value: float, unit: str, *, whole: bool) -> str:
    if unit == RATE_UNIT:
        return f"{_rate(value)}/s"
    if unit == "B":
        return f"{value:.0f} B" if whole and abs(value) < 1024 else _scaled(value, _BYTE_SCALE)
    if whole and abs(value) < 1e6:
        return f"{value:.0f} {unit}".rstrip()
    return f"{_scaled(value, _COUNT_SCALE).replace(' ', '')} {unit}".rstrip()


def _rate(value: float) -> str:
    """Operations per second: "1,234" rather than "1.234k"."""
    if 999.95 <= abs(value) < 1e9:
        return f"{value:,.0f}"
    return _scaled(value, _COUNT_SCALE).replace(" ", "")


def format_change(ratio: float, digits: int | None = None) -> str:
    """The change that a ratio stands for, signed: 1.146 is "+14.6 %", 0.5 is "-50.0 %".

    A change beyond +1000 % is written as a factor, "x 25.00".

    Args:
        digits: after the point; None for as many as a change of this size usually has.
    """
    if not math.isfinite(ratio):
        return "from 0"
    if ratio > 11:
        return f"x {_digits(ratio)}"
    percent = (ratio - 1) * 100
    if digits is None:
        digits = 2 if abs(percent) < 1 else 1
    text = f"{percent:+.{digits}f}"
    return f"{text if float(text) else text[1:]} %"


def change_digits(low: float, high: float) -> int:
    """How many digits after the point a change has whose interval has these ends, as ratios."""
    half_percent = 50 * abs(high - low)
    if half_percent >= 5:
        return 0
    is_large = max(abs(low - 1), abs(high - 1)) >= 0.1
    return 1 if half_percent >= 0.05 or is_large else 2


def format_percent(fraction: float) -> str:
    """A fraction as a percentage without needless digits: 0.02 is "2 %", 0.001 is "0.1 %"."""
    percent = fraction * 100
    return f"{percent:.0f} %" if abs(percent) >= 999.5 else f"{percent:.3g} %"


def counted(count: int, noun: str) -> str:
    """A number with its noun: "1 round", "12 rounds", "2 launches"."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun}{'es' if noun.endswith(('ch', 'ss')) else 's'}"


def format_duration(seconds: float) -> str:
    """How long something took or will take, for a sentence: "4.5 s", "2 min 5 s", "1 h 3 min"."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def format_budget(seconds: float) -> str:
    """A budget for what takes about so long, as people write it: "50s", "12m".

    It has a tenth to spare, because durations that were measured before are no more exact.
    """
    with_spare_s = seconds * _SPARE
    if with_spare_s <= 60:
        return f"{math.ceil(with_spare_s / 10) * 10}s"
    return f"{math.ceil(with_spare_s / 60)}m"


def _scaled(value: float, scale: tuple[tuple[float, str], ...]) -> str:
    if value == 0:
        return f"0 {scale[-1][1] if scale is not _TIME_SCALE else 's'}".rstrip()
    for factor, name in scale:
        # 0.9995 would be rounded up to 1.000 in this unit.
        if abs(value) >= factor * 0.99995:
            return f"{_digits(value / factor)} {name}".rstrip()
    factor, name = scale[-1]
    return f"{_digits(value / factor)} {name}".rstrip()


def _digits(value: float) -> str:
    """Four significant digits; usual sizes never get an exponent."""
    if value == 0 or not 1e-4 <= abs(value) < 1e15:
        return f"{value:.4g}"
    rounded = float(f"{value:.3e}")  # 9.9996 becomes 10.00, which has one digit more
    decimals = 3 - math.floor(math.log10(abs(rounded)))
    return f"{value:.{max(decimals, 0)}f}"
