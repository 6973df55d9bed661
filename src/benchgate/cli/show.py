"""`benchgate show`: the statistics of a stored result."""

from __future__ import annotations

import math
import os
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from benchgate.baselines.any_file import read_any
from benchgate.cli import options as o
from benchgate.cli.last_result import require_last_result
from benchgate.cli.outputs import STANDARD_OUTPUT, keep, put
from benchgate.cli.world import console, repository
from benchgate.describe.result_statistics import describe
from benchgate.errors import FormatError, UsageError, did_you_mean
from benchgate.files import ensure_writable
from benchgate.interval import CONFIDENCE, LEAST_CONFIDENCE
from benchgate.model.redact import Redactor
from benchgate.model.statistics import STATISTICS
from benchgate.report.statistics_table import render_result
from benchgate.session.choice import Choice, nothing_chosen
from benchgate.stats.spread import OUTLIER_MODES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.model.result import Result
    from benchgate.model.run import Run
    from benchgate.model.statistics import ResultStatistics
    from benchgate.stats.spread import OutlierMode


def show(
    path: Path,
    choice: Choice,
    outliers: OutlierMode | None,
    metrics: Sequence[str] = (),
    confidence: float = CONFIDENCE,
) -> ResultStatistics:
    """Compute the statistics of the chosen part of a result file.

    Args:
        outliers: which ones the second mean leaves out; None for only one line per series.
        confidence: of all intervals.
    """
    chosen = _chosen(path, choice, metrics)
    with _naming(path):
        return describe(chosen, outliers, confidence)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the file in the message of a FormatError."""
    try:
        yield
    except FormatError as error:
        raise FormatError(f"{path}: {error.message}", hint=error.hint) from None


def _chosen(path: Path, choice: Choice, metrics: Sequence[str]) -> Result:
    """The chosen benchmarks and metrics of a result file."""
    result = read_any([path])
    runs = [result.head] if result.base is None else [result.head, result.base]
    ids = {b.id for run in runs for b in run.of_project}
    if ids and not any(choice.wants(id_, ()) for id_ in ids):
        raise nothing_chosen(choice, dict.fromkeys(ids, ()))
    chosen = [_choose(run, choice) for run in runs]
    if metrics:
        chosen = _with_metrics(chosen, metrics)
    base = chosen[1] if len(chosen) > 1 else None
    return replace(result, head=chosen[0], base=base)


def _choose(run: Run, choice: Choice) -> Run:
    return replace(run, benchmarks=tuple(b for b in run.benchmarks if choice.wants(b.id, ())))


def _with_metrics(runs: Sequence[Run], metrics: Sequence[str]) -> list[Run]:
    benchmarks = [b for run in runs for b in run.of_project]
    names = sorted({series.metric.name for b in benchmarks for series in b.series})
    for name in metrics:
        if name not in names:
            raise UsageError(
                f"none of the shown benchmarks has a metric {name!r}{did_you_mean(name, names)}",
                hint=f"Available: {', '.join(names) or 'none'}.",
            )
    return [
        replace(
            run,
            benchmarks=tuple(
                replace(b, series=tuple(s for s in b.series if s.metric.name in metrics))
                for b in run.benchmarks
            ),
        )
        for run in runs
    ]


def _not_nan(_context: click.Context, _option: click.Parameter, value: float) -> float:
    """Refuse NaN, which a range lets pass."""
    if math.isnan(value):
        raise click.BadParameter("nan is not a number.")
    return value


@click.command("show")
@click.argument("result", type=o.RESULT, required=False)
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
    "--confidence",
    type=click.FloatRange(LEAST_CONFIDENCE, 1, max_open=True),
    callback=_not_nan,
    default=CONFIDENCE,
    show_default=True,
    help="Confidence of every interval, such as 0.99.",
)
@o.report_option("--json", "the statistics as JSON")
def command(
    result: Path | None,
    globs: tuple[str, ...],
    metrics: tuple[str, ...],
    detail: bool,
    outliers: OutlierMode,
    confidence: float,
    json_file: Path | None,
) -> None:
    """Show the statistics of a result file, by default of the last check here.

    For each benchmark and metric: launches, samples, the 25th percentile, median and 95th
    percentile of a launch (medians over the launches), and the spread between launches.

    For each step of a scenario: the mean of each metric over the launches with its interval, and
    how many operations, errors and stalls there were.

    With --detail: quantiles and means with their intervals, how samples and launches depend on
    each other, the warm-up, and which change a comparison could detect; for a step of a scenario
    the percentiles of all latencies, and the course of each launch.

    \b
    Examples:
      benchgate show
      benchgate show result.json.gz
      benchgate show --detail --filter 'parse/*' --metric time
      benchgate show --detail --confidence 0.99
    """
    if not detail and _is_given("outliers"):
        raise UsageError(
            "--outliers changes nothing without --detail",
            hint="Add --detail, which shows the second mean.",
        )
    path = result or require_last_result(repository(Path.cwd()).root, os.environ)
    if json_file is not None and json_file != STANDARD_OUTPUT:
        keep(path, json=json_file)
        ensure_writable(json_file)
    statistics = show(path, Choice(globs), outliers if detail else None, metrics, confidence)
    if _is_given("confidence") and not detail and not any(run.loads for run in statistics.runs):
        raise UsageError(
            "--confidence changes nothing without --detail",
            hint="Add --detail, which shows the intervals.",
        )
    if json_file is not None:
        put(json_file, STATISTICS.write(statistics, Redactor(os.environ)))
    if json_file != STANDARD_OUTPUT:
        render_result(statistics, console())


def _is_given(option: str) -> bool:
    source = click.get_current_context().get_parameter_source(option)
    return source is not ParameterSource.DEFAULT
