"""How to get the best input from a tool; each format says it, for messages and for the docs."""

from __future__ import annotations

from dataclasses import dataclass

APPEND = "Append the output of several runs to one file with `>>`: each of them is a launch."
"""For tools whose outputs may follow each other in a file."""


@dataclass(frozen=True, slots=True)
class Advice:
    """The best input of a tool.

    Attributes:
        command: what writes it, with FILE in the place of its name; "" if no command does.
        has_samples: whether it holds samples; if not, every launch gives one value.
        launches: how one file can hold several launches, in a sentence; "" if it cannot.
    """

    command: str
    has_samples: bool = True
    launches: str = ""
