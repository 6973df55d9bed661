"""Makes the files of a site: a folder that any web server shows, or a browser from the disk."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.page.frame import drawing, render
from benchgate.page.history import (
    SPARK,
    STYLE,
    machine_sections,
    render_history_page,
)
from benchgate.report.badge import badge_of, render_badge, render_endpoint
from benchgate.report.history_view import view_history
from benchgate.report.view import view_verdict, without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchgate.model.history import History
    from benchgate.model.verdict import Verdict

MARKER: Final = "benchgate-site.json"
"""Says that a folder is a site, and which files of it benchgate wrote."""

INDEX: Final = "index.html"
_HISTORY: Final = "history.html"
_BADGE: Final = "badge.svg"
_OVERVIEW: Final = "Overview"


@dataclass(frozen=True, slots=True)
class Report:
    """A report of the site.

    Attributes:
        verdict: None for a result of one side.
        what: one line for a report without a verdict.
        page: writes it, given the text and address of links to other pages.
    """

    verdict: Verdict | None
    what: str
    page: Callable[[Sequence[tuple[str, str]]], bytes]


@dataclass(frozen=True, slots=True)
class Site:
    """What a site shows.

    Attributes:
        name: of the project.
        repository: address of the repository on its host, for links; "" if it is not known.
        history: without secrets; None if there is none.
    """

    name: str
    repository: str
    reports: tuple[Report, ...]
    history: History | None


def site_files(site: Site, redact: Callable[[str], str]) -> dict[str, bytes]:
    """The files, by their names in the folder, without the marker.

    Args:
        redact: removes the secrets from a text.

    Raises:
        UsageError: Jinja2 is not installed.
    """
    names = [_report_name(index) for index in range(len(site.reports))]
    nav = [(_OVERVIEW, INDEX)]
    if site.history is not None:
        nav.append(("History", _HISTORY))
    badge = badge_of([one.verdict for one in site.reports if one.verdict is not None])
    picture = render_badge(badge)
    files = {
        **{name: one.page(nav) for name, one in zip(names, site.reports, strict=True)},
        _BADGE: picture.encode(),
        "badge.json": render_endpoint(badge).encode(),
        ".nojekyll": b"",
        INDEX: _index(site, names, picture, nav, redact).encode(),
    }
    if site.history is not None:
        page = render_history_page(site.history, repository=site.repository, nav=nav)
        files[_HISTORY] = page.encode()
    return files


def marker_of(names: Iterable[str]) -> bytes:
    """The marker of a folder with these files."""
    content = {"schema": 1, "files": sorted(names)}
    return f"{json.dumps(content, indent=2)}\n".encode()


def written_before(marker: bytes) -> frozenset[str]:
    """The names in a marker; those that no site has are left out.

    Raises:
        ValueError: it is not a marker.
    """
    try:
        content = json.loads(marker)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(content, dict) or not isinstance(content.get("files"), list):
        raise ValueError("it names no files")  # noqa: TRY004 - as of json.loads
    return frozenset(name for name in content["files"] if _is_ours(name))


def _is_ours(name: object) -> bool:
    """Whether it is a name of a page that a later site may lack."""
    if not isinstance(name, str):
        return False
    number = name.removeprefix("report-").removesuffix(".html")
    is_numbered = number.isdecimal() and len(number) < len(name)
    return name in {_HISTORY, _report_name(0)} or (is_numbered and name == f"report-{number}.html")


def _report_name(index: int) -> str:
    return f"report-{index + 1}.html" if index else "report.html"


def _index(
    site: Site,
    names: Sequence[str],
    picture: str,
    nav: Sequence[tuple[str, str]],
    redact: Callable[[str], str],
) -> str:
    reports = [
        (
            name,
            one.verdict and without_secrets(view_verdict(one.verdict), redact),
            redact(one.what),
        )
        for name, one in zip(names, site.reports, strict=True)
    ]
    history = view_history(site.history) if site.history is not None else None
    return render(
        "site.html",
        title=f"Performance of {site.name}",
        nav=nav,
        extra_style=STYLE,
        picture=drawing(picture) if any(view for _, view, _ in reports) else "",
        reports=reports,
        history=history,
        machines=machine_sections(history, site.repository) if history else (),
        trends_page=_HISTORY,
        spark_size=SPARK,
    )
