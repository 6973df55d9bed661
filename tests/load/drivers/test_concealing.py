from __future__ import annotations

import base64
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.load.drivers.driver import Concealer, one_line, passwords_in

SECRET = "se/cr@t w%rd'\\1\""  # noqa: S105 - not one


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        repr(SECRET),
        repr([SECRET]),
        f"password='{SECRET}'",
        f"user:{SECRET}@host",
    ],
)
def test_every_form_of_a_secret_is_removed(form: str) -> None:
    found = Concealer([SECRET])(f"cannot log in with {form} at once")
    assert "[removed]" in found
    assert not any(part in found for part in ("cr@t", "cr%40t", "w%rd", "w%25rd"))


@pytest.mark.parametrize("secret", ["geheim!", "pw3", "ÿÿÿ?>"])
def test_base64_of_a_secret_is_removed(secret: str) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        text = encode(secret.encode()).decode()
        for form in (text, text.rstrip("=")):
            assert Concealer([secret])(f"got '{form}' here") == "got '[removed]' here"
    both = base64.b64encode(b"bob:" + b"geheim!").decode()
    assert Concealer(["geheim!"])(both) == "[removed]"


def test_a_short_secret_is_removed_as_a_word() -> None:
    assert (
        Concealer(["a"])("a password a=a, banana")
        == "[removed] password [removed]=[removed], banana"
    )


@pytest.mark.parametrize(
    ("url", "passwords"),
    [
        ("postgresql://u:secret@host/db", {"secret"}),
        ("postgresql://u:p%40ss@host/db", {"p%40ss", "p@ss"}),
        ("postgresql://u:p@ss@host/db", {"p@ss", "ss"}),
        ("postgresql://u:p/ss@host/db", {"p/ss"}),
        ("postgresql://u@host/db", set()),
        ("postgresql://host:5432/db", set()),
        ("host=h password=x", set()),
    ],
)
def test_passwords_of_urls(url: str, passwords: set[str]) -> None:
    assert passwords <= passwords_in(url)
    assert bool(passwords_in(url)) == bool(passwords)


def test_a_message_is_one_line() -> None:
    assert one_line("  one\n\ttwo \ud800 ") == "one two ?"
    assert len(one_line("x" * 10_000)) == 500


@given(st.text(min_size=4, max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_no_secret_of_four_characters_or_more_is_left(secret: str, before: str, after: str) -> None:
    found = Concealer([secret])(f"{before}{secret}{after}")
    assert secret not in found.replace("[removed]", "")
