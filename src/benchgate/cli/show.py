"""`benchgate show`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from benchgate.app.choice import Choice
from benchgate.app.show import show
from benchgate.cli import options as o
from benchgate.cli.last import require_last_result
from benchgate.cli.world import console, repository
from benchgate.report.result import render_result


@click.command("show")
@click.argument("result", type=click.Path(path_type=Path, dir_okay=False), required=False)
@o.options(o.FILTER)
def command(result: Path | None, globs: tuple[str, ...]) -> None:
    """Show the statistics of a result file, by default of the last check here.

    For each benchmark and metric: launches, samples, the 25th percentile, median and 95th
    percentile of a launch (medians over the launches), and the spread between launches.

    \b
    Examples:
      benchgate show
      benchgate show result.json.gz
      benchgate show --filter 'parse/*'
    """
    path = result or require_last_result(repository(Path.cwd()).root, os.environ)
    render_result(show(path, Choice(globs)), console())
