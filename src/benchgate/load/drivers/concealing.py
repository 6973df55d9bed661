"""Makes the messages of drivers: one line, without passwords in any form."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, quote_plus, unquote

from benchgate.load.substitution import variables_in
from benchgate.model.redact import REMOVED, without_base64

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_LONGEST: Final = 500
_USER_AND_PASSWORD = re.compile(r"://([^:@/]*):(.*)@")


def one_line(text: str) -> str:
    """Join the lines of a text, and cut it if it is long."""
    line = " ".join(text.split())
    if len(line) > _LONGEST:
        line = line[: _LONGEST - 3] + "..."
    return line.encode("utf-8", "replace").decode()


def values_in(texts: Iterable[str], expand: Callable[[str], str]) -> frozenset[str]:
    """Return the values of variables such as ${TOKEN} in texts of a scenario file."""
    names = {name for text in texts for name in variables_in(text)}
    return frozenset(expand(f"${{{name}}}") for name in names)


def passwords_in(url: str) -> frozenset[str]:
    """Return what may be the password in a URL, or parts of it if the URL is malformed."""
    found = _USER_AND_PASSWORD.search(url)
    if found is None:
        return frozenset()
    user, password = found.groups()
    both = base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
    return frozenset({password, unquote(password), *password.split("@"), both})


class Concealer:
    """Replaces secrets in a text, and makes it one line.

    Args:
        secrets: texts that must not be shown, also not percent-encoded, escaped or in base64.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        secrets = frozenset(secrets)
        forms = {form for secret in secrets if secret for form in _forms(secret)}
        # The longest first: one form may begin with another.
        patterns = [_pattern(form) for form in sorted(forms, key=len, reverse=True)]
        self._secrets = re.compile("|".join(patterns)) if patterns else None
        self._without_base64 = without_base64(secrets)

    def __call__(self, text: str) -> str:
        """The text as one line without secrets."""
        return one_line(self.in_lines(text))

    def in_lines(self, text: str) -> str:
        """The text with all its lines, without secrets."""
        if self._secrets is None:
            return text
        return self._without_base64(self._secrets.sub(REMOVED, text))


def _forms(secret: str) -> set[str]:
    data = secret.encode("utf-8", "surrogateescape")
    in_base64 = (base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode())
    return {
        secret,
        secret.strip(),
        quote(secret),
        quote(secret, safe=""),
        quote_plus(secret),
        repr(secret)[1:-1],
        secret.replace("\\", "\\\\").replace("'", "\\'"),
        " ".join(secret.split()),
        *in_base64,
        *(text.rstrip("=") for text in in_base64),
    } - {""}


def _pattern(form: str) -> str:
    # A short one may be part of other words, whose replacement would tell it.
    return re.escape(form) if len(form) > 3 else rf"(?<!\w){re.escape(form)}(?!\w)"
