"""Suggestions for misspelled words."""

from collections.abc import Iterable


def closest(word: str, vocabulary: Iterable[str]) -> str:
    """The word of the vocabulary that the fewest insertions, deletions and replacements reach."""
    return min(vocabulary, key=lambda candidate: _edit_distance(word, candidate))


def _edit_distance(a: str, b: str) -> int:
    previous = list(range(len(b) + 1))
    for i, char_a in enumerate(a, start=1):
        current = [i]
        for j, char_b in enumerate(b, start=1):
            replaced = previous[j - 1] + (char_a != char_b)
            current.append(min(previous[j] + 1, current[j - 1] + 1, replaced))
        previous = current
    return previous[-1]
