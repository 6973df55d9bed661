"""Reads workflow runs from GitHub."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

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
