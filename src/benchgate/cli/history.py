"""`benchgate history`: the values of each benchmark over many runs, and where it changed."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from benchgate.cli import options as o
from benchgate.cli.outputs import STANDARD_OUTPUT, Outputs, put
from benchgate.cli.world import configuration, console, repository_or_none
from benchgate.errors import UsageError
from benchgate.escape import plain_line
from benchgate.git.repository import github_repository
from benchgate.model.history_document import HISTORY
from benchgate.model.redact import Redactor
from benchgate.model.result import SkippedResult, by_reason
from benchgate.report.history_table import render_history, view_history, without_secrets
from benchgate.session.choice import Choice, nothing_chosen
from benchgate.units import counted, parse_ratio_change

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from benchgate.git.repository import Git
    from benchgate.history.record import RunRecord
    from benchgate.history.trends import HistoryRequest
    from benchgate.model.history_document import History


_GITHUB: Final = "https://github.com"
_SERVER: Final = re.compile(r"https?://[\w.-]+(?::\d+)?", re.ASCII)
_NAME: Final = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


def page_of_history(history: History, git: Git | None, redact: Redactor) -> bytes:
    from benchgate.page.history_page import render_history_page  # noqa: PLC0415 - only for a page

    address = repository_address(git, os.environ)
    return render_history_page(without_secrets(history, redact), repository=address).encode()


def repository_address(git: Git | None, environ: Mapping[str, str]) -> str:
    """The address without a slash at the end, e.g. "https://github.com/octo-org/hello".

    In a job it is the job's own repository, and otherwise the first remote on github.com; "" if
    there is none.
    """
    name = environ.get("GITHUB_REPOSITORY", "")
    server = environ.get("GITHUB_SERVER_URL") or _GITHUB
    if not name:
        name, server = (github_repository(git) if git else None) or "", _GITHUB
    known = _NAME.fullmatch(name) and _SERVER.fullmatch(server)
    return f"{server}/{name}" if known else ""


_NEEDED: Final = ("fsspec", "pyarrow")


def require_packages() -> None:
    """Check that the packages are installed, before a module that needs them is imported."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"a history needs {' and '.join(missing)}, which cannot be imported",
            hint='pip install "benchgate[history]"',
        )


DEFAULT_STORE: Final = ".benchgate/history"
ARTIFACTS: Final = "artifacts"


def store_address(named: str | None, config_file: Path | None, git: Git | None) -> str:
    """The address of the store: as named, as configured, or the default folder."""
    if named is not None:
        return named
    config = configuration(Path.cwd(), git, config_file)
    address = config.history.store or DEFAULT_STORE
    root = git.root if git else Path.cwd()
    return address if "://" in address else str(root / config.folder / address)


def read_new(
    sources: Sequence[str], commit: str | None, git: Git | None
) -> Iterator[RunRecord | SkippedResult]:
    from benchgate.history.sources import at_commit, read_results  # noqa: PLC0415

    if not sources:
        raise UsageError("--add needs a result", hint="benchgate history --add result.json.gz")
    sha = _full_sha(commit, git) if commit is not None else ""
    for source in sources:
        if source == ARTIFACTS:
            yield from read_artifacts(git)
        elif "://" in source:
            raise UsageError(
                f"cannot read results from {plain_line(Redactor(os.environ)(source))}",
                hint="Download the result files first; --store names the store.",
            )
        else:
            found = read_results(Path(source))
            yield from at_commit(found, sha) if sha else found


def _full_sha(commit: str, git: Git | None) -> str:
    sha = git.rev_parse(commit) if git else None
    if sha is None:
        raise UsageError(
            f"--commit: there is no commit {plain_line(commit)!r} here",
            hint="Run this in a clone of the repository that has it.",
        )
    return sha


def read_artifacts(git: Git | None) -> Iterator[RunRecord | SkippedResult]:
    """Read what jobs on GitHub left for the default branch of this repository."""
    from benchgate.ci.stored_artifacts import read_runs  # noqa: PLC0415 - see `require_packages`
    from benchgate.cli.ci import real_client  # noqa: PLC0415 - a client of GitHub is slow

    name = os.environ.get("GITHUB_REPOSITORY") or (github_repository(git) if git else None)
    if name is None:
        raise UsageError(
            "it is not known which repository on GitHub has the artifacts",
            hint="Run this in a clone of it, or set GITHUB_REPOSITORY=owner/name.",
        )
    token = os.environ.get("GITHUB_TOKEN") or os.environ.get("GH_TOKEN")
    if not token:
        raise UsageError(
            f"reading the artifacts of {plain_line(name)} needs a token",
            hint="Set GITHUB_TOKEN to a token that may read actions: GITHUB_TOKEN=$(gh auth token)",
        )
    api_url = os.environ.get("GITHUB_API_URL") or "https://api.github.com"
    return read_runs(real_client(api_url, token), name)


