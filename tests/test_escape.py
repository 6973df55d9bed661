from __future__ import annotations

import html
import re

import cmarkgfm  # type: ignore[import-untyped]
import pytest
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]
from hypothesis import example, given
from hypothesis import strategies as st

from benchgate.escape import (
    code_block,
    code_cell,
    code_span,
    html_code,
    html_text,
    in_encoding,
    paragraph,
    plain_block,
    plain_line,
    prose,
    with_code,
)

HOSTILE = st.lists(
    st.sampled_from(
        [
            *"\\`*_{}[]()<>#+-.!|~$&@:/\n\r\t \x00\x1b\u202e\u200b\u2066",
            "<!--",
            "-->",
            "<script>",
            "</details>",
            "@octocat",
            "#123",
            "GH-7",
            "org/repo#5",
            "https://evil.example",
            "www.evil.example",
            "me@evil.example",
            "mailto:me@evil.example",
            "```",
            "\\|",
            "&lt;",
            "&#64;",
            "[x](y)",
            "![x](y)",
            "\x1b[31m",
            "word",
            "7",
        ]
    )
    | st.text(max_size=5),
    max_size=25,
).map("".join)
NAMES = HOSTILE.map(plain_line).filter(bool)


def rendered(markdown: str) -> str:
    """As GitHub does, its later filter of raw HTML left out: nothing may depend on it."""
    options = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES
    return str(cmarkgfm.github_flavored_markdown_to_html(markdown, options=options))


def cells(markdown: str) -> list[str]:
    """The first row's cells of a table with two columns, as HTML."""
    page = rendered(f"| a | b |\n| --- | --- |\n| {markdown} | end |\n")
    return re.findall(r"<td>(.*?)</td>", page, flags=re.DOTALL)


def shown(cell: str) -> str:
    """What a reader sees of a cell that holds no tags but code."""
    return html.unescape(re.sub(r"</?code>", "", cell))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain/name[n=1]", "plain/name[n=1]"),
        ("two\nlines\tand  more ", "two lines and more"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;https://evil.example\x07click", "click"),
        ("\x07bell\x00\u202egnp.exe\u2069", "bell<U+202E>gnp.exe<U+2069>"),
        ("a\u200bb\u00adc\ufeffd", "a<U+200B>b<U+00AD>c<U+FEFF>d"),
        ("lone\ud800surrogate", "lonesurrogate"),
        ("größe/überall µs 漢字", "größe/überall µs 漢字"),
    ],
)
def test_a_line_is_made_harmless(text: str, expected: str) -> None:
    assert plain_line(text) == expected


def test_a_long_line_keeps_both_its_ends() -> None:
    text = plain_line("a" * 500 + "b" * 500, 100)

    assert len(text) == 100
    assert text.startswith("aaa")
    assert text.endswith("bbb")
    assert "..." in text


def test_a_block_keeps_its_last_lines_and_their_indentation() -> None:
    text = "\n".join(f"line {i}" for i in range(50)) + "\n    \x1b[1mindented\x1b[0m\n\ttab\n\n"

    assert plain_block(text, lines=3) == "line 49\n    indented\n    tab"


def test_a_block_of_a_megabyte_is_cut() -> None:
    assert len(plain_block("x" * 1_000_000 + "\n" + "y" * 1_000_000)) < 700


@given(HOSTILE)
def test_a_line_is_one_line_without_control_characters(text: str) -> None:
    line = plain_line(text)

    assert line.isprintable() or not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e]", line)
    assert len(line.splitlines()) <= 1
    assert plain_line(line) == line


@given(NAMES)
@example("a|b\\|c\\")
@example("`a``b`")
@example("<!-- marker -->")
def test_a_code_cell_shows_the_name_and_stays_in_its_cell(name: str) -> None:
    first, second = cells(code_cell(name))

    assert second == "end"
    assert re.fullmatch(r"<code>[^<>]*</code>", first)
    assert shown(first).strip() == name.replace("<!--", "< !--")


