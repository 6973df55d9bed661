"""customSmallerIsBetter: the JSON of github-action-benchmark for values of which less is better.

The user must name this format: nothing in a file tells it from the other one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.formats.best_input import Advice
from benchgate.formats.custom_json import read_custom, says_what_is_better
from benchgate.model.run import Better

if TYPE_CHECKING:
    from benchgate.formats.parsed import Reading, Source

NAME = "customSmallerIsBetter"
ADVICE = Advice("", has_samples=False)


def sniff(source: Source) -> bool:
    """Whether every entry says whether more is better: then this format reads it as well."""
    return says_what_is_better(source)


def parse(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or no list.
    """
    return read_custom(NAME, source, Better.LOWER)
