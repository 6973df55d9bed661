"""Artifacts and runs as GitHub lists them, of octo-org/hello."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from benchgate.baselines.artifacts import ArtifactQuery
from benchgate.github.objects import Artifact, ArtifactRun, Repository, WorkflowRun

OURS = Repository(id=1296269)
FORK = Repository(id=99)
NAME = "benchgate-baseline.default.linux-x86_64"


def sha(number: int) -> str:
    return f"{number:040x}"


class GitHub:
    """A repository whose artifact and run n are of commit n, of the n-th minute of the day."""

    wanted = ArtifactQuery(
        repository_id=OURS.id,
        branch="main",
        name=NAME,
        head_sha=sha(900),
        preferred=(sha(50), sha(49), sha(48)),
        most_bytes=1000,
    )

    @staticmethod
    def listed(number: int, *, run: dict[str, Any] | None = None, **changes: Any) -> Artifact:  # noqa: ANN401
        """List an artifact; its fields and those of its run may be changed."""
        of_run: dict[str, Any] = {
            "id": 7000 + number,
            "repository_id": OURS.id,
            "head_repository_id": OURS.id,
            "head_branch": "main",
            "head_sha": sha(number),
        }
        fields: dict[str, Any] = {
            "id": number,
            "name": NAME,
            "size_in_bytes": 500,
            "expired": False,
            "created_at": datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number),
            "workflow_run": ArtifactRun(**(of_run | (run or {}))),
        }
        return Artifact(**(fields | changes))

    @staticmethod
    def run(number: int, **changes: Any) -> WorkflowRun:  # noqa: ANN401
        """Describe the run of an artifact."""
        fields: dict[str, Any] = {
            "id": 7000 + number,
            "event": "push",
            "status": "completed",
            "conclusion": "success",
            "path": ".github/workflows/benchgate.yml",
            "html_url": f"https://github.com/octo-org/hello/actions/runs/{7000 + number}",
            "head_branch": "main",
            "head_sha": sha(number),
            "repository": OURS,
            "head_repository": OURS,
        }
        return WorkflowRun(**(fields | changes))

    def wanting(self, **changes: Any) -> ArtifactQuery:  # noqa: ANN401
        """Want something else."""
        return replace(self.wanted, **changes)


@pytest.fixture
def github() -> GitHub:
    return GitHub()
