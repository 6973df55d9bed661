"""Prints single lines for people, in any encoding."""

from __future__ import annotations

import sys

import click

from benchgate.report.escape import in_encoding


def say(text: str = "", *, err: bool = False) -> None:
    """Print a line on standard output, or on standard error.

    click would end the program if a stream cannot encode the text, and write UTF-8 to a terminal
    that understands only ASCII.
    """
    stream = sys.stderr if err else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    click.echo(in_encoding(text, encoding), err=err)
