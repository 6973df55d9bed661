"""`benchgate show`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from benchgate.app.choice import Choice
from benchgate.app.show import show
from benchgate.cli import options as o
from benchgate.cli.last import require_last_result
from benchgate.cli.outputs import STANDARD_OUTPUT, keep, put
from benchgate.cli.world import console, repository
from benchgate.describe.detail import DetailSettings
from benchgate.errors import UsageError
from benchgate.files import ensure_writable
from benchgate.model.codec import encode_statistics
from benchgate.model.redact import Redactor
from benchgate.report.result import render_result
from benchgate.stats.outliers import OUTLIER_MODES

if TYPE_CHECKING:
    from benchgate.stats.outliers import OutlierMode


@click.command("show")
@click.argument("result", type=click.Path(path_type=Path, dir_okay=False), required=False)
@o.options(o.FILTER)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Only the metric of this name, such as time; may be repeated.",
)
@click.option("--detail", is_flag=True, help="Show all statistics of each metric.")
@click.option(
    "--outliers",
    type=click.Choice(OUTLIER_MODES),
    default="iqr",
    show_default=True,
    help="Which outliers the second mean of --detail leaves out.",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Write the statistics as JSON; with -, only that goes to standard output.",
)
def command(
    result: Path | None,
    globs: tuple[str, ...],
    metrics: tuple[str, ...],
    detail: bool,
    outliers: OutlierMode,
    json_file: Path | None,
) -> None:
    """Show the statistics of a result file, by default of the last check here.

    For each benchmark and metric: launches, samples, the 25th percentile, median and 95th
    percentile of a launch (medians over the launches), and the spread between launches.

    With --detail: quantiles and means with their intervals, how samples and launches depend on
    each other, the warm-up, and which change a comparison could detect.

    \b
    Examples:
      benchgate show
      benchgate show result.json.gz
      benchgate show --detail --filter 'parse/*' --metric time
    """
    source = click.get_current_context().get_parameter_source("outliers")
    if not detail and source is not ParameterSource.DEFAULT:
        raise UsageError(
            "--outliers changes nothing without --detail",
            hint="Add --detail, which shows the second mean.",
        )
    path = result or require_last_result(repository(Path.cwd()).root, os.environ)
    if json_file is not None and json_file != STANDARD_OUTPUT:
        keep(path, json=json_file)
        ensure_writable(json_file)
    settings = DetailSettings(outliers) if detail else None
    statistics = show(path, Choice(globs), settings, metrics)
    if json_file is not None:
        put(json_file, encode_statistics(statistics, Redactor(os.environ)))
    if json_file != STANDARD_OUTPUT:
        render_result(statistics, console())
