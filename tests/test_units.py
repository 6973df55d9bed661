from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate import units


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [
        (0, "round", "0 rounds"),
        (1, "round", "1 round"),
        (1, "launch", "1 launch"),
        (2, "launch", "2 launches"),
        (2, "more pair", "2 more pairs"),
    ],
)
def test_a_number_with_its_noun(count: int, noun: str, text: str) -> None:
    assert units.counted(count, noun) == text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("50ms", 0.05),
        ("1.5s", 1.5),
        ("10m", 600),
        ("1h", 3600),
        ("1h 30m", 5400),
        ("1h30m", 5400),
        (" 2 s ", 2),
        ("250us", 250e-6),
        ("250µs", 250e-6),
        ("250\N{GREEK SMALL LETTER MU}s", 250e-6),
        ("7ns", 7e-9),
        ("0s", 0),
        ("1m 500ms", 60.5),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert units.parse_duration_s(text) == pytest.approx(seconds, rel=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "10", "s", "-5s", "+5s", "1,5s", "5 min", "5sec", "1.s", ".5s", "1e3s"),
        *("5S", "1h, 30m", "1h and 30m", "5s5", "1.5.5s", "inf s", "1d"),
    ],
)
def test_what_is_not_a_duration_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration") as caught:
        units.parse_duration_s(text)
    assert repr(text) in str(caught.value)
    assert "50ms" in str(caught.value)


@pytest.mark.parametrize("text", [f"{'1' * 100}s", f"1{' ' * 100}s", "1s" * 60, "9" * 5000])
def test_a_duration_is_short(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration") as caught:
        units.parse_duration_s(text)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    ("text", "fraction"),
    [
        ("2%", 0.02),
        ("0.5%", 0.005),
        ("0%", 0),
        ("100%", 1),
        (" 2 % ", 0.02),
        ("+3%", 0.03),
        ("-3%", -0.03),
    ],
)
def test_percentages(text: str, fraction: float) -> None:
    assert units.parse_ratio_change(text) == pytest.approx(fraction, rel=1e-12)


@pytest.mark.parametrize("text", ["", "%", "2", "0.02", "2,5%", "2%%", "2 percent", "1e1%", "x2%"])
def test_what_is_not_a_percentage_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="is not a percentage") as caught:
        units.parse_ratio_change(text)
    assert repr(text) in str(caught.value)
    assert "2%" in str(caught.value)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.01234, "s", "12.34 ms"),
        (0, "s", "0 s"),
        (1, "s", "1.000 s"),
        (75.5, "s", "75.50 s"),
        (1234.5, "s", "1234 s"),
        (0.99996, "s", "1.000 s"),
        (0.99994, "s", "999.9 ms"),
        (0.0099996, "s", "10.00 ms"),
        (0.0999996, "s", "100.0 ms"),
        (1.5e-6, "s", "1.500 µs"),
        (12.3e-9, "s", "12.30 ns"),
        (0.25e-9, "s", "0.2500 ns"),
        (-0.01234, "s", "-12.34 ms"),
        (0, "B", "0 B"),
        (512, "B", "512 B"),
        (1023, "B", "1023 B"),
        (12.5, "B", "12.50 B"),
        (1024, "B", "1.000 KiB"),
        (1536, "B", "1.500 KiB"),
        (3 * 2**20, "B", "3.000 MiB"),
        (5 * 2**40, "B", "5.000 TiB"),
        (0, "", "0"),
        (42, "", "42"),
        (999_999, "", "999999"),
        (1_000_000, "", "1.000M"),
        (2_500_000_000, "", "2.500G"),
        (0.5, "", "0.5000"),
        (12.5, "", "12.50"),
        (42, "blocks", "42 blocks"),
        (1_234_567, "blocks", "1.235M blocks"),
        (1234.5, "req/s", "1.234k req/s"),
        (0, "1/s", "0/s"),
        (0.25, "1/s", "0.2500/s"),
        (89.62, "1/s", "89.62/s"),
        (999.96, "1/s", "1,000/s"),
        (1234.5, "1/s", "1,234/s"),
        (12_345_678, "1/s", "12,345,678/s"),
        (2e9, "1/s", "2.000G/s"),
    ],
)
def test_values_are_scaled_to_four_significant_digits(value: float, unit: str, text: str) -> None:
    assert units.format_value(value, unit) == text


