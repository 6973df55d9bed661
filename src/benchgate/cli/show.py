"""`benchgate show`."""

from __future__ import annotations

from pathlib import Path

import click

from benchgate.app.show import view_result
from benchgate.cli.world import console
from benchgate.files import read_result
from benchgate.report.listing import render_result


@click.command("show")
@click.argument("result", type=click.Path(path_type=Path, dir_okay=False))
def command(result: Path) -> None:
    """Show the statistics of a result file.

    For each benchmark and metric: launches, samples, the 25th percentile, median and 95th
    percentile of a launch (medians over the launches), and the spread between launches.

    \b
    Example:
      benchgate show result.json.gz
    """
    render_result(view_result(read_result(result)), console())
