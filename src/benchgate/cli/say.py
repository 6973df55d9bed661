"""Prints single lines for people, in any encoding."""

from __future__ import annotations

import sys
from contextlib import nullcontext, suppress
from typing import Any

import click

from benchgate.report.escape import in_encoding


class Unread:
    """Standard error, or nothing once that cannot be written: progress must not cost a verdict."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - of the stream
        """Everything else is as with the stream."""
        return getattr(sys.stderr, name)

    def write(self, text: str) -> int:
        """Write a text if that works; return its length."""
        with suppress(OSError):
            sys.stderr.write(text)
        return len(text)

    def flush(self) -> None:
        """Write what is buffered if that works."""
        with suppress(OSError):
            sys.stderr.flush()


def say(text: str = "", *, err: bool = False) -> None:
    """Print a line on standard output, or on standard error.

    click would end the program if a stream cannot encode the text, and write UTF-8 to a terminal
    that understands only ASCII. A message that nobody can read any more is left out: a closed
    terminal must not change how a command ends.

    Raises:
        OSError: standard output cannot be written.
    """
    stream = sys.stderr if err else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    with suppress(OSError) if err else nullcontext():
        click.echo(in_encoding(text, encoding), err=err)
