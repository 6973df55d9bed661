"""`benchgate report`: a result or a verdict as a page of HTML."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchgate.baselines.any_file import read_any
from benchgate.ci.replay import config_of
from benchgate.cli import options as o
from benchgate.cli.last_result import require_last_result
from benchgate.cli.outputs import STANDARD_OUTPUT, keep, page_of, put
from benchgate.cli.world import configuration, repository, repository_or_none
from benchgate.describe.figures import figures_of
from benchgate.describe.result_statistics import describe
from benchgate.files import ensure_writable, read_bytes
from benchgate.gate.judging import judge_runs
from benchgate.gate.verdict import make_verdict
from benchgate.model.redact import Redactor
from benchgate.model.result import RESULT
from benchgate.model.verdict import VERDICT
from benchgate.page.history_page import Report
from benchgate.report import words

if TYPE_CHECKING:
    from benchgate.config import Config
    from benchgate.model.result import Result

_DEFAULT = Path("benchgate-report.html")


@click.command("report")
@click.argument("file", type=o.RESULT, required=False, metavar="[RESULT|VERDICT]")
@click.option(
    "--html",
    "html_file",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="FILE",
    default=_DEFAULT,
    show_default=True,
    help="Write the page to FILE; with -, to standard output.",
)
@o.options(o.CONFIG)
def command(file: Path | None, html_file: Path, config_file: Path | None) -> None:
    """Write a report as a page of HTML, by default of the last check here.

    The page is one file that loads nothing from any network. It has the verdict, every row, and
    for each benchmark figures of what was measured.

    RESULT is a result file. If it holds both sides, they are judged by the settings that it
    holds, or else by your configuration, as `benchgate compare` does. If it holds one side, the
    page shows its statistics. VERDICT is a verdict as JSON; it holds no samples, so its page has
    no figures.

    \b
    Examples:
      benchgate report
      benchgate report result.json.gz --html report.html
      benchgate report verdict.json
    """
    path = file or require_last_result(repository(Path.cwd()).root, os.environ)
    if html_file != STANDARD_OUTPUT:
        keep(path, html=html_file)
        ensure_writable(html_file)
    report = report_of(path, config_file, Redactor(os.environ))
    put(html_file, report.page(()))
    if html_file != STANDARD_OUTPUT:
        click.echo(f"wrote {html_file}")


def report_of(path: Path, config_file: Path | None, redact: Redactor) -> Report:
    """Read a file, judge it if it is to be judged, and say how its page is written."""
    data = b"" if path.is_dir() else read_bytes(path)
    if VERDICT.recognizes(data) and not RESULT.recognizes(data):
        verdict = VERDICT.read(data, str(path))
        return Report(verdict, "", partial(page_of, verdict, None, redact))
    result = read_any([path])
    if result.base is None and result.screening is None:
        from benchgate.page.run_page import render_run  # noqa: PLC0415 - loads Jinja2

        write = partial(render_run, describe(result), figures_of(result), redact)
        what = f"Statistics of {words.source(result.head.source)}"
        return Report(None, what, lambda nav: write(nav=nav).encode())
    config = config_for(result, config_file)
    judged = judge_runs(result, config)
    verdict = make_verdict(judged, config)
    figures = figures_of(result, judged.base, config.aliases)
    return Report(verdict, "", partial(page_of, verdict, figures, redact))


def config_for(result: Result, config_file: Path | None) -> Config:
    """The configuration that judges: the named one, what the result holds, or the project's."""
    if config_file is None and result.policy is not None:
        return config_of(result.policy)
    cwd = Path.cwd()
    return configuration(cwd, repository_or_none(cwd), config_file)
