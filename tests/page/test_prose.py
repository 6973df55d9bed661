"""Sentences show every character that they have."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchgate.page.frame import sentence, unbroken


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("add `metrics` to `[[rule]]`", "add <code>metrics</code> to <code>[[rule]]</code>"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("*a* _b_ **c** [d](http://e) ![f](g)", "*a* _b_ **c** [d](http://e) ![f](g)"),
        ("1. first", "1. first"),
        ("# no heading", "# no heading"),
        ("> no quote", "&gt; no quote"),
        ("- no list", "- no list"),
        ("`1 `1", "&#96;1 &#96;1"),
        ("an odd ` stays", "an odd &#96; stays"),
        ("`<b>&amp;`", "<code>&lt;b&gt;&amp;amp;</code>"),
        ("a&b &lt; c\\*d", "a&amp;b &amp;lt; c\\*d"),
    ],
)
def test_only_code_is_markup(text: str, shown: str) -> None:
    assert sentence(text) == shown


@example("1` 1`")
@given(st.text(alphabet="abc <>&*_`[]()#!\\-+.1|~\"'/:=\u00e9\u4e2d{}", max_size=60))
def test_no_text_becomes_markup(text: str) -> None:
    line = " ".join(text.split())
    found = sentence(line)
    assert set(re.findall(r"<[^>]*>", found)) <= {"<code>", "</code>"}
    if line:
        shown = html.unescape(re.sub(r"</?code>", "", found))
        assert " ".join(shown.replace("`", "").split()) == " ".join(line.replace("`", "").split())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("slower by 14.6 % (12.3 to 16.9 %)", "slower by 14.6_% (12.3 to 16.9_%)"),
        ("12 rounds in 1 min 20 s; 3.5 ms, 2 GiB", "12 rounds in 1_min 20_s; 3.5_ms, 2_GiB"),
        ("5 samples of 3 hosts, part 2 mine", "5 samples of 3 hosts, part 2 mine"),
    ],
)
def test_a_number_stays_with_its_unit(text: str, shown: str) -> None:
    assert unbroken(text).replace("\N{NO-BREAK SPACE}", "_") == shown
    assert html.unescape(sentence(text)) == unbroken(text)