@given(NAMES)
@example("_www.evil.example")
@example("@octocat/team #1 GH-2 me@evil.example https://x.example")
def test_prose_shows_the_text_and_nothing_else(text: str) -> None:
    first, second = cells(prose(text))

    assert second == "end"
    assert "<" not in first, "no tag of any kind: no link, image, emphasis, script"
    assert shown(first).replace("\u200b", "") == text.replace("\u200b", "")


@given(NAMES)
@example("run `git config --global safe.directory /a|b`, then `x`")
@example("`a``b`")
@example("` `")
@example("one ` is left")
def test_a_message_with_code_shows_the_text_and_stays_in_its_cell(text: str) -> None:
    first, second = cells(with_code(text, code_cell))

    assert second == "end"
    assert re.fullmatch(r"(?:<code>[^<>]*</code>|[^<>])*", first)
    seen = shown(first).replace("\u200b", "").replace("`", "").split()
    assert seen == text.replace("<!--", "< !--").replace("`", "").split() or "<!--" in text
    outside = html.unescape(re.sub(r"<code>[^<>]*</code>", " ", first))
    assert not re.search(r"@\w|#\d|GH-\d|://", outside, flags=re.IGNORECASE)


def test_what_stands_in_backticks_can_be_pasted() -> None:
    command = "benchgate init --action OWNER/NAME@v1 https://x.example #1"

    assert with_code(f"Run `{command}`.") == f"Run `{command}`."


@given(NAMES)
@example("# not a heading")
@example("- no list")
@example("1. no list")
@example("2) no list")
@example("+")
def test_a_paragraph_is_one_paragraph(text: str) -> None:
    page = rendered(paragraph(with_code(text)))

    assert re.fullmatch(r"<p>(?:<code>[^<>]*</code>|[^<>])*</p>\n", page)


@given(NAMES)
def test_prose_notifies_nobody(text: str) -> None:
    (first, _) = cells(prose(text))
    seen = shown(first)

    assert not re.search(r"@\w", seen)
    assert not re.search(r"#\d", seen)
    assert not re.search(r"GH-\d", seen, flags=re.IGNORECASE)
    assert "://" not in seen


@given(NAMES)
def test_prose_after_a_heading_stays_in_it(text: str) -> None:
    page = rendered(f"### x {prose(text)}\n")

    assert re.fullmatch(r"<h3>[^<>]*</h3>\n", page)


@given(HOSTILE)
def test_a_code_block_ends_where_it_should(text: str) -> None:
    page = rendered(f"{code_block(plain_block(text))}\n\nafter\n")

    assert re.fullmatch(r"<pre[^<>]*><code>[^<>]*</code></pre>\n<p>after</p>\n", page)


@given(NAMES)
def test_a_summary_shows_the_name_in_html(name: str) -> None:
    page = rendered(
        f"<details><summary>{html_code(name)} {html_text(name)}</summary>\n\nx\n\n</details>\n"
    )
    inside = re.fullmatch(
        r"<details><summary><code>([^<>]*)</code> ([^<>]*)</summary>\n<p>x</p>\n</details>\n", page
    )

    assert inside
    assert html.unescape(inside[1]) == name
    assert html.unescape(inside[2]).replace("\u200b", "") == name


@given(HOSTILE)
def test_nothing_imitates_a_hidden_marker(text: str) -> None:
    line = plain_line(text) or "x"
    for escaped in (prose(line), code_span(line), code_block(line), html_code(line)):
        assert "<!--" not in escaped


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("utf-8", "12 µs é 漢 ▁█"),
        ("latin-1", "12 us é \\u6f22 _#"),
        ("ascii", "12 us \\xe9 \\u6f22 _#"),
    ],
)
def test_text_is_said_in_any_encoding(encoding: str, expected: str) -> None:
    assert in_encoding("12 µs é 漢 ▁█", encoding) == expected
