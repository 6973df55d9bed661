"""GitHub's own example answers, as what the server's answers are made from."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.contract.description import HOST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.contract.answers import Json

WEB = "https://github.com"

_REPOSITORY = "/repos/{owner}/{repo}"
# By name: the operation whose example it is in, and the way to it.
_SEEDS: dict[str, tuple[str, tuple[str | int, ...]]] = {
    "artifact": (f"get {_REPOSITORY}/actions/artifacts", ("artifacts", 0)),
    "check run": (f"post {_REPOSITORY}/check-runs", ()),
    "comment": (f"get {_REPOSITORY}/issues/comments/{{comment_id}}", ()),
    "commit": (f"get {_REPOSITORY}/commits/{{ref}}", ()),
    "comparison": (f"get {_REPOSITORY}/compare/{{basehead}}", ()),
    "full repository": (f"get {_REPOSITORY}", ()),
    "issue event": (f"get {_REPOSITORY}/issues/{{issue_number}}/events", (0,)),
    "minimal repository": (f"get {_REPOSITORY}/actions/runs/{{run_id}}", ("repository",)),
    "permission": (f"get {_REPOSITORY}/collaborators/{{username}}/permission", ()),
    "profile": ("get /user", ()),
    "pull": (f"get {_REPOSITORY}/pulls/{{pull_number}}", ()),
    "repository": (f"get {_REPOSITORY}/pulls/{{pull_number}}", ("head", "repo")),
    "review": (f"get {_REPOSITORY}/pulls/{{pull_number}}/reviews", (0,)),
    "run": (f"get {_REPOSITORY}/actions/runs/{{run_id}}", ()),
    "user": (f"get {_REPOSITORY}/issues/comments/{{comment_id}}", ("user",)),
}
_API_REPOSITORY = re.compile(rf"{re.escape(HOST)}/repos/[\w.-]+/[\w.-]+")
_WEB_REPOSITORY = re.compile(rf"{re.escape(WEB)}/(?!images/|orgs/|apps/)[\w.-]+/[\w.-]+")


def seed(
    name: str, api_url: str, full_name: str = "", parts: Mapping[str, str] | None = None
) -> Json:
    """Give an example with all of its addresses at this server.

    Args:
        full_name: of the repository that its addresses lead to.
        parts: what addresses and values of the example hold, and what they shall hold instead.
    """
    text = _text(name)
    for old, new in (parts or {}).items():
        text = text.replace(old, new)
    if full_name:
        text = _API_REPOSITORY.sub(f"{api_url}/repos/{full_name}", text)
        text = _WEB_REPOSITORY.sub(f"{WEB}/{full_name}", text)
    found: Json = json.loads(text.replace(HOST, api_url))
    return found


@cache
def _text(name: str) -> str:
    key, path = _SEEDS[name]
    part: Any = _examples()[key]
    for step in path:
        part = part[step]
    return json.dumps(part)


@cache
def _examples() -> dict[str, Any]:
    """By method and path."""
    text = Path(__file__).with_name("examples.json").read_text(encoding="utf-8")
    return {" ".join(key.split(" ")[:2]): value for key, value in json.loads(text).items()}
