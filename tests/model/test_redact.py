from __future__ import annotations

import base64
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.model.redact import REMOVED, Redactor, passwords_in, redacted

NO_SECRETS = Redactor({})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgres://bob:hunter2@db:5432/x", "postgres://bob:[removed]@db:5432/x"),
        ("mysql+pymysql://bob:p@ss/w:rd@db/x", "mysql+pymysql://bob:[removed]@db/x"),
        ("redis://:hunter2@localhost", "redis://:[removed]@localhost"),
        ("git clone https://s3cr3tt0ken@host/a.git", "git clone https://[removed]@host/a.git"),
        ("bob:hunter2@tcp(127.0.0.1:3306)/x", "bob:[removed]@tcp(127.0.0.1:3306)/x"),
        ("host=db password=hunter2 user=bob", "host=db password=[removed] user=bob"),
        (r"password='it\'s two words' user=bob", "password=[removed] user=bob"),
        ("Server=db;Pwd=hunter2;Timeout=3", "Server=db;Pwd=[removed]"),
        ("PGPASSWORD=hun,ter2 psql", "PGPASSWORD=[removed] psql"),
        ('{"password": "hunter2", "n": 1}', '{"password": [removed], "n": 1}'),
        ("login[password=hunter2,n=3]", "login[password=[removed],n=3]"),
        ("login[password=hunter2]", "login[password=[removed]]"),
        ("?api_key=abc123 HTTP/1.1", "?api_key=[removed] HTTP/1.1"),
        ("curl -H 'Authorization: Basic Ym9iOmh1bnRlcjI='", None),
        ("Bearer abcdefgh12345678", "Bearer [removed]"),
        ("token ghp_" + "a1B2" * 9, "token [removed]"),
        ("gho_" + "a1B2" * 9, "[removed]"),
        ("ghs_" + "a1B2" * 9, "[removed]"),
        ("github_pat_" + "a1B2_" * 9, "[removed]"),
        ("AKIAIOSFODNN7EXAMPLE", "[removed]"),
        (
            "POST https://hooks.slack.com/services/" + "T00000000/B00000000/" + "a1B2" * 6,
            "POST https://hooks.slack.com/[removed]",
        ),
        (
            "https://discord.com/api/webhooks/" + "123456789/" + "a1B2_-" * 10,
            "https://discord.com/api/webhooks/[removed]",
        ),
        (
            "https://x.webhook.office.com/webhookb2/" + "1-2@3-4/IncomingWebhook/" + "a1B2" * 8,
            "https://x.webhook.office.com/[removed]",
        ),
        ("eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl", "[removed]"),
        ("a jwt-1-eyJhbGciOi.eyJzdWIiOi.c2ln, ok", "a jwt-1-[removed], ok"),
        ("-eyJ-eyJhbGciOi.eyJzdWIiOi. eyJhbGciOi", "-[removed] eyJhbGciOi"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nok",
            "[removed]\nok",
        ),
        ("-----BEGIN PRIVATE KEY-----\nMIIE, and cut off", "[removed]"),
    ],
)
def test_removes_what_has_the_shape_of_a_secret(text: str, expected: str | None) -> None:
    if expected is None:
        assert "Ym9i" not in NO_SECRETS(text)
    else:
        assert NO_SECRETS(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "parse/large[n=1000]",
        "tokenize[tokens=1000]",
        "http://localhost:8080/users/@me",
        "https://registry.example/@scope/package",
        "postgres://bob@db:5432/x",
        "basic operations per second",
        "git@github.com:owner/name.git",
        "wrote 5 secrets in 3.2 ms",
        "",
    ],
)
def test_leaves_what_is_no_secret(text: str) -> None:
    assert NO_SECRETS(text) == text


@pytest.mark.parametrize(
    "name",
    [
        "GITHUB_TOKEN",
        "DB_PASSWORD",
        "PGPASSWORD",
        "passwd",
        "APIKEY",
        "STRIPE_API_KEY",
        "MY_SECRET",
        "AWS_SECRET_ACCESS_KEY",
        "SSH_PRIVATE_KEY",
        "SENTRY_DSN",
        "NPM_AUTH",
        "MYSQL_PWD",
        "GOOGLE_CREDENTIALS",
    ],
)
def test_removes_values_of_variables_named_like_secrets(name: str) -> None:
    assert Redactor({name: " xyzzy1\n"})("said xyzzy1 twice: xyzzy1.") == (
        "said [removed] twice: [removed]."
    )


