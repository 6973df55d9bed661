from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text
from tests.report.conftest import printed as printed_by

from benchgate.report.terminal import Column, Line, print_columns, print_facts, print_text, shorten

COLUMNS = (
    Column("outcome"),
    Column("benchmark", name=True),
    Column("base", right=True, drop=2),
    Column("change", right=True),
    Column("p", right=True, drop=1),
    Column("empty"),
)
LONG = "group/a_benchmark_with_a_rather_long_name[size=1000000]"
LINES = (
    Line(("regressed", LONG, "12.30 ms", "+14.6 %", "0.0024", ""), "red", "look here", keep=True),
    Line(("unchanged", "short", "1.000 s", "+0.10 %", "", "")),
)


def printed(width: int | None, lines: tuple[Line, ...] = LINES) -> list[str]:
    stream = io.StringIO()
    console = Console(
        file=stream, width=width or 80, force_terminal=width is not None, color_system=None
    )
    print_columns(console, COLUMNS, lines)
    return stream.getvalue().splitlines()


def test_a_pipe_gets_one_whole_line_per_row() -> None:
    titles, first, second = printed(None)

    assert titles.split() == ["outcome", "benchmark", "base", "change", "p"]
    assert first.split() == f"regressed {LONG} 12.30 ms +14.6 % 0.0024 # look here".split()
    assert second.split() == ["unchanged", "short", "1.000", "s", "+0.10", "%"]
    assert first.index("+14.6 %") == second.index("+0.10 %")
    assert not second.endswith(" ")


@pytest.mark.parametrize("width", [50, 60, 80, 100, 200])
def test_a_terminal_is_never_overrun(width: int) -> None:
    assert max(len(line) for line in printed(width)) <= width


def test_a_narrow_terminal_drops_columns_and_says_in_the_note_what_is_lost() -> None:
    titles, first, lost, note, _ = printed(60)

    assert titles.split() == ["outcome", "benchmark", "base", "change"]
    assert "group/" in first
    assert "=1000000]" in first
    assert (lost, note) == ("    p 0.0024", "    look here")


def test_a_narrower_terminal_drops_more() -> None:
    titles, _, lost, note, _ = printed(46)

    assert titles.split() == ["outcome", "benchmark", "change"]
    assert (lost, note) == ("    base 12.30 ms, p 0.0024", "    look here")


def test_a_wide_terminal_shows_everything() -> None:
    titles, first, _ = printed(120)

    assert titles.split() == ["outcome", "benchmark", "base", "change", "p"]
    assert LONG in first
    assert first.endswith("  look here")


def test_what_is_widest_gives_way_where_the_name_is_not_enough() -> None:
    lines = (Line(("regressed", LONG, f"12 {'x' * 300}", f"+1 {'y' * 100}", "", "")),)

    titles, first = printed(60, lines)

    assert titles.split() == ["outcome", "benc…ark", "change"]
    assert first.startswith("regressed  grou…00]  +1 yyyy")
    assert len(first) == 60


WHOLE = (Column("outcome"), Column("change", right=True), Column("id", name=True, whole=True))


@pytest.mark.parametrize("width", [30, 80, 120])
def test_two_names_never_read_the_same(width: int) -> None:
    names = [f"asv/specifiers/TimeSpecifiers.time_{kind}_complex_warm" for kind in ("a", "b")]
    lines = [Line(("regressed", "+1 %", name), note="why") for name in names]

    text = printed_by(lambda console: print_columns(console, WHOLE, lines), width)

    assert all(name in "".join(text.split()) for name in names)
    assert max(map(len, text.splitlines())) <= width


def test_a_name_that_does_not_fit_is_below_its_numbers() -> None:
    lines = (Line(("regressed", "+1 %", LONG), note="why"), Line(("regressed", "+2 %", "short")))

    text = printed_by(lambda console: print_columns(console, WHOLE, lines), 70)

    assert text.splitlines() == [
        "outcome    change  id",
        "regressed    +1 %",
        f"    {LONG}",
        "    why",
        "regressed    +2 %  short",
    ]


def test_a_cell_that_says_nothing_new_is_not_repeated() -> None:
    columns = (Column("a", drop=1, said=""), Column("b", drop=1, said="{cell}"), *WHOLE[2:])
    lines = (Line(("x" * 20, "y" * 20, "name"), keep=True),)

    text = printed_by(lambda console: print_columns(console, columns, lines), 30)

    assert text.splitlines() == ["id", f"name  {'y' * 20}"]


def test_a_short_name_is_not_widened() -> None:
    columns = (Column("a", name=True), Column("b"))
    lines = (Line(("x", "y" * 100)),)

    text = printed_by(lambda console: print_columns(console, columns, lines), 40)

    assert text == f"a  b\nx  {'y' * 18}…{'y' * 18}\n"


def test_one_monstrous_name_does_not_push_the_other_lines_of_a_pipe() -> None:
    monster = Line(("regressed", "x" * 300, "1 s", "+1 %", "", ""))
    _, first, second = printed(None, (monster, LINES[1]))

    assert "x" * 300 in first
    assert len(second) < 120


