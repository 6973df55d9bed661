"""The runs of a repository's workflows, and their addresses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from benchgate.errors import UsageError
from benchgate.github.exchange import harmless
from benchgate.github.models import WorkflowRun

if TYPE_CHECKING:
    from benchgate.github.client import Client


def read_run(client: Client, repository: str, id_: int) -> WorkflowRun:
    """One run.

    Raises:
        GitHubError: GitHub refuses, or does not answer.
    """
    path = f"/repos/{repository}/actions/runs/{id_}"
    return WorkflowRun.read(client.get(path), path)


def list_runs(
    client: Client, repository: str, *, branch: str, event: str, most: int
) -> tuple[WorkflowRun, ...]:
    """The newest runs that an event started on a branch.

    A pull request from a fork's branch of the same name is one of that branch, too: it is told by
    its event and its head repository.

    Raises:
        GitHubError: GitHub refuses, or does not answer.
    """
    path = f"/repos/{repository}/actions/runs"
    listed = client.pages(path, {"branch": branch, "event": event}, key="workflow_runs")
    return tuple(WorkflowRun.read(item, path) for item in islice(listed, most))


_RUN = re.compile(
    r"(?P<scheme>https?)://(?P<host>[\w.-]+(?::[0-9]{1,5})?)"
    r"/(?P<repository>[A-Za-z0-9][\w-]*/(?!\.{1,2}/)[\w.-]+)/actions/runs/(?P<run>[0-9]{1,18})"
    r"(?:/attempts/(?P<attempt>[0-9]{1,9}))?(?:/job/[0-9]{1,18})?/?(?:[?#].*)?",
    re.ASCII,
)
_FORM = "It looks like https://github.com/OWNER/REPOSITORY/actions/runs/1234567890."


@dataclass(frozen=True, slots=True)
class RunUrl:
    """A run.

    Attributes:
        api_url: of the server that the address names. That may be anybody's: a token must only be
            sent there when it is meant for it.
        repository: e.g. "octo-org/hello".
        attempt: None if the address names none: the latest.
    """

    api_url: str
    repository: str
    run_id: int
    attempt: int | None


def parse_run_url(url: str) -> RunUrl:
    """The run that an address leads to, also one of its attempts or jobs.

    Raises:
        UsageError: it is no such address.
    """
    found = _RUN.fullmatch(url.strip())
    if found is None:
        raise UsageError(f"{harmless(url)!r} is not the URL of a workflow run", hint=_FORM)
    attempt = found["attempt"]
    return RunUrl(
        api_url=_api_url(found["scheme"], found["host"].lower()),
        repository=found["repository"],
        run_id=int(found["run"]),
        attempt=None if attempt is None else int(attempt),
    )


def _api_url(scheme: str, host: str) -> str:
    """The API of a server: of GitHub, of a company's part of it, or of its own server."""
    if host == "github.com" or host.endswith(".ghe.com"):
        return f"{scheme}://api.{host}"
    return f"{scheme}://{host}/api/v3"
