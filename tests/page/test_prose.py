"""Sentences show every character that they have."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchgate.page.prose import sentence


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