@pytest.mark.parametrize(
    ("value", "display_unit", "text"),
    [
        (0.01234, "ms", "12.34 ms"),
        (0.01234, "s", "0.01234 s"),
        (0.01234, "us", "12340 µs"),
        (0.01234, "ns", "12340000 ns"),
        (12e-9, "ms", "1.2e-05 ms"),
        (0, "ns", "0 ns"),
    ],
)
def test_a_time_in_the_unit_that_its_author_chose(
    value: float, display_unit: str, text: str
) -> None:
    assert display_unit in units.TIME_UNITS
    assert units.format_value(value, "s", display_unit) == text


def test_a_display_unit_is_for_times_only() -> None:
    assert units.format_value(2048, "B", "ms") == "2.000 KiB"


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (1.146, "+14.6 %"),
        (0.5, "-50.0 %"),
        (1, "0.00 %"),
        (1.00004, "0.00 %"),
        (0.99996, "0.00 %"),
        (1.0051, "+0.51 %"),
        (0.9949, "-0.51 %"),
        (1.1, "+10.0 %"),
        (2, "+100.0 %"),
        (0, "-100.0 %"),
        (11, "+1000.0 %"),
        (25, "x 25.00"),
        (12_345, "x 12345"),
        (math.inf, "from 0"),
    ],
)
def test_changes(ratio: float, text: str) -> None:
    assert units.format_change(ratio) == text


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0.02, "2 %"),
        (0.001, "0.1 %"),
        (0.015, "1.5 %"),
        (0, "0 %"),
        (0.95, "95 %"),
        (0.12345, "12.3 %"),
        (1, "100 %"),
        (10, "1000 %"),
        (9.999, "1000 %"),
    ],
)
def test_fractions_as_percentages(fraction: float, text: str) -> None:
    assert units.format_percent(fraction) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 s"),
        (4.52, "4.5 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (42.4, "42 s"),
        (59.6, "1 min"),
        (125, "2 min 5 s"),
        (3599.7, "1 h"),
        (3780, "1 h 3 min"),
        (7200, "2 h"),
        (100_000, "27 h 46 min"),
    ],
)
def test_durations_for_a_sentence(seconds: float, text: str) -> None:
    assert units.format_duration(seconds) == text


@given(st.floats(min_value=1e-12, max_value=1e12), st.sampled_from(["s", "B", ""]))
def test_what_is_shown_is_the_value(value: float, unit: str) -> None:
    """Four digits are kept, whatever the magnitude."""
    number, _, name = units.format_value(value, unit).partition(" ")
    factors = {"ms": 1e-3, "µs": 1e-6, "ns": 1e-9, "KiB": 2**10, "MiB": 2**20}
    factors |= {"GiB": 2**30, "TiB": 2**40, "k": 1e3, "M": 1e6, "G": 1e9}
    if not number[-1].isdigit():
        number, name = number[:-1], number[-1]
    assert float(number) * factors.get(name, 1) == pytest.approx(value, rel=6e-4)
    assert "e" not in number or value < 1e-4


@given(
    st.integers(min_value=0, max_value=10**6), st.sampled_from(["ns", "us", "ms", "s", "m", "h"])
)
def test_every_whole_number_of_a_unit_is_read(count: int, unit: str) -> None:
    assert units.parse_duration_s(f"{count}{unit}") == pytest.approx(
        count * units.parse_duration_s(f"1{unit}")
    )


@pytest.mark.parametrize(
    ("written", "value", "unit"),
    [
        (20, 20, ""),
        (0.5, 0.5, ""),
        ("20", 20, ""),
        ("20ms", 0.02, "s"),
        ("1m 30s", 90, "s"),
        ("64 MiB", 64 * 2**20, "B"),
        ("1.5MB", 1.5e6, "B"),
        ("12 B", 12, "B"),
        ("1000/s", 1000, "1/s"),
        ("1 %", 0.01, ""),
    ],
)
def test_a_quantity_is_a_number_with_a_unit(written: float | str, value: float, unit: str) -> None:
    found = units.parse_quantity(written)
    assert (found.unit, found.text) == (unit, str(written))
    assert found.value == pytest.approx(value)


@pytest.mark.parametrize(
    "written", ["", "fast", "-1", "20 parsecs", "1 mb", "nan", "1e3", "9" * 99]
)
def test_what_is_no_quantity_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="write it as 20"):
        units.parse_quantity(written)
