"""Addresses of commits on the host of a repository."""

from __future__ import annotations

import re
from typing import Final

_SHA: Final = re.compile(r"[0-9a-f]{7,64}")


def compare_address(repository: str, before: str, after: str) -> str:
    """The page that compares two commits, or shows the only one that is known; "" for none.

    Args:
        repository: address of the repository; "" if it is not known.
        before, after: commits, which may hold any text.
    """
    known = [sha for sha in (before, after) if _SHA.fullmatch(sha)]
    if not repository or not known or not _SHA.fullmatch(after):
        return ""
    if len(known) == 1 or before == after:
        return f"{repository}/commit/{after}"
    return f"{repository}/compare/{before}...{after}"
