"""The job of GitHub Actions that this process is part of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.git.repository import Git
    from benchgate.github.client import Client
    from benchgate.github.context import Context
    from benchgate.model.environment import Environment


@dataclass(frozen=True, slots=True)
class Job:
    """A job of GitHub Actions, with access to GitHub.

    Attributes:
        git: the repository that the workflow checked out.
        git_variables: environment variables that let git fetch from the repository.
    """

    context: Context
    client: Client
    git: Git
    git_variables: Mapping[str, str]
    here: Environment
