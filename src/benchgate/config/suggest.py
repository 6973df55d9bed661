"""What somebody who mistyped a word may have meant."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """The end of a sentence, `; did you mean 'margin'?`, or nothing where nothing is close."""
    close = difflib.get_close_matches(word, list(candidates), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