def of_job(
    runs: Iterable[RunRecord | SkippedResult], environ: Mapping[str, str]
) -> Iterator[RunRecord | SkippedResult]:
    """Say of runs of the commit of this GitHub job where its log is, and which branch it was."""
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID", "GITHUB_SHA")
    server, repository, run_id, sha = (environ.get(name, "") for name in names)
    for one in runs:
        if sha and run_id and not isinstance(one, SkippedResult) and one.sha == sha:
            url = one.url or f"{server}/{repository}/actions/runs/{run_id}"
            yield replace(one, url=url, ref=one.ref or environ.get("GITHUB_REF_NAME", ""))
        else:
            yield one


_LINE_LIMIT: Final = 1000
_HOW_TO_ADD: Final = "`benchgate history --add RESULT` appends the result of a run."


def find(
    sources: Sequence[str], git: Git | None, request: HistoryRequest, redact: Redactor
) -> History:
    """Read the runs of some sources, and make their history."""
    # They need packages that `require_packages` explains.
    from benchgate.history.adding import commits_of  # noqa: PLC0415
    from benchgate.history.sources import read_sources  # noqa: PLC0415
    from benchgate.history.stored_rows import Rows  # noqa: PLC0415
    from benchgate.history.trends import find_history  # noqa: PLC0415

    found = read_sources(sources, redact, {ARTIFACTS: lambda: read_artifacts(git)})
    if not found.runs:
        where = plain_line(" or ".join(map(redact, sources)))
        details = "\n".join(f"{one.what}: {one.reason}" for one in by_reason(found.skipped))
        raise UsageError(f"no runs in {where}", hint=_HOW_TO_ADD, details=plain_details(details))
    rows = Rows(found.runs, found.reader)
    return find_history(rows, request, lambda shas: commits_of(git, shas), found.notes())


def show(
    sources: Sequence[str],
    git: Git | None,
    request: HistoryRequest,
    outputs: Outputs,
) -> None:
    """Write the history of some sources to the terminal and to files."""
    redact = Redactor(os.environ)
    outputs.require_writable()
    history = find(sources, git, request, redact)
    if json_file := outputs.files.get("json"):
        put(json_file, HISTORY.write(history, redact))
    if html_file := outputs.files.get("html"):
        put(html_file, page_of_history(history, git, redact))
    if STANDARD_OUTPUT not in outputs.files.values():
        render_history(view_history(history), console(), verbose=outputs.verbose)


def plain_details(text: str) -> str:
    """Lines from outside, harmless for a terminal."""
    return "\n".join(plain_line(line, _LINE_LIMIT) for line in text.splitlines())


def add(
    runs: Iterator[RunRecord | SkippedResult], address: str, git: Git | None, redact: Redactor
) -> int:
    """Append runs to a store, and say what became of each."""
    from benchgate.history.adding import add_runs  # noqa: PLC0415 - see `require_packages`
    from benchgate.history.store import Store  # noqa: PLC0415

    store = Store.at(address)
    done = add_runs(store, runs, git, redact)
    for one in by_reason(done.skipped):
        _say(f"warning: left out: {one.what}: {one.reason}")
    for record in done.added:
        if record.failed:
            failed = counted(record.failed, "benchmark")
            _say(f"warning: {record.started}: {failed} crashed, and left out")
    if not done.added and not done.present:
        raise UsageError("nothing was added: there is no usable result", hint=_HOW_TO_ADD)
    there = f"; {counted(len(done.present), 'run')} there already" if done.present else ""
    click.echo(f"added {counted(len(done.added), 'run')} to {store.name}{there}")
    return 0


def _say(text: str) -> None:
    click.echo(plain_line(text, _LINE_LIMIT), err=True)


