"""Counting words."""

import re

_WORD = re.compile(r"[a-z']+")


def word_counts(text: str) -> dict[str, int]:
    """How often each word occurs, whatever its case; the most frequent first."""
    counts: dict[str, int] = {}
    for line in text.splitlines():
        for match in _WORD.finditer(line.lower()):
            word = match.group()
            if word not in counts:
                counts[word] = 0
            counts[word] += 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
