"""`benchgate cache`: shows the kept builds, or removes them."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click
from rich.text import Text

from benchgate.cli.boundary import say
from benchgate.cli.world import console
from benchgate.errors import UsageError
from benchgate.escape import plain_line
from benchgate.measure.builds import MOST_BUILDS, BuildCache, builds_folder
from benchgate.report.terminal import Column, Line, print_columns, print_text
from benchgate.units import counted, format_duration, format_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.measure.builds import KeptBuild

_COLUMNS = (
    Column("project", name=True),
    Column("commit"),
    Column("age", right=True),
    Column("last used", right=True, drop=1),
    Column("size", right=True),
    Column("build time", right=True, drop=2),
)
_SHORT_SHA = 7


@click.command("cache")
@click.option("--clear", is_flag=True, help="Remove all kept builds.")
def command(clear: bool) -> int:
    """Show or remove the builds that are kept for the next check.

    `check`, `run` and `list` keep what [build] leaves for a day, and use it again if nothing
    changed that the build depends on.

    \b
    Examples:
      benchgate cache
      benchgate cache --clear
    """
    cache = BuildCache(builds_folder(os.environ))
    entries = cache.entries()
    if clear:
        try:
            cache.clear()
        except OSError as error:
            raise UsageError(f"cannot remove {error.filename}: {error.strerror}") from None
        say(f"removed {_summed_up(entries)}")
        return 0
    if not entries:
        say(f"no builds are kept in {cache.folder}")
        return 0
    now_s = time.time()
    print_columns(console(), _COLUMNS, [_line(one, now_s) for one in entries])
    console().print()
    total = f"{_summed_up(entries)}, of at most {MOST_BUILDS}, in {cache.folder}"
    print_text(console(), Text(plain_line(total, 1000), "dim"))
    return 0


def _line(entry: KeptBuild, now_s: float) -> Line:
    size, used = format_value(entry.size_bytes, "B"), format_duration(now_s - entry.used_s)
    about = entry.about
    age = format_duration(now_s - about.built_s)
    took = format_duration(about.took_s)
    return Line((plain_line(about.project), about.sha[:_SHORT_SHA], age, used, size, took))


def _summed_up(entries: Sequence[KeptBuild]) -> str:
    size = format_value(sum(entry.size_bytes for entry in entries), "B")
    return f"{counted(len(entries), 'build')} ({size})"