@given(st.text(max_size=80), st.integers(min_value=2, max_value=60))
def test_a_shortened_text_fits(text: str, width: int) -> None:
    assert cell_len(shorten(text, width)) <= max(width, 2)


def test_a_shortened_name_keeps_both_ends() -> None:
    assert shorten("parse/large[n=1000000]", 14) == "parse/l…00000]"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_stream_that_cannot_say_a_name_does_not_end_the_program(encoding: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    console = Console(file=stream)

    print_text(console, "漢字 takes 12 µs")
    stream.flush()

    assert raw.getvalue() == b"\\u6f22\\u5b57 takes 12 us\n"


def test_markup_and_emoji_codes_are_text() -> None:
    stream = io.StringIO()

    print_text(Console(file=stream, force_terminal=True), "[red]a[/red] :tada: 12 [/]")

    assert stream.getvalue().rstrip() == "[red]a[/red] :tada: 12 [/]"


FACTS = (("spread", "a sentence that is longer than a narrow line"), ("note", "12 µs"))


def test_facts_are_wrapped_beside_their_labels() -> None:
    text = printed_by(lambda console: print_facts(console, FACTS), 36)

    assert text.splitlines() == [
        "spread  a sentence that is longer",
        "        than a narrow line",
        "note    12 µs",
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_number_and_its_percent_sign_stay_in_one_line(encoding: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    facts = [("change", "abc def ghi jkl mno of 12 %, not 3 %")]

    print_facts(Console(file=stream, width=34, force_terminal=True), facts)
    stream.flush()

    assert raw.getvalue().decode("ascii").splitlines() == [
        "change  abc def ghi jkl mno of",
        "        12 %, not 3 %",
    ]


def test_a_pipe_gets_a_fact_in_a_line() -> None:
    text = printed_by(lambda console: print_facts(console, FACTS), None)

    assert text.splitlines() == [f"spread  {FACTS[0][1]}", "note    12 µs"]


@given(
    st.lists(st.tuples(st.text("ab ", max_size=9), st.text("abc %[/]:\U0001f600漢", max_size=90))),
    st.integers(40, 90),
)
def test_facts_never_overrun_a_terminal(facts: list[tuple[str, str]], width: int) -> None:
    text = printed_by(lambda console: print_facts(console, facts), width)

    assert max(map(cell_len, text.splitlines()), default=0) <= width
    assert sum(map(len, text.split())) == sum(len("".join("".join(f).split())) for f in facts)


def test_no_facts_are_no_lines() -> None:
    assert printed_by(lambda console: print_facts(console, []), 80) == "\n"


@pytest.mark.parametrize("terminal", [True, False])
def test_facts_are_said_in_any_encoding(*, terminal: bool) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")

    print_facts(Console(file=stream, width=60, force_terminal=terminal), [("é", "▁█ 12 µs")])
    stream.flush()

    assert raw.getvalue() == b"\\xe9  _# 12 us\n"


@pytest.mark.parametrize("width", range(8, 40))
def test_a_number_and_its_unit_stay_in_one_line(width: int) -> None:
    numbers = ("12.30 ms", "4 µs", "1.5 GiB", "20 min", "x 3.5", "p < 0.0001", "12 %")
    text = printed_by(lambda console: print_text(console, f"a {' and '.join(numbers)}."), width)

    for number in numbers:
        if len(number) < width:
            assert any(number in line for line in text.splitlines())


def test_what_is_wrapped_keeps_its_style_and_has_no_space_at_its_end() -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=20, force_terminal=True, color_system="standard")

    print_text(console, Text("dim words and 12 ms of more words", "dim"), indent=2)

    assert stream.getvalue().splitlines() == [
        "\x1b[2m  dim words and\x1b[0m",
        "\x1b[2m  12 ms of more\x1b[0m",
        "\x1b[2m  words\x1b[0m",
    ]


def test_columns_stay_aligned_if_the_encoding_lacks_a_name() -> None:
    lines = (Line(("\u6f22\u5b57", "12 µs")), Line(("na\xefve", "3 s")))
    columns = (Column("name", name=True), Column("time", right=True))

    ascii_, wide = (
        printed_by(lambda console: print_columns(console, columns, lines), 80, encoding)
        for encoding in ("ascii", "utf-8")
    )

    assert ascii_.splitlines() == [
        "name           time",
        r"\u6f22\u5b57  12 us",
        r"na\xefve        3 s",
    ]
    assert [cell_len(line) for line in wide.splitlines()] == [12, 12, 12]


def test_the_mark_of_a_footnote_is_beside_its_row() -> None:
    lines = (Line(("new", "1", LONG), note="[1]"), Line(("new", "1", "b"), note="[1]; and more"))

    text = printed_by(lambda console: print_columns(console, WHOLE, lines), 80)

    assert text.splitlines()[1:] == [
        f"new           1  {LONG}  [1]",
        "new           1  b  [1]; and more",
    ]
