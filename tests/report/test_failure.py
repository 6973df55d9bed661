from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.conftest import HOSTILE_NAMES, NASTY, TRACEBACK, golden
from tests.report.page import Page, assert_harmless

from benchgate.report.failure import render_failure
from benchgate.report.markdown import COMMENT_BYTES

HEAD = "e4f5a6b7c8d90112233445566778899aabbccdde"
HOSTILE = " ".join((*HOSTILE_NAMES[:7], NASTY))
FAILURES: dict[str, dict[str, str]] = {
    "plain": {
        "message": "the base a1b2c3d cannot be built: `make all` ended with exit code 2",
        "hint": "Build it by hand, or change [build] in benchgate.toml.",
        "details": TRACEBACK,
    },
    "hostile": {
        "message": HOSTILE,
        "hint": HOSTILE,
        "details": "\n".join((*HOSTILE_NAMES[:7], "</details>", "````", "</pre>", NASTY)),
        "name": f"{NASTY}\n### pass",
    },
    "long": {
        "message": "the head cannot be built: " + "m" * 5000,
        "hint": "h" * 5000,
        "details": "".join(f"{line:4} {'d' * 5000}\n" for line in range(1000)),
        "name": "n" * 5000,
    },
}
TEXTS = st.text(st.sampled_from("`~<>@#!|[]()\\-/\n a1") | st.characters()) | st.just(HOSTILE)


def rendered(failure: str, **more: Any) -> str:  # noqa: ANN401 - any argument
    return render_failure(head=HEAD, **{**FAILURES[failure], **more})


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_looks_as_it_did(failure: str) -> None:
    golden(f"failure-{failure}.md", rendered(failure))


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_is_harmless_html(failure: str) -> None:
    page = Page(rendered(failure))
    assert_harmless(page)
    assert [page.tags.count(tag) for tag in ("h3", "details", "summary", "pre")] == [1, 1, 1, 1]


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_no_text_does_anything(message: str, hint: str, details: str, name: str) -> None:
    text = render_failure(message, hint=hint, details=details, head=HEAD, name=name)
    page = Page(text)
    assert_harmless(page)
    assert page.tags.count("h3") == 1
    assert text.endswith("earlier verdicts are about other commits.</sub>\n")


def test_no_failure_is_too_long_for_a_comment() -> None:
    wide = "\N{ROCKET}" * 10_000
    text = render_failure(wide, hint=wide, details=f"{wide}\n" * 100, head=HEAD, name=wide)
    assert len(text.encode()) < COMMENT_BYTES


def test_the_first_line_has_the_name_and_the_message() -> None:
    first, *_ = rendered("plain", message="it broke", name="py3.13").splitlines()
    assert first == "### ❓ py3.13 · No verdict: it broke"
    first, *_ = rendered("plain", message="it broke").splitlines()
    assert first == "### ❓ No verdict: it broke"


def test_of_the_output_the_end_is_shown() -> None:
    text = rendered("plain", details="".join(f"line {line}\n" for line in range(1000)))
    assert "line 979\n" not in text
    assert "```text\nline 980\n" in text
    assert "line 999\n```" in text


@pytest.mark.parametrize("details", ["", " \n\t\n"])
def test_without_hint_and_output_nothing_is_folded(details: str) -> None:
    text = rendered("plain", hint="", details=details)
    assert [line[:5] for line in text.split("\n\n")] == ["### ❓", "<sub>"]
