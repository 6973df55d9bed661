"""`benchgate site`: a folder that any web server shows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from benchgate.cli import options as o
from benchgate.cli.history import find, repository_address, require_packages, store_address
from benchgate.cli.report import report_of
from benchgate.cli.world import repository_or_none
from benchgate.errors import UsageError
from benchgate.escape import plain_line
from benchgate.files import broken_link, read_bytes, write_atomic
from benchgate.model.redact import Redactor
from benchgate.page.history_page import INDEX, MARKER, Site, marker_of, site_files, written_before
from benchgate.report.history_table import without_secrets
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.git.repository import Git
    from benchgate.model.history_document import History

_NAME_LIMIT: Final = 100
_MARKER_LIMIT_BYTES: Final = 1 << 20


@click.command("site")
@click.argument("files", type=o.RESULT, nargs=-1, metavar="[RESULT|VERDICT]...")
@click.option(
    "--from",
    "store",
    metavar="STORE",
    help="Folder or address of the history; default: the store of the project.",
)
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    default=Path("site"),
    show_default=True,
    help="Folder of the site; it is made if it does not exist.",
)
@click.option("--name", metavar="NAME", help="Name of the project, for titles.")
@click.option("--suite", metavar="NAME", help="Name of the suite, if the history has several.")
@click.option("--force", is_flag=True, help="Write into a folder that holds other files, too.")
@o.options(o.CONFIG)
def command(
    files: tuple[Path, ...],
    store: str | None,
    folder: Path,
    name: str | None,
    suite: str | None,
    force: bool,
    config_file: Path | None,
) -> None:
    """Write a site with the latest verdicts, the history and a badge.

    The site is a folder of a few files that GitHub Pages or any other web server shows, or a
    browser from the disk. Its links are relative, and its pages load nothing from any network.

    RESULT is a result file and VERDICT a verdict as JSON, as for `benchgate report`: each gets a
    page. The badge is about the worst of their verdicts. The history comes from the store of
    `benchgate history`.

    A later call replaces the files of an earlier one. Other files in the folder stay as they are.

    \b
    Examples:
      benchgate site
      benchgate site result.json.gz --output public
      benchgate site --from s3://bucket/hello verdict.json

    You need a few more packages: pip install "benchgate[history]"
    """
    require_packages()
    git = repository_or_none(Path.cwd())
    address = store_address(store, config_file, git)
    stale = _earlier(folder, address, force=force)
    redact = Redactor(os.environ)
    reports = tuple(report_of(path, config_file, redact) for path in files)
    history = None
    if store is not None or not reports or _has_runs(address):
        history = _history(address, suite, git, redact)
    where = repository_address(git, os.environ)
    known = where.partition("://")[2].partition("/")[2] or (git.root if git else Path.cwd()).name
    named = plain_line(redact(name or known), _NAME_LIMIT)
    _write(folder, site_files(Site(named, where, reports, history), redact), stale)
    runs = f", {counted(len(history.runs), 'run')}" if history else ""
    click.echo(f"wrote {folder / INDEX} ({counted(len(reports), 'report')}{runs})")


def _has_runs(address: str) -> bool:
    from benchgate.history.store import Store  # noqa: PLC0415 - see `require_packages`

    return bool(Store.at(address).ids())


def _history(address: str, suite: str | None, git: Git | None, redact: Redactor) -> History:
    from benchgate.history.trends import HistoryRequest  # noqa: PLC0415 - see `require_packages`

    return without_secrets(find((address,), git, HistoryRequest(suite=suite), redact), redact)


def _earlier(folder: Path, store: str, *, force: bool) -> frozenset[str]:
    """The names of the files of an earlier site in the folder."""
    marker = folder / MARKER
    try:
        if marker.exists():
            return written_before(read_bytes(marker, limit_bytes=_MARKER_LIMIT_BYTES))
        others = [
            path.name
            for path in (folder.iterdir() if folder.exists() else ())
            if not path.name.startswith(".") and path.absolute() != Path(store).absolute()
        ]
    except OSError as error:
        raise UsageError(
            f"cannot read {folder}: {error.strerror}", hint="Check its permissions."
        ) from None
    except ValueError as error:
        raise UsageError(
            f"{marker} is damaged: {error}", hint=f"Delete {marker}, and call with --force."
        ) from None
    if others and not force:
        raise UsageError(
            f"{folder} holds other files, such as {plain_line(min(others))}, and no site",
            hint="Name another folder with --output. With --force the site is written beside them, "
            "and replaces files of the same names.",
        )
    return frozenset()


def _write(folder: Path, files: Mapping[str, bytes], stale: frozenset[str]) -> None:
    """Write each file whole, and remove pages that the site no longer has.

    The marker is written first, too: if a file cannot be written, a later call takes the folder for
    the site that it is, and completes it.
    """
    marker = folder / MARKER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _require_files(folder, {*files, *stale, MARKER})
        write_atomic(marker, marker_of(stale | files.keys()))
    except OSError as error:
        raise UsageError(
            f"cannot write {folder}: {broken_link(folder) or error.strerror}",
            hint="Make the folder writable, or name another one with --output.",
        ) from None
    try:
        for name, data in files.items():
            write_atomic(folder / name, data)
        for name in stale - files.keys():
            _remove(folder / name)
        write_atomic(marker, marker_of(files))
    except UsageError as error:
        raise UsageError(
            f"{error.message}; the site in {folder} is incomplete",
            hint=f"{error.hint} Then call `benchgate site` again.",
        ) from None


def _require_files(folder: Path, names: Iterable[str]) -> None:
    """Check that the site replaces nothing but files: a link may lead out of the folder."""
    for path in (folder / name for name in sorted(names)):
        if path.is_symlink():
            what = f"a symbolic link to {plain_line(str(path.readlink()))}"
        elif path.exists() and not path.is_file():
            what = "not a file"
        else:
            continue
        raise UsageError(
            f"cannot write {path}: it is {what}",
            hint="Remove it, or name another folder with --output. Nothing was written.",
        )


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot remove {path}: {error.strerror}", hint="Make the folder writable."
        ) from None
