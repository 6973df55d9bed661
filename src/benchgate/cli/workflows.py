"""The two workflows that `benchgate init` writes for GitHub Actions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from subprocess import TimeoutExpired
from typing import TYPE_CHECKING

from benchgate.errors import UsageError
from benchgate.files import read_bytes
from benchgate.git.repository import FULL_SHA, default_branch, remotes

if TYPE_CHECKING:
    from benchgate.git.repository import Git

FOLDER = ".github/workflows"
EXAMPLE_ACTION = "OWNER/benchgate@main"
CHECKOUT = "actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2"

_ACTION = re.compile(r"[\w.-]+/[\w.-]+(/[\w./-]+)?@[\w./-]+")
_GITHUB = "https://github.com"
_ASK_TIMEOUT_S = 15.0
_NOT_THERE = ("could not read Username", "not found", "does not exist", "does not appear to be")
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
{setup}      - uses: {action}
        with:
{folder}          comment: false # benchgate-comment.yml comments
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

# One after the other if two runs measured one head, so that they share one comment.
concurrency:
  group: benchgate-comment-${{{{ github.event.workflow_run.head_sha }}}}
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
{with_folder}"""


def require_action(git: Git, action: str) -> str:
    """Check that an action exists, because a workflow that names another one fails.

    Returns:
        "", or a sentence that says why this could not be checked.

    Raises:
        UsageError: it has another form, or GitHub does not have it.
    """
    if not _ACTION.fullmatch(action):
        raise UsageError(
            f"--action {action!r}: must be OWNER/NAME@REF",
            hint=f"for example --action {EXAMPLE_ACTION}, or a commit of it after the @",
        )
    name, _, ref = action.partition("@")
    repository = "/".join(name.split("/")[:2])
    try:
        refs = git.run("ls-remote", f"{_GITHUB}/{repository}", timeout_s=_ASK_TIMEOUT_S)
    except TimeoutExpired:
        return f"benchgate could not check that {action} exists: GitHub did not answer."
    except UsageError as error:
        reason = (error.details or "").splitlines()[-1:] or ["git failed"]
        if not any(sign in (error.details or "") for sign in _NOT_THERE):
            return f"benchgate could not check that {action} exists: {reason[0]}"
        raise UsageError(
            f"--action {action}: GitHub has no repository {repository} that you can read",
            hint="If it is private, let git sign in, for example with `gh auth setup-git`.",
            details=error.details,
        ) from None
    names = {line.partition("\t")[2] for line in refs.splitlines()}
    if FULL_SHA.fullmatch(ref) or not names.isdisjoint({f"refs/heads/{ref}", f"refs/tags/{ref}"}):
        return ""
    raise UsageError(
        f"--action {action}: {repository} has no branch or tag {ref}",
        hint="Name a branch or a tag of it, or a commit with all of its 40 digits.",
    )


def workflow_texts(git: Git, action: str, *, folder: str = ".", tool: str = "") -> dict[str, str]:
    """Make both workflows; return them by their paths.

    Args:
        folder: the folder of the configuration, relative to the root of the repository.
        tool: a program that the runner needs but does not have; only "uv" is one.
    """
    default = default_branch(git)
    name = default.name if default else "main"
    branch = name if _BRANCH.fullmatch(name) else f'"{name}"'
    place = f"          working-directory: {json.dumps(folder)}\n" if folder != "." else ""
    parts = {
        "branch": branch,
        "checkout": CHECKOUT,
        "action": action,
        "setup": "      - run: pipx install uv\n" if tool == "uv" else "",
        "folder": place,
        "with_folder": f"        with:\n{place}" if place else "",
    }
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
    """Find a workflow that uses benchgate already.

    Raises:
        UsageError: a workflow cannot be read.
    """
    for path in filter(Path.is_file, sorted((root / FOLDER).glob("*.y*ml"))):
        text = read_bytes(path).decode("utf-8", "replace")
        if re.search(r"uses:\s*['\"]?[\w.-]+/benchgate[@/]", text) or "benchgate ci" in text:
            return path
    return None
