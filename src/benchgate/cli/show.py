"""`benchgate show`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from benchgate.app.show import view_result
from benchgate.cli.last import require_last_result
from benchgate.cli.world import console, repository
from benchgate.files import read_result
from benchgate.report.listing import render_result


@click.command("show")
@click.argument("result", type=click.Path(path_type=Path, dir_okay=False), required=False)
def command(result: Path | None) -> None:
    """Show the statistics of a result file, by default of the last check here.

    For each benchmark and metric: launches, samples, the 25th percentile, median and 95th
    percentile of a launch (medians over the launches), and the spread between launches.

    \b
    Examples:
      benchgate show
      benchgate show result.json.gz
    """
    path = result or require_last_result(repository(Path.cwd()).root, os.environ)
    render_result(view_result(read_result(path)), console())
