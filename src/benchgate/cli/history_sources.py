"""The sources and the store that `benchgate history` is called with."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.cli.world import configuration
from benchgate.errors import UsageError
from benchgate.git.repository import github_repository
from benchgate.model.redact import Redactor
from benchgate.model.result import SkippedResult
from benchgate.report.escape import plain_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchgate.git.repository import Git
    from benchgate.history.record import RunRecord

DEFAULT_STORE: Final = ".benchgate/history"
ARTIFACTS: Final = "artifacts"


def store_address(named: str | None, config_file: Path | None, git: Git | None) -> str:
    """The address of the store: as named, as configured, or the default folder."""
    if named is not None:
        return named
    config = configuration(Path.cwd(), git, config_file)
    address = config.history.store or DEFAULT_STORE
    root = git.root if git else Path.cwd()
    return address if "://" in address else str(root / config.folder / address)


def read_new(
    sources: Sequence[str], commit: str | None, git: Git | None
) -> Iterator[RunRecord | SkippedResult]:
    """Read the results to append."""
    from benchgate.history.sources import at_commit, read_results  # noqa: PLC0415

    if not sources:
        raise UsageError("--add needs a result", hint="benchgate history --add result.json.gz")
    sha = _full_sha(commit, git) if commit is not None else ""
    for source in sources:
        if source == ARTIFACTS:
            yield from read_artifacts(git)
        elif "://" in source:
            raise UsageError(
                f"cannot read results from {plain_line(Redactor(os.environ)(source))}",
                hint="Download the result files first; --store names the store.",
            )
        else:
            found = read_results(Path(source))
            yield from at_commit(found, sha) if sha else found


def _full_sha(commit: str, git: Git | None) -> str:
    sha = git.rev_parse(commit) if git else None
    if sha is None:
        raise UsageError(
            f"--commit: there is no commit {plain_line(commit)!r} here",
            hint="Run this in a clone of the repository that has it.",
        )
    return sha


def read_artifacts(git: Git | None) -> Iterator[RunRecord | SkippedResult]:
    """Read what jobs on GitHub left for the default branch of this repository."""
    from benchgate.ci.stored_artifacts import read_runs  # noqa: PLC0415 - see `require_packages`
    from benchgate.cli.actions import real_client  # noqa: PLC0415 - a client of GitHub is slow

    name = os.environ.get("GITHUB_REPOSITORY") or (github_repository(git) if git else None)
    if name is None:
        raise UsageError(
            "it is not known which repository on GitHub has the artifacts",
            hint="Run this in a clone of it, or set GITHUB_REPOSITORY=owner/name.",
        )
    token = os.environ.get("GITHUB_TOKEN") or os.environ.get("GH_TOKEN")
    if not token:
        raise UsageError(
            f"reading the artifacts of {plain_line(name)} needs a token",
            hint="Set GITHUB_TOKEN to a token that may read actions: GITHUB_TOKEN=$(gh auth token)",
        )
    api_url = os.environ.get("GITHUB_API_URL") or "https://api.github.com"
    return read_runs(real_client(api_url, token), name)


def of_job(
    runs: Iterable[RunRecord | SkippedResult], environ: Mapping[str, str]
) -> Iterator[RunRecord | SkippedResult]:
    """Say of runs of the commit of this GitHub job where its log is, and which branch it was."""
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID", "GITHUB_SHA")
    server, repository, run_id, sha = (environ.get(name, "") for name in names)
    for one in runs:
        if sha and run_id and not isinstance(one, SkippedResult) and one.sha == sha:
            url = one.url or f"{server}/{repository}/actions/runs/{run_id}"
            yield replace(one, url=url, ref=one.ref or environ.get("GITHUB_REF_NAME", ""))
        else:
            yield one
