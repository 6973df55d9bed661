"""The job of GitHub Actions that this process is part of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchgate.git.repository import Git
    from benchgate.github.client import Client
    from benchgate.github.context import Context
    from benchgate.model.environment import Environment


@dataclass(frozen=True, slots=True)
class Job:
    """A job of GitHub Actions, with access to GitHub.

    Attributes:
        git: the repository that the workflow checked out, with credentials to fetch from it.
    """

    context: Context
    client: Client
    git: Git
    here: Environment