def _percent(_context: click.Context, _parameter: click.Parameter, value: str) -> float:
    try:
        margin = parse_ratio_change(value)
    except ValueError as error:
        raise UsageError(f"--margin: {error}") from None
    if margin < 0:
        raise UsageError(f"--margin: {value} is negative", hint="Write it as 2% or 0.5%.")
    return margin


@dataclass(frozen=True, slots=True)
class HistoryOptions:
    """The command line of `history`.

    Attributes:
        adds: whether the sources are added to the store.
        commit: of results that do not name theirs.
        margin: the smallest change of a level that is shown, as a fraction.
    """

    sources: tuple[str, ...]
    adds: bool
    store: str | None
    commit: str | None
    globs: tuple[str, ...]
    metrics: tuple[str, ...]
    suite: str | None
    last: int | None
    since: datetime | None
    margin: float
    json_file: Path | None
    html_file: Path | None
    config_file: Path | None
    verbose: bool


@click.command("history")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@click.option("--add", "adds", is_flag=True, help="Append the sources to the store.")
@click.option(
    "--store",
    metavar="PLACE",
    help="Folder or address of the store; default: [history] store, or .benchgate/history.",
)
@click.option(
    "--commit",
    metavar="REF",
    help="With --add: the commit of results that do not name theirs, as those of other tools.",
)
@o.options(o.FILTER)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Only the metric of this name; may be repeated. By default those that usually decide.",
)
@click.option("--suite", metavar="NAME", help="Name of the suite, if there are several.")
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the newest N runs.")
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="Only runs of commits since this day, such as 2026-05-03.",
)
@click.option(
    "--margin",
    metavar="PERCENT",
    default="2%",
    show_default=True,
    callback=_percent,
    help="Smallest change of a level that is shown.",
)
@o.report_option("--json", "the history as JSON")
@o.report_option("--html", "the history as a page of HTML")
@o.options(o.CONFIG)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Show every change of every trend, tails, and trends that ended.",
)
@o.as_one(HistoryOptions)
def command(given: HistoryOptions) -> int:
    """Show each benchmark over many runs, and when it got slower or faster.

    A SOURCE is a store, a folder with result files, a result file (also of another tool), or the
    word artifacts: the results that jobs on GitHub left for the default branch. Without a SOURCE
    it is the store of the project.

    Runs are put in the order of their commits, if they are in this repository; otherwise they
    are ordered by date. Values of different machines are never in one trend.

    \b
    Examples:
      benchgate history --add result.json.gz
      benchgate history
      benchgate history results/ --filter 'parse/*' --last 50
      benchgate history --add artifacts --store s3://bucket/hello
      benchgate history s3://bucket/hello --json history.json

    You need a few more packages: pip install "benchgate[history]"
    """
    require_packages()
    from benchgate.history.trends import HistoryRequest  # noqa: PLC0415 - see `require_packages`

    git = repository_or_none(Path.cwd())
    files = {"json": given.json_file, "html": given.html_file}
    if given.adds:
        shown = {"filter": given.globs or None, "metric": given.metrics or None, **files}
        _require_effect_of(**shown, last=given.last, since=given.since, suite=given.suite)
        runs = of_job(read_new(given.sources, given.commit, git), os.environ)
        address = store_address(given.store, given.config_file, git)
        return add(runs, address, git, Redactor(os.environ))
    if given.commit is not None:
        raise UsageError("--commit needs --add")
    if given.store is not None and given.sources:
        raise UsageError("--store and a source are given", hint="Name one of them, or use --add.")
    choice = Choice(given.globs)
    request = HistoryRequest(
        suite=given.suite,
        wants=lambda id_: choice.wants(id_, ()),
        none_of=lambda ids: nothing_chosen(choice, dict.fromkeys(ids, ()), listed_by="history"),
        metrics=given.metrics,
        last=given.last,
        since=f"{given.since:%Y-%m-%d}" if given.since else "",
        margin=given.margin,
    )
    places = given.sources or (store_address(given.store, given.config_file, git),)
    written = {name: path for name, path in files.items() if path is not None}
    show(places, git, request, Outputs(written, verbose=given.verbose))
    return 0


def _require_effect_of(**options: object) -> None:
    for name, value in options.items():
        if value is not None:
            raise UsageError(
                f"--{name} has no effect with --add",
                hint="Show the history in a second call, without --add.",
            )
