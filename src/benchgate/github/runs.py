"""Runs of a repository's workflows, and the addresses of runs."""

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
    """Get a run.

    Raises:
        GitHubError: GitHub refuses, or does not answer.
    """
    path = f"/repos/{repository}/actions/runs/{id_}"
    return WorkflowRun.read(client.get(path), path)


def list_runs(
    client: Client, repository: str, *, branch: str, event: str, most: int
) -> tuple[WorkflowRun, ...]:
    """List the newest runs that an event started on a branch.

    They include pull requests from a fork's branch of the same name: tell these apart by event and
    head repository.

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
    """The parts of a run's address.

    Attributes:
        api_url: API of the server in the address. Anybody may own that server: send it only a token
            that is meant for it.
        repository: e.g. "octo-org/hello".
        attempt: None if the address names none, which means the latest.
    """

    api_url: str
    repository: str
    run_id: int
    attempt: int | None


def parse_run_url(url: str) -> RunUrl:
    """Parse the address of a run, or of one of its attempts or jobs.

    Raises:
        UsageError: it is not such an address.
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
    """The API's address for a server: github.com, a company's subdomain, or its own server."""
    if host == "github.com" or host.endswith(".ghe.com"):
        return f"{scheme}://api.{host}"
    return f"{scheme}://{host}/api/v3"
