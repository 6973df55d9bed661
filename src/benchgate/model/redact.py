"""Removes secrets from texts before they are written.

Three kinds are known: passwords in URLs and connection strings, tokens by their shape, and secrets
of a scenario or of environment variables, in all the forms in which messages write them. Each is
replaced by `[removed]`.
"""

from __future__ import annotations

import base64
import re
from dataclasses import fields, is_dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, quote_plus, unquote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

REMOVED: Final = "[removed]"

# Shorter values ("1", "true", "admin") are common words: removing them would garble a report.
SHORTEST_VALUE: Final = 6

_MOST_PASSES = 10
# A result repeats its texts, and a session saves it every second. Longer ones are rare.
_MOST_KNOWN = 10_000
_LONGEST_KNOWN = 2000

_SECRET_NAME = re.compile(
    r"TOKEN(?!IZ)|SECRET|PASSW|PASSPHRASE|CREDENTIAL|API_?KEY|(?:^|_)(?:AUTH|DSN|PASS)(?:_|$)"
    r"|(?:PRIVATE|ACCESS|SIGNING|ENCRYPTION|DEPLOY)_?KEY|_PWD$",
    re.IGNORECASE,
)

# Each pattern keeps its group "before"; a lookahead keeps what follows.
_PATTERNS: Final = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        # scheme://user:password@host; a password may hold a slash, but a port is none
        r"""(?P<before>\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@"'<>]*:)(?!\d+/)[^\s"'<>]{1,512}(?=@)""",
        # https://token@host
        r"""(?P<before>\bhttps?://)[^\s/:@"'<>]+(?=@)""",
        # user:password@tcp(host:port)/database
        r"""(?P<before>\b[\w.-]{1,64}:)[^\s"'<>]{1,512}(?=@(?:tcp|unix)\()""",
        # password=word, password='two words', "password": "word"; a bare word ends where the next
        # parameter of a benchmark's id begins, or the id itself ends
        (
            r"(?P<before>(?:passw(?:or)?d|passphrase|pwd|client_secret|secret_?(?:access_?)?key|api_?key"
            r"|(?:access|auth|refresh)_?token)[\"']?[ \t]*[=:][ \t]*)(?!\[removed\])"
            r"(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|(?:(?!,\w+=|[\])]{0,3}$)\S)+)"
        ),
        r"(?P<before>\bauthorization:\s*[a-z]+\s+)(?!\[removed\])\S+",
        r"(?P<before>\bbearer\s+)[\w.~+/=-]{8,}",
        # JSON Web Token; only the first beginning in a run of its characters is tried, because the
        # others lead to the same end
        r"(?P<before>(?<![\w-])(?:(?!(?-i:eyJ))\w*+-)*+)(?-i:eyJ)[\w-]{5,}+\.[\w-]{5,}+\.[\w-]*",
        r"(?P<before>)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    )
)

_TOKEN = re.compile(
    r"\bgh[a-z]_[A-Za-z0-9]{16,}"  # GitHub
    r"|\bgithub_pat_\w{16,}"
    r"|\bglpat-[\w-]{16,}"  # GitLab
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"  # AWS
    r"|\bxox[a-z]-[\w-]{10,}"  # Slack
    r"|\bAIza[\w-]{35}"  # Google
    r"|\bnpm_[A-Za-z0-9]{30,}"
    r"|\bpypi-[\w-]{30,}"
    r"|\bsk-[\w-]{20,}"
    # addresses that anybody may post to
    r"|(?<=//hooks\.slack\.com/)\w+/[\w/-]{10,}"
    r"|(?<=/api/webhooks/)\d+/[\w-]{20,}"  # Discord
    r"|(?<=\.webhook\.office\.com/)\w+/[\w@/-]{20,}"  # Microsoft Teams
)


_BASE64_CHARACTERS: Final = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
)
_BASE64_END = re.compile(r"(?:[A-Za-z0-9+/_-]|%2[BF])*(?:={1,2}|(?:%3D){1,2})?", re.IGNORECASE)
# URLs have others for the last two characters of the alphabet; JSON may escape the slash.
_WRITTEN: Final = {"+": r"(?:[+-]|%2[Bb])", "/": r"(?:\\?/|_|%2[Ff])"}


def _without_base64(secrets: Iterable[str]) -> Callable[[str], str]:
    """Make a function that removes base64 that has one of these secrets inside.

    `user:secret` in base64 is found, too, whoever the user is. Secrets shorter than SHORTEST_VALUE
    are not looked for: chance would find them.
    """
    parts = [
        "".join(_WRITTEN.get(char, char) for char in part)
        for secret in sorted(secrets)
        for part in _inside_base64(secret.encode("utf-8", "surrogateescape"))
    ]
    inside = re.compile("|".join(parts)) if parts else None

    def remove(text: str) -> str:
        kept, end = [], 0
        for found in inside.finditer(text) if inside else ():
            start = found.start()
            if start < end:
                continue
            while start > end and text[start - 1] in _BASE64_CHARACTERS:
                start -= 1
            kept += [text[end:start], REMOVED]
            after = _BASE64_END.match(text, found.end())
            end = after.end() if after else found.end()
        return "".join((*kept, text[end:])) if kept else text

    return remove


