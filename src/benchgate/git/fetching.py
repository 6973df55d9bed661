"""Fetches single commits: the checkout of a CI job often holds only one commit."""

from __future__ import annotations

import base64
import subprocess
from typing import TYPE_CHECKING

from benchgate.errors import BaselineError, UsageError
from benchgate.git.branches import remotes
from benchgate.git.repository import FULL_SHA

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.git.repository import Git

FETCH_TIMEOUT_S = 300.0


def ensure_commit(git: Git, sha: str, variables: Mapping[str, str]) -> None:
    """Have a commit and its files here, fetched alone if they are not.

    Args:
        sha: in full.
        variables: for git, such as `credentials` gives.

    Raises:
        BaselineError: it cannot be fetched; git's own words are in the details.
    """
    if not FULL_SHA.fullmatch(sha):  # it may come from outside, and git take it for an option
        raise BaselineError(f"the base is {sha!r}, which is not a full commit hash")
    if git.rev_parse(sha) is not None:
        return
    remote = next(iter(remotes(git)), None)
    if remote is None:
        raise BaselineError(
            f"the base commit {sha[:12]} is not in this checkout, which has no remote",
            hint="Check out the repository with actions/checkout, or name another base.",
        )
    # A depth given in a complete clone would cut its history off.
    depth = ("--depth=1",) if git.is_shallow() else ()
    command = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", *depth, remote, sha)
    try:
        git.run(*command, variables=variables, timeout_s=FETCH_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise BaselineError(
            f"the base commit {sha[:12]} was not fetched within {FETCH_TIMEOUT_S:.0f} s",
            hint="Run the job again, or check out with `fetch-depth: 0`.",
        ) from None
    except UsageError as error:
        raise BaselineError(
            f"the base commit {sha[:12]} cannot be fetched from {remote}",
            hint="Give the token the permission `contents: read`, or check out with "
            "`fetch-depth: 0`.",
            details=error.details,
        ) from None


def credentials(server_url: str, token: str) -> dict[str, str]:
    """Variables by which git shows a token to one server, and to no other.

    They keep it out of the configuration, where later steps would find it, and out of the
    arguments, which every process can read.

    Args:
        server_url: e.g. "https://github.com".
    """
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    key = f"http.{server_url}/.extraheader"
    # The empty one takes back what actions/checkout has configured: GitHub refuses two of them.
    return {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": key,
        "GIT_CONFIG_VALUE_0": "",
        "GIT_CONFIG_KEY_1": key,
        "GIT_CONFIG_VALUE_1": f"AUTHORIZATION: basic {basic}",
    }
