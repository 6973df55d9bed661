"""The two workflows that `benchgate init` writes for GitHub Actions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchgate.errors import UsageError
from benchgate.git.branches import default_branch, remotes

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.git.repository import Git

FOLDER = ".github/workflows"
DEFAULT_ACTION = "benchgate/benchgate@v1"
CHECKOUT = "actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2"

_ACTION = re.compile(r"[\w.-]+/[\w.-]+(/[\w./-]+)?@[\w./-]+")
_BRANCH = re.compile(r"[\w./+-]+")

_GATE = """\
# Measures every change against the commit that it started from, and says whether it is slower.
name: benchgate

on:
  push:
    branches: [{branch}]
  pull_request:
  merge_group:

permissions: {{}}

# A newer push to a pull request replaces the older one's run. On the default branch, every run is
# a baseline for later ones, and no run waits for another.
concurrency:
  group: benchgate-${{{{ github.event.pull_request.number || github.run_id }}}}
  cancel-in-progress: ${{{{ github.event_name == 'pull_request' }}}}

jobs:
  benchgate:
    name: benchgate
    runs-on: ubuntu-latest
    timeout-minutes: 60
    permissions:
      contents: read # to check out head and base
      actions: read # to find the results of earlier runs
      pull-requests: read # to find out who accepted a regression
    steps:
      - uses: {checkout}
        with:
          persist-credentials: false
      # Add what the benchmarks need here: actions/setup-python, dependencies, ...
      - uses: {action}
        with:
          comment: false # benchgate-comment.yml comments
"""

_COMMENT = """\
# Comments on pull requests. Its token can write, so it runs no code of the pull request: it reads
# what the other workflow measured, and decides by the configuration of the target branch.
name: benchgate comment

on:
  workflow_run: # zizmor: ignore[dangerous-triggers] checks out and runs no code of the pull request
    workflows: [benchgate]
    types: [completed]

permissions: {{}}

concurrency:
  group: benchgate-comment-${{{{ github.event.workflow_run.id }}}}
  cancel-in-progress: false

jobs:
  comment:
    name: comment
    if: >-
      github.event.workflow_run.event == 'pull_request' &&
      github.event.workflow_run.conclusion != 'cancelled'
    runs-on: ubuntu-latest
    timeout-minutes: 10
    permissions:
      contents: read # for the configuration of the default branch
      actions: read # to read what was measured
      pull-requests: write # to comment
    steps:
      - uses: {checkout}
        with:
          persist-credentials: false
      - uses: {action}
"""


def workflow_texts(git: Git, action: str) -> dict[str, str]:
    """Make both workflows; return them by their paths.

    Raises:
        UsageError: `action` has another form.
    """
    if not _ACTION.fullmatch(action):
        raise UsageError(
            f"--action {action!r}: must be OWNER/NAME@REF",
            hint=f"for example --action {DEFAULT_ACTION}, or a commit of it after the @",
        )
    default = default_branch(git)
    name = default.name if default else "main"
    branch = name if _BRANCH.fullmatch(name) else f'"{name}"'
    parts = {"branch": branch, "checkout": CHECKOUT, "action": action}
    return {
        f"{FOLDER}/benchgate.yml": _GATE.format(**parts),
        f"{FOLDER}/benchgate-comment.yml": _COMMENT.format(**parts),
    }


def is_for_github(git: Git) -> bool:
    """Whether the repository has workflows already, or a remote on a host named after GitHub."""
    if (git.root / ".github").is_dir():
        return True
    return any("github" in git.run("remote", "get-url", name).lower() for name in remotes(git))


def existing_workflow(root: Path) -> Path | None:
    """Find a workflow that uses benchgate already."""
    for path in sorted((root / FOLDER).glob("*.y*ml")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if re.search(r"uses:\s*['\"]?[\w.-]+/benchgate[@/]", text) or "benchgate ci" in text:
            return path
    return None