def _inside_base64(secret: bytes) -> Iterator[str]:
    """The characters that a secret alone determines, after 0, 1 or 2 bytes of a group of three."""
    if len(secret) < SHORTEST_VALUE:
        return
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + secret).decode()
        yield encoded[-(-8 * before // 6) : 8 * (before + len(secret)) // 6]


def passwords_in(address: str) -> frozenset[str]:
    """What may be passwords in an address, or parts of them if it is malformed."""
    found = {
        one[3] or re.sub(r"\\(.)", r"\1", one[1] or one[2] or "") for one in _KEY.finditer(address)
    }
    if url := _USER_AND_PASSWORD.search(address):
        user, password = url.groups()
        found |= {password, *password.split("@")}
        found.add(base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode())
    return frozenset(found | set(map(unquote, found)))


_USER_AND_PASSWORD = re.compile(r"://([^:@/]*):(.*)@")
_KEY = re.compile(
    r"""passw(?:or)?d\s*=\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s&;]+))""", re.IGNORECASE
)


def _forms(secret: str) -> Iterator[str]:
    """The ways in which messages write a secret."""
    yield from (secret, secret.strip(), " ".join(secret.split()), repr(secret)[1:-1])
    yield secret.replace("\\", "\\\\").replace("'", "\\'")
    for safe in ("/", ""):
        yield quote(secret, safe, errors="surrogateescape")
    yield quote_plus(secret, errors="surrogateescape")
    data = secret.encode("utf-8", "surrogateescape")
    if len(data) < SHORTEST_VALUE:  # of others any base64 is found
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            in_base64 = encode(data).decode()
            yield from (in_base64, in_base64.rstrip("="))


def _pattern(form: str) -> str:
    # A short one may be part of other words, whose replacement would tell it.
    return re.escape(form) if len(form) > 3 else rf"(?<!\w){re.escape(form)}(?!\w)"


class Redactor:
    """Replaces secrets in a text by `[removed]`; doing it twice changes nothing more.

    Args:
        environ: environment variables; the values of those that are named like secrets are removed.
        secrets: other secrets, which may be short.
    """

    def __init__(self, environ: Mapping[str, str], secrets: Iterable[str] = ()) -> None:
        values = {
            value.strip()
            for name, value in environ.items()
            if _SECRET_NAME.search(name) and len(value.strip()) >= SHORTEST_VALUE
        }
        values.update(filter(str.strip, secrets))
        forms = {form for value in values for form in _forms(value)}
        # The longest first: one form may begin with another.
        alternatives = map(_pattern, sorted(forms, key=len, reverse=True))
        # A secret may be a part of [removed].
        either = "|".join((re.escape(REMOVED), *alternatives))
        self._values = re.compile(either) if values else None
        self._without_base64 = _without_base64(values)
        self._known = lru_cache(_MOST_KNOWN)(self._without_secrets)

    def __call__(self, text: str) -> str:
        """The text without secrets."""
        return self._known(text) if len(text) <= _LONGEST_KNOWN else self._without_secrets(text)

    def _without_secrets(self, text: str) -> str:
        # One secret may be found only after another one before it is gone.
        for _ in range(_MOST_PASSES):
            before, text = text, self._once(text)
            if text == before:
                break
        return text

    def _once(self, text: str) -> str:
        if self._values is not None:
            text = self._without_base64(self._values.sub(REMOVED, text))
        for pattern in _PATTERNS:
            text = pattern.sub(rf"\g<before>{REMOVED}", text)
        return _TOKEN.sub(REMOVED, text)


def redacted(value: Any, redact: Callable[[str], str]) -> Any:  # noqa: ANN401 - any tree of values
    """The value with every text in it redacted: in lists, tuples, dataclasses, and tables.

    The names of keys in a table are redacted, too; members of an enum are not. What holds no secret
    is not copied: a report of a large suite is a million values.
    """
    kind: type = type(value)
    if kind is str:
        without = redact(value)
        return value if without == value else without
    if kind in _WITHOUT_TEXT:
        return value
    if isinstance(value, list | tuple):
        items = [redacted(item, redact) for item in value]
        return value if _are_same(items, value) else kind(items)
    if isinstance(value, dict):
        return {redact(key): redacted(item, redact) for key, item in value.items()}
    parts = {name: redacted(getattr(value, name), redact) for name in _fields(kind)}
    changed = {name: part for name, part in parts.items() if part is not getattr(value, name)}
    return replace(value, **changed) if changed else value


_WITHOUT_TEXT: Final = frozenset({bool, float, int, type(None)})


@cache
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


def _are_same(some: Iterable[object], others: Iterable[object]) -> bool:
    return all(one is other for one, other in zip(some, others, strict=True))