@pytest.mark.parametrize(
    "name", ["PWD", "OLDPWD", "GIT_AUTHOR_NAME", "PATH", "TOKENIZERS_PARALLEL"]
)
def test_leaves_values_of_other_variables(name: str) -> None:
    assert Redactor({name: "xyzzy1"})("said xyzzy1") == "said xyzzy1"


@pytest.mark.parametrize("around", ["{}", "bob:{}", "bo:{}", "b:{}", "{}\n", "x{}yz", "{{{}}}"])
@pytest.mark.parametrize("secret", ["hunter", "hunter2>>???ÿÿ", "0123456789abcdef" * 4])
def test_removes_values_in_base64(secret: str, around: str) -> None:
    redact = Redactor({"TOKEN": secret})
    data = around.format(secret).encode()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        text = encode(data).decode()
        for form in (text, text.rstrip("="), quote(text, safe=""), text.replace("/", "\\/")):
            assert redact(f"401 {form} sent") == "401 [removed] sent"
            assert redact(f'{{"a":"{form}","b":"{form}"}}') == '{"a":"[removed]","b":"[removed]"}'


def test_leaves_other_base64() -> None:
    redact = Redactor({"TOKEN": "hunter2"})
    text = base64.b64encode(bytes(range(256)) * 100).decode()
    assert redact(text) == text


def test_leaves_short_values() -> None:
    assert Redactor({"TOKEN": "admin"})("admin") == "admin"


def test_removes_the_longer_of_two_values_that_begin_alike() -> None:
    redact = Redactor({"A_TOKEN": "xyzzy1", "B_TOKEN": "xyzzy1-and-more"})
    assert redact("xyzzy1-and-more xyzzy1") == "[removed] [removed]"


def test_takes_values_literally() -> None:
    assert Redactor({"A_TOKEN": "a.c+(x"})("abc+(x a.c+(x") == "abc+(x [removed]"


@given(
    st.lists(
        st.sampled_from(
            [
                "password=",
                "postgres://a:",
                "@",
                "b@tcp(",
                "xyzzy1",
                "'",
                '"',
                " ",
                "]",
                ",n=1",
                ": ",
            ]
        )
        | st.text(max_size=5)
    ).map("".join)
)
def test_twice_is_the_same_as_once(text: str) -> None:
    redact = Redactor({"A_TOKEN": "xyzzy1", "B_TOKEN": "removed"})
    once = redact(text)
    assert redact(once) == once
    assert "xyzzy1" not in once


def test_a_secret_that_another_one_hid_is_found() -> None:
    text = "postgres://a:password=<,n=1@"
    redact = Redactor({})
    assert redact(redact(text)) == redact(text)


def test_what_stands_behind_a_removed_authorization_stays() -> None:
    text = f'header = "Authorization: Basic {REMOVED}"'
    assert Redactor({})(text) == text


def test_every_text_of_a_value_is_redacted() -> None:
    value: dict[str, Any] = {"secret": ["a secret", {"b": "secret"}, 1, 2.5, True, None]}
    assert redacted(value, lambda text: text.replace("secret", "***")) == {
        "***": ["a ***", {"b": "***"}, 1, 2.5, True, None]
    }


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
    found = Redactor({}, [SECRET])(f"cannot log in with {form} at once")
    assert "[removed]" in found
    assert not any(part in found for part in ("cr@t", "cr%40t", "w%rd", "w%25rd"))


@pytest.mark.parametrize("secret", ["geheim!", "pw3", "ÿÿÿ?>"])
def test_base64_of_a_secret_is_removed(secret: str) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        text = encode(secret.encode()).decode()
        for form in (text, text.rstrip("=")):
            assert Redactor({}, [secret])(f"got '{form}' here") == "got '[removed]' here"
    both = base64.b64encode(b"bob:" + b"geheim!").decode()
    assert Redactor({}, ["geheim!"])(both) == "[removed]"


def test_a_short_secret_is_removed_as_a_word() -> None:
    assert (
        Redactor({}, ["a"])("a password a=a, banana")
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
        ("host=h password=x user=u", {"x"}),
        ("host=h password='it\\'s' user=u", {"it's"}),
        ('host=h password = "it\'s two words" user=u', {"it's two words"}),
        ("mysql://h/db?password=p%21&charset=x", {"p%21", "p!"}),
        ("host=h user=password", set()),
    ],
)
def test_passwords_of_urls(url: str, passwords: set[str]) -> None:
    assert passwords <= passwords_in(url)
    assert bool(passwords_in(url)) == bool(passwords)


@given(st.text(min_size=4, max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_no_secret_of_four_characters_or_more_is_left(secret: str, before: str, after: str) -> None:
    found = Redactor({}, [secret])(f"{before}{secret}{after}")
    assert secret not in found.replace("[removed]", "")
